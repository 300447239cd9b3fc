"""Runs one statement of a person under the guard and returns its rows as plain, bounded values.

Plain ``sqlite3`` only; must never import SQLAlchemy, Alembic, pydantic or ulid. Output is gathered whole before it is
returned, so a statement that is stopped gives nothing rather than a part.
"""

from __future__ import annotations

import math
import re
import sqlite3
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from index.errors import IndexUnusableError, QueryFailedError, QueryRefusedError, QueryTimeoutError
from index.query.errors import (
    MAX_ANSWER_BYTES,
    AnswerTooLargeError,
    EmptyStatementError,
    SeveralStatementsError,
    StatementParametersError,
    where_it_is,
    without_foreign_words,
)
from index.query.guard import HEAP_LIMIT_BYTES, Deadline, Guarded, Watchdog, guarded
from index.query.statement_text import is_blank, parameter_names
from index.results import Rows
from index.sqlite_errors import DAMAGED_CODES, REBUILD, UNREADABLE_CODES, primary_code

LIMIT: Final = 100
MAX_CELL: Final = 1000
TIMEOUT_S: Final = 2.0

_WRITES: Final = {
    "cannot VACUUM": "VACUUM",
    "cannot modify": "changing a view",
    "attempt to write a readonly database": "writing",
}
"""How SQLite's message begins for statements that no authorizer is asked about, and what they are."""
_SEVERAL: Final = "You can only execute one statement"
_MISSING: Final = re.compile(r"You did not supply a value for binding parameter (.+?)\.?\Z", re.DOTALL)
_NAMELESS: Final = re.compile(r"Binding \d+ has no name")


def run_query(
    path: Path,
    sql: str,
    parameters: Mapping[str, object] | None = None,
    *,
    limit: int = LIMIT,
    max_cell: int = MAX_CELL,
    timeout_s: float = TIMEOUT_S,
    on_overrun: Callable[[], None],
    heap_limit_bytes: int | None = HEAP_LIMIT_BYTES,
) -> Rows:
    """Run ``sql`` on the index at ``path`` and return at most ``limit`` rows, texts cut to ``max_cell`` characters.

    Blobs become ``<blob N bytes>``, infinities and not-a-number ``None``, bytes that are not UTF-8 U+FFFD; integers are
    exact and equal column names are kept. ``parameters`` are bound by name, without the mark before it; ``None`` is
    null. The time limit covers opening too.
    ``on_overrun`` is called in another thread 0.1 s after the limit if SQLite has still not come back; a one-shot
    process ends itself there (``index.query.guard.Watchdog``). ``heap_limit_bytes`` holds for the whole process,
    for good.

    Raises ``EmptyStatementError`` and ``StatementParametersError`` (before the index is opened), what ``open_reader``
    raises, ``SeveralStatementsError``, ``QueryRefusedError`` naming what was denied, ``QueryTimeoutError``,
    ``AnswerTooLargeError`` over ``MAX_ANSWER_BYTES``, and ``QueryFailedError`` for anything that SQLite cannot do,
    without any text from the index.
    """
    if is_blank(sql):
        raise EmptyStatementError
    _check_names(sql, parameters or {})
    deadline = Deadline(timeout_s)
    with Watchdog(deadline, on_overrun) as watchdog, guarded(path, deadline, heap_limit_bytes) as guard:
        try:
            rows = _run(guard.connection, sql, parameters or {}, limit, max_cell)
        except MemoryError:
            raise QueryFailedError(
                "it needs more memory than a query may have; select fewer columns, or add LIMIT"
            ) from None
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
            raise _translate(error, path, sql, guard, deadline) from None
    if watchdog.has_fired:
        raise QueryTimeoutError(timeout_s)
    return rows


def _check_names(sql: str, parameters: Mapping[str, object]) -> None:
    """Refuse a value for a name that the statement does not have: a misspelt one would be passed over in silence."""
    names = parameter_names(sql)
    unknown = [name for name in parameters if name not in names]
    if unknown:
        has = f"it has {', '.join(f':{name}' for name in names)}" if names else "it has none"
        raise StatementParametersError(f"the statement has no parameter :{unknown[0]}; {has}")


class _TextCutter:
    """Turns SQLite's bytes into text of at most ``max_cell`` characters; ``has_cut`` tells that one was longer.

    It stands where sqlite3 makes its strings, so that a row of many long texts is never held whole.
    """

    def __init__(self, max_cell: int) -> None:
        self.has_cut = False
        self._max_cell = max_cell
        self._enough_bytes = 4 * max_cell + 4

    def __call__(self, data: bytes) -> str:
        if len(data) <= self._max_cell:
            return data.decode("utf-8", "replace")
        # A character has at most 4 bytes: these hold more than max_cell of them, none of those cut.
        text = data[: self._enough_bytes].decode("utf-8", "replace")
        if len(text) <= self._max_cell:
            return text
        self.has_cut = True
        return text[: self._max_cell]


def _run(connection: sqlite3.Connection, sql: str, parameters: Mapping[str, object], limit: int, max_cell: int) -> Rows:
    cutter = _TextCutter(max_cell)
    connection.text_factory = cutter
    cursor = connection.execute(sql, parameters)
    if cursor.description is None:  # no query, and done already: VACUUM temp is the one that SQLite lets through
        raise QueryRefusedError("a statement that gives no rows")
    columns = tuple(column[0] for column in cursor.description)
    rows: list[tuple[Any, ...]] = []
    taken_bytes = 0
    while len(rows) < limit and (row := cursor.fetchone()) is not None:
        plain = tuple(map(_plain, row))
        rows.append(plain)
        taken_bytes += sys.getsizeof(plain) + sum(map(sys.getsizeof, plain))
        if taken_bytes > MAX_ANSWER_BYTES:
            raise AnswerTooLargeError
    cut_cells = cutter.has_cut  # before a row is fetched that is not shown
    more = len(rows) == limit and cursor.fetchone() is not None
    return Rows(columns, tuple(rows), truncated_rows=more, truncated_cells=cut_cells)


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return f"<blob {len(value)} bytes>"
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _translate(error: Exception, path: Path, sql: str, guard: Guarded, deadline: Deadline) -> Exception:
    """Return the error of ours that a failure of sqlite3 comes to."""
    code = primary_code(error)
    if code == sqlite3.SQLITE_INTERRUPT and deadline.is_over:
        return QueryTimeoutError(deadline.timeout_s)
    if guard.authorizer.denials:
        return QueryRefusedError(guard.authorizer.denials[0])
    reason = str(error)
    if reason.startswith(_SEVERAL):
        return SeveralStatementsError()
    if missing := _MISSING.match(reason):
        name = missing[1]
        return StatementParametersError(f"the statement needs a value for {name}; give -p {name.lstrip(':@$#?')}=VALUE")
    if _NAMELESS.match(reason):
        return StatementParametersError("a ? has no name to bind it by; write :name and give -p name=VALUE")
    for beginning, what in _WRITES.items():
        if reason.startswith(beginning):
            return QueryRefusedError(what)
    name = getattr(error, "sqlite_errorname", code)  # named by its code: the message may quote what was read
    if code in DAMAGED_CODES:
        return IndexUnusableError(path, f"is damaged ({name})", REBUILD)
    if code in UNREADABLE_CODES:
        return IndexUnusableError(path, f"cannot be read ({name})", "check the disk")
    if isinstance(error, UnicodeError):
        return QueryFailedError("it holds characters that are not valid Unicode")
    told = without_foreign_words(reason, sql)
    return QueryFailedError(told + where_it_is(told))
