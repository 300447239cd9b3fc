"""``sessions start``, ``append``, ``latest`` and ``resume`` as another program uses them: processes and files."""

from __future__ import annotations

import io
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cli.app import main
from persist import history
from persist.aster import Transcript, history_path
from tests import builders as make
from tests.builders import HomeBuilder, is_above_permissions
from tests.cli.conftest import Run
from tests.conftest import REPOSITORY, Asx, Result
from tests.index.processes import run_on_small_disk


def user(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": text}


def answer(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": text}


def given(*records: dict[str, Any]) -> bytes:
    return make.lines(*records)


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    return HomeBuilder(isolated)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    return folder


def start(asx: Asx, project: Path, *options: str) -> tuple[str, Path]:
    told = asx("sessions", "start", "--cwd", project, "--json", *options).json()
    return told["id"], Path(told["path"])


class TestStart:
    def test_it_prints_id_and_path_and_nothing_else(self, asx: Asx, home: HomeBuilder, project: Path) -> None:
        shown = asx("sessions", "start", "--model", "m", "--title", "Tides", cwd=project)
        assert (shown.code, shown.stderr) == (0, "")
        session_id, path = shown.stdout.rstrip("\n").split("\t")
        assert Path(path).is_relative_to(home.aster_home / "sessions")
        header = json.loads(Path(path).read_text())
        assert (header["id"], header["model"], header["title"]) == (session_id, "m", "Tides")
        assert header["cwd"] == header["repo_root"] == str(project)

    def test_json(self, asx: Asx, project: Path) -> None:
        told = asx("sessions", "start", "--id", "Telegram_5", "--cwd", project, "--json").json()
        assert set(told) == {"schema_version", "id", "agent", "path"}
        assert (told["id"], told["agent"]) == ("telegram-5", "aster")

    def test_an_id_that_is_there_is_refused(self, asx: Asx, project: Path) -> None:
        _id, path = start(asx, project, "--id", "conv")
        before = path.read_bytes()
        again = asx("sessions", "start", "--id", "CONV", "--cwd", project)
        assert (again.code, again.stdout) == (7, "")
        assert "exists already" in again.stderr
        assert path.read_bytes() == before

    def test_in_aethers_store(self, asx: Asx, isolated: Path, project: Path) -> None:
        session_id, path = start(asx, project, "--aether", "--model", "a:b", "--mode", "Planner")
        assert path == isolated / ".aether" / "sessions" / f"{session_id}.jsonl"
        metadata = json.loads(path.read_text())
        assert list(metadata) == ["sessionId", "cwd", "model", "selectedMode", "createdAt"]
        assert (metadata["cwd"], metadata["selectedMode"]) == (str(project), "Planner")

    @pytest.mark.parametrize(
        "options",
        [("--aether",), ("--aether", "--model", "m", "--title", "x"), ("--mode", "x")],
        ids=lambda options: " ".join(options),
    )
    def test_what_does_not_go_together_is_a_usage_error(self, run: Run, options: tuple[str, ...]) -> None:
        assert run("sessions", "start", *options).code == 2

    @pytest.mark.parametrize("typed", ["../../x", "/etc/passwd", "a/b", "..", "", "🧾", "x" * 300, "prompt-history"])
    @pytest.mark.parametrize("store", [(), ("--aether", "--model", "m")], ids=["aster", "aether"])
    def test_an_id_that_would_leave_is_refused_and_nothing_is_made(
        self, run: Run, isolated: Path, typed: str, store: tuple[str, ...]
    ) -> None:
        (isolated / "x.jsonl").write_text("canary")
        shown = run("sessions", "start", "--id", typed, *store, "--json")
        assert (shown.code, shown.json()["error"]["kind"]) == (7, "refused")
        assert [path.name for path in isolated.rglob("*.jsonl")] == ["x.jsonl"]


class TestAppend:
    def test_events_are_written_as_aster_writes_them(self, asx: Asx, project: Path) -> None:
        session_id, path = start(asx, project)
        call = {"id": "c", "function": {"name": "run", "arguments": "{}"}}
        shown = asx(
            "sessions", "append", session_id, "--json",
            stdin=given(user("hi"), {"type": "message", "role": "assistant", "tool_calls": [call]},
                        {"type": "message", "role": "tool", "content": "42", "tool_call_id": "c"}, answer("It is 42."),
                        {"type": "title", "title": "The number"}),
        )  # fmt: skip
        assert shown.json() == {"schema_version": 1, "id": session_id, "appended": 5, "transient": 0}
        transcript = Transcript.load(path)
        assert (len(transcript.messages), transcript.title, transcript.damaged) == (4, "The number", ())
        assert [entry.prompt for entry in history.read(history_path(path.parents[2])).entries] == ["hi"]

    def test_a_bad_line_names_its_number_and_reason_and_ends_it(self, asx: Asx, project: Path) -> None:
        session_id, path = start(asx, project)
        secret = {"type": "message", "role": "user", "content": ["hunter2"]}
        shown = asx("sessions", "append", session_id, "--json", stdin=given(user("a"), user("b"), secret, user("c")))
        error = shown.json()["error"]
        assert (shown.code, error["kind"]) == (2, "usage")
        assert "line 3 of the input: the key 'content' is a list, not text" in error["message"]
        assert "2 events before it are written" in error["message"]
        assert "hunter2" not in shown.stdout + shown.stderr
        assert [message.content for message in Transcript.load(path).messages] == ["a", "b"]

    def test_nothing_on_stdin_is_nothing_done(self, asx: Asx, project: Path) -> None:
        session_id, path = start(asx, project)
        before = path.read_bytes()
        assert asx("sessions", "append", session_id, "--json").json()["appended"] == 0
        assert path.read_bytes() == before

    def test_an_event_is_in_the_file_before_the_next_is_sent(self, asx: Asx, project: Path) -> None:
        """One process for a whole session: what it was given is on disk although it goes on waiting."""
        session_id, path = start(asx, project)
        running = subprocess.Popen(
            [sys.executable, "-m", "cli", "sessions", "append", session_id],
            stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=project,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        )  # fmt: skip
        assert running.stdin is not None
        for number in range(3):
            running.stdin.write(given(user(f"p{number}")))
            running.stdin.flush()
            deadline = time.monotonic() + 20
            while Transcript.load(path).user_turns <= number:
                assert time.monotonic() < deadline
                time.sleep(0.01)
        running.kill()
        running.communicate()
        assert Transcript.load(path).user_turns == 3

    @pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a file open")
    def test_a_session_is_not_moved_away_while_an_append_waits(self, asx: Asx, project: Path) -> None:
        session_id, path = start(asx, project)
        running = subprocess.Popen(
            [sys.executable, "-m", "cli", "sessions", "append", session_id],
            stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=project,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        )  # fmt: skip
        assert running.stdin is not None
        running.stdin.write(given(user("one")))
        running.stdin.flush()
        deadline = time.monotonic() + 20
        while Transcript.load(path).user_turns < 1:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        refused = asx("sessions", "relocate", session_id, str(project.parent), "--json")
        assert (refused.code, path.is_file()) == (5, True)
        running.stdin.write(given(user("two")))
        running.communicate()
        assert Transcript.load(path).user_turns == 2
        assert asx("sessions", "relocate", session_id, str(project.parent)).code == 0

    def test_an_aether_session_takes_aethers_events(self, asx: Asx, project: Path) -> None:
        session_id, path = start(asx, project, "--aether", "--model", "a:b")
        chunk = make.aether_answer("grow", "m1")
        chunk["data"]["event"]["is_complete"] = False
        shown = asx("sessions", "append", session_id, "--json",
                    stdin=given(make.aether_prompt("hi", "u1"), chunk, make.aether_answer("ho", "m1")))  # fmt: skip
        assert shown.json() == {"schema_version": 1, "id": session_id, "appended": 2, "transient": 1}
        assert len(path.read_text().splitlines()) == 3
        wrong = asx("sessions", "append", session_id, stdin=given(user("not Aether's")))
        assert wrong.code == 2
        assert "'kind' is none of user, agent, control" in wrong.stderr

    def test_another_agents_session_is_refused_with_its_own_way(self, run: Run, asx: Asx, home: HomeBuilder) -> None:
        uuid = "3f6d2c1e-58ab-4d0f-9c77-0e5b1a2c3d4e"
        path = home.claude(uuid, make.claude_prompt("hi", uuid, "a", 0))
        before = path.read_bytes()
        for indexed in (False, True):
            shown = asx("sessions", "append", "3f6d2c1e", stdin=given(user("no")))
            assert shown.code == 7
            assert "whose files are only read" in shown.stderr
            assert "Claude Code" in shown.stderr
            if not indexed:
                assert run("ingest").code == 0
        assert path.read_bytes() == before
        assert [one.name for one in path.parent.iterdir()] == [path.name]

    def test_a_newer_format_is_not_written_to(self, asx: Asx, home: HomeBuilder) -> None:
        path = home.aster("newer", make.aster_header("newer", 0, v=9), make.aster_prompt("hi", 1))
        before = path.read_bytes()
        shown = asx("sessions", "append", "newer", stdin=given(user("no")))
        assert (shown.code, "format version 9" in shown.stderr) == (7, True)
        assert path.read_bytes() == before
        resumed = asx("sessions", "resume", "newer", "--json").json()
        assert resumed["messages"] == [{"role": "user", "content": "hi"}]
        assert "format version is 9" in resumed["notes"][0]

    def test_an_unknown_id_is_not_found_and_creates_nothing(self, asx: Asx, isolated: Path) -> None:
        shown = asx("sessions", "append", "nowhere", "--json", stdin=given(user("no")))
        assert (shown.code, shown.json()["error"]["kind"]) == (1, "not_found")
        assert list(isolated.rglob("*.jsonl")) == []

    def test_an_id_of_both_stores_needs_its_agent(self, asx: Asx, project: Path) -> None:
        start(asx, project, "--id", "conv")
        _id, path = start(asx, project, "--id", "conv", "--aether", "--model", "m")
        shown = asx("sessions", "append", "conv", stdin=given(user("whose?")))
        assert shown.code == 2
        assert "aster:conv, aether:conv" in shown.stderr
        assert asx("sessions", "append", "aether:conv", stdin=given(make.aether_prompt("mine", "u"))).code == 0
        assert len(path.read_text().splitlines()) == 2

    def test_of_an_id_that_two_projects_have_the_current_ones_is_meant(self, asx: Asx, tmp_path: Path) -> None:
        paths = {}
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            paths[name] = start(asx, tmp_path / name, "--id", "telegram-5")[1]
        assert asx("sessions", "append", "telegram-5", stdin=given(user("x"))).code == 2
        assert asx("sessions", "append", "telegram-5", stdin=given(user("here")), cwd=tmp_path / "two").code == 0
        there = asx("sessions", "append", "telegram-5", "--project", tmp_path / "one", stdin=given(user("there")))
        assert there.code == 0
        told = {name: [message.content for message in Transcript.load(path).messages] for name, path in paths.items()}
        assert told == {"one": ["there"], "two": ["here"]}
        resumed = asx("sessions", "resume", "telegram-5", "--json", cwd=tmp_path / "two").json()
        assert resumed["path"] == str(paths["two"])

    @pytest.mark.parametrize("content", [b"", b'{"type":"session","id":"le'], ids=["empty", "torn header"])
    def test_a_file_without_a_header_can_be_gone_on_with(self, asx: Asx, home: HomeBuilder, content: bytes) -> None:
        path = home.aster("left-behind", content.strip() or b"")
        path.write_bytes(content)
        assert asx("sessions", "append", "left-behind", stdin=given(user("on"))).code == 0
        assert asx("sessions", "resume", "left-behind", "--json").json()["turns"] == 1

    def test_the_index_follows_at_once_where_there_is_one(self, run: Run, asx: Asx, project: Path) -> None:
        session_id, _path = start(asx, project)
        assert run("ingest").code == 0
        assert asx("sessions", "append", session_id, stdin=given(user("the heron flies"))).code == 0
        found = run("search", "heron", "--no-refresh", "--json").json()
        assert [hit["session_id"] for hit in found["hits"]] == [session_id]

    def test_no_index_is_made(self, asx: Asx, isolated: Path, project: Path) -> None:
        session_id, _path = start(asx, project)
        asx("sessions", "append", session_id, stdin=given(user("x")))
        assert list(isolated.rglob("*.sqlite*")) == []


class TestLatestAndResume:
    def test_an_agent_in_any_language_goes_on_where_it_stopped(self, asx: Asx, project: Path) -> None:
        first, _path = start(asx, project)
        asx("sessions", "append", first, stdin=given(user("one"), answer("two"), user("three"), answer("four")))
        start(asx, project)
        latest = asx("sessions", "latest", "--json", cwd=project).json()
        assert (latest["id"], latest["agent"], set(latest)) == (
            first, "aster", {"schema_version", "id", "agent", "path"},
        )  # fmt: skip
        assert asx("sessions", "latest", cwd=project).stdout == f"{first}\t{latest['path']}\n"
        resumed = asx("sessions", "resume", first, "--json").json()
        assert {"schema_version", "id", "turns", "messages"} <= set(resumed)
        assert (resumed["turns"], [message["content"] for message in resumed["messages"]]) == (
            2, ["one", "two", "three", "four"],
        )  # fmt: skip
        shown = asx("sessions", "resume", first)
        assert shown.stdout == "user: one\n\nassistant: two\n\nuser: three\n\nassistant: four\n"
        assert shown.stderr == "resumed 2 previous turns\n"

    def test_none_is_said_and_code_1(self, asx: Asx, project: Path, isolated: Path) -> None:
        shown = asx("sessions", "latest", cwd=project)
        assert (shown.code, shown.stdout) == (1, "")
        assert str(project) in shown.stderr
        assert asx("sessions", "latest", "--json", cwd=project).json()["error"]["kind"] == "not_found"
        assert list(isolated.iterdir()) == []

    def test_an_unknown_agent_is_a_usage_error(self, run: Run) -> None:
        assert run("sessions", "latest", "--agent", "nobody").code == 2

    def test_a_summary_is_told_with_what_stands_behind_it(self, asx: Asx, project: Path) -> None:
        session_id, _path = start(asx, project)
        talk = [record for n in range(5) for record in (user(f"u{n}"), answer(f"a{n}"))]
        summary = {"type": "summary", "content": "Five questions.", "keep_last": 2}
        asx("sessions", "append", session_id, stdin=given(*talk, summary, user("u5")))
        told = asx("sessions", "resume", session_id, "--json").json()
        assert [message["content"] for message in told["messages"]] == [
            "Summary of earlier conversation:\nFive questions.", "u4", "a4", "u5",
        ]  # fmt: skip
        assert (told["turns"], told["turns_shown"]) == (6, 2)
        assert asx("sessions", "resume", session_id).stderr == "resumed 6 previous turns, 2 of them in these messages\n"

    def test_aether(self, asx: Asx, project: Path) -> None:
        session_id, path = start(asx, project, "--aether", "--model", "m")
        asx("sessions", "append", session_id, stdin=given(make.aether_prompt("hi", "u"), make.aether_answer("ho", "m")))
        assert asx("sessions", "latest", "--agent", "aether", "--json", cwd=project).json()["path"] == str(path)
        told = asx("sessions", "resume", session_id, "--json").json()
        assert (told["agent"], told["turns"], told["title"]) == ("aether", 1, "hi")
        assert told["messages"] == [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]

    @pytest.mark.parametrize("indexed", [False, True])
    def test_another_agents_chat_can_be_read(self, run: Run, home: HomeBuilder, indexed: bool) -> None:
        uuid = "3f6d2c1e-58ab-4d0f-9c77-0e5b1a2c3d4e"
        home.claude(uuid, make.claude_prompt("hi", uuid, "a", 0), make.claude_answer("ho", uuid, "b", 1),
                    make.claude_tool_call("t", uuid, "c", 2, command="ls"))  # fmt: skip
        if indexed:
            assert run("ingest").code == 0
        told = run("sessions", "resume", "claude-code:3f6d2c1e", "--json").json()
        assert (told["agent"], told["turns"]) == ("claude-code", 1)
        assert told["messages"] == [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]
        latest = run("sessions", "latest", "--agent", "claude-code", "--project", "/w/gamma", "--json").json()
        assert latest["id"] == uuid

    def test_an_id_that_another_agent_has_too_is_resumed_only_with_its_agent(self, run: Run, home: HomeBuilder) -> None:
        home.claude("shared-id", make.claude_prompt("claude's", "shared-id", "a", 0))
        home.aster("shared-id", make.aster_header("shared-id", 0), make.aster_prompt("aster's", 1))
        home.aster("shared-id-2", make.aster_header("shared-id-2", 0), make.aster_prompt("another", 1))
        assert run("ingest").code == 0
        assert run("sessions", "resume", "shared-id").code == 2
        told = run("sessions", "resume", "aster:shared-id", "--json").json()
        assert [message["content"] for message in told["messages"]] == ["aster's"]
        home.aster("shared", make.aster_header("shared", 0), make.aster_prompt("not indexed", 1))
        assert run("sessions", "resume", "shared", "--json").json()["messages"][0]["content"] == "not indexed"

    def test_control_characters_of_a_transcript_never_reach_a_terminal(self, asx: Asx, project: Path) -> None:
        session_id, _path = start(asx, project)
        asx("sessions", "append", session_id, stdin=given(user("a\x1b[31mred\x07\u202e")))
        assert "\x1b" not in asx("sessions", "resume", session_id).stdout


def _start_quietly(project: Path) -> None:
    sys.stdout = sys.stderr = io.StringIO()
    assert main(["sessions", "start", "--id", "half", "--cwd", str(project)]) == 6


class TestAtTheEdges:
    def test_a_full_disk_is_one_sentence_and_loses_nothing(self, asx: Asx, project: Path) -> None:
        session_id, path = start(asx, project)
        assert asx("sessions", "append", session_id, stdin=given(user("before"))).code == 0

        def limited() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

        full = subprocess.run(
            [sys.executable, "-m", "cli", "sessions", "append", session_id, "--json"],
            input=given(*(user("x" * 900 + str(number)) for number in range(6))), capture_output=True, check=False,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, cwd=project, preexec_fn=limited,
        )  # fmt: skip
        error = json.loads(full.stdout)["error"]
        assert (full.returncode, error["kind"]) == (6, "io")
        assert "File too large" in error["message"]
        assert asx("sessions", "append", session_id, stdin=given(user("after"))).code == 0
        told = [message.content for message in Transcript.load(path).messages]
        assert (told[0], told[-1]) == ("before", "after")
        assert all(text is not None and text.startswith("x" * 900) for text in told[1:-1])
        assert len(Transcript.load(path).damaged) <= 1

    def test_a_start_on_a_full_disk_leaves_no_half_session(self, isolated: Path, project: Path) -> None:
        code, told = run_on_small_disk(lambda: _start_quietly(project), 10)
        assert (code, told) == (0, "")
        assert [path.name for path in isolated.rglob("*") if path.is_file() and path.name != ".lock"] == []

    def test_on_a_read_only_home_reading_works(self, asx: Asx, home: HomeBuilder, project: Path) -> None:
        if is_above_permissions():
            pytest.skip("this user writes whatever the mode bits say")
        session_id, path = start(asx, project)
        asx("sessions", "append", session_id, stdin=given(user("hi")))
        folders = [home.aster_home / "sessions", path.parent]
        for folder in folders:
            folder.chmod(0o500)
        path.chmod(0o400)
        try:
            assert asx("sessions", "resume", session_id, "--json").json()["turns"] == 1
            assert asx("sessions", "latest", "--json", cwd=project).json()["id"] == session_id
            refused: Result = asx("sessions", "append", session_id, stdin=given(user("no")))
            assert refused.code == 6
            assert refused.stderr.count("\n") == 1
        finally:
            for folder in folders:
                folder.chmod(0o700)
