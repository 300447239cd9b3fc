"""Heads of tools' texts: what is found equals a scan of all of them, in the order promised, and costs what is taken."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import islice, pairwise
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from index.ingest import ingest
from index.match.query import read_query
from index.match.spans import find_spans
from index.opening import open_reader
from index.search.matches import Match
from index.search.request import Filters
from index.search.scope import Scope, read_scope
from index.search.tools import Told, count_texts, find_in_heads, statements
from index.settings import Settings
from tests import builders as make
from tests.builders import HomeBuilder, Record
from tests.index.match.definition import PIECES, SPELLINGS

HEAD_BYTES = 512


def call(call_id: str, name: str | None, arguments: Any, minute: float | None) -> Record:
    """Return an answer of Aster's that is one call."""
    function = {"arguments": arguments} if name is None else {"name": name, "arguments": arguments}
    record = {"type": "message", "role": "assistant", "tool_calls": [{"id": call_id, "function": function}]}
    return record if minute is None else {**record, "ts": make.at(minute)}


def result(call_id: str, text: Any, minute: float | None, **keys: Any) -> Record:
    """Return what a tool of Aster's answered."""
    record = {"type": "message", "role": "tool", "tool_call_id": call_id, "content": text, **keys}
    return record if minute is None else {**record, "ts": make.at(minute)}


def aether_call(call_id: str, name: str, arguments: Any) -> Record:
    """Return a call of Aether's."""
    request = {"id": call_id, "name": name, "arguments": arguments}
    return {"kind": "agent", "data": {"category": "tool", "event": {"type": "call", "request": request}}}


def aether_result(call_id: str, name: str | None, text: Any, **keys: Any) -> Record:
    """Return what a tool of Aether's answered."""
    answer = {"id": call_id, "name": name, "result": text, **keys}
    return {"kind": "agent", "data": {"category": "tool", "event": {"type": "result", "result": answer}}}


def odd_text(rng: Random, longest: int = 12) -> str:
    """Return letters at which one or another way of folding, normalising or escaping goes wrong."""
    words = (*PIECES, "null", "404", "-1.5", "error", "\\", "/", "\t", "\x1b[0m", "\x7f", "word ", ": ", "cancelled")
    return "".join(rng.choice(words) for _ in range(rng.randint(1, longest)))


def some_queries(rng: Random, texts: list[str], number: int) -> list[str]:
    """Return queries that are mostly respelt parts of the texts."""
    queries: list[str] = []
    while len(queries) < number:
        text = rng.choice(texts)
        start = rng.randrange(len(text) or 1)
        query = rng.choice(SPELLINGS)(text[start : start + rng.choice((1, 1, 2, 3, 5, 9))])
        if query.strip():
            queries.append(query)
    return queries


class Known(NamedTuple):
    """A text of a tool as the view tells it, and its place in the order."""

    order: tuple[str, str, str, str, int, int]
    event_index: int
    part: str
    text: str
    length: int


def known_texts(connection: sqlite3.Connection) -> list[Known]:
    """Return all canonical texts of tools, the newest first, by the public view."""
    found = []
    for (
        agent,
        session_id,
        path,
        event_index,
        sort_ts,
        event_type,
        text,
        length,
        arguments,
        arguments_length,
    ) in connection.execute(
        """SELECT agent, session_id, source_path, event_index, sort_ts, event_type, text, text_len, tool_arguments,
            tool_arguments_len FROM events WHERE canonical"""
    ):
        key = (sort_ts, agent, session_id or "", path, event_index)
        if text is not None and (event_type.startswith("tool_") or event_type == "context_eviction"):
            found.append(Known((*key, 1), event_index, "text", text, length))
        if arguments is not None:
            found.append(Known((*key, 0), event_index, "tool_arguments", arguments, arguments_length))
    return sorted(found, reverse=True)


def scope_of(connection: sqlite3.Connection, **filters: Any) -> Scope:
    """Return the scope of a search in tools."""
    return read_scope(connection, ("tools",), Filters(**filters))


def heads(connection: sqlite3.Connection, text: str, told: Told | None = None, **filters: Any) -> Iterator[Match]:
    """Search in heads."""
    query = read_query(text)
    return find_in_heads(connection, scope_of(connection, **filters), query, query.spans, told or Told())


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Settings, list[str]]:
    """Sessions of three agents with odd texts; their times overlap and are often the same, or are the files'."""
    rng = Random(20261130)  # noqa: S311
    home = HomeBuilder(tmp_path_factory.mktemp("tools"))
    texts = [odd_text(rng) for _ in range(120)]
    for number in range(8):
        session_id = f"01k{number:023d}"
        records: list[Record] = []
        for place in range(30):
            minute = None if number == 5 or (place < 4 and number == 6) else rng.randrange(number, number + 6)
            records.append(call(f"c{place}", "Bash", rng.choice(texts), minute))
            records.append(result(f"c{place}", rng.choice(texts) * rng.choice((1, 1, 60)), minute))
        header = [] if number in (5, 6) else [make.aster_header(session_id, number)]
        path = home.aster(session_id, *header, *records)
        os.utime(path, (1_777_881_600 + number * 60, 1_777_881_600 + number * 60))
    home.aether("tele-1", make.aether_metadata("tele-1", 3), *(
        record for place in range(30) for record in (
            aether_call(f"a{place}", "shell", {"q": rng.choice(texts)}),
            aether_result(f"a{place}", "shell", rng.choice(texts)),
        )
    ))  # fmt: skip
    home.claude("s-1", *(
        record for place in range(30) for record in (
            make.claude_tool_call(f"t{place}", "s-1", f"u{place}", place, q=rng.choice(texts)),
            make.claude_tool_result(f"t{place}", rng.choice(texts), "s-1", f"v{place}", place),
        )
    ))  # fmt: skip
    settings = home.settings()
    assert ingest(settings).problems == []
    return settings, texts


def test_equals_a_scan_of_all_heads_in_order(world: tuple[Settings, list[str]]) -> None:
    settings, texts = world
    rng = Random(7)  # noqa: S311
    with closing(open_reader(settings.index_path)) as connection:
        known = known_texts(connection)
        hits = 0
        for query in [*some_queries(rng, texts, 250), "zzzq", "%", "_", "a%", "\\", '"', "404", "İ", "x" * 600]:
            asked = read_query(query)
            expected = [
                (one.event_index, one.part, one.text, one.length, one.order[0], tuple(spans))
                for one in known
                if (spans := find_spans(one.text, asked.form, asked.exact))
            ]
            by_id = {row[0]: row[1] for row in connection.execute("SELECT id, event_index FROM event_rows")}
            found = [
                (by_id[match.id], match.part, match.text, match.whole_length, match.at, match.spans)
                for match in heads(connection, query)
            ]
            assert found == expected, query
            hits += len(found)
        assert hits > 1000


def test_without_a_query_every_head_is_judged(world: tuple[Settings, list[str]]) -> None:
    settings, _ = world
    pattern = re.compile("e.{0,3}o")
    with closing(open_reader(settings.index_path)) as connection:
        known = known_texts(connection)
        expected = [one.text for one in known if pattern.search(one.text)]
        told = Told()
        found = find_in_heads(
            connection, scope_of(connection), None, lambda text: [(0, 1)] if pattern.search(text) else [], told
        )
        assert [match.text for match in found] == expected
        assert told.texts == len(known) == count_texts(connection, scope_of(connection))


@pytest.mark.parametrize(
    "filters",
    [
        {"since": make.at(4)},
        {"until": make.at(4)},
        {"since": make.at(3), "until": make.at(7)},
        {"since": "2030-01-01T00:00:00.000Z"},
        {"agents": ("aether", "claude-code")},
        {"roles": ("user",)},
        {"tools": ("Bash",)},
        {"tools": ("shell", "none")},
    ],
)
def test_filters_leave_out_what_they_say(world: tuple[Settings, list[str]], filters: dict[str, Any]) -> None:
    settings, _ = world
    with closing(open_reader(settings.index_path)) as connection:
        tools = {
            (agent, event_index, path): name
            for agent, event_index, path, name in connection.execute(
                "SELECT agent, event_index, source_path, tool_name FROM events"
            )
        }

        def counts(one: Known) -> bool:
            time, agent, _, path, event_index, _ = one.order
            return (
                filters.get("since", "") <= time < filters.get("until", "9")
                and agent in filters.get("agents", agent)
                and ("tools" not in filters or tools[agent, event_index, path] in filters["tools"])
                and "roles" not in filters
            )

        expected = [one.text for one in known_texts(connection) if counts(one) and "e" in one.text]
        spans = [(0, 1)]
        found = find_in_heads(
            connection, scope_of(connection, **filters), None, lambda text: spans if "e" in text else [], Told()
        )
        assert [match.text for match in found] == expected


def test_a_result_without_a_tool_is_of_the_last_call_with_its_id(home: HomeBuilder) -> None:
    home.aether(
        "tele-2",
        make.aether_metadata("tele-2", 0),
        aether_call("c1", "grep", {"q": "needle"}),
        aether_result("c1", None, "needle one"),
        aether_call("c1", "shell", {"q": "needle"}),
        aether_result("c1", None, "needle two"),
        aether_result("c9", None, "needle of nobody"),
    )
    settings = home.settings()
    ingest(settings)
    with closing(open_reader(settings.index_path)) as connection:
        assert connection.execute("SELECT count(*) FROM events WHERE tool_name IS NULL").fetchone() == (3,)
        texts = [match.text for match in heads(connection, "needle", tools=("grep",))]
        assert texts == ["needle one", '{"q":"needle"}', '{"q":"needle"}']  # an old answer has its call's
        texts = [match.text for match in heads(connection, "needle", tools=("shell",))]
        assert texts == ["needle two", '{"q":"needle"}', '{"q":"needle"}']  # an old answer has its call's


def test_copies_are_no_matches(home: HomeBuilder) -> None:
    for name, keys in (("01kaaaaaaaaaaaaaaaaaaaaaaa", {}), ("01kbbbbbbbbbbbbbbbbbbbbbbb", {"imported_from": "aster:01kaaaaaaaaaaaaaaaaaaaaaaa"})):  # fmt: skip # noqa: E501
        home.aster(name, make.aster_header(name, 0, **keys), make.aster_prompt("hi", 1), result("c", "needle", 1))
    settings = home.settings()
    ingest(settings)
    with closing(open_reader(settings.index_path)) as connection:
        assert len(list(heads(connection, "needle"))) == 1


def test_says_whether_a_text_was_longer_than_its_head(home: HomeBuilder) -> None:
    home.aster("01kaaaaaaaaaaaaaaaaaaaaaaa", make.aster_header("01kaaaaaaaaaaaaaaaaaaaaaaa", 0),
               result("c", "zero \0 and more, all of it stored", 1), result("d", "x" * HEAD_BYTES, 2))  # fmt: skip
    home.aster("01kbbbbbbbbbbbbbbbbbbbbbbb", make.aster_header("01kbbbbbbbbbbbbbbbbbbbbbbb", 0),
               call("c", "Bash", "ä" * (HEAD_BYTES // 2 + 1), 9))  # fmt: skip
    settings = home.settings()
    ingest(settings)
    with closing(open_reader(settings.index_path)) as connection:
        told = Told()
        assert not list(heads(connection, "nothing", told, until=make.at(5)))
        assert not told.heads_only
        told = Told()
        assert not list(heads(connection, "nothing", told))
        assert told.heads_only
        (match,) = heads(connection, "ää", Told())
        assert (len(match.text), match.whole_length, match.part) == (
            HEAD_BYTES // 2,
            HEAD_BYTES // 2 + 1,
            "tool_arguments",
        )


def test_a_common_word_is_looked_for_in_the_newest_sources_only(home: HomeBuilder) -> None:
    for number in range(40):
        session_id = f"01k{number:023d}"
        home.aster(session_id, make.aster_header(session_id, number * 10),
                   *(result("c", f"common {place}", number * 10 + place) for place in range(5)))  # fmt: skip
    settings = home.settings()
    ingest(settings)
    with closing(open_reader(settings.index_path)) as connection:
        told = Told()
        first = [match.text for match in islice(heads(connection, "common", told), 3)]
        assert first == ["common 4", "common 3", "common 2"]
        assert told.texts == 5
        times = [match.at for match in heads(connection, "common")]
        assert len(times) == 200
        assert all(newer > older for newer, older in pairwise(times))


def test_statements_walk_the_index_of_places(world: tuple[Settings, list[str]]) -> None:
    settings, _ = world
    with closing(open_reader(settings.index_path)) as connection:
        for name, (sql, values) in statements().items():
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)]
            assert not any("TEMP B-TREE" in step for step in plan), (name, plan)
            assert any("event_rows_place (source_id=?" in step for step in plan), (name, plan)
            assert not any(re.match(r"SCAN e\b", step) for step in plan), (name, plan)


def test_paths_differ_where_all_else_is_equal(home: HomeBuilder) -> None:
    session_id = "01kaaaaaaaaaaaaaaaaaaaaaaa"
    paths: list[Path] = [
        home.aster(session_id, make.aster_header(session_id, 0), result("c", f"needle {project}", 1), project=project)
        for project in ("alpha", "beta")
    ]
    settings = home.settings()
    ingest(settings)
    with closing(open_reader(settings.index_path)) as connection:
        found = [match.text for match in heads(connection, "needle")]
    assert found == [f"needle {path.parent.name}" for path in sorted(paths, reverse=True)]
