"""The command line tells what sessions came to with their sub-agents, to a person and to a program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import builders as make
from tests.builders import HomeBuilder
from tests.cli.conftest import Run


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    """An empty home folder."""
    return HomeBuilder(isolated)


@pytest.fixture
def shown(home: HomeBuilder, run: Run) -> Run:
    """The command, where a session with two sub-agents and one without are indexed."""
    home.claude(
        "s", make.claude_prompt("go", "s", "u1", 1), make.claude_tool_call("c1", "s", "u2", 2, command="ls"),
        make.claude_answer("gone", "s", "u3", 6, message_id="m1", output_tokens=10, costUSD=0.5),
    )  # fmt: skip
    for name in ("a1", "a2"):
        home.claude_agent(
            "s", name, make.claude_prompt("task", "s", f"{name}-1", 3, agentId=name, isSidechain=True),
            make.claude_tool_call(f"{name}-c", "s", f"{name}-2", 4, command="ls"),
            make.claude_tool_result(f"{name}-c", "a b", "s", f"{name}-3", 4),
            make.claude_answer("done", "s", f"{name}-4", 5, message_id=f"{name}-m", output_tokens=100),
        )  # fmt: skip
    home.aster("alone", make.aster_header("alone", 1), make.aster_prompt("hi", 2), make.aster_answer("yes", 3, (7, 5)))
    assert run("ingest", "--quiet").code == 0
    return run


def test_the_list_says_with_how_many_sub_agents(shown: Run) -> None:
    told = shown("sessions", "list", "--all", "--with-children")
    assert told.code == 0
    (line,) = [line for line in told.stdout.splitlines() if "  with 2 sub-agents  go" in line]
    assert line.split()[1:7] == ["claude-code", "1", "3", "3", "240", "$0.50+"]
    assert "s/a1" not in told.stdout


def test_the_json_names_what_a_sum_leaves_out(shown: Run) -> None:
    value = shown("sessions", "list", "--all", "--with-children", "--json").json()
    assert value["total"] == 2
    told = {session["id"]: session for session in value["sessions"]}["s"]
    assert (told["turns"], told["events"]) == (1, 3)
    expected: dict[str, Any] = {
        "sub_agents": 2, "turns": 1, "events": 11, "tool_calls": 3, "calls": 3, "input_tokens": 9,
        "output_tokens": 210, "cache_read_tokens": 21, "cache_write_tokens": None, "reasoning_tokens": None,
        "cost_usd": 0.5, "partial": {"cost_usd": 2},
    }  # fmt: skip
    assert told["with_children"] == expected
    assert shown("sessions", "show", "claude-code:s", "--json").json()["with_children"] == expected


def test_a_session_is_shown_with_its_sub_agents(shown: Run) -> None:
    head = shown("sessions", "show", "claude-code:s").stdout.split("\n\n")[0]
    assert "in all    1 turn, 11 events, 3 tool calls, 3 provider calls, with 2 sub-agents\n" in head
    assert "tokens    9 input, 210 output, 21 from the cache\n" in head
    assert "cost      $0.50\n" in head
    assert head.endswith("unknown   cost usd of 2 calls")
    alone = shown("sessions", "show", "aster:alone").stdout
    assert "in all    0 tool calls, 1 provider call\n" in alone


def test_without_an_index_the_list_says_what_it_needs(home: HomeBuilder, run: Run) -> None:
    home.aster("s", make.aster_header("s", 1), make.aster_prompt("hi", 2))
    told = run("sessions", "list", "--all", "--with-children")
    assert (told.code, told.stdout) == (3, "")
    assert "asx ingest" in told.stderr
    shown = json.loads(run("sessions", "show", "aster:s", "--json").stdout)
    assert shown["with_children"] is None
