"""What a guarded statement may do, as SQLite's authorizer sees it: a list of what is allowed, all else is denied.

Pure but for the record of denials; ``index.query.guard`` puts it on the connection. Action codes and what their
arguments mean: https://www.sqlite.org/c3ref/c_alter_table.html.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

_SCALARS: Final = """
    -> ->> abs acos acosh asin asinh atan atan2 atanh ceil ceiling char coalesce concat concat_ws cos cosh degrees exp
    floor glob hex if ifnull iif instr julianday length like likelihood likely ln log log10 log2 lower ltrim max min mod
    nullif octet_length pi pow power quote radians random replace round rtrim sign sin sinh soundex sqlite_source_id
    sqlite_version sqrt string_agg substr substring tan tanh trim trunc typeof unhex unicode unlikely upper
    current_date current_time current_timestamp date datetime strftime time timediff unixepoch
"""
_AGGREGATES_AND_WINDOWS: Final = """
    avg count group_concat median percentile percentile_cont percentile_disc sum total cume_dist dense_rank first_value
    lag last_value lead nth_value ntile percent_rank rank row_number
"""
_JSON: Final = """
    json json_array json_array_length json_error_position json_extract json_group_array json_group_object json_insert
    json_object json_patch json_pretty json_quote json_remove json_replace json_set json_type json_valid subtype
"""
_FULL_TEXT: Final = "bm25 highlight match snippet"

FUNCTIONS: Final = frozenset(f"{_SCALARS} {_AGGREGATES_AND_WINDOWS} {_JSON} {_FULL_TEXT}".split())
"""The functions that a statement may call, in lower case. Left out on purpose: ``printf`` and ``format`` (one call with
a width runs for seconds), ``zeroblob`` and ``randomblob`` (memory), ``load_extension``, ``fts3_tokenizer``, ``fts5``
(they give or take raw pointers), ``sqlite_log``, and everything that a build may have added."""

_INSTEAD: Final = {
    "printf": "; use round() and ||",
    "format": "; use round() and ||",
}

_PRAGMAS_WITHOUT_VALUE: Final = frozenset({"data_version", "table_list"})
"""FTS5 itself asks for ``data_version`` with each MATCH."""
_PRAGMAS_OF_A_TABLE: Final = frozenset({"table_info", "table_xinfo", "table_list"})
_SCHEMA_TABLES: Final = frozenset({"sqlite_schema", "sqlite_master"})

_ALWAYS: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE})
_NAMES: Final = {
    sqlite3.SQLITE_CREATE_INDEX: "CREATE INDEX",
    sqlite3.SQLITE_CREATE_TABLE: "CREATE TABLE",
    sqlite3.SQLITE_CREATE_TEMP_INDEX: "CREATE INDEX",
    sqlite3.SQLITE_CREATE_TEMP_TABLE: "CREATE TEMP TABLE",
    sqlite3.SQLITE_CREATE_TEMP_TRIGGER: "CREATE TEMP TRIGGER",
    sqlite3.SQLITE_CREATE_TEMP_VIEW: "CREATE TEMP VIEW",
    sqlite3.SQLITE_CREATE_TRIGGER: "CREATE TRIGGER",
    sqlite3.SQLITE_CREATE_VIEW: "CREATE VIEW",
    sqlite3.SQLITE_CREATE_VTABLE: "CREATE VIRTUAL TABLE",
    sqlite3.SQLITE_DELETE: "DELETE FROM",
    sqlite3.SQLITE_DROP_INDEX: "DROP INDEX",
    sqlite3.SQLITE_DROP_TABLE: "DROP TABLE",
    sqlite3.SQLITE_DROP_TEMP_INDEX: "DROP INDEX",
    sqlite3.SQLITE_DROP_TEMP_TABLE: "DROP TABLE",
    sqlite3.SQLITE_DROP_TEMP_TRIGGER: "DROP TRIGGER",
    sqlite3.SQLITE_DROP_TEMP_VIEW: "DROP VIEW",
    sqlite3.SQLITE_DROP_TRIGGER: "DROP TRIGGER",
    sqlite3.SQLITE_DROP_VIEW: "DROP VIEW",
    sqlite3.SQLITE_DROP_VTABLE: "DROP TABLE",
    sqlite3.SQLITE_INSERT: "INSERT INTO",
    sqlite3.SQLITE_UPDATE: "UPDATE",
    sqlite3.SQLITE_PRAGMA: "PRAGMA",
    sqlite3.SQLITE_READ: "reading",
    sqlite3.SQLITE_FUNCTION: "the function",
    sqlite3.SQLITE_TRANSACTION: "transaction",
    sqlite3.SQLITE_SAVEPOINT: "SAVEPOINT",
    sqlite3.SQLITE_ATTACH: "ATTACH",
    sqlite3.SQLITE_DETACH: "DETACH",
    sqlite3.SQLITE_ALTER_TABLE: "ALTER TABLE",
    sqlite3.SQLITE_REINDEX: "REINDEX",
    sqlite3.SQLITE_ANALYZE: "ANALYZE",
}
_WRITES: Final = frozenset({sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE})
_WITHOUT_OBJECT: Final = frozenset({sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH})
_SECOND_IS_OBJECT: Final = frozenset({sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_ALTER_TABLE, sqlite3.SQLITE_SAVEPOINT})


class Authorizer:
    """Allows reading ``tables`` and nothing else; ``denials`` are sentences' subjects, in order, first the cause.

    SQLite reports a denial with half a dozen different messages, so the record here is what tells a refusal from
    a mistake.
    """

    def __init__(self, tables: frozenset[str]) -> None:
        self.denials: list[str] = []
        self._tables = tables | _SCHEMA_TABLES

    def __call__(
        self, action: int, first: str | None, second: str | None, database: str | None, _view: str | None
    ) -> int:
        """Answer SQLite; called while a statement is compiled, also for FTS5's own statements."""
        if self._allows(action, first, second, database):
            return sqlite3.SQLITE_OK
        self.denials.append(_denial(action, first, second))
        return sqlite3.SQLITE_DENY

    def _allows(self, action: int, first: str | None, second: str | None, database: str | None) -> bool:
        if action in _ALWAYS:
            return True
        if action == sqlite3.SQLITE_READ:
            # An empty column: a count over a common table expression is reported as a read of its name.
            return not second or (first in self._tables and database in ("main", None))
        if action == sqlite3.SQLITE_FUNCTION:
            return second is not None and second.lower() in FUNCTIONS
        if action == sqlite3.SQLITE_PRAGMA and first is not None:
            return first.lower() in (_PRAGMAS_OF_A_TABLE if second is not None else _PRAGMAS_WITHOUT_VALUE)
        return False


def virtual_tables(schema: Iterable[tuple[str, str | None]]) -> list[str]:
    """Return the names of the virtual tables among (name, sql) pairs of ``sqlite_schema``, in order."""
    return [name for name, sql in schema if sql and sql.upper().startswith("CREATE VIRTUAL TABLE")]


def _denial(action: int, first: str | None, second: str | None) -> str:
    what = _NAMES.get(action, f"action {action}")
    if action in _WRITES and first in _SCHEMA_TABLES:
        # SQLite asks this both for CREATE and for connecting a virtual table that was not touched before.
        return "changing the schema, or reading a table that is not of the index"
    if action in _WITHOUT_OBJECT:
        return what  # the argument is a path
    subject = (second if action in _SECOND_IS_OBJECT else first) or ""
    if action == sqlite3.SQLITE_TRANSACTION:
        return subject or what
    instead = _INSTEAD.get(subject.lower(), "") if action == sqlite3.SQLITE_FUNCTION else ""
    return f"{what} {subject}{instead}".strip()
