"""``asx sessions list`` and ``show``: what is bounded says so, what is folded can be unfolded."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import builders as make
from tests.builders import HomeBuilder
from tests.cli.conftest import OnATerminal, Run
from tests.conftest import REPOSITORY, Asx

RESULT = "first line of the result\n" + "and another\n" * 300


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    builder = HomeBuilder(isolated)
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "read_file", "arguments": '{"path":"' + "p" * 300 + '"}'},
    }
    builder.aster(
        "s1-told",
        make.aster_header("s1-told", 0),
        make.aster_prompt("what is in it?", 1),
        {"type": "message", "role": "assistant", "content": "Reading.", "tool_calls": [call], "ts": make.at(2)},
        {"type": "message", "role": "tool", "content": RESULT, "tool_call_id": "c1", "ts": make.at(3)},
        make.aster_answer("It is long. " + "x" * 3000, 4),
        {
            "type": "eviction",
            "reason": "tool_result_over_budget",
            "role": "tool",
            "index": 3,
            "chars": 9,
            "ts": make.at(5),
        },
        {"type": "summary", "content": "We read a file.", "replaces_through": 2, "ts": make.at(6)},
        make.aster_title("Reading a file", 7),
        make.aster_prompt("and then?", 8),
    )
    return builder


def fill_beyond_the_window(home: HomeBuilder) -> None:
    """Write a session of 600 kB whose last activity is the newest of all, and one of before that."""
    turns = [record for n in range(300) for record in (make.aster_prompt(f"p{n}", n), make.aster_answer("x" * 2000, n))]
    home.aster("long-1", make.aster_header("long-1", 0), *turns, make.aster_prompt("last", 9000))
    home.aster("late-1", make.aster_header("late-1", 5), make.aster_prompt("late", 8000))


def state(folder: Path) -> dict[str, object]:
    """Return every file's bytes and time of change; of SQLite's side files only that they are there."""
    return {
        str(path): path.name.endswith("-shm") or (path.lstat().st_mtime_ns, path.is_file() and path.read_bytes())
        for path in folder.rglob("*")
    }


class TestListWithoutAnIndex:
    def test_it_says_so_and_what_is_a_lower_bound(self, home: HomeBuilder, run: Run) -> None:
        fill_beyond_the_window(home)
        told = run("sessions", "list", "--all")
        assert "no index yet" in told.stderr
        rows = {line.split()[3]: line.split()[2] for line in told.stdout.splitlines()[1:]}
        assert re.fullmatch(r"\d+\+", rows["long-1"])
        assert 0 < int(rows["long-1"][:-1]) < 301
        assert rows["late-1"] == "1"
        answer = run("sessions", "list", "--all", "--json").json()
        assert answer["indexed"] is False
        assert {one["id"]: one["counts_are_exact"] for one in answer["sessions"]} == {
            "long-1": False, "late-1": True, "s1-told": True,
        }  # fmt: skip
        run("ingest", "--quiet")
        told = run("sessions", "list", "--all")
        assert told.stderr == ""
        assert {line.split()[3]: line.split()[2] for line in told.stdout.splitlines()[1:]}["long-1"] == "301"
        answer = run("sessions", "list", "--all", "--json").json()
        assert answer["indexed"] is True
        assert all(one["counts_are_exact"] for one in answer["sessions"])

    def test_last_activity_is_read_from_the_end(self, home: HomeBuilder, run: Run) -> None:
        fill_beyond_the_window(home)
        listed = run("sessions", "list", "--all", "--json").json()["sessions"]
        run("ingest", "--quiet")
        indexed = run("sessions", "list", "--all", "--json").json()["sessions"]
        assert [one["id"] for one in listed] == [one["id"] for one in indexed] == ["long-1", "late-1", "s1-told"]
        assert [one["updated_at"] for one in listed] == [one["updated_at"] for one in indexed]

    def test_a_limit_counts_all(self, home: HomeBuilder, run: Run) -> None:
        fill_beyond_the_window(home)
        home.aster("empty")
        for indexed in (False, True):
            if indexed:
                run("ingest", "--quiet")
            told = run("sessions", "list", "--all", "--limit", "2", "--json").json()
            assert (told["total"], len(told["sessions"])) == (4, 2)
            assert [one["id"] for one in told["sessions"]] == ["empty", "long-1"]

    def test_one_of_garbage_belongs_to_no_project(self, home: HomeBuilder, run: Run) -> None:
        home.aster("garbage", b"garbage")
        assert [one["id"] for one in run("sessions", "list", "--project", "/w/alpha", "--json").json()["sessions"]] == [
            "s1-told"
        ]
        assert run("sessions", "list", "--all", "--agent", "aether", "--json").json()["total"] == 0
        assert run("sessions", "list", "--all", "--agent", "aster", "--json").json()["total"] == 2


@pytest.mark.parametrize("indexed", [False, True])
def test_a_home_that_cannot_be_written_is_listed_and_shown(home: HomeBuilder, asx: Asx, indexed: bool) -> None:
    if indexed:
        assert asx("ingest", "--quiet").code == 0
    for path in [home.home, *home.home.rglob("*")]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    before = state(home.home)
    assert asx("sessions", "list", "--all").code == 0
    assert "what is in it?" in asx("sessions", "show", "s1-told").stdout
    assert state(home.home) == before
    for path in [home.home, *home.home.rglob("*")]:
        path.chmod(0o700)


class TestShow:
    def test_tools_are_folded_and_what_nobody_said_is_named(self, home: HomeBuilder, run: Run) -> None:
        shown = run("sessions", "show", "s1-told").stdout
        assert "  first line of the result  … " in shown
        assert "and another" not in shown
        assert f'  {{"path":"{"p" * 91}  … 211 more characters' in shown
        assert "  summary of what came before\nWe read a file.\n" in shown
        assert "  left out of the context\ntool_result_over_budget\n" in shown
        assert "  title\nReading a file\n" in shown
        assert "x" * 2001 not in shown

    def test_full_has_it_all(self, home: HomeBuilder, run: Run) -> None:
        shown = run("sessions", "show", "s1-told", "--full").stdout
        assert RESULT.rstrip() in shown
        assert "x" * 3000 in shown
        assert "more character" not in shown

    def test_one_turn(self, home: HomeBuilder, run: Run) -> None:
        shown = run("sessions", "show", "s1-told", "--turn", "1").stdout
        assert "and then?" in shown
        assert "what is in it?" not in shown
        told = run("sessions", "show", "s1-told", "--turn", "0", "--json").json()
        assert {event["turn"] for event in told["events"]} == {0}
        assert any(event["text"] == RESULT for event in told["events"])
        missing = run("sessions", "show", "s1-told", "--turn", "2", "--json")
        assert (missing.code, missing.json()["error"]["kind"]) == (1, "not_found")
        assert "its last one is 1" in missing.json()["error"]["message"]

    def test_raw_is_the_file_byte_for_byte(self, home: HomeBuilder, asx: Asx) -> None:
        path = home.aster("odd", make.aster_header("odd", 0), b"\xff\x9b broken \x1b[5m", end=b'{"torn":\xc3')
        done = subprocess.run(
            [sys.executable, "-m", "cli", "sessions", "show", "odd", "--raw"], capture_output=True, check=True,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        )  # fmt: skip
        assert done.stdout == path.read_bytes()
        assert done.stderr == b""

    def test_raw_of_a_turn_is_its_lines(self, home: HomeBuilder, run: Run) -> None:
        assert (
            run("sessions", "show", "s1-told", "--raw", "--turn", "1").stdout
            == make.lines(make.aster_prompt("and then?", 8)).decode()
        )

    def test_raw_on_a_terminal_is_safe(self, home: HomeBuilder, on_a_terminal: OnATerminal) -> None:
        home.aster("odd", make.aster_header("odd", 0), "\x9b broken \x1b[5m \u202e".encode())
        code, shown = on_a_terminal("sessions", "show", "odd", "--raw", no_color="1")
        assert code == 0
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e]", shown)
        assert "\\x1b[5m" in shown

    @pytest.mark.parametrize(
        "words",
        [["--raw", "--json"], ["--raw", "--full"], ["--preview", "--turn", "1"], ["--turn", "-1"]],
        ids=" ".join,
    )
    def test_what_does_not_go_together_is_refused(self, home: HomeBuilder, run: Run, words: list[str]) -> None:
        assert run("sessions", "show", "s1-told", *words).code == 2
