"""Runs one statement of a person under the guard and returns its rows as plain, bounded values.

Plain ``sqlite3`` only; must never import SQLAlchemy, Alembic, pydantic or ulid. Output is gathered whole before it is
returned, so a statement that is stopped gives nothing rather than a part.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from index.errors import IndexUnusableError, QueryFailedError, QueryRefusedError, QueryTimeoutError
from index.guard import HEAP_LIMIT_BYTES, Deadline, Guarded, Watchdog, guarded
from index.results import Rows
from index.sqlite_errors import DAMAGED_CODES, REBUILD, UNREADABLE_CODES, primary_code
from index.statement_text import is_blank

LIMIT: Final = 100
MAX_CELL: Final = 1000
TIMEOUT_S: Final = 2.0

_WRITES: Final = {
    "cannot VACUUM": "VACUUM",
    "cannot modify": "changing a view",
    "attempt to write a readonly database": "writing",
}
"""How SQLite's message begins for statements that no authorizer is asked about, and what they are."""
_WORD: Final = re.compile(r"\w+")
_MASKED: Final = re.compile(r"…(?:\W*…)+")
_SQLITES_WORDS: Final = frozenset(
    """
    a aggregate all already ambiguous an and any argument arguments array as at bad be big binding bindings blob
    bound by call can cannot changed check clause column columns compound constant constraint context could current
    data database datatype decode default did different disk distinct does duplicate each element else empty end
    error escape exceeds execute exists expected expression file filter for found frame from fts5 full function
    functions group has have image in incomplete incorrect index infinite input instead integer interrupted into
    invalid is it join json key large left limit literal locked logic long malformed many match memory mismatch
    misuse more most must name named near negative nested no non nor not null number numbers of offset on one only
    open operator or order ordering ordinary out over overflow parameter parser passed path pattern phrase preceding
    prefix queries query range real recursion recursive reference referenced references requested result results
    right row rowid rows same schema select set short side simple single size special stack starting statement
    statements string sub such supplied supply support supported syntax table tables term terms test text than the
    time to token too transaction type types unable unbounded unknown unrecognized unsupported usage use used uses
    using value values view was window with within without wrong you
    """.split()  # noqa: SIM905 - words read better than a list of literals
)


class EmptyStatementError(QueryFailedError):
    """There is no statement: blank, or nothing but comments."""

    def __init__(self) -> None:
        self.reason = "it is empty"
        Exception.__init__(self, "there is no statement to run: blank, or nothing but comments")


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
    exact and equal column names are kept. ``parameters`` are bound by name. The time limit covers opening too.
    ``on_overrun`` is called in another thread 0.1 s after the limit if SQLite has still not come back; a one-shot
    process ends itself there (``index.guard.Watchdog``). ``heap_limit_bytes`` holds for the whole process, for good.

    Raises ``EmptyStatementError`` (before the index is opened), what ``open_reader`` raises, ``QueryRefusedError``
    naming what was denied, ``QueryTimeoutError``, and ``QueryFailedError`` for anything that SQLite cannot do, without
    any text from the index.
    """
    if is_blank(sql):
        raise EmptyStatementError
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
    if cursor.description is None:
        raise EmptyStatementError
    columns = tuple(column[0] for column in cursor.description)
    rows: list[tuple[Any, ...]] = []
    while len(rows) < limit and (row := cursor.fetchone()) is not None:
        rows.append(tuple(map(_plain, row)))
    cut_cells = cutter.has_cut
    more = cursor.fetchone() is not None if len(rows) == limit else False
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
    return QueryFailedError(without_foreign_words(reason, sql))


def without_foreign_words(reason: str, sql: str) -> str:
    """Return SQLite's message with ``…`` for every word that is neither SQLite's own nor in the statement.

    Some messages quote a value that was read (a JSON path, a full-text query): a transcript's text, which must not
    get into an error.
    """
    known = {word.casefold() for word in _WORD.findall(sql)} | _SQLITES_WORDS
    shown = _WORD.sub(lambda match: match[0] if match[0].casefold() in known else "…", reason)
    return _MASKED.sub("…", shown).rstrip(". ")
