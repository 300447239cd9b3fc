"""Finds the texts that may hold a query, newest first: full text proposes, the verifier in ``index.match`` decides.

Plain ``sqlite3`` on a reading connection. Keys map character by character, so every hit is among the candidates
(DESIGN 9). Few candidates are all fetched and sorted; of many, the newest are met by walking the time index until
enough texts have been verified, so that a common word costs no more than a rare one.
"""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Iterator, Sequence
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


def candidate_ids(connection: sqlite3.Connection, query: Query, fields: Sequence[int]) -> list[int]:
    """Return the ids of all texts of ``fields`` (and perhaps of others) whose key holds the query's, ascending.

    Cost: full text for keys of three characters and more, else a scan of the keys.
    """
    ids: list[int] = []
    for table in _tables(fields):
        if query.expression is not None:
            sql, value = f"SELECT rowid FROM {table} WHERE {table} MATCH ?", query.expression
        else:
            sql, value = f"SELECT rowid FROM {table} WHERE instr(key, ?) > 0", query.key
        if query.expression is None and not query.key:
            ids.extend(row[0] for row in connection.execute(f"SELECT rowid FROM {table}"))
        else:
            ids.extend(row[0] for row in connection.execute(sql, (value,)))
    return sorted(ids)


def fetch(connection: sqlite3.Connection, ids: Sequence[int], fields: Sequence[int]) -> Iterator[Candidate]:
    """Yield those of ``ids`` that are of one of ``fields``, in no order."""
    wanted = frozenset(fields)
    for start in range(0, len(ids), _BIND_LIMIT):
        part = ids[start : start + _BIND_LIMIT]
        marks = ", ".join("?" * len(part))
        for row in connection.execute(f"SELECT id, field, sort_ts, text FROM prose WHERE id IN ({marks})", part):
            if row[1] in wanted:
                yield Candidate(*row)


def newest_first(
    connection: sqlite3.Connection, ids: frozenset[int], fields: Sequence[int]
) -> Iterator[list[Candidate]]:
    """Yield the candidates in groups of equal time, newest group first; within a group in no order.

    Texts without a time of their own come in the place of their file's. Cost: the index entries passed.
    """
    timed = [_walk(connection, field) for field in fields]
    untimed = sorted(_untimed(connection, ids, fields), reverse=True)
    merged = heapq.merge(*timed, untimed, reverse=True)
    chosen = ((sort_ts, id_) for sort_ts, id_ in merged if id_ in ids)
    for _, group in groupby(chosen, key=lambda pair: pair[0]):
        yield list(fetch(connection, [id_ for _, id_ in group], fields))


def count_texts(connection: sqlite3.Connection, fields: Sequence[int]) -> int:
    """Return how many texts of ``fields`` there are. Cost: linear in them, on an index."""
    marks = ", ".join("?" * len(fields))
    return int(connection.execute(f"SELECT count(*) FROM prose WHERE field IN ({marks})", tuple(fields)).fetchone()[0])


def _walk(connection: sqlite3.Connection, field: int) -> Iterator[tuple[str, int]]:
    rows = connection.execute(
        "SELECT sort_ts, id FROM prose WHERE field = ? AND sort_ts IS NOT NULL ORDER BY sort_ts DESC, id DESC", (field,)
    )
    return ((sort_ts, id_) for sort_ts, id_ in rows)


_FILE_TIME: Final = """SELECT coalesce(
  (SELECT s.file_time FROM event_rows e JOIN source_rows s ON s.id = e.source_id WHERE e.id = p.id),
  (SELECT s.file_time FROM history_rows h JOIN source_rows s ON s.id = h.source_id WHERE h.id = p.id),
  (SELECT s.file_time FROM block_rows b JOIN source_rows s ON s.id = b.source_id WHERE b.id = p.id),
  (SELECT s.file_time FROM memory_fact_rows f JOIN source_rows s ON s.id = f.source_id WHERE f.id = p.id)
), p.id FROM prose p WHERE p.field = ? AND p.sort_ts IS NULL"""
"""An id belongs to one of these tables only; ids come from one counter."""


def _untimed(connection: sqlite3.Connection, ids: frozenset[int], fields: Sequence[int]) -> Iterator[tuple[str, int]]:
    for field in fields:
        for file_time, id_ in connection.execute(_FILE_TIME, (field,)):
            if id_ in ids:
                yield file_time, id_


def _tables(fields: Sequence[int]) -> list[str]:
    tables = []
    if any(field in IN_PROMPT_KEYS for field in fields):
        tables.append("prompt_keys")
    if any(field not in IN_PROMPT_KEYS for field in fields):
        tables.append("prose_keys")
    return tables
