"""Brings the index up to date before a search, if that is little work and nobody is in the way; never waits.

With the code of ``ingest``, on plain ``sqlite3``: must never import SQLAlchemy, Alembic, pydantic, ulid or filelock.
What writes is imported only when there is something to write. Makes no index: one that is missing, of another
generation or made by other rules is left to ``ingest``.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from index import statements
from index.errors import AsterIndexError, IndexBusyError
from index.freshness import (
    Behind,
    Freshness,
    NotRefreshed,
    Unread,
    bytes_to_read,
    look_behind,
    state_of,
    unread_sources,
)
from index.lock import index_lock_if_free
from index.opening import (
    Finding,
    is_current,
    leave_for_readers,
    open_reader,
    open_writer,
    read_header,
    read_only_uri,
)
from index.plan import Action, KnownSource, Step
from index.run import without_cycles
from index.settings import Settings
from index.sqlite_errors import BUSY_CODES, ROW_FAULTS, SEARCH_BUSY_TIMEOUT_MS, primary_code, refuse_damaged
from persist.errors import StoreIOError
from persist.fingerprint import edges
from persist.regular import open_regular

FIXED_MS: Final = 25.0
"""The lock, opening for writing, a commit, the checkpoint; and importing what writes."""
SOURCE_MS: Final = 1.5
"""Opening a source, its row, its checkpoint, settling its session."""
READ_MS_PER_MB: Final = 140.0
"""Reading 1,000,000 bytes of a transcript, parsing, full text, settling."""
REMOVED_MS_PER_MB: Final = 70.0
REMOVED_ROW_MS: Final = 0.04
"""Taking rows out: each, and for full text by the bytes of their source."""
SESSION_MS: Final = 0.1
"""Settling a session that moved to another project."""

_FAULTS: Final = (*ROW_FAULTS, ValueError, LookupError, ArithmeticError, RecursionError, MemoryError)
"""What a source's data can raise where nobody foresaw it."""
_MAY_NOT: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_READ_ONLY_CODES: Final = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM})
_ROWS: Final = "SELECT max(events, lines_indexed, 1) FROM source_rows WHERE id = ?"
_SESSIONS: Final = "SELECT count(*) FROM session_rows WHERE cwd = ? OR (cwd IS NULL AND project = ?)"


class _OutrunError(Exception):
    """Another run wrote the index after this one had looked at it."""


def refresh(settings: Settings) -> Freshness:
    """Bring the index up to date if the work is below ``refresh_ms``, and tell how far it is behind if not.

    Afterwards the index is what an ``ingest`` would have made; a fresh one is not touched, and sources that an ingest
    withholds stay withheld. What hinders the work is told in the result, never raised: each transaction is there
    whole or not at all; neither is what a source's data raises. Raises the errors of ``open_reader``, with which no
    search can answer either, and ``IndexUnusableError`` for an index whose rows cannot be read for damage; but an index
    that another process holds at this moment is an answer. Cost: one ``stat`` for each source, one query, the work.
    """
    path = settings.index_path
    with without_cycles():
        for _ in range(2):  # outrun once, the other run has done the work as a rule
            try:
                _refuse_waiting(path)
                with closing(open_reader(path, SEARCH_BUSY_TIMEOUT_MS)) as reader:
                    return _refresh(settings, reader)
            except IndexBusyError:
                return state_of(path, True, None, NotRefreshed.BUSY)
            except _OutrunError:
                continue
    return state_of(path, True, None, NotRefreshed.BUSY)


def estimate_ms(reader: sqlite3.Connection, behind: Behind, limit_ms: float) -> float:
    """Return how long the work will take, before any of it is done; stops counting above ``limit_ms``.

    Looks at both edges of each grown file: one that was rewritten must be read anew, whatever the plan hopes. The
    constants were measured on this kind of machine (``docs/index.md``, "Fresh by itself").
    """
    ms = FIXED_MS
    for step in behind.plan.steps:
        if ms > limit_ms:
            return ms
        ms += SOURCE_MS
        if step.known is not None and step.action is Action.MAYBE_TAIL and _reads_on(reader, step, step.known):
            ms += READ_MS_PER_MB * bytes_to_read(step) / 1e6
        elif step.action is not Action.RELEASE:
            ms += READ_MS_PER_MB * step.source.stat.size_bytes / 1e6
            ms += _removal_ms(reader, step.known) if step.known else 0
    for row in (*behind.plan.gone, *behind.plan.excluded):
        if ms > limit_ms:
            return ms
        ms += SOURCE_MS + _removal_ms(reader, row)
    for cwd, _, project in behind.moved:
        ms += SESSION_MS * int(reader.execute(_SESSIONS, (cwd, project)).fetchone()[0])
    return ms


def _removal_ms(reader: sqlite3.Connection, known: KnownSource) -> float:
    rows = reader.execute(_ROWS, (known.id,)).fetchone()
    return (rows[0] if rows else 1) * REMOVED_ROW_MS + known.stat.size_bytes / 1e6 * REMOVED_MS_PER_MB


def _reads_on(reader: sqlite3.Connection, step: Step, known: KnownSource) -> bool:
    """Return whether a grown file is the old one with a longer tail. Reads ``EDGE_BYTES`` twice."""
    row = reader.execute(statements.SOURCE_STATE, (known.id,)).fetchone()
    try:
        with open_regular(step.read_path, 0) as file:
            return row is not None and edges(file, known.offset_bytes) == tuple(row[:2])
    except OSError:
        return True  # it will be held, which is no work


def _refresh(settings: Settings, reader: sqlite3.Connection) -> Freshness:
    path, budget_ms = settings.index_path, settings.configuration.refresh_ms
    behind: Behind | None = None
    unread: Unread | None = None
    try:
        reader.execute("PRAGMA busy_timeout = 0")
        if not is_current(reader, settings.projection):
            return state_of(path, True, None, NotRefreshed.OTHER_RULES, unread=unread_sources(reader, None))
        before = _state(reader, path)
        behind = look_behind(settings, reader)
        unread = unread_sources(reader, behind.seen)
        if behind.is_empty:
            return state_of(path, False, behind, unread=unread)
        if budget_ms == 0:
            return state_of(path, True, behind, NotRefreshed.OFF, unread=unread)
        if estimate_ms(reader, behind, budget_ms) > budget_ms:
            return state_of(path, True, behind, NotRefreshed.TOO_MUCH, unread=unread)
        with index_lock_if_free(settings):
            if _state(reader, path) != before:
                raise _OutrunError
            notes, unread = _write(settings, reader, behind)
    except (AsterIndexError, StoreIOError, OSError, sqlite3.Error, *_FAULTS) as error:
        if isinstance(error, ROW_FAULTS):
            refuse_damaged(path, error)
        return state_of(path, True, behind, *_hindrance(error), unread=unread)
    told = state_of(path, False, None)
    return replace(told, sources_behind=0, bytes_behind=0, refreshed=True, notes=notes, unread=unread)


def _write(settings: Settings, reader: sqlite3.Connection, behind: Behind) -> tuple[tuple[str, ...], Unread]:
    """Do the work; return what a person is to be told of it, and what could not be read. The caller holds the lock."""
    from index.load import Silent
    from index.run import begin_report
    from index.update import report_plan, write

    path = settings.index_path
    report = begin_report(settings, behind.seen)
    report_plan(settings, report, behind.seen, behind.plan)
    try:
        with closing(open_writer(path)) as writer:
            writer.execute("PRAGMA busy_timeout = 0")
            write(settings, writer, behind.plan, behind.moved, behind.resolver, report, Silent())
            unread = unread_sources(writer, behind.seen)
    finally:
        reader.close()  # after the writer: closing it last leaves -wal and -shm in place for readers
        with suppress(sqlite3.Error):
            leave_for_readers(path)
    return tuple(report.notes), unread


def _state(reader: sqlite3.Connection, path: Path) -> tuple[int, ...]:
    """Return what changes when another connection writes the index, or another file takes its place.

    SQLite counts the writes of others in ``-shm``. A connection that may not write that file reads the log anew each
    time and counts each of its own reads as another's write; for one the files' times and sizes tell alone.
    """
    found = os.stat(path)  # noqa: PTH116 - the file that is there now
    version = reader.execute("PRAGMA data_version").fetchone()[0]
    if not os.access(path.with_name(path.name + "-shm"), os.W_OK):
        version = 0
    with suppress(FileNotFoundError):
        log = path.with_name(path.name + "-wal").stat()
        return version, found.st_dev, found.st_ino, found.st_mtime_ns, log.st_mtime_ns, log.st_size
    return version, found.st_dev, found.st_ino, found.st_mtime_ns


def _refuse_waiting(path: Path) -> None:
    """Raise ``IndexBusyError`` at once where ``open_reader`` would wait; all else is for that to judge."""
    if read_header(path).finding is not Finding.OURS:
        return
    try:
        with closing(sqlite3.connect(read_only_uri(path), uri=True, timeout=0)) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.DatabaseError as error:
        if primary_code(error) in BUSY_CODES:
            raise IndexBusyError(path, 0) from error


def _hindrance(error: Exception) -> tuple[NotRefreshed, str | None]:
    """Return what an error means for the refresh, and its own words where the cause is no everyday one."""
    if isinstance(error, _FAULTS) or (isinstance(error, sqlite3.Error) and not primary_code(error)):
        # Such a message may hold a text of a transcript, or of the index, and is told nowhere (DESIGN law 7).
        return NotRefreshed.FAILED, f"bringing it up to date failed: {type(error).__name__}"
    cause = error.__cause__ if isinstance(error, StoreIOError) else error
    if isinstance(error, IndexBusyError) or primary_code(error) in BUSY_CODES:
        return NotRefreshed.BUSY, None
    if primary_code(error) in _READ_ONLY_CODES or (isinstance(cause, OSError) and cause.errno in _MAY_NOT):
        return NotRefreshed.READ_ONLY, None
    return NotRefreshed.FAILED, f"bringing it up to date failed: {error}"
