"""Matches whose rank is known before they are listed: the best become matches, the others are only counted.

Plain ``sqlite3``, to break ties.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

from index.fields import IN_PROMPT_KEYS
from index.search.matches import Group, Match, in_order
from index.search.request import SearchRequest
from index.search.statements import SHORT_CHARACTERS

Ranked: TypeAlias = tuple[float, float, str, int, int, int, str | bytes]
"""A match that is ranked: its standing (``index.search.relevance``), score, time; then id, field, source, and what
``held`` gives of its text. A plain tuple: 18,000 matches are ranked in 8 % less time than named ones."""

_rank_of = itemgetter(slice(3))


def held(text: str) -> str | bytes:
    """Return what a ranking holds of a text: itself if it is short, else its digest; thousands may be long."""
    return text if len(text) <= SHORT_CHARACTERS else blake2b(text.encode(), digest_size=16).digest()


def needed_of(request: SearchRequest) -> int | None:
    """Return up to which hit a page needs more than a count; null where it is not known before they are looked at."""
    if request.limit is None or request.per_session is not None:
        return None
    return request.offset + request.limit


def groups_of_ranked(
    connection: sqlite3.Connection, ranked: Sequence[Ranked], looked_at: int, needed: int | None
) -> Iterator[Group]:
    """Yield texts that come by rank as groups of one rank each, so many that the ``needed`` first hits are among them.

    The others are only counted; null for all. ``looked_at`` counts with the first.
    """
    listed = 0
    folded = _Folded()
    for rank, equal in groupby(ranked, key=_rank_of):
        if needed is not None and folded.count >= needed:
            listed_hits = folded.count
            folded.add(ranked[listed:])
            yield Group(rank, looked_at, [], folded.count - listed_hits)
            return
        rows = list(equal)
        listed += len(rows)
        folded.add(rows)
        yield Group(rank, looked_at, in_order(connection, [_match(connection, row) for row in rows]))
        looked_at = 0


def _match(connection: sqlite3.Connection, row: Ranked) -> Match:
    stands, score, at, id_, field, source_id, text = row
    if isinstance(text, bytes):
        text = connection.execute("SELECT text FROM prose WHERE id = ?", (id_,)).fetchone()[0]
    return Match(id_, field, source_id, (stands, score, at), at, text, None, score, "text", len(text))


class _Folded:
    """Counts hits: equal prompts once, as a page does (``index.search.matches.Folder``)."""

    def __init__(self) -> None:
        self._prompts: set[str | bytes] = set()
        self._others = 0

    @property
    def count(self) -> int:
        """Return how many hits there are among the texts that were added."""
        return len(self._prompts) + self._others

    def add(self, rows: Sequence[Ranked]) -> None:
        """Add texts; what a ranking holds of them stays in memory."""
        prompts = [text for _, _, _, _, field, _, text in rows if field in IN_PROMPT_KEYS]
        self._prompts.update(prompts)
        self._others += len(rows) - len(prompts)
