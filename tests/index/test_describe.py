"""``asx schema`` is the contract: every view and column is described, nothing else is, and the examples run."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from index.describe import EXAMPLES, describe
from index.query.run import run_query
from index.results import Report, Table
from migrations import GENERATION
from tests.index.filled import empty_index, never, sample_index

TABLES = {table.name: table for table in describe().tables}


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return empty_index(tmp_path_factory.mktemp("empty") / "index.sqlite")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    return sample_index(tmp_path_factory.mktemp("filled"), data)


def names(path: Path, where: str) -> set[str]:
    connection = sqlite3.connect(path)
    found = {name for (name,) in connection.execute(f"SELECT name FROM sqlite_master WHERE {where}")}
    connection.close()
    return found


def test_every_view_is_described_and_nothing_else(empty: Path) -> None:
    assert {name for name, table in TABLES.items() if table.kind == "view"} == names(empty, "type = 'view'")


def test_every_full_text_table_is_described_and_no_shadow_table(empty: Path) -> None:
    described = {name for name, table in TABLES.items() if table.kind == "fulltext"}
    assert described <= names(empty, "sql LIKE 'CREATE VIRTUAL TABLE%'")
    assert described == {"prompt_keys", "prose_keys", "prose_words"}


def test_names_are_described_once() -> None:
    assert len(TABLES) == len(describe().tables)
    assert len({example.name for example in EXAMPLES}) == len(EXAMPLES)
    assert describe().generation == GENERATION


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_columns_are_those_of_the_schema_with_their_types(empty: Path, table: Table) -> None:
    connection = sqlite3.connect(empty)
    found = [(name, kind) for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({table.name})")]
    connection.close()
    assert [column.name for column in table.columns] == [name for name, _ in found]
    declared = {name: kind for name, kind in found if kind}
    described = {column.name: column.type for column in table.columns if column.name in declared}
    assert described == declared


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_values_have_the_types_that_are_told(filled: Path, table: Table) -> None:
    connection = sqlite3.connect(filled)
    for column in table.columns:
        found = connection.execute(f'SELECT DISTINCT typeof("{column.name}") FROM {table.name}').fetchall()
        assert {kind for (kind,) in found} <= {"null", column.type.lower()}, column.name
    connection.close()


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_sentences_say_something(table: Table) -> None:
    assert table.about.endswith(".")
    assert all(column.about and not column.about.endswith(".") for column in table.columns)
    assert {column.type for column in table.columns} <= {"TEXT", "INTEGER", "REAL"}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_runs_without_rows_and_with(empty: Path, filled: Path, example: Report) -> None:
    without = run_query(empty, example.sql, on_overrun=never, timeout_s=20, heap_limit_bytes=None)
    with_rows = run_query(filled, example.sql, on_overrun=never, timeout_s=20, heap_limit_bytes=None)
    assert without.rows == ()
    assert without.columns == with_rows.columns
    assert len(set(with_rows.columns)) == len(with_rows.columns)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_reads_public_names_only(example: Report) -> None:
    named_inside = set(re.findall(r"(\w+) AS \(", example.sql))
    read = set(re.findall(r"\b(?:FROM|JOIN)\s+(\w+)", example.sql)) - named_inside
    assert read
    assert read <= set(TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_every_view_has_an_example(name: str) -> None:
    assert [example.name for example in EXAMPLES if re.search(rf"\b(?:FROM|JOIN)\s+{name}\b", example.sql)]


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_a_query_may_read_every_column_of_every_view(filled: Path, table: Table) -> None:
    """A view that calls a function which a query may not call would be refused for everyone."""
    columns = ", ".join(f'"{column.name}"' for column in table.columns)
    sql = f"SELECT {columns} FROM {table.name}"
    assert run_query(filled, sql, on_overrun=never, timeout_s=20, heap_limit_bytes=None).columns == tuple(
        column.name for column in table.columns
    )


def test_the_full_text_example_finds_by_folded_trigrams(filled: Path) -> None:
    connection = sqlite3.connect(filled)
    sql = next(example.sql for example in EXAMPLES if example.name == "prompts-holding-a-text")
    (text,) = connection.execute(
        "SELECT text FROM prompts WHERE length(text) > 20 AND text GLOB '[a-zA-Z]*'"
    ).fetchone()
    part = text.lower()[2:9]
    asked = " AND ".join('"' + part[at : at + 3].replace('"', '""') + '"' for at in range(5))
    sql = sql.replace("dep AND epl AND plo AND loy", asked.replace("'", "''"))
    sql = sql.replace("'deploy'", "'" + part.replace("'", "''") + "'")
    assert text in {row[3] for row in connection.execute(sql)}
    connection.close()
