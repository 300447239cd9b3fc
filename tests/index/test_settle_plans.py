"""Settling after one line costs what the line touches: no statement of it walks through a base table (DESIGN law 6)."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from index import statements
from index.creating import create_index
from index.settle import calls, outgrown, sessions, steps, trees

_BY_DESIGN = {"settle.sessions._TOUCH_PROJECT": "only when a folder's project changed"}
_ALL_STATEMENTS = {
    f"{module.__name__.removeprefix('index.')}.{name}": text
    for module in (steps, calls, outgrown, sessions, trees)
    for name, text in vars(module).items()
    if name.startswith("_") and name.isupper() and isinstance(text, str)
} | {f"touch {number}": text for number, text in enumerate(statements.TOUCH_SOURCE)}
_BASE_TABLES = {"event_rows", "source_rows", "session_rows", "usage_rows", "trait_rows", "history_rows", "prose"}


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path: Path = tmp_path_factory.mktemp("plans") / "index.sqlite"
    create_index(path)
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements.TOUCHED_TABLES:
            connection.execute(statement)
        yield connection


def test_what_is_left_out_by_design_is_there() -> None:
    assert _BY_DESIGN.keys() <= _ALL_STATEMENTS.keys()


@pytest.mark.parametrize("name", [name for name in _ALL_STATEMENTS if name not in _BY_DESIGN])
def test_no_base_table_is_scanned(name: str, empty: sqlite3.Connection) -> None:
    text = _ALL_STATEMENTS[name]
    values: object = dict.fromkeys(re.findall(r":(\w+)", text), 0) or [0] * text.count("?")
    aliases = {alias: table for table, alias in re.findall(r"\b(\w+_rows|prose) (\w)\b", text)}
    plan = [row[3] for row in empty.execute(f"EXPLAIN QUERY PLAN {text}", values)]  # type: ignore[arg-type]
    scanned = [step for step in plan if step.startswith("SCAN")]
    assert [step for step in scanned if aliases.get(step.split()[1], step.split()[1]) in _BASE_TABLES] == []
    assert [step for step in plan if "prose_newest" in step] == []  # that is: every prompt there is


def test_a_call_that_was_brought_along_is_looked_up_by_its_message(empty: sqlite3.Connection) -> None:
    """By the session it would be the calls times the calls: 5 s for one line in a session of 10,000."""
    plan = [row[3] for row in empty.execute(f"EXPLAIN QUERY PLAN {sessions._INHERITED}")]
    assert [step for step in plan if "usage_rows_session" in step] == []
    assert any(step.startswith("SEARCH v USING INDEX usage_rows_message") for step in plan)
