"""``asx sessions digest``: every agent's sessions, with an index and without, and what a copy of a session gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from persist.digest import MAX_DIGEST_BYTES
from tests import builders as make
from tests.builders import HomeBuilder
from tests.cli.conftest import Run

Write = Callable[[HomeBuilder], object]

SESSIONS: dict[str, Write] = {
    "aster": lambda home: home.aster(
        "01k5p3x", make.aster_header("01k5p3x", 0), make.aster_prompt("one question", 1),
        make.aster_answer("one answer", 2),
    ),
    "aether": lambda home: home.aether(
        "e1-session", make.aether_metadata("e1-session", 0), make.aether_prompt("one question"),
        make.aether_answer("one answer", "m1"),
    ),
    "claude-code": lambda home: home.claude(
        "c1-session", make.claude_prompt("one question", "c1-session", "u1", 1),
        make.claude_answer("one", "c1-session", "u2", 2, message_id="m1"),
        make.claude_answer("one answer", "c1-session", "u3", 3, message_id="m1"),
    ),
}  # fmt: skip
IDS = {"aster": "01k5p3x", "aether": "e1-session", "claude-code": "c1-session"}


@pytest.mark.parametrize("indexed", [True, False], ids=["with an index", "without"])
@pytest.mark.parametrize("agent", SESSIONS)
def test_a_session_of_every_agent_has_one(agent: str, indexed: bool, isolated: Path, run: Run) -> None:
    SESSIONS[agent](HomeBuilder(isolated))
    if indexed:
        assert run("ingest", "--quiet").code == 0
    id_ = IDS[agent]
    told = run("sessions", "digest", id_, "--json").json()
    assert (told["id"], told["agent"], told["entries"], told["left_out"]) == (id_, agent, 2, 0)
    assert f"session: {id_}\nagent: {agent}\ntitle: one question\n" in told["text"]
    assert told["text"].count("one question\n") == 2
    assert told["text"].count("  one answer\n") == 1
    assert "\n  one\n" not in told["text"]
    for name in (id_[:4], f"{agent}:{id_}"):
        assert run("sessions", "digest", name).stdout == told["text"]


def test_a_session_that_began_a_moment_ago_is_found_though_the_index_does_not_know_it(isolated: Path, run: Run) -> None:
    home = HomeBuilder(isolated)
    SESSIONS["claude-code"](home)
    assert run("ingest", "--quiet").code == 0
    SESSIONS["aster"](home)
    assert "one answer" in run("sessions", "digest", "01k5p3x").stdout


def test_events_that_came_since_the_last_ingest_are_in_it(isolated: Path, run: Run) -> None:
    home = HomeBuilder(isolated)
    SESSIONS["aster"](home)
    assert run("ingest", "--quiet").code == 0
    path = home.aster_home / "sessions" / "alpha" / "01k5p3x.jsonl"
    path.write_bytes(path.read_bytes() + make.lines(make.aster_prompt("one more", 3)))
    assert "one more" in run("sessions", "digest", "01k5p3x").stdout


def test_a_fork_tells_only_what_is_its_own_and_an_import_all_of_it(isolated: Path, run: Run) -> None:
    home = HomeBuilder(isolated)
    old = [make.claude_prompt("old question", "c1", "u1", 1), make.claude_answer("old answer", "c1", "u2", 2)]
    home.claude("c1", *old)
    home.claude(
        "c2", *({**record, "sessionId": "c2"} for record in old),
        make.claude_prompt("new question", "c2", "u3", 5),
    )  # fmt: skip
    assert run("ingest", "--quiet").code == 0
    texts = {id_: run("sessions", "digest", f"claude-code:{id_}", "--json").json()["text"] for id_ in ("c1", "c2")}
    assert sum("  old answer\n" in text for text in texts.values()) == 1
    assert sum("  new question\n" in text for text in texts.values()) == 1


def test_a_large_session_fits_and_says_what_is_left_out(isolated: Path, run: Run) -> None:
    prompts = [make.aster_prompt(f"\u2028prompt {number} \x1b[31m" + "x" * 500, number) for number in range(200)]
    HomeBuilder(isolated).aster("01k5p3x", make.aster_header("01k5p3x", 0), *prompts)
    shown = run("sessions", "digest", "01k5p3x")
    assert shown.code == 0
    assert MAX_DIGEST_BYTES - 1000 < len(shown.stdout.encode()) <= MAX_DIGEST_BYTES
    assert shown.stdout.startswith("[The oldest 1")
    assert "of 200 entries are left out" in shown.stdout.splitlines()[0]
    assert "prompt 199 " in shown.stdout
    assert "\x1b" not in shown.stdout
    assert "left out" in shown.stderr


def test_a_session_in_which_nothing_was_said(isolated: Path, run: Run) -> None:
    HomeBuilder(isolated).aster("01k5p3x", make.aster_header("01k5p3x", 0))
    shown = run("sessions", "digest", "01k5p3x")
    assert (shown.code, shown.stdout, shown.stderr) == (1, "", "nothing was said in aster:01k5p3x\n")
    told = run("sessions", "digest", "01k5p3x", "--json")
    assert (told.code, told.json()["text"]) == (1, "")


@pytest.mark.parametrize("indexed", [True, False], ids=["with an index", "without"])
@pytest.mark.parametrize("agent", SESSIONS)
def test_damaged_lines_are_counted(agent: str, indexed: bool, isolated: Path, run: Run) -> None:
    home = HomeBuilder(isolated)
    SESSIONS[agent](home)
    (path,) = [one for one in isolated.rglob("*.jsonl") if one.stem == IDS[agent]]
    head, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(head + b'{"type": "nobody knows\n' + b"\xff\xfe broken\n" + b"".join(rest))
    if indexed:
        assert run("ingest", "--quiet").code == 0
    shown = run("sessions", "digest", IDS[agent])
    assert shown.code == 0
    assert "one answer" in shown.stdout
    assert shown.stderr == f"2 lines of {agent}:{IDS[agent]} could not be read, or not whole\n"
    assert run("sessions", "digest", IDS[agent], "--json").json()["damaged_lines"] == 2
    path.write_bytes(head + b'{"broken\n{"broken\n{"broken\n')
    if indexed:
        assert run("ingest", "--quiet").code == 0
    if agent != "claude-code":  # of which the first line is a prompt
        shown = run("sessions", "digest", IDS[agent])
        assert (shown.code, shown.stdout) == (1, "")
        assert shown.stderr == (
            f"3 lines of {agent}:{IDS[agent]} could not be read, or not whole\n"
            f"nothing that can be read was said in {agent}:{IDS[agent]}\n"
        )


@pytest.mark.parametrize("typed", ["nobody", "01k", "../x"])
def test_an_unknown_session_is_told(typed: str, isolated: Path, run: Run) -> None:
    SESSIONS["aster"](HomeBuilder(isolated))
    told = run("sessions", "digest", typed, "--json")
    assert told.code in (1, 7)
    assert told.json()["error"]["kind"] in ("not_found", "refused")
