"""Runs statements one after the other as ``asx query`` does, each under a guard of its own; a program for the fuzz.

Reads one JSON text a line from stdin and answers each with one line: how the statement ended. Given the name of a layer
as its last argument it takes that layer of the guard away first: so the fuzz is proved to see a guard with a hole.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from index.errors import AsterIndexError
from index.query import guard, guard_rules
from index.query import run as query
from tests.index.filled import never

TIMEOUT_S: Final = 20.0


def _allow(*actions: int) -> None:
    allows = guard_rules.Authorizer._allows

    def loosened(
        self: guard_rules.Authorizer, action: int, first: str | None, second: str | None, database: str | None
    ) -> bool:
        return not actions or action in actions or allows(self, action, first, second, database)

    guard_rules.Authorizer._allows = loosened  # type: ignore[method-assign]


def _without_statement(part: str) -> None:
    """Leave out the statements of the guard's preparation that hold ``part``."""
    prepare = guard._prepare

    def prepared(connection: sqlite3.Connection, heap_limit_bytes: int | None) -> frozenset[str]:
        class Skipping:
            def execute(self, sql: str) -> sqlite3.Cursor:
                return connection.execute("SELECT 1" if part in sql else sql)

        return prepare(Skipping(), heap_limit_bytes)  # type: ignore[arg-type]

    guard._prepare = prepared


def _writable() -> None:
    """Open the index for writing where the guard opens it for reading."""

    def opened(path: Path) -> sqlite3.Connection:
        return sqlite3.connect(path, isolation_level=None)

    setattr(guard, "open_reader", opened)  # noqa: B010 - the guard does not offer the name


def _without_limits() -> None:
    setattr(guard, "_LIMITS", ())  # noqa: B010 - a constant


LAYERS: Final[dict[str, tuple[Callable[[], None], ...]]] = {
    "all of the authorizer": (_allow,),
    "the functions": (lambda: _allow(sqlite3.SQLITE_FUNCTION),),
    "the pragmas": (lambda: _allow(sqlite3.SQLITE_PRAGMA),),
    "the tables": (lambda: _allow(sqlite3.SQLITE_READ, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_INSERT),),
    "transactions": (lambda: _allow(sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT),),
    "temporary tables": (lambda: _allow(sqlite3.SQLITE_CREATE_TEMP_VIEW, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_READ),),
    "the read-only file and the authorizer": (_allow, _writable, lambda: _without_statement("query_only")),
    "the transaction, the file and the limits": (
        _allow,
        _writable,
        _without_limits,
        lambda: _without_statement("query_only"),
        lambda: _without_statement("BEGIN"),
    ),
    "sorting in memory": (lambda: _without_statement("temp_store"),),
}
"""Parts of the guard that can be taken away, alone or together."""


def how_it_ends(index: Path, sql: str) -> str:
    """Return the name of the error that the statement raises, or ``answered``."""
    try:
        query.run_query(index, sql, timeout_s=TIMEOUT_S, on_overrun=never, heap_limit_bytes=None)
    except (AsterIndexError, sqlite3.Error) as error:
        return type(error).__name__
    return "answered"


def main(index: Path, layer: str | None) -> None:
    """Answer until stdin ends."""
    for remove in LAYERS[layer] if layer else ():
        remove()
    for line in sys.stdin:
        print(how_it_ends(index, json.loads(line)), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
