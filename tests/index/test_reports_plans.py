"""No report walks through a large table once for each row of another (DESIGN 13), whatever is asked.

SQLite is asked for its plan on the real schema: on a small store a bad one costs nothing, on 500 MB seconds.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Final, NamedTuple

import pytest

from index.creating import create_index
from index.reports.named import Asked, asked_of
from index.reports.statements import REPORTS
from index.results import Report

TABLES: Final = {
    "event_rows", "prose", "measures", "usage_rows", "history_rows", "session_rows", "source_rows", "journal_rows",
    "block_rows", "error_rows",
}  # fmt: skip
EVERYTHING: Final = {
    "since": "2026-05-05T00:00:00.000Z",
    "until": "2026-05-06T00:00:00.000Z",
    "project": "/w",
    "below": True,
    "agents": ("aster",),
    "with_children": True,
}
_SHORT: Final = {
    "e": "event_rows", "u": "usage_rows", "p": "prose", "m": "measures", "h": "history_rows", "n": "session_rows",
    "s": "source_rows", "j": "journal_rows", "b": "block_rows", "r": "error_rows",
}  # fmt: skip
"""What the views call their tables; a report's own tables are small or built once, with an index of their own."""


_ONE_ROW: Final = re.compile(r"^SCAN q$|sqlite_autoindex_(agents|event_types)_1 \(name=\?\)")
"""Loops of a single row: what is asked, and an agent or a type by its name."""


class Step(NamedTuple):
    """One line of a plan, with how many loops and correlated lookups stand around it."""

    detail: str
    depth: int


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path = tmp_path_factory.mktemp("plans") / "index.sqlite"
    create_index(path)
    with closing(sqlite3.connect(path)) as connection:
        yield connection


def steps_of(connection: sqlite3.Connection, sql: str) -> list[Step]:
    """Return the loops of a plan; those beside each other are nested, the first outermost."""
    lines = connection.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()
    parents = {number: (parent, detail) for number, parent, _, detail in lines}
    before: dict[int, int] = {}
    steps = []
    for number, parent, _, detail in lines:
        if not detail.startswith(("SCAN", "SEARCH")) or detail == "SCAN CONSTANT ROW":
            continue
        depth = before.get(parent, 0)
        above = number
        while above in parents:
            above, told = parents[above]
            depth += told.startswith("CORRELATED")
        steps.append(Step(detail, depth))
        before[parent] = before.get(parent, 0) + (0 if _ONE_ROW.search(detail) else 1)
    return steps


def filled(report: Report) -> str:
    taken = {*report.parameters, *({"agents"} if "agent" in report.parameters else ())}
    taken |= {"below"} if "project" in report.parameters else set()
    return asked_of(report, Asked(**{name: value for name, value in EVERYTHING.items() if name in taken})).sql  # type: ignore[arg-type]


def assert_walks_once(connection: sqlite3.Connection, sql: str) -> None:
    for step in steps_of(connection, sql):
        words = step.detail.split()
        is_walk = words[0] == "SCAN" and _SHORT.get(words[1], words[1]) in TABLES
        assert not (is_walk and step.depth > 0), f"{sql}\n{step}"


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.name)
def test_a_report_walks_through_no_table_once_a_row(schema: sqlite3.Connection, report: Report) -> None:
    assert_walks_once(schema, report.sql)
    assert_walks_once(schema, filled(report))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT (SELECT count(*) FROM events e WHERE e.ts > s.created_at) FROM sessions s",
        "SELECT count(*) FROM events a, events b WHERE a.ts < b.ts",
    ],
    ids=["correlated", "joined"],
)
def test_the_check_sees_a_walk_for_each_row(schema: sqlite3.Connection, sql: str) -> None:
    with pytest.raises(AssertionError):
        assert_walks_once(schema, sql)
