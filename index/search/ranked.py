"""Matches whose rank is known before they are listed: the best become matches, the others are only counted.

Plain ``sqlite3``, to break ties.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

from index.fields import IN_PROMPT_KEYS
from index.search.matches import Group, Match, in_order
from index.search.request import SearchRequest

Ranked: TypeAlias = tuple[float, float, str, int, int, int, str]
"""A match that is ranked: 1.0 where all is as typed, score, time; then id, field, source, text."""

_rank_of = itemgetter(slice(3))


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
        _, score, at = rank
        matches = [
            Match(id_, field, source_id, rank, at, text, None, score, "text", len(text))
            for _, _, _, id_, field, source_id, text in rows
        ]
        yield Group(rank, looked_at, in_order(connection, matches))
        looked_at = 0


class _Folded:
    """Counts hits: equal prompts once, as a page does (``index.search.matches.Folder``)."""

    def __init__(self) -> None:
        self._prompts: set[str] = set()
        self._others = 0

    @property
    def count(self) -> int:
        """Return how many hits there are among the texts that were added."""
        return len(self._prompts) + self._others

    def add(self, rows: Sequence[Ranked]) -> None:
        """Add texts, which stay in memory."""
        prompts = [row[6] for row in rows if row[4] in IN_PROMPT_KEYS]
        self._prompts.update(prompts)
        self._others += len(rows) - len(prompts)
