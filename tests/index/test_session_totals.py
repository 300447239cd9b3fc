"""What a session came to with its sub-agents, against sums made from the listed sessions and from ``llm_calls``."""

from __future__ import annotations

from pathlib import Path

import pytest

from index.errors import NoIndexError
from index.ingest import ingest
from index.results import SessionTotals
from index.sessions import list_sessions, list_trees, session_totals, show_session
from index.settings import Settings
from tests import builders as make
from tests.builders import HomeBuilder, Record
from tests.index.conftest import rows
from tests.index.histories import World

pytestmark = pytest.mark.usefixtures("quick_schema")


def told(settings: Settings, session: str) -> SessionTotals:
    row, _ = show_session(settings, session)
    totals = session_totals(settings, row)
    assert totals is not None
    return totals


def agent(home: HomeBuilder, parent: str, name: str, *extra: Record) -> Path:
    records = [
        make.claude_prompt("task", parent, f"{name}-1", 3, agentId=name, isSidechain=True),
        make.claude_tool_call(f"{name}-c1", parent, f"{name}-2", 4, command="ls"),
        make.claude_tool_result(f"{name}-c1", "a b", parent, f"{name}-3", 4),
        make.claude_answer("done", parent, f"{name}-4", 5, message_id=f"{name}-m", output_tokens=100),
    ]
    return home.claude_agent(parent, name, *records, *extra)


@pytest.fixture
def settings(home: HomeBuilder) -> Settings:
    """A session with two sub-agents and a fork, one that has none, and one whose parent is not here."""
    talk = [
        make.claude_prompt("go", "s", "u1", 1),
        make.claude_tool_call("c1", "s", "u2", 2, command="ls"),
        make.claude_answer("gone", "s", "u3", 6, message_id="m1", output_tokens=10, costUSD=0.5),
    ]
    home.claude("s", *talk)
    agent(home, "s", "a1")
    agent(home, "s", "a2")
    copied = [{**record, "sessionId": "f", "forkedFrom": {"sessionId": "s"}} for record in talk]
    home.claude("f", *copied, make.claude_answer("on", "f", "u9", 9, message_id="m9", output_tokens=1))
    home.aster("alone", make.aster_header("alone", 1), make.aster_prompt("hi", 2), make.aster_answer("yes", 3, (7, 5)))
    home.aster("orphan", make.aster_header("orphan", 1, parent="not-here"), make.aster_prompt("hi", 2))
    settings = home.settings()
    ingest(settings)
    return settings


def test_a_session_is_told_with_its_sub_agents(settings: Settings) -> None:
    tokens = {"input_tokens": 9, "output_tokens": 210, "cache_read_tokens": 21, "cache_write_tokens": None,
              "reasoning_tokens": None, "cost_usd": 0.5}  # fmt: skip
    assert told(settings, "s") == SessionTotals(2, 1, 11, 3, 3, tokens, {"cost_usd": 2})


def test_a_fork_is_no_sub_agent_and_what_it_brought_along_is_not_its_own(settings: Settings) -> None:
    totals = told(settings, "f")
    assert (totals.sub_agents, totals.tool_calls, totals.calls, totals.sums["output_tokens"]) == (0, 0, 1, 1)


def test_a_sub_agent_alone_is_told_without_the_others(settings: Settings) -> None:
    totals = told(settings, "s/a1")
    assert (totals.sub_agents, totals.turns, totals.events, totals.tool_calls, totals.calls) == (0, 0, 4, 1, 1)


def test_calls_without_an_id_count_and_unknown_is_null(settings: Settings) -> None:
    totals = told(settings, "alone")
    assert totals.calls == 1
    assert totals.sums == {"input_tokens": 7, "output_tokens": 5, "cache_read_tokens": None,
                           "cache_write_tokens": None, "reasoning_tokens": None, "cost_usd": None}  # fmt: skip
    assert totals.unknown == {}
    assert set(told(settings, "orphan").sums.values()) == {None}


def test_sub_agents_are_counted_in_and_not_listed(settings: Settings) -> None:
    total, pairs = list_trees(settings)
    assert (total, [row.session_id for row, _ in pairs]) == (4, ["f", "s", "alone", "orphan"])
    assert [totals for _, totals in pairs] == [told(settings, row.session_id) for row, _ in pairs]
    assert list_sessions(settings)[0] == 6
    assert [row.session_id for row, _ in list_trees(settings, limit=1)[1]] == ["f"]
    assert list_trees(settings, agent="aster")[0] == 2
    assert list_trees(settings, project="/w/gamma")[0] == 2
    assert list_trees(settings, project="/w")[0] == 0


def test_a_tree_of_several_levels_and_one_on_a_cycle(home: HomeBuilder) -> None:
    for session, parent in (("a", None), ("b", "a"), ("c", "b"), ("x", "y"), ("y", "x"), ("z", "y")):
        keys = {} if parent is None else {"parent": parent}
        home.aster(session, make.aster_header(session, 1, **keys), make.aster_prompt(session, 2))
    settings = home.settings()
    ingest(settings)
    assert {session: told(settings, session).sub_agents for session in "abcxyz"} == {
        "a": 2, "b": 1, "c": 0, "x": 0, "y": 1, "z": 0,
    }  # fmt: skip
    assert sum(totals.turns for _, totals in list_trees(settings)[1]) == 6


def test_without_an_index_there_are_no_totals(home: HomeBuilder) -> None:
    home.aster("s", make.aster_header("s", 1), make.aster_prompt("hi", 2))
    settings = home.settings()
    row, _ = show_session(settings, "s")
    assert session_totals(settings, row) is None
    with pytest.raises(NoIndexError):
        list_trees(settings)


@pytest.mark.parametrize("seed", range(6))
def test_the_totals_of_any_store_add_up_to_those_of_the_views(seed: int, home: HomeBuilder) -> None:
    world = World(home.home)
    for number in range(12):
        world.take(("add_many", "fork", "duplicate")[number % 3], seed * 100 + number)
    for number, parent in enumerate(("s-one", "s-two", "s-one")):
        agent(home, parent, f"h{number}")
    settings = home.settings()
    ingest(settings)
    every = [totals for _, totals in list_trees(settings)[1]]
    ((calls, output),) = rows(settings, "SELECT count(*), sum(output_tokens) FROM llm_calls WHERE session_id NOTNULL")
    ((tools,),) = rows(settings, "SELECT count(*) FROM tool_calls WHERE session_id NOTNULL")
    ((sessions, turns, events),) = rows(settings, "SELECT count(*), sum(turns), sum(events) FROM sessions")
    assert sum(totals.calls for totals in every) == calls
    assert sum(totals.sums["output_tokens"] or 0 for totals in every) == output
    assert sum(totals.tool_calls for totals in every) == tools
    assert sum(totals.sub_agents + 1 for totals in every) == sessions
    assert (sum(totals.turns for totals in every), sum(totals.events for totals in every)) == (turns, events)
    assert max(totals.sub_agents for totals in every) >= 1
