"""Turns what SQLite says of a damaged or busy index into the index's own errors.

Standard library only. Opening reads a few pages; damage further in shows when a statement meets it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from index.errors import IndexBusyError, IndexUnusableError
from index.opening import BUSY_TIMEOUT_MS

_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR})


@contextmanager
def damage_told(path: Path) -> Iterator[None]:
    """Read an index in this block: a damaged one raises ``IndexUnusableError``, a busy one ``IndexBusyError``.

    Any other error of SQLite is a mistake of ours and passes through.
    """
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary code; the rest of the number says where
        if code in _BUSY:
            raise IndexBusyError(path, BUSY_TIMEOUT_MS / 1000) from error
        if code in _DAMAGED:
            raise IndexUnusableError(path, f"is damaged ({error})", "run: asx rebuild") from error
        raise
