"""No statement of search asks full text once a row, or walks through a base table (DESIGN 9, 13).

Every statement that real searches send is traced, over all families, filters, modes, orders and ways to candidates, and
SQLite is asked for its plan on the real schema; statements that only rare stores need are asked for by name. It is the
plan that counts: on a small store a bad one costs nothing, on 500 MB seconds.
"""

from __future__ import annotations

import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from index.creating import create_index
from index.describe import EXAMPLES
from index.fields import SEARCHED
from index.results import Report
from index.search import (
    Filters,
    Mode,
    SearchRequest,
    Sort,
    context,
    deep,
    details,
    newest_prompts,
    page,
    search,
)
from index.search import statements as search_statements
from index.search import tools as search_tools
from index.search.scope import IS_IN_HISTORY, IS_INDEXED, Scope
from tests import builders as make
from tests.builders import HomeBuilder
from tests.index.search.told_world import ASTER, FORK, GONE, MANY, ToldWorld, build_world

FULL_TEXT: Final = {"prompt_keys", "prose_keys", "prose_words"}
LARGE: Final = {"event_rows", "prose", "history_rows", "session_rows", "block_rows", "memory_fact_rows", "measures"}
"""Tables with a row for each text, session or note; ``source_rows`` has one for each file, and may be walked once."""
ALL_TOOLS: Final = search_statements.count_tool_texts(Scope(("tools",), (), None, None, True, None, None, ())).sql
BY_DESIGN: Final = {
    ALL_TOOLS: "how many texts of tools there are is counted only where nothing was found, after a look at all of them",
    IS_IN_HISTORY: "the entries of histories, for a name that is no session's whole id",
}


class Step(NamedTuple):
    """One line of a plan: its table (by its own name), and whether it runs once in a statement."""

    detail: str
    table: str
    is_outermost: bool


def steps_of(connection: sqlite3.Connection, sql: str, values: Any = ()) -> list[Step]:
    rows = connection.execute(f"EXPLAIN QUERY PLAN {sql}", values).fetchall()
    by_id = {row[0]: row for row in rows}
    aliases = {alias or table: table for table, alias in _named(sql)}
    steps: list[Step] = []
    looped: set[int] = set()
    for _, parent, _, detail in rows:
        is_loop = detail.startswith(("SCAN", "SEARCH"))
        repeated = parent in looped
        above: int = parent
        while above in by_id:
            repeated = repeated or by_id[above][3].startswith("CORRELATED")
            above = by_id[above][1]
        name = detail.split()[1] if is_loop else ""
        steps.append(Step(detail, aliases.get(name, name), not repeated))
        if is_loop and not detail.startswith("SCAN CONSTANT"):
            looped.add(parent)
    return steps


def _named(sql: str) -> list[tuple[str, str]]:
    after = r"(?:JOIN|LEFT|CROSS|INNER|WHERE|ON|ORDER|GROUP|INDEXED|UNION|LIMIT)\b"
    return re.findall(rf"(?:FROM|JOIN)\s+(\w+)(?:\(\S*\))?(?:\s+(?:AS\s+)?(?!{after})(\w+))?", sql)


def assert_good(connection: sqlite3.Connection, sql: str, values: Any = ()) -> list[Step]:
    """Fail for full text once a row, a walk through a large table, or texts reached in another way than meant."""
    steps = steps_of(connection, sql, values)
    told = "\n".join([sql, *(step.detail for step in steps)])
    for step in steps:
        if "VIRTUAL TABLE" in step.detail:
            assert step.is_outermost, told
        elif step.detail.startswith("SCAN"):
            is_walk = " USING " not in step.detail
            assert not (is_walk and step.table in LARGE), told
            assert step.is_outermost or step.table not in LARGE | {"source_rows"}, told
        if step.table.endswith("_content"):  # keys, by their ids, or all in a row
            assert "INTEGER PRIMARY KEY" in step.detail or step is steps[0], told
        if step.table == "prose":
            assert re.search(r"INTEGER PRIMARY KEY|prose_newest|prose_same", step.detail), told
    return steps


# --- What is sent ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def world() -> Iterator[ToldWorld]:
    with tempfile.TemporaryDirectory() as folder:
        yield build_world(HomeBuilder(Path(folder)), 5)


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    """The real schema without rows, with what search adds to it for itself."""
    path: Path = tmp_path_factory.mktemp("plans") / "index.sqlite"
    create_index(path)
    with closing(sqlite3.connect(path)) as connection:
        for table in ("prompt_keys", "prose_keys"):
            for kind in ("row", "instance"):
                connection.execute(
                    f"CREATE VIRTUAL TABLE temp.{table}_{kind} USING fts5vocab('main', '{table}', '{kind}')"
                )
        yield connection


FILTERS: Final = (
    Filters(),
    Filters(agents=("aster", "claude-code")),
    Filters(project="/a/b"),
    Filters(project="/a/b", below=True),
    Filters(sessions=("c-main-00001", GONE.id, ASTER[0].id)),
    Filters(exclude_sessions=(f"claude-code:{FORK.id}", GONE.id)),
    Filters(since=make.at(3)),
    Filters(since=make.at(3), until=make.at(35)),
    Filters(roles=("user", "agent")),
    Filters(tools=("Bash",)),
    Filters(branch="main"),
    Filters(main_only=True),
    Filters(("claude-code",), "/a/b", True, (), (ASTER[0].id,), make.at(1), make.at(39), ("user",), (), "main", True),
    Filters(tools=("Bash",), since=make.at(1), roles=("agent",), project="/a/b"),
)
QUERIES: Final = (
    (Mode.SUBSTRING, "lantern"), (Mode.SUBSTRING, "rn"), (Mode.SUBSTRING, "\u0301"), (Mode.SUBSTRING, "nowhere at all"),
    (Mode.REGEX, r"l.ntern"), (Mode.REGEX, r"[0-9]+"), (Mode.WORDS, "lantern -old"), (Mode.WORDS, "lan* -old"),
    (Mode.WORDS, "no such word"),
)  # fmt: skip


def traced(world: ToldWorld, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Send every kind of search, and return the statements that reached the index, each once."""
    sent: dict[str, str] = {}
    connect = sqlite3.connect

    def note(sql: str) -> None:
        if sql.startswith(("SELECT", "WITH")) and "'main'." not in sql:
            sent.setdefault(re.sub(r"'(?:[^']|'')*'|\b\d+\b", "?", sql), sql)

    def opened(*args: Any, **keys: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **keys)
        if args[0] != ":memory:":
            connection.set_trace_callback(note)
        return connection

    settings = world.settings
    assert settings is not None
    monkeypatch.setattr(sqlite3, "connect", opened)
    sorts = (Sort.TIME, Sort.RELEVANCE)
    for number, ((mode, query), filters) in enumerate(product(QUERIES, FILTERS)):
        sort, other = sorts[number % 2], sorts[1 - number % 2]
        search(settings, SearchRequest(query, tuple(SEARCHED), mode, filters, sort, 5, per_session=2, context_turns=1))
        search(settings, SearchRequest(query, ("prompts",), mode, filters, other, exact_total=True))
    search(settings, SearchRequest("zephyrine", ("tools",), deep=True))
    newest_prompts(settings, "lantern", 50)
    monkeypatch.undo()
    return list(sent.values())


@pytest.mark.parametrize("size", ["few", "many"])
def test_every_statement_that_is_sent_has_a_good_plan(
    world: ToldWorld, schema: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, size: str
) -> None:
    with pytest.MonkeyPatch.context() as sizes:
        for module, name, value in MANY if size == "many" else ():
            sizes.setattr(module, name, value)
        sent = traced(world, monkeypatch)
    assert len(sent) > 150
    walks = {sql[:60] for sql in BY_DESIGN}
    asked = 0
    for sql in sent:
        if sql[:60] in walks and "source_id IN" not in sql:
            continue
        steps = assert_good(schema, sql)
        asked += any(step.table in FULL_TEXT for step in steps)
        if any(step.table in FULL_TEXT for step in steps):
            assert steps[0].table in FULL_TEXT, sql  # full text drives, and what it gave is never asked for again
    assert asked >= 6


NAMED: Final = {
    **{f"details {number}": sql for number, sql in enumerate(details.STATEMENTS)},
    **{f"context {number}": sql for number, sql in enumerate(context.STATEMENTS)},
    **{f"page {number}": sql for number, sql in enumerate(page.STATEMENTS)},
    **{f"tools {name}": sql for name, (sql, _) in search_tools.statements().items()},
    **{
        f"deep {name}": sql
        for name, sql in vars(deep).items()
        if name.isupper() and isinstance(sql, str) and sql.startswith("SELECT")
    },
    "scope indexed": IS_INDEXED,
    "tool events": search_statements.COUNT_TOOL_EVENTS,
}


@pytest.mark.parametrize("name", NAMED)
def test_a_statement_with_a_name_has_a_good_plan(name: str, schema: sqlite3.Connection) -> None:
    sql = NAMED[name]
    values: Any = dict.fromkeys(re.findall(r":(\w+)", sql), 1) or [1] * sql.count("?")
    assert_good(schema, sql, values)


@pytest.mark.parametrize("sql", BY_DESIGN, ids=lambda sql: sql.split("\n")[0])
def test_what_walks_by_design_does_so_once(sql: str, schema: sqlite3.Connection) -> None:
    values: Any = dict.fromkeys(re.findall(r":(\w+)", sql), 1) or [1] * sql.count("?")
    walks = [step for step in steps_of(schema, sql, values) if step.detail.startswith("SCAN") and step.table in LARGE]
    assert [step.is_outermost for step in walks] == [True]


@pytest.mark.parametrize("report", EXAMPLES, ids=lambda report: report.name)
def test_reports_and_examples_ask_full_text_first_and_once(report: Report, schema: sqlite3.Connection) -> None:
    steps = steps_of(schema, report.sql)
    for step in steps:
        if step.table in FULL_TEXT:
            assert step.is_outermost, [each.detail for each in steps]
            assert re.search(r"VIRTUAL TABLE INDEX \d+:\S", step.detail), "full text is read whole"
    if any(table in report.sql for table in FULL_TEXT):
        assert any(step.table in FULL_TEXT for step in steps)


def test_the_rule_sees_a_bad_plan(schema: sqlite3.Connection) -> None:
    """A rule that could not fail would prove nothing."""
    bad = (
        "SELECT p.id FROM prose p CROSS JOIN prompt_keys k ON k.rowid = p.id WHERE prompt_keys MATCH 'abc'",
        "SELECT p.id FROM prose p INDEXED BY prose_newest WHERE p.field = 1 AND EXISTS ("
        "SELECT 1 FROM prompt_keys WHERE prompt_keys MATCH 'abc' AND rowid = p.id)",
        "SELECT count(*) FROM event_rows e WHERE e.kind = 1",
        "SELECT p.id FROM prose p WHERE p.text = 'x'",
        "SELECT e.id FROM event_rows e CROSS JOIN source_rows s ON s.kind = e.kind WHERE e.id = 1",
    )
    for sql in bad:
        with pytest.raises(AssertionError):
            assert_good(schema, sql)
