"""What the sources that are databases have in common: values as JSON, errors as reasons, a session read by itself.

Imports no source.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, TypeAlias

from persist.aster.importing.candidates import Candidate, Groups, Told
from persist.aster.importing.database import ForeignDatabase, ForeignFile
from persist.lines import decode

StreamFrom: TypeAlias = Callable[[ForeignDatabase, Told], Groups]


def read_again(
    agent: str, file: ForeignFile, told: Told, stream: StreamFrom, *, changed_at: str | None = None
) -> Candidate:
    """Return a session of a database as a candidate; the database is opened for each reading of it, and closed."""
    stood_still = True

    def read(told: Told) -> Groups:
        nonlocal stood_still
        with file.open() as database:
            try:
                yield from stream(database, told)
            finally:
                stood_still = database.stood_still()

    return Candidate(agent, file.path, told, read, changed_at=changed_at, knows_head=True, is_whole=lambda: stood_still)


def json_object(value: object) -> dict[str, Any] | None:
    """Return the object that a cell holds as JSON, text or bytes; ``None`` for anything else."""
    if isinstance(value, str):
        value = value.encode("utf-8", "replace")
    if not isinstance(value, bytes):
        return None
    try:
        found = decode(value)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def problem_of(error: OSError | sqlite3.Error) -> str:
    """Return why a database could not be read: SQLite's messages name tables and columns, never what is in them."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return f"it cannot be read as a database: {error}"
