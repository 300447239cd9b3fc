"""Finds the texts that may hold a query, newest first: full text proposes, the verifier in ``index.match`` decides.

Plain ``sqlite3`` on a reading connection. Keys map character by character, so every hit is among the candidates
(DESIGN 9). Few candidates are all fetched and sorted; where they are many, texts are met newest first on the time index
until enough have been verified, so that a common word costs no more than a rare one.
"""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from index.fields import IN_PROMPT_KEYS
from index.match.query import Query

SORT_ALL_BELOW: Final = 1000
"""Up to here every candidate is fetched, verified and counted exactly."""
_BIND_LIMIT: Final = 500


class Candidate(NamedTuple):
    """A text that may hold the query: its id, field, time (null: its file's must serve) and whole stored text."""

    id: int
    field: int
    sort_ts: str | None
    text: str


class Candidates(NamedTuple):
    """How many texts' keys hold the query's, and which they are: null when they are more than ``SORT_ALL_BELOW``."""

    total: int
    ids: tuple[int, ...] | None


def find_candidates(connection: sqlite3.Connection, query: Query, fields: Sequence[int]) -> Candidates:
    """Return the texts, of ``fields`` and perhaps of others, whose key holds the query's.

    Few are exactly those; of many the total counts texts with the trigrams of the query, an upper bound. Cost: full
    text for keys of three characters and more, else a scan of the keys.
    """
    ids: list[int] = []
    for table in _tables(fields):
        where, values = _holds_key(table, query)
        left = SORT_ALL_BELOW + 1 - len(ids)
        rows = connection.execute(f"SELECT rowid FROM {table} WHERE {where} LIMIT ?", (*values, left))
        ids.extend(row[0] for row in rows)
    if len(ids) <= SORT_ALL_BELOW:
        return Candidates(len(ids), tuple(sorted(ids)))
    count = 0
    for table in _tables(fields):
        where, values = _holds_trigrams(table, query)
        count += connection.execute(f"SELECT count(*) FROM {table} WHERE {where}", values).fetchone()[0]
    return Candidates(count, None)


def newest_first(
    connection: sqlite3.Connection, candidates: Candidates, fields: Sequence[int]
) -> Iterator[list[Candidate]]:
    """Yield texts in groups of equal time, newest group first; within a group in no order.

    Few candidates are yielded as they are; where they are many, every text of ``fields`` is met in its turn, for the
    verifier to sort out, since the next hit is then never far. Texts without a time stand in the place of their file's.
    """
    if candidates.ids is None:
        return all_newest_first(connection, fields)
    return _grouped(_sorted(connection, candidates.ids, fields))


def all_newest_first(connection: sqlite3.Connection, fields: Sequence[int]) -> Iterator[list[Candidate]]:
    """Yield every text of ``fields`` in groups of equal time, newest group first. Cost: what is taken."""
    return _grouped(_walk_all(connection, fields))


def _grouped(found: Iterable[tuple[str, Candidate]]) -> Iterator[list[Candidate]]:
    for _, group in groupby(found, key=lambda pair: pair[0]):
        yield [candidate for _, candidate in group]


def _holds_key(table: str, query: Query) -> tuple[str, tuple[str, ...]]:
    """Trigrams alone would let in texts that have them apart from each other: a rare phrase of common ones."""
    if query.expression is not None:
        return f"{table} MATCH ? AND instr(key, ?) > 0", (query.expression, query.key)
    return _holds_trigrams(table, query)


def _holds_trigrams(table: str, query: Query) -> tuple[str, tuple[str, ...]]:
    if query.expression is not None:
        return f"{table} MATCH ?", (query.expression,)
    if not query.key:  # marks alone: no key tells, the verifier looks at every text
        return "1", ()
    return "instr(key, ?) > 0", (query.key,)


def _sorted(connection: sqlite3.Connection, ids: Sequence[int], fields: Sequence[int]) -> list[tuple[str, Candidate]]:
    wanted = frozenset(fields)
    found: list[tuple[str, Candidate]] = []
    for start in range(0, len(ids), _BIND_LIMIT):
        part = ids[start : start + _BIND_LIMIT]
        marks = ", ".join("?" * len(part))
        for row in connection.execute(f"SELECT id, field, sort_ts, text FROM prose WHERE id IN ({marks})", part):
            candidate = Candidate(*row)
            if candidate.field in wanted:
                found.append((candidate.sort_ts or _file_time(connection, candidate.id), candidate))
    found.sort(key=lambda pair: pair[0], reverse=True)
    return found


def _walk_all(connection: sqlite3.Connection, fields: Sequence[int]) -> Iterator[tuple[str, Candidate]]:
    streams = [_timed(connection, field) for field in fields]
    untimed = [
        (_file_time(connection, row[0]), Candidate(*row))
        for field in fields
        for row in connection.execute(
            "SELECT id, field, sort_ts, text FROM prose WHERE field = ? AND sort_ts IS NULL", (field,)
        )
    ]
    untimed.sort(key=lambda pair: pair[0], reverse=True)
    return heapq.merge(*streams, untimed, key=lambda pair: pair[0], reverse=True)


def _timed(connection: sqlite3.Connection, field: int) -> Iterator[tuple[str, Candidate]]:
    rows = connection.execute(
        """SELECT id, field, sort_ts, text FROM prose INDEXED BY prose_newest
        WHERE field = ? AND sort_ts IS NOT NULL ORDER BY sort_ts DESC""",
        (field,),
    )
    return ((row[2], Candidate(*row)) for row in rows)


_FILE_TIME: Final = """SELECT s.file_time FROM source_rows s WHERE s.id = coalesce(
  (SELECT source_id FROM event_rows WHERE id = :id), (SELECT source_id FROM history_rows WHERE id = :id),
  (SELECT source_id FROM block_rows WHERE id = :id), (SELECT source_id FROM memory_fact_rows WHERE id = :id))"""
"""An id belongs to one of these tables only: ids come from one counter."""


def _file_time(connection: sqlite3.Connection, id_: int) -> str:
    return str(connection.execute(_FILE_TIME, {"id": id_}).fetchone()[0])


def count_texts(connection: sqlite3.Connection, fields: Sequence[int]) -> int:
    """Return how many texts of ``fields`` there are. Cost: linear in them, on an index."""
    marks = ", ".join("?" * len(fields))
    return int(connection.execute(f"SELECT count(*) FROM prose WHERE field IN ({marks})", tuple(fields)).fetchone()[0])


def _tables(fields: Sequence[int]) -> list[str]:
    tables = []
    if any(field in IN_PROMPT_KEYS for field in fields):
        tables.append("prompt_keys")
    if any(field not in IN_PROMPT_KEYS for field in fields):
        tables.append("prose_keys")
    return tables
