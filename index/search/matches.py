"""Decides which candidates are hits, and puts those of one moment in order: the step between candidates and pages.

Plain ``sqlite3``, to fetch texts and to break ties. Groups come in the order in which candidates come; within one the
order is DESIGN 9's: agent, session, source, event, all descending.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby, islice
from typing import Final, NamedTuple

from index.errors import PatternTimeoutError, SearchTimeoutError
from index.fields import IN_PROMPT_KEYS
from index.match.spans import Span
from index.search.candidates import Candidate
from index.search.details import order_of

_FETCHED_TOGETHER: Final = 64


class Match(NamedTuple):
    """A text that holds the query. ``rank`` is what the order goes by first: its time, or its score and time.

    ``text`` is the stored one, of a tool its head or, in a deep search, the whole; ``whole_length`` counts characters.
    ``spans`` is null until it is needed: most matches are only counted.
    """

    id: int
    field: int
    source_id: int
    rank: tuple[float | str, ...]
    at: str
    text: str
    spans: tuple[Span, ...] | None = None
    score: float | None = None
    part: str = "text"
    whole_length: int = 0


class Group(NamedTuple):
    """The matches among candidates of one rank, in order, and how many candidates were looked at for them."""

    rank: tuple[float | str, ...]
    looked_at: int
    matches: list[Match]


@dataclass(slots=True)
class Judge:
    """Says whether a text is a hit; gives up a text on which a pattern runs out of time.

    ``is_hit`` is the query's own word. ``judge`` raises ``SearchTimeoutError`` once more than ``most_given_up`` texts
    were given up.
    """

    is_hit: Callable[[str], object]
    most_given_up: int = 0
    given_up: int = 0

    def judge(self, text: str) -> bool:
        """Return whether ``text`` is a hit."""
        try:
            return bool(self.is_hit(text))
        except PatternTimeoutError as error:
            self.given_up += 1
            if self.given_up > self.most_given_up:
                raise SearchTimeoutError(self.given_up, error.timeout_s) from error
            return False


def groups(connection: sqlite3.Connection, candidates: Iterable[Candidate], judge: Judge) -> Iterator[Group]:
    """Yield the matches among candidates that come newest first, moment by moment. Cost: what is taken."""
    for at, group in groupby(with_texts(connection, candidates), key=_at):
        looked_at = 0
        matches: list[Match] = []
        for id_, field, source_id, _, text in group:
            looked_at += 1
            if text is not None and judge.judge(text):
                matches.append(Match(id_, field, source_id, (at,), at, text, whole_length=len(text)))
        yield Group((at,), looked_at, in_order(connection, matches))


def in_order(connection: sqlite3.Connection, matches: list[Match]) -> list[Match]:
    """Return matches of equal rank in the order of DESIGN 9."""
    if len(matches) > 1:
        matches.sort(key=lambda match: order_of(connection, match.id, match.field), reverse=True)
    return matches


def best_first(
    found: Iterable[Group], connection: sqlite3.Connection, score: Callable[[Match], float]
) -> Iterator[Group]:
    """Yield the same matches by score, the highest first, then newest first. Cost: all of them are held at once."""
    looked_at = 0
    scored: list[Match] = []
    for group in found:
        looked_at += group.looked_at
        for match in group.matches:
            value = score(match)
            scored.append(match._replace(rank=(value, match.at), score=value))
    scored.sort(key=lambda match: match.rank, reverse=True)
    for rank, group_ in groupby(scored, key=lambda match: match.rank):
        matches = list(group_)
        yield Group(rank, looked_at, in_order(connection, matches))
        looked_at = 0


class Folder:
    """Folds equal prompts: the first is listed, the others are counted with it (DESIGN 9)."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def is_first(self, match: Match) -> bool:
        """Return whether no equal prompt came before; texts that nobody typed are never folded."""
        if match.field not in IN_PROMPT_KEYS:
            return True
        digest = blake2b(match.text.encode(), digest_size=16).digest()
        if digest in self._seen:
            return False
        self._seen.add(digest)
        return True


def _at(candidate: Candidate) -> str:
    return candidate.at


def with_texts(connection: sqlite3.Connection, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Fetch the texts of candidates that came without one, some at a time."""
    iterator = iter(candidates)
    for candidate in iterator:
        if candidate.text is not None:
            yield candidate
            continue
        batch = [candidate, *islice(iterator, _FETCHED_TOGETHER - 1)]
        marks = ", ".join("?" * len(batch))
        ids = [each.id for each in batch]
        texts = dict(connection.execute(f"SELECT id, text FROM prose WHERE id IN ({marks})", ids))
        for each in batch:
            yield each if each.text is not None else each._replace(text=texts[each.id])
