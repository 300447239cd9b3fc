"""Decides which candidates are hits, and puts those of one moment in order: the step between candidates and pages.

Plain ``sqlite3``, to fetch texts and to break ties. Groups come in the order in which candidates come; within one the
order is DESIGN 9's: agent, session, source, event, all descending.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from itertools import groupby, islice
from time import monotonic
from typing import Final, NamedTuple, cast

from index.errors import PatternTimeoutError, SearchTimeoutError
from index.fields import IN_PROMPT_KEYS
from index.match.regex import MAX_TIMEOUTS
from index.match.spans import Span
from index.search.candidates import Candidate, Passed
from index.search.details import order_of
from index.search.relevance import standing

_FETCHED_TOGETHER: Final = 32
TOLD_TOGETHER: Final = 32
"""Candidates that are no hits are told of at once, so many together."""
PATTERN_TIME_S: Final = 10.0
"""What a pattern may take over all texts: one that is a little below its limit on each must end too."""


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
    """The matches among candidates of one rank, in order, and how many candidates were looked at for them.

    ``more`` counts hits behind them that stand on no page that is asked for, equal ones once: the last group has it.
    """

    rank: tuple[float | str, ...]
    looked_at: int
    matches: list[Match]
    more: int = 0


class Judge:
    """Says whether a text is a hit: ``is_hit`` is the query's own word."""

    def __init__(self, is_hit: Callable[[str], object]) -> None:
        self._is_hit = is_hit
        self.given_up = 0
        """Texts on which a pattern ran out of time."""

    def judge(self, text: str) -> bool:
        """Return whether ``text`` is a hit."""
        return bool(self._is_hit(text))


class PatternJudge(Judge):
    """Gives up a text on which a pattern runs out of time, and the search when that happens too often or lasts."""

    def __init__(self, is_hit: Callable[[str], object]) -> None:
        super().__init__(is_hit)
        self._spent_s = 0.0

    def judge(self, text: str) -> bool:
        """Return whether ``text`` is a hit.

        Raises ``SearchTimeoutError`` after more than ``MAX_TIMEOUTS`` texts that were given up, or ``PATTERN_TIME_S``
        seconds in the pattern.
        """
        started_s = monotonic()
        try:
            return bool(self._is_hit(text))
        except PatternTimeoutError:
            self.given_up += 1
            return False
        finally:
            self._spent_s += monotonic() - started_s
            if self.given_up > MAX_TIMEOUTS or self._spent_s > PATTERN_TIME_S:
                raise SearchTimeoutError(self.given_up, self._spent_s)


def groups(connection: sqlite3.Connection, candidates: Iterable[Candidate | Passed], judge: Judge) -> Iterator[Group]:
    """Yield the matches among candidates that come newest first, moment by moment. Cost: what is taken."""
    rank: tuple[str] | None = None
    looked_at = 0
    matches: list[Match] = []
    for candidate in _without_gaps(connection, candidates):
        is_passed = isinstance(candidate, Passed)
        if rank is not None and (is_passed or (candidate.at != rank[0] and (matches or looked_at >= TOLD_TOGETHER))):
            yield Group(rank, looked_at, in_order(connection, matches))
            looked_at, matches = 0, []
        if isinstance(candidate, Passed):  # told at once: who is content with what there is asks for no more
            yield Group((candidate.at,), candidate.texts, [])
            rank = None
            continue
        id_, field, source_id, at, text = candidate
        rank = (at,)
        looked_at += 1
        if text is not None and judge.judge(text):
            matches.append(Match(id_, field, source_id, rank, at, text, whole_length=len(text)))
    if rank is not None:
        yield Group(rank, looked_at, in_order(connection, matches))


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
    scored: list[tuple[tuple[float | str, ...], Match]] = []
    for group in found:
        looked_at += group.looked_at
        scored.extend(((standing(match.field), score(match), match.at), match) for match in group.matches)
    scored.sort(key=_rank, reverse=True)
    for rank, group_ in groupby(scored, key=_rank):
        matches = [match._replace(rank=rank, score=cast(float, rank[1])) for _, match in group_]
        yield Group(rank, looked_at, in_order(connection, matches))
        looked_at = 0


def _rank(scored: tuple[tuple[float | str, ...], Match]) -> tuple[float | str, ...]:
    return scored[0]


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


def _without_gaps(
    connection: sqlite3.Connection, candidates: Iterable[Candidate | Passed]
) -> Iterator[Candidate | Passed]:
    for is_candidate, run in groupby(candidates, key=lambda each: isinstance(each, Candidate)):
        if is_candidate:
            yield from with_texts(connection, cast(Iterator[Candidate], run))
        else:
            yield from run


def with_texts(connection: sqlite3.Connection, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Fetch the texts of candidates that came without one, some at a time."""
    iterator = iter(candidates)
    for candidate in iterator:
        if candidate.text is not None:
            yield candidate
            continue
        batch = [candidate, *islice(iterator, _FETCHED_TOGETHER - 1)]
        ids = [each.id for each in batch if each.text is None]
        marks = ", ".join("?" * len(ids))
        texts = dict(connection.execute(f"SELECT id, text FROM prose WHERE id IN ({marks})", ids))
        for each in batch:
            yield each if each.text is not None else each._replace(text=texts[each.id])
