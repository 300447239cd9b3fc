"""Every statement by which words are looked for has a good plan, over all families of texts and their filters."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from index.creating import create_index
from index.fields import SEARCHED
from index.search import Filters, statements, word_statements
from index.search.scope import read_scope
from index.search.statements import Statement
from tests import builders as make
from tests.index.search.test_plans import FULL_TEXT, assert_good

TABLES = ("prompt_keys", "prose_keys")
FILTERS = (
    Filters(),
    Filters(since=make.at(3), until=make.at(35)),
    Filters(agents=("aster",), project="/a/b", below=True, since=make.at(1)),
    Filters(roles=("user", "agent"), branch="main", main_only=True),
)


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path: Path = tmp_path_factory.mktemp("plans") / "index.sqlite"
    create_index(path)
    with closing(sqlite3.connect(path)) as connection:
        for table in TABLES:
            connection.execute(
                f"CREATE VIRTUAL TABLE temp.{table}_instance USING fts5vocab('main', '{table}', 'instance')"
            )
        yield connection


def asking() -> Iterator[Statement]:
    """Yield each statement that asks full text, in each form."""
    yield word_statements.ranked_ids('"heron"', None)
    for table in TABLES:
        yield word_statements.ranked_ids('"heron"', table)
        yield word_statements.scored_keys('"heron"', table)
        yield word_statements.proposed_keys(statements.proposed_ids(table, '"her" AND "ero"'), table)


@pytest.mark.parametrize("filters", FILTERS)
def test_words_in_any_order(filters: Filters, schema: sqlite3.Connection) -> None:
    scope = read_scope(schema, tuple(SEARCHED), filters)
    for family in scope.families:
        for table in (None, *TABLES):
            statement = word_statements.any_texts(family, scope, '"heron"', table)
            steps = assert_good(schema, *statement)
            assert steps[0].table in FULL_TEXT


@pytest.mark.parametrize("statement", list(asking()))
def test_full_text_drives_and_is_asked_once(statement: Statement, schema: sqlite3.Connection) -> None:
    steps = assert_good(schema, *statement)
    assert [step.table in FULL_TEXT for step in steps if step.detail.startswith("SCAN")] == [True]
    assert all("INTEGER PRIMARY KEY" in step.detail for step in steps if step.detail.startswith("SEARCH"))


@pytest.mark.parametrize("table", TABLES)
def test_a_short_prefix_reads_trigrams_once(table: str, schema: sqlite3.Connection) -> None:
    ids = statements.ids_of_trigrams(table, "he", "he\U0010ffff")
    details = [step.detail for step in assert_good(schema, *word_statements.proposed_keys(ids, table))]
    assert sum("VIRTUAL TABLE" in detail for detail in details) == 1


@pytest.mark.parametrize("filters", FILTERS)
def test_texts_are_looked_up_by_id(filters: Filters, schema: sqlite3.Connection) -> None:
    scope = read_scope(schema, tuple(SEARCHED), filters)
    assert scope.families
    for family in scope.families:
        steps = assert_good(schema, *word_statements.texts_with_ids(family, scope, [1, 2, 3]))
        assert any("p USING INTEGER PRIMARY KEY" in step.detail for step in steps)
