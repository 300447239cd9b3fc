"""Turns what SQLite says of a busy, damaged or full index into the index's own errors.

Standard library only. Opening reads a few pages; damage further in shows when a statement meets it. Extended result
codes count as their primary ones (https://www.sqlite.org/rescode.html, "Primary Result Codes").
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from index.errors import IndexBusyError, IndexUnusableError, IndexWriteError

BUSY_TIMEOUT_MS: Final = 5000
"""How long a connection waits for another one's lock before SQLite gives up."""
REBUILD: Final = "run: asx rebuild"
BUSY_CODES: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
DAMAGED_CODES: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
UNREADABLE_CODES: Final = DAMAGED_CODES | {sqlite3.SQLITE_IOERR}
"""While reading, a failing disk is the same to a person as a damaged file: the cure is the same."""


def primary_code(error: BaseException | None) -> int:
    """Return SQLite's primary result code of an error, 0 where it has none."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF if isinstance(code, int) else 0


@contextmanager
def translate_read_errors(path: Path) -> Iterator[None]:
    """Read an index in this block: a damaged one raises ``IndexUnusableError``, a busy one ``IndexBusyError``.

    Any other error of SQLite is a mistake of ours and passes through.
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = primary_code(error)
        if code in BUSY_CODES:
            raise busy(path) from error
        if code in UNREADABLE_CODES:
            raise damaged(path, error) from error
        raise


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


def busy(path: Path) -> IndexBusyError:
    """Return the error for an index that another connection held for the whole time."""
    return IndexBusyError(path, BUSY_TIMEOUT_MS / 1000)


def damaged(path: Path, error: sqlite3.DatabaseError) -> IndexUnusableError:
    """Return the error for an index that SQLite cannot read; its own reason is kept."""
    return IndexUnusableError(path, f"is damaged ({error})", REBUILD)
