"""Puts rows into the index and takes them out, within the caller's transaction.

Plain ``sqlite3``; knows nothing of files. Every row of a text lies in four places (its table, ``prose``, a table of
keys, the table of words); this module alone adds and removes them, always together and in ascending id: FTS5 flushes
its hash at every id that is not larger than the last, and at every savepoint, so there is none.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from dataclasses import dataclass
from typing import Final

from index import statements
from index.projection import LocalRows, bounded
from persist.reading import Checkpoint
from persist.sources import Source
from persist.times import from_ns

MAX_SESSIONS_REMEMBERED: Final = 10_000
"""Rows of sessions that are kept in mind; beyond, they are asked for again: memory stays flat."""


@dataclass(frozen=True, slots=True)
class SourceState:
    """What is stored of a source beside its rows. Counts are those of the whole source, up to its last used line."""

    source: Source
    status: str
    error: str | None
    head_hash: bytes | None
    tail_hash: bytes | None
    checkpoint: Checkpoint
    final: Checkpoint
    bytes_pending: int
    session_row: int | None
    indexed_at: str


class Applier:
    """Writes sources' rows on one connection.

    ``touching`` notes what must be settled again; it is false for a first load, which settles everything at its end.
    """

    def __init__(self, connection: sqlite3.Connection, *, touching: bool) -> None:
        self._connection = connection
        self.touching = touching
        self._agents: dict[str, int] = {}
        self._sessions: dict[tuple[int, str], int] = {}
        if touching:
            for statement in statements.TOUCHED_TABLES:
                connection.execute(statement)

    def next_id(self) -> int:
        """Return the smallest id above every text's."""
        return int(self._connection.execute(statements.NEXT_ID).fetchone()[0])

    def agent_id(self, name: str) -> int:
        """Return the number of an agent, giving it one at first sight."""
        if name not in self._agents:
            row = self._connection.execute(statements.FIND_AGENT, (name,)).fetchone()
            self._agents[name] = row[0] if row else self._insert(statements.ADD_AGENT, (name,))
        return self._agents[name]

    def session_row(self, agent: str, session_id: str) -> int:
        """Return the row of a session, adding an empty one (settling fills it)."""
        key = (self.agent_id(agent), bounded(session_id))
        if key not in self._sessions:
            if len(self._sessions) > MAX_SESSIONS_REMEMBERED:
                self._sessions.clear()
            row = self._connection.execute(statements.FIND_SESSION, key).fetchone()
            self._sessions[key] = row[0] if row else self._insert(statements.ADD_SESSION, key)
        return self._sessions[key]

    def add_source(self, source: Source) -> int:
        """Add a source without rows and return its id."""
        key = (self.agent_id(source.agent), source.kind, source.path, source.root)
        return self._insert(statements.INSERT_SOURCE, key)

    def touch(self, source_id: int, line_number: int) -> None:
        """Note everything whose settled values the source's rows from that line on bear on."""
        if not self.touching:
            return
        place = {"source_id": source_id, "line_number": line_number}
        for statement in statements.TOUCH_SOURCE:
            self._connection.execute(statement, place)

    def remove_rows(self, source_id: int, line_number: int) -> None:
        """Remove the source's rows from that line on (inclusive; 0 removes all). Cost: the rows removed."""
        self.touch(source_id, line_number)
        connection = self._connection
        place = {"source_id": source_id, "line_number": line_number}
        ids = connection.execute(statements.TEXT_IDS, place).fetchall()
        for statement in (
            statements.DELETE_PROMPT_KEY,
            statements.DELETE_PROSE_KEY,
            statements.DELETE_WORDS,
            statements.DELETE_PROSE,
            statements.DELETE_MEASURES,
        ):
            connection.executemany(statement, ids)
        for statement in statements.DELETE_OF_SOURCE:
            connection.execute(statement, place)

    def remove_source(self, source_id: int) -> None:
        """Remove a source and all its rows."""
        self.remove_rows(source_id, 0)
        self._connection.execute(statements.FORGET_SOURCE, (source_id,))

    def hold(self, source_id: int, why: str) -> None:
        """Mark a source as one that cannot be read now; its rows stay."""
        self._connection.execute(statements.HOLD_SOURCE, (why, source_id))

    def release(self, source_id: int) -> None:
        """End a hold: the source is back, unchanged."""
        self._connection.execute(statements.RELEASE_SOURCE, (source_id,))

    def insert(self, rows: LocalRows) -> None:
        """Insert rows, each table's in the order given."""
        many = self._connection.executemany
        many(statements.INSERT_EVENT, rows.events)
        many(statements.INSERT_PROSE, rows.prose)
        many(statements.INSERT_PROMPT_KEY, rows.prompt_keys)
        many(statements.INSERT_PROSE_KEY, rows.prose_keys)
        many(statements.INSERT_WORDS, [(row[0], row[-1]) for row in rows.prose])
        many(statements.INSERT_USAGE, rows.usage)
        many(statements.INSERT_TRAIT, rows.traits)
        for statement, tuples in (
            (statements.INSERT_MEASURES, rows.measures),
            (statements.INSERT_HISTORY, rows.prompts),
            (statements.INSERT_JOURNAL, rows.journal),
            (statements.INSERT_BLOCK, rows.blocks),
            (statements.INSERT_MEMORY_FACT, rows.memory_facts),
            (statements.INSERT_CANDIDATE, rows.candidates),
            (statements.INSERT_BLOCK_NAME, rows.block_names),
            (statements.INSERT_ERROR, rows.errors),
        ):
            if tuples:
                many(statement, tuples)
        if self.touching:
            many(statements.TOUCH_NAME, [(key,) for key, _ in rows.block_names])
            many(statements.TOUCH_CANDIDATE, [(row[0],) for row in rows.candidates])

    def save_source(self, source_id: int, state: SourceState) -> None:
        """Store fingerprint, checkpoint and counts of a source, in the same transaction as its rows."""
        source, final = state.source, state.final
        counts = final.counts
        values = {
            "id": source_id,
            "kind": source.kind,
            "root": source.root,
            "status": state.status,
            "error": state.error,
            "size_bytes": source.stat.size_bytes,
            "mtime_ns": source.stat.mtime_ns,
            "file_time": from_ns(source.stat.mtime_ns) or "2000-01-01T00:00:00.000Z",
            "ctime_ns": source.stat.ctime_ns,
            "inode": source.stat.inode,
            "head_hash": state.head_hash,
            "tail_hash": state.tail_hash,
            "checkpoint": json.dumps(state.checkpoint.save(), ensure_ascii=False, separators=(",", ":")),
            "offset_bytes": state.checkpoint.offset_bytes,
            "bytes_pending": state.bytes_pending,
            "session_row": state.session_row,
            "names_parent": final.names_parent,
            "head_time": final.head_time(),
            "earliest_ts": final.earliest_ts,
            "latest_ts": final.latest_ts,
            "active_ts": final.active_ts,
            "events": final.event_index,
            "lines_seen": counts.seen,
            "lines_indexed": counts.indexed,
            "lines_skipped": counts.skipped,
            "lines_damaged": counts.damaged,
            "bad_times": counts.bad_times,
            "skipped_types": _sorted_json(counts.skipped_types),
            "indexed_at": state.indexed_at,
        }
        self._connection.execute(statements.UPDATE_SOURCE, values)

    def _insert(self, statement: str, values: tuple[object, ...]) -> int:
        cursor = self._connection.execute(statement, values)
        return int(cursor.lastrowid or 0)


def configure_full_text(connection: sqlite3.Connection, settings: tuple[tuple[str, int], ...]) -> None:
    """Set how the full-text tables are written: ``statements.BULK_LOADING`` or ``AFTER_LOADING``."""
    for table in statements.FULL_TEXT_TABLES:
        for name, value in settings:
            connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES (?, ?)", (name, value))


def optimize_full_text(connection: sqlite3.Connection) -> None:
    """Merge each full-text table into one segment. Cost: rewrites them."""
    for table in statements.FULL_TEXT_TABLES:
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")


def _sorted_json(counts: Counter[str]) -> str:
    return json.dumps(dict(sorted(counts.items())), ensure_ascii=False)
