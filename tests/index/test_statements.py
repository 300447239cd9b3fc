"""Every SQL statement that a module of the index keeps as a constant is one that the schema answers.

Found by looking at the modules, so that a new one is checked the day it is written; a name that a column or a table
lost fails here and not in a run that happens to need it.
"""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from index import statements
from index.recall.turn_counts import VOCABULARIES
from tests.conftest import REPOSITORY

INDEX: Final = REPOSITORY / "index"
MODULES: Final = sorted(
    ".".join(path.relative_to(INDEX).with_suffix("").parts) for path in INDEX.rglob("*.py") if path.stem != "__init__"
)
OF_ANOTHER_DATABASE: Final = "search.words."
"""Statements for a database in memory, which has tables of its own."""
STATEMENT: Final = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|REPLACE|WITH)\b.*\b", re.DOTALL)
QUOTED: Final = re.compile(r"'(?:[^']|'')*'")
AT_LEAST: Final = 60


def texts_of(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from texts_of(one)
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from texts_of(one)


def statements_of(module: str) -> dict[str, str]:
    """Return the statements among a module's own constants, by name; parts of statements and templates are left out."""
    found: dict[str, str] = {}
    for name, value in vars(import_module(f"index.{module}")).items():
        if name.startswith("__") or not name.isupper():
            continue
        for number, text in enumerate(texts_of(value)):
            if STATEMENT.match(text) and "{" not in text and len(text.split()) > 2:
                found[f"{module}.{name}[{number}]"] = text
    return found


STATEMENTS: Final = {
    place: text
    for module in MODULES
    for place, text in statements_of(module).items()
    if not place.startswith(OF_ANOTHER_DATABASE)
}


@pytest.fixture(scope="module")
def schema(empty_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    copy = tmp_path_factory.mktemp("statements") / "index.sqlite"
    copy.write_bytes(empty_index.read_bytes())
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        for create in (*statements.TOUCHED_TABLES, *VOCABULARIES):
            connection.execute(create)
        yield connection


@pytest.mark.parametrize("place", STATEMENTS)
def test_the_schema_answers(place: str, schema: sqlite3.Connection) -> None:
    sql = STATEMENTS[place]
    positions = QUOTED.sub("", sql).count("?")
    values: object = [None] * positions if positions else defaultdict(lambda: None)
    try:
        schema.execute(f"EXPLAIN {sql}", values)  # type: ignore[arg-type]
    except sqlite3.ProgrammingError as error:
        pytest.fail(f"{place}: {error}")


def test_there_are_statements_to_check() -> None:
    assert len(STATEMENTS) >= AT_LEAST
    places = {place.rpartition(".")[0] for place in STATEMENTS}
    assert places >= {"statements", "settle.steps", "settle.calls", "settle.trees", "status"}
