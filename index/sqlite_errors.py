"""Turns what SQLite says of a busy, damaged or full index into the index's own errors.

Standard library only. Opening reads a few pages; damage further in shows when a statement meets it. Extended result
codes count as their primary ones (https://www.sqlite.org/rescode.html, "Primary Result Codes").
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from index.errors import AsterIndexError, IndexBusyError, IndexUnusableError, IndexWriteError

BUSY_TIMEOUT_MS: Final = 5000
"""How long a connection waits for another one's lock before SQLite gives up."""
SEARCH_BUSY_TIMEOUT_MS: Final = 100
"""The same for a search, which somebody watches: long enough for another's recovery of the log, no wait to a person."""
REBUILD: Final = "run: asx rebuild"
BUSY_CODES: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
DAMAGED_CODES: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
DISK_CODES: Final = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL})
"""The disk gave or took no bytes, in any of the ways of ``SQLITE_IOERR``; of the index this says nothing."""
REFUSED_CODES: Final = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY})
"""A file, the index's or one beside it, could not be opened or made."""
ROW_FAULTS: Final = (TypeError, KeyError, AttributeError)
"""What Python raises for rows that cannot be, such as a null where the schema allows none."""
UNREADABLE_CODES: Final = DAMAGED_CODES | DISK_CODES | REFUSED_CODES
"""While reading: no answer can come, and ``unusable`` tells why."""


def primary_code(error: BaseException | None) -> int:
    """Return SQLite's primary result code of an error, 0 where it has none."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF if isinstance(code, int) else 0


@contextmanager
def translate_read_errors(path: Path, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> Iterator[None]:
    """Read an index in this block: one that is damaged or on a failing disk raises ``IndexUnusableError``.

    A busy one raises ``IndexBusyError``. Any other error of SQLite is a mistake of ours and passes through, and so does
    one of ``ROW_FAULTS`` unless the index is damaged.
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = primary_code(error)
        if code in BUSY_CODES:
            raise busy(path, busy_timeout_ms) from error
        if code in UNREADABLE_CODES:
            raise unusable(path, error) from error
        raise
    except ROW_FAULTS as error:
        refuse_damaged(path, error)
        raise


def refuse_damaged(path: Path, error: Exception) -> None:
    """Raise ``IndexUnusableError`` from ``error`` if the index is damaged by SQLite's own check; else do nothing.

    A lost part of a page reads as nulls and zeros, and shows only in code that expects none. Cost: reads the whole
    index once, so this is for a fault that was met already. Does nothing too where no check can be made now.
    """
    from index.opening import open_reader  # which imports this module

    try:
        with closing(open_reader(path, SEARCH_BUSY_TIMEOUT_MS)) as connection:
            verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except AsterIndexError as unopened:
        if isinstance(unopened, IndexUnusableError):
            raise unopened from error
        return
    except sqlite3.DatabaseError as unread:
        if primary_code(unread) in DAMAGED_CODES:
            raise damaged(path, unread) from error
        return
    if verdict != "ok":
        raise IndexUnusableError(path, f"is damaged ({' '.join(verdict.split())})", REBUILD) from error


@contextmanager
def translate_write_errors(path: Path) -> Iterator[None]:
    """Write an index in this block: a full or failing disk raises ``IndexWriteError``.

    Another's lock raises ``IndexBusyError``, damage ``IndexUnusableError``.
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = primary_code(error)
        if code in BUSY_CODES:
            raise busy(path) from error
        if code in DAMAGED_CODES:
            raise damaged(path, error) from error
        raise IndexWriteError(path, str(error)) from error


def busy(path: Path, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> IndexBusyError:
    """Return the error for an index that another connection held for the whole time."""
    return IndexBusyError(path, busy_timeout_ms / 1000)


def unusable(path: Path, error: sqlite3.DatabaseError) -> IndexUnusableError:
    """Return the error for an index that cannot answer: the disk, permissions, else damage, by SQLite's code.

    Only damage is mended by a rebuild; where the disk fails, a rebuild would put a good index at risk.
    """
    code = primary_code(error)
    if code in DISK_CODES:
        return IndexUnusableError(path, f"cannot be read ({error})", "check the disk")
    if code in REFUSED_CODES:
        return IndexUnusableError(path, f"cannot be read ({error})", "check its folder's permissions and the disk")
    return damaged(path, error)


def damaged(path: Path, error: sqlite3.DatabaseError) -> IndexUnusableError:
    """Return the error for an index whose bytes are not what SQLite wrote; its own reason is kept."""
    return IndexUnusableError(path, f"is damaged ({error})", REBUILD)
