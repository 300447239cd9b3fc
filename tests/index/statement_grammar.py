"""Statements made from the productions of SQLite's grammar (https://www.sqlite.org/lang.html), by a seeded generator.

Pure: a seed gives the same statements on every machine with the same SQLite. Each says whether it may be answered: a
query of the views may, whatever else is written may not. What SQLite knows (pragmas, modules, functions) is asked of
the SQLite that runs, so that a newer one is tried with all it has.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final


class Fate(Enum):
    """What may become of a statement."""

    ANSWERED = "answered, or failed as SQLite fails; never refused"
    HARMLESS = "answered, refused or failed"
    NEVER_ANSWERED = "refused or failed"


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, and what may become of it."""

    sql: str
    fate: Fate


ALLOWED_PRAGMAS: Final = frozenset({"table_info", "table_xinfo", "table_list", "data_version"})
"""Written down by hand, not taken from the guard: they only read the schema or a counter."""
ALLOWED_MODULES: Final = frozenset({"json_each", "json_tree"})
OLD_PRAGMAS: Final = (
    "activate_extensions", "data_store_directory", "hexkey", "hexrekey", "key", "lock_proxy_file", "lock_status",
    "rekey", "sql_trace", "stats", "textkey", "vdbe_addoptrace", "vdbe_debug", "vdbe_listing", "vdbe_trace",
    "parser_trace", "no_such_pragma",
)  # fmt: skip
"""Pragmas that only some builds know."""
FUNCTIONS: Final = (
    "load_extension", "readfile", "writefile", "edit", "eval", "fts3_tokenizer", "fts5", "sqlite_log", "printf",
    "format", "zeroblob", "randomblob", "sqlite_compileoption_get", "fts5_decode", "fts5_rowid", "rtreenode",
    "sqlite_offset", "shell_putsnl", "fsdir", "lsmode", "zipfile", "sha3_query", "unknown_function",
    "last_insert_rowid", "changes", "total_changes", "set_config", "fts5_expr", "matchinfo", "offsets", "optimize",
    "rtreecheck",
    "snapshot_get", "sqlite_rename_table", "sqlite_drop_column", "fts5_api_from_db", "backup",
)  # fmt: skip
MODULES: Final = (
    "fts3", "fts4", "fts5", "rtree", "rtree_i32", "geopoly", "dbstat", "sqlite_dbpage", "sqlite_stmt", "bytecode",
    "tables_used", "csv", "fsdir", "zipfile", "generate_series", "completion", "fts3tokenize", "fts4aux", "fts5vocab",
    "sqlite_dbdata", "sqlite_memstat", "unionvtab", "swarmvtab", "carray",
)  # fmt: skip
VALUES: Final = (
    "0", "1", "-1", "ON", "OFF", "FULL", "1000", "'wal'", "delete", "TRUNCATE", "memory", "'UTF-16'", "exclusive",
    "'./evil'", "events", "meta", "prompt_keys", "x'00'", "9223372036854775807",
)  # fmt: skip
COMMANDS: Final = (
    "'optimize'", "'rebuild'", "'integrity-check'", "'delete-all'", "'delete'", "'automerge'", "'crisismerge'",
    "'pgsz'", "'rank'", "'merge'", "'usermerge'", "'secure-delete'", "'flush'",
)  # fmt: skip
VIEW_COLUMNS: Final = ("session_id", "agent", "ts", "sort_ts", "text", "text_len", "event_index")
SEARCHED: Final = ("events", "prompts", "answers", "thinking", "tool_results", "tool_errors", "user_messages")
_BLANKS: Final = (" ", "\n", "\t", "  ", "\r\n", "\f", "/**/", " /* ; */ ", "--\n", " -- '\n")
_ODD_BLANKS: Final = ("\u00a0", "\u2003", "\ufeff", "\u200b", "\u3000", "\v")


class Grammar:
    """Productions over the names of one index, drawn from one seeded source."""

    def __init__(self, index: Path, seed: int) -> None:
        self._draw = random.Random(seed)  # noqa: S311 - the same statements for the same seed
        with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as connection:
            schema = connection.execute("SELECT type, name, sql FROM sqlite_schema").fetchall()
            self.pragmas = sorted({name for (name,) in connection.execute("PRAGMA pragma_list")} | set(OLD_PRAGMAS))
            modules = {name for (name,) in connection.execute("PRAGMA module_list")}
            known = {name for (name,) in connection.execute("SELECT name FROM pragma_function_list")}
        self.modules = sorted((modules | set(MODULES)) - {name for name in modules if name.startswith("pragma_")})
        self.known_functions = sorted(known)
        self.views = [name for kind, name, _ in schema if kind == "view"]
        self.tables = [name for kind, name, _ in schema if kind == "table"]
        self.fulltext = [name for _, name, sql in schema if sql and sql.upper().startswith("CREATE VIRTUAL")]
        self.indexes = [name for kind, name, _ in schema if kind == "index"]

    def every_pragma(self) -> Iterator[Statement]:
        """Give each pragma in each of its forms, once."""
        for name in self.pragmas:
            for form in ("PRAGMA {}", "PRAGMA {} = 1", "PRAGMA {}(0)", "PRAGMA main.{}", "PRAGMA temp.{} = 1"):
                yield self._pragma(form, name)
            for form in (
                "SELECT * FROM pragma_{}",
                "SELECT count(*) FROM pragma_{}",
                "SELECT * FROM pragma_{}('meta')",
            ):
                yield self._pragma(form, name)

    def every_module(self) -> Iterator[Statement]:
        """Give each virtual table module read and made, once."""
        for name in self.modules:
            allowed = Fate.ANSWERED if name in ALLOWED_MODULES else Fate.NEVER_ANSWERED
            if name not in self.fulltext:
                yield Statement(f"SELECT * FROM {name}", allowed)
                yield Statement(f"SELECT count(*) FROM {name}", allowed)
                yield Statement(f"SELECT 1 FROM {name}('main', 'meta') LIMIT 1", allowed)
            for place in ("", "temp.", "main."):
                yield Statement(f"CREATE VIRTUAL TABLE {place}v USING {name}(a, b)", Fate.NEVER_ANSWERED)

    def every_unlisted_function(self, listed: frozenset[str]) -> Iterator[Statement]:
        """Give a call of each function that SQLite or another program has and that is not ``listed``."""
        for name in sorted({*self.known_functions, *FUNCTIONS} - listed):
            for arguments in ("", "1", "'x'", "'./evil', 'y'", "'x', 1, 2"):
                yield Statement(f"SELECT {_quoted(name)}({arguments})", Fate.NEVER_ANSWERED)

    def statements(self, count: int) -> Iterator[Statement]:
        """Give ``count`` drawn statements of every kind, nested and disguised."""
        kinds: Sequence[Callable[[], Statement]] = (
            self._drawn_pragma,
            self._file,
            self._schema_change,
            self._row_change,
            self._row_change,
            self._full_text,
            self._transaction,
            self._function,
            self._nested,
            self._query,
            self._query,
        )
        for _ in range(count):
            yield self._disguised(self._draw.choice(kinds)())

    def _pragma(self, form: str, name: str) -> Statement:
        fate = Fate.HARMLESS if name in ALLOWED_PRAGMAS else Fate.NEVER_ANSWERED
        return Statement(form.format(name), fate)

    def _drawn_pragma(self) -> Statement:
        value = self._one(VALUES)
        form = self._one(
            (
                "PRAGMA {}",
                f"PRAGMA {{}} = {value}",
                f"PRAGMA {{}}({value})",
                f"PRAGMA main.{{}} = {value}",
                f"PRAGMA temp.{{}}({value})",
                'PRAGMA "{}"',
                f"SELECT * FROM pragma_{{}}({_as_text(value)})",
                "WITH c AS (SELECT * FROM pragma_{}) SELECT count(*) FROM c",
            )
        )
        return self._pragma(form, self._one(self.pragmas))

    def _file(self) -> Statement:
        name = self._one(("'evil.sqlite'", "':memory:'", "''", "'file:evil?mode=rwc'", "'file:x?vfs=memdb'", "x'00'"))
        sql = self._one(
            (
                f"ATTACH {name} AS other",
                f"ATTACH DATABASE {name} AS main",
                f"ATTACH {name} AS x KEY 'k'",
                "DETACH main",
                "DETACH DATABASE temp",
                "DETACH other",
                "VACUUM",
                "VACUUM main",
                "VACUUM temp",
                f"VACUUM INTO {name}",
                f"VACUUM main INTO {name}",
                "VACUUM INTO (SELECT path FROM sources LIMIT 1)",
            )
        )
        return self._never(sql)

    def _schema_change(self) -> Statement:
        table, view, name = self._one(self.tables), self._one(self.views), self._one((*self.tables, "fresh"))
        temp, maybe = self._one(("", "TEMP ", "TEMPORARY ")), self._one(("", "IF NOT EXISTS "))
        place = self._one(("", "main.", "temp."))
        when = self._one(("BEFORE", "AFTER", "INSTEAD OF"))
        act = self._one(("INSERT", "UPDATE", "DELETE", "UPDATE OF text"))
        kind = self._one(("TABLE", "VIEW", "INDEX", "TRIGGER"))
        sql = self._one(
            (
                f"CREATE {temp}TABLE {maybe}{name} (a)",
                f"CREATE {temp}TABLE {maybe}{place}fresh AS SELECT * FROM {view}",
                f"CREATE TABLE t (a DEFAULT (load_extension('x')), b AS (a + 1) STORED) {self._one(('', 'STRICT'))}",
                f"CREATE {temp}VIEW {maybe}{name} AS SELECT * FROM {view}",
                f"CREATE {self._one(('', 'UNIQUE '))}INDEX {maybe}{place}i ON {table} (rowid)",
                f"CREATE INDEX i ON {table} (1) WHERE 1",
                f"CREATE {temp}TRIGGER {maybe}{place}t {when} {act} ON {self._one((table, view))} "
                f"BEGIN DELETE FROM meta; SELECT 1; END",
                f"CREATE VIRTUAL TABLE {maybe}{place}v USING {self._one(self.modules)}(a)",
                f"DROP {kind} {self._one(('', 'IF EXISTS '))}{place}"
                f"{self._one((*self.tables, *self.views, *self.indexes))}",
                f"ALTER TABLE {self._one((table, view))} RENAME TO other",
                f"ALTER TABLE {table} ADD COLUMN extra",
                f"ALTER TABLE {table} DROP COLUMN rowid",
                f"ALTER TABLE {table} RENAME COLUMN id TO other",
                f"REINDEX {self._one(('', table, 'NOCASE', *self.indexes))}",
                f"ANALYZE {self._one(('', 'main', table, 'sqlite_schema'))}",
            )
        )
        # "IF EXISTS" of what is not there, and "IF NOT EXISTS" of what is, are statements without work to do.
        idle = "IF EXISTS" in sql or "IF NOT EXISTS" in sql
        return Statement(sql, Fate.HARMLESS) if idle else self._never(sql)

    def _row_change(self) -> Statement:
        table = self._one((*self.tables, *self.views, "sqlite_schema", "sqlite_master", "sqlite_temp_schema"))
        lead = self._one(
            (
                "",
                "",
                "WITH c AS (SELECT 1) ",
                "WITH RECURSIVE c(n) AS (SELECT 1 UNION SELECT n FROM c) ",
                "WITH c AS MATERIALIZED (SELECT * FROM meta) ",
            )
        )
        end = self._one(("", "", " RETURNING *", " RETURNING rowid, 1"))
        conflict = self._one(("", "OR REPLACE ", "OR IGNORE ", "OR ROLLBACK ", "OR ABORT ", "OR FAIL "))
        sql = self._one(
            (
                f"INSERT {conflict}INTO {table} DEFAULT VALUES{end}",
                f"INSERT {conflict}INTO {table} SELECT * FROM {table}",
                f"INSERT INTO meta VALUES ('a', 'b') ON CONFLICT DO NOTHING{end}",
                f"INSERT INTO meta VALUES ('a', 'b') ON CONFLICT (key) DO UPDATE SET value = excluded.value{end}",
                f"REPLACE INTO meta VALUES ('a', 'b'){end}",
                f"DELETE FROM {table}{end}",
                f"DELETE FROM {table} WHERE rowid IN (SELECT 1)",
                f"DELETE FROM {table} ORDER BY 1 LIMIT 1",
                f"UPDATE {conflict}{table} SET rowid = 1{end}",
                "UPDATE meta SET value = 'x' WHERE key IN (SELECT key FROM meta)",
                "UPDATE meta SET (key, value) = (SELECT 'a', 'b') FROM sources",
                "UPDATE sqlite_schema SET sql = 'CREATE VIEW events AS SELECT load_extension(1)' WHERE name = 'events'",
                f"DELETE FROM main.{table} INDEXED BY none",
            )
        )
        return self._never(lead + sql)

    def _full_text(self) -> Statement:
        table, command = self._one(self.fulltext), self._one(COMMANDS)
        shadow = f"{table}_{self._one(('data', 'idx', 'content', 'docsize', 'config'))}"
        sql = self._one(
            (
                f"INSERT INTO {table}({table}) VALUES ({command})",
                f"INSERT INTO {table}({table}, rank) VALUES ({command}, 1)",
                f"INSERT INTO {table}({table}, rank) VALUES ('rank', 'bm25(10.0)')",
                f"INSERT INTO {table}({table}, rowid, key) VALUES ('delete', 1, 'x')",
                f"UPDATE {table} SET rowid = rowid",
                f"DELETE FROM {table} WHERE {table} MATCH 'the'",
                f"INSERT INTO {shadow} SELECT * FROM {shadow}",
                f"DELETE FROM {shadow}",
                f"UPDATE {shadow} SET rowid = 5",
                f"DROP TABLE {shadow}",
            )
        )
        return self._never(sql)

    def _transaction(self) -> Statement:
        kind = self._one(("", " DEFERRED", " IMMEDIATE", " EXCLUSIVE"))
        sql = self._one(
            (
                f"BEGIN{kind} TRANSACTION",
                f"BEGIN{kind}",
                "COMMIT",
                "END TRANSACTION",
                "ROLLBACK",
                "SAVEPOINT s",
                "RELEASE s",
                "ROLLBACK TO s",
                "ROLLBACK TRANSACTION TO SAVEPOINT s",
            )
        )
        return self._never(sql)

    def _function(self) -> Statement:
        call = f"{self._one(FUNCTIONS)}({self._one(('', '1', chr(39) + './evil' + chr(39), 'text', 'NULL, 1'))})"
        return self._never(self._around(call))

    def _nested(self) -> Statement:
        """A read of what may not be read, below something that may."""
        pragma = self._one([name for name in self.pragmas if name not in ALLOWED_PRAGMAS])
        module = self._one([name for name in self.modules if name not in ALLOWED_MODULES and name not in self.fulltext])
        return self._never(self._around(f"(SELECT count(*) FROM {self._one((f'pragma_{pragma}', module))})"))

    def _around(self, value: str) -> str:
        return self._one(
            (
                f"SELECT {value}",
                f"VALUES (1), ({value})",
                f"SELECT 1 FROM prompts WHERE {value}",
                f"SELECT 1 FROM prompts ORDER BY {value}",
                f"SELECT count(*) FROM prompts GROUP BY {value}",
                f"SELECT agent FROM prompts GROUP BY agent HAVING {value} IS NULL",
                f"SELECT sum(1) OVER (ORDER BY {value}) FROM prompts",
                f"SELECT max(1) FILTER (WHERE {value}) FROM prompts",
                f"WITH c(v) AS (SELECT {value}) SELECT * FROM c, c AS d",
                f"SELECT 1 UNION ALL SELECT {value}",
                f"SELECT CASE WHEN 0 THEN {value} ELSE 1 END",
                f"SELECT 1 LIMIT {value}",
                f"SELECT json_extract('[1]', {value})",
                f"SELECT * FROM json_each(json_array({value}))",
                f"SELECT EXISTS (SELECT 1 WHERE {value})",
                f"SELECT 1 FROM prompts p JOIN answers a ON {value}",
                f"SELECT rowid FROM prompt_keys WHERE prompt_keys MATCH {value}",
                f"SELECT (SELECT (SELECT {value}))",
            )
        )

    def _query(self) -> Statement:
        """A query of the views that a person might ask: it must not be refused."""
        source, column, other = self._one(SEARCHED), self._one(VIEW_COLUMNS), self._one(VIEW_COLUMNS)
        where = self._one(
            (
                "",
                f" WHERE {column} IS NOT NULL",
                " WHERE text LIKE '%delete from%'",
                " WHERE agent IN ('aster', 'aether')",
                " WHERE sort_ts >= date('now', '-7 days')",
                f" WHERE {column} BETWEEN 'a' AND 'z' OR NOT text_len > 5",
            )
        )
        sql = self._one(
            (
                f"SELECT {column}, {other} FROM {source}{where} ORDER BY 1 DESC, 2 LIMIT 5 OFFSET 1",
                f"SELECT {column}, count(*) AS n FROM {source}{where} GROUP BY 1 HAVING n > 0 ORDER BY n DESC",
                f"WITH c AS (SELECT * FROM {source}{where}) SELECT count(*), max({column}) FROM c",
                f"SELECT DISTINCT {column} FROM {source} EXCEPT SELECT {other} FROM prompts",
                f"SELECT rank() OVER (PARTITION BY agent ORDER BY {column}), lag(text) OVER () FROM {source}{where}",
                f"SELECT s.title FROM sessions s LEFT JOIN {source} e USING (agent, session_id)",
                f"SELECT json_group_object(agent, {column}), group_concat({other}, ';') FROM {source}",
                "SELECT rowid, bm25(prose_words) FROM prose_words WHERE prose_words MATCH 'drop OR a' ORDER BY rank",
                f"SELECT * FROM {self._one((*self.views, *self.tables))} LIMIT 3",
                f"SELECT upper(substr({column}, 1, 5)) || 'PRAGMA' FROM {source} WHERE EXISTS (SELECT 1 FROM sessions)",
                "VALUES ('ATTACH'), ('; DROP TABLE x; --')",
                "WITH RECURSIVE r(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 20) SELECT sum(n) FROM r",
            )
        )
        return Statement(self._one(("", "", "", "EXPLAIN ", "EXPLAIN QUERY PLAN ")) + sql, Fate.ANSWERED)

    def _never(self, sql: str) -> Statement:
        explained = self._one(("", "", "", "", "EXPLAIN ", "EXPLAIN QUERY PLAN "))
        # No authorizer is asked about VACUUM, nor about what has nothing to do; explained, they list opcodes.
        harmless = explained and sql.startswith(("VACUUM", "REINDEX"))
        return Statement(explained + sql, Fate.HARMLESS if harmless else Fate.NEVER_ANSWERED)

    def _disguised(self, statement: Statement) -> Statement:
        """Change what must not matter: case, blanks, comments, what stands before and after."""
        sql, fate = statement.sql, statement.fate
        if self._draw.random() < 0.5:
            sql = _outside_quotes(sql, lambda part: "".join(self._one((c.upper(), c.lower())) for c in part))
        if self._draw.random() < 0.5:
            sql = _outside_quotes(sql, lambda part: "".join(self._one(_BLANKS) if c == " " else c for c in part))
        if self._draw.random() < 0.05:
            blank = self._one(_ODD_BLANKS)
            sql = _outside_quotes(sql, lambda part: part.replace(" ", blank, 1))
        end = self._one(("", "", "", ";", " ; ", " -- ; SELECT", "/* open"))
        lead = self._one(("", "", "", "\ufeff", "-- a\n", "/* b */", "\n\t"))
        if self._draw.random() < 0.03:
            lead, fate = self._one((";", "SELECT 1;", "/**/;")), _worse(fate)
        if self._draw.random() < 0.03:
            end, fate = self._one(("; SELECT 1", ";;DELETE FROM meta", ";\0")), _worse(fate)
        return Statement(lead + sql + end, fate)

    def _one(self, choices: Sequence[str]) -> str:
        return self._draw.choice(choices)


def _worse(fate: Fate) -> Fate:
    return Fate.HARMLESS if fate is Fate.ANSWERED else fate


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _as_text(value: str) -> str:
    return value if value.startswith(("'", "x'")) else f"'{value}'"


def _outside_quotes(sql: str, change: Callable[[str], str]) -> str:
    parts = sql.split("'")
    return "'".join(part if at % 2 else change(part) for at, part in enumerate(parts))
