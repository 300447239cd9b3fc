"""``asx sessions`` delete, rename, relocate, prune, history: one session each, and the index follows at once."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from persist.aster.listing import describe
from tests import builders as make
from tests.builders import HomeBuilder
from tests.cli.conftest import OnATerminal, Run
from tests.conftest import REPOSITORY

THEIRS = "3f6d2c1e-0000-4000-8000-000000000001"
LONG_AGO = (1_700_000_000, 1_700_000_000)


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    builder = HomeBuilder(isolated)
    for minute, session_id in enumerate(("s1", "s10", "s11", "01k5aaaa1111", "01k5aaaa2222")):
        talk(builder, session_id, minute)
    builder.claude(THEIRS, make.claude_prompt("theirs", THEIRS, "u1", 1))
    builder.aether("ae-7c1d", make.aether_metadata("ae-7c1d", 0), make.aether_prompt("heron of aether"))
    builder.prompt_history("aster", make.history_entry("heron s1", "s1", 1), make.history_entry("heron s10", "s10", 1))
    return builder


def talk(home: HomeBuilder, session_id: str, minute: float, cwd: str = "/w/alpha", project: str = "alpha") -> Path:
    header = make.aster_header(session_id, minute) | {"cwd": cwd}
    prompt, answer = make.aster_prompt(f"heron {session_id}", minute + 1), make.aster_answer("ok", minute + 2)
    path = home.aster(session_id, header, prompt, answer, project=project)
    os.utime(path, LONG_AGO)
    return path


def transcripts(home: HomeBuilder) -> set[str]:
    return {path.stem for path in home.home.rglob("*.jsonl") if path.name != "prompt-history.jsonl"}


def hits(run: Run, words: str) -> set[str]:
    found = run("search", "--json", "--no-refresh", words)
    return {hit["session_id"] for hit in found.json()["hits"]} if found.code in (0, 1) else set()


def state(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file() and ".cache" not in path.parts}


def answered(keys: str, *words: str) -> tuple[int, str]:
    """Run the command on a terminal and type ``keys`` when it asks; return its exit code and what was shown.

    Typed again after two seconds of silence: a Ctrl-C between the question and the read that waits for its answer is
    seen by nobody until the next key.
    """
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "cli", *words], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        env={**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip
    os.close(theirs)
    shown, answered_ones, until = b"", 0, time.monotonic() + 30
    while time.monotonic() < until:
        if not select.select([ours], [], [], 2)[0]:
            answered_ones = 0
        else:
            try:
                shown += os.read(ours, 65536)
            except OSError:
                break
        if shown.count(b"[y/N]") > answered_ones:  # counted in the whole: a piece may end inside the mark
            answered_ones = shown.count(b"[y/N]")
            os.write(ours, keys.encode())
    os.close(ours)
    return running.wait(30), shown.decode()


class TestDelete:
    def test_b111_a_whole_id_is_that_session_alone_and_index_and_history_follow(
        self, home: HomeBuilder, run: Run
    ) -> None:
        run("ingest", "--quiet")
        before = transcripts(home)
        done = run("sessions", "delete", "--yes", "s1")
        assert (done.code, done.stderr) == (0, "")
        assert transcripts(home) == before - {"s1"}
        assert hits(run, "heron s1") == {"s10", "s11"}
        assert "heron s1\n" not in run("sessions", "history").stdout
        assert run("sessions", "show", "s1").code == 1
        assert run("sessions", "delete", "--yes", "s1").code == 1
        assert run("verify").code == 0

    @pytest.mark.parametrize("indexed", [True, False])
    def test_b111_a_beginning_that_fits_two_is_refused_and_lists_both(
        self, home: HomeBuilder, run: Run, indexed: bool
    ) -> None:
        if indexed:
            run("ingest", "--quiet")
        before = state(home.home)
        told = run("sessions", "delete", "--yes", "--json", "01k5aaaa")
        assert (told.code, told.json()["error"]["kind"]) == (2, "ambiguous")
        assert "aster:01k5aaaa1111, aster:01k5aaaa2222" in told.json()["error"]["message"]
        assert state(home.home) == before
        assert run("sessions", "delete", "--yes", "01k5aaaa2").code == 0
        assert "01k5aaaa2222" not in transcripts(home)

    @pytest.mark.parametrize(
        "typed", ["%", "_", "*", "s1*", "..", "../../x", "/etc/passwd", "", " ", "🧾", "x" * 5000, "s1\n", "s1/../s10"]
    )
    def test_b111_what_is_no_id_is_refused_and_touches_nothing(self, home: HomeBuilder, run: Run, typed: str) -> None:
        canary = home.aster_home.parent / "x.jsonl"
        canary.write_text("outside")
        before = state(home.home)
        assert run("sessions", "delete", "--yes", "--", typed).code in (1, 7)
        assert state(home.home) == before

    @pytest.mark.parametrize("json", [False, True])
    def test_b111_every_form_that_a_list_prints_is_one_to_delete_by(
        self, home: HomeBuilder, run: Run, on_a_terminal: OnATerminal, json: bool
    ) -> None:
        if json:
            listed = run("sessions", "list", "--all", "--json").json()["sessions"]
            ids = [f"{one['agent']}:{one['id']}" for one in listed if one["agent"] in ("aster", "aether")]
        else:
            _, shown = on_a_terminal("sessions", "list", "--all", no_color="1")
            rows = [line.split() for line in shown.splitlines()[1:] if "aster " in line or "aether " in line]
            ids = [row[3] for row in rows]
        assert len(ids) == 6
        done = run("sessions", "delete", "--yes", *ids)
        assert (done.code, done.stderr) == (0, "")
        assert transcripts(home) == {THEIRS}

    def test_the_last_sessions_of_an_agent_leave_the_index_too(self, home: HomeBuilder, run: Run) -> None:
        run("ingest", "--quiet")
        done = run("sessions", "delete", "--yes", "ae-7c1d", "s1", "s10", "s11", "01k5aaaa1111", "01k5aaaa2222")
        assert (done.code, done.stderr) == (0, "")
        assert hits(run, "heron") == set()
        assert run("sessions", "list", "--all", "--json").json()["total"] == 1
        assert run("verify").code == 0

    def test_if_one_id_is_wrong_nothing_is_deleted(self, home: HomeBuilder, run: Run) -> None:
        before = state(home.home)
        assert run("sessions", "delete", "--yes", "s1", "nobody").code == 1
        assert state(home.home) == before

    def test_another_agents_session_is_refused_with_its_own_way(self, home: HomeBuilder, run: Run) -> None:
        before = state(home.home)
        for typed in (THEIRS, THEIRS[:6], f"claude-code:{THEIRS}"):
            told = run("sessions", "delete", "--yes", "--json", typed)
            assert (told.code, told.json()["error"]["kind"]) == (7, "refused")
            assert "belongs to Claude Code" in told.json()["error"]["message"]
            assert "cleanupPeriodDays" in told.json()["error"]["message"]
        assert state(home.home) == before

    def test_an_id_that_two_agents_share_needs_the_agent(self, home: HomeBuilder, run: Run) -> None:
        home.aether("s1", make.aether_metadata("s1", 0), make.aether_prompt("x"))
        home.claude("s10", make.claude_prompt("x", "s10", "u2", 1))
        told = run("sessions", "delete", "--yes", "s1")
        assert told.code == 2
        assert "aether:s1, aster:s1" in told.stderr
        assert run("sessions", "delete", "--yes", "s10").code == 2
        assert run("sessions", "delete", "--yes", "aether:s1", "aster:s10").code == 0
        assert (home.aster_home / "sessions" / "alpha" / "s1.jsonl").exists()

    def test_without_a_terminal_it_needs_a_yes(self, home: HomeBuilder, run: Run) -> None:
        before = state(home.home)
        told = run("sessions", "delete", "s1")
        assert told.code == 7
        assert "--yes" in told.stderr
        assert state(home.home) == before

    @pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a file open")
    def test_that_a_program_still_writes_it_is_told(self, home: HomeBuilder, run: Run) -> None:
        path = home.aster_home / "sessions" / "alpha" / "s1.jsonl"
        with path.open("ab"):
            told = run("sessions", "delete", "--yes", "s1")
        assert told.code == 0
        assert f"another program has {path} open" in told.stderr

    def test_a_dry_run_says_what_would_go(self, home: HomeBuilder, run: Run) -> None:
        before = state(home.home)
        told = run("sessions", "delete", "--dry-run", "--json", "s1").json()
        assert (told["ok"], told["dry_run"], told["deleted"], told["id"]) == (True, True, [], "s1")
        assert [one["id"] for one in told["sessions"]] == ["s1"]
        assert state(home.home) == before

    def test_a_history_that_cannot_be_written_hinders_nothing_and_is_told(self, home: HomeBuilder, run: Run) -> None:
        history = home.aster_home / "sessions" / "prompt-history.jsonl"
        history.unlink()
        history.mkdir()
        told = run("sessions", "delete", "--yes", "--json", "s1")
        assert (told.code, told.json()["ok"], told.json()["deleted"]) == (6, True, ["s1"])
        assert "prompt history" in told.json()["notes"][0]
        assert "s1" not in transcripts(home)

    def test_legacy_headerless_and_empty_files_are_listed_shown_and_deleted(self, home: HomeBuilder, run: Run) -> None:
        upper = "01KBVGBANKEEEEEEEEEEEEEEEE"
        talk(home, upper, 1)
        home.aster("empty")
        home.aster("torn", end=b'{"type":"sess')
        home.aster("headless", make.aster_prompt("no header", 1))
        home.aether("ae-bad", b"garbage")
        for indexed in (False, True):
            if indexed:
                run("ingest", "--quiet")
            listed = run("sessions", "list", "--all", "--json").json()
            assert {upper, "empty", "torn", "headless", "ae-bad"} <= {one["id"] for one in listed["sessions"]}
            assert listed["total"] == 12
            assert run("sessions", "list", "--all").stdout.count("(no session in this file)") == 3
            for session_id in (upper, "empty", "aster:torn", "headless", "ae-bad"):
                shown = run("sessions", "show", session_id)
                assert (shown.code, f"{session_id.partition(':')[2] or session_id}.jsonl" in shown.stdout) == (0, True)
            assert run("sessions", "show", "torn", "--raw").stdout == '{"type":"sess'
        assert run("sessions", "delete", "--yes", upper.lower(), "empty", "torn", "headless", "ae-bad").code == 0
        assert transcripts(home).isdisjoint({upper, "empty", "torn", "headless", "ae-bad"})


class TestTheQuestion:
    def test_a_person_is_asked_and_no_is_no(self, home: HomeBuilder) -> None:
        before = state(home.home)
        code, shown = answered("n\n", "sessions", "delete", "s1", "ae-7c1d")
        assert code == 7
        assert "delete these 2 sessions for good?" in shown
        assert "heron s1  1 turn" in shown
        assert state(home.home) == before
        code, shown = answered("y\n", "sessions", "delete", "s1")
        assert code == 0
        assert "s1" not in transcripts(home)

    def test_ctrl_c_at_the_question_changes_nothing(self, home: HomeBuilder) -> None:
        before = state(home.home)
        code, _ = answered("\x03", "sessions", "delete", "s1")
        assert code == 130
        assert state(home.home) == before


class TestRename:
    @pytest.mark.parametrize("indexed", [True, False])
    def test_a_persons_title_stays_over_later_ones_of_the_agent(
        self, home: HomeBuilder, run: Run, indexed: bool
    ) -> None:
        if indexed:
            run("ingest", "--quiet")
        path = home.aster_home / "sessions" / "alpha" / "s1.jsonl"
        before = path.read_bytes()
        done = run("sessions", "rename", "s1", "  My", "own\n title ")
        assert (done.code, done.stdout) == (0, "s1  My own title\n")
        added = path.read_bytes().removeprefix(before)
        record = json.loads(added)
        assert list(record) == ["type", "title", "ts", "by"]
        assert (record["type"], record["title"], record["by"]) == ("title", "My own title", "person")
        if indexed:
            assert run("query", "SELECT title FROM sessions WHERE session_id = 's1'", "--json").json()["rows"] == [
                ["My own title"]
            ]
        with path.open("ab") as file:
            file.write(make.lines(make.aster_title("Named by itself", 900)))
        for command in (["ingest", "--quiet"], ["rebuild", "--quiet"]):
            run(*command)
            listed = run("sessions", "list", "--all", "--json").json()["sessions"]
            assert {one["title"] for one in listed if one["id"] == "s1"} == {"My own title"}
        assert describe(path, home.aster_home).title == "My own title"

    def test_a_name_is_no_activity(self, home: HomeBuilder, run: Run) -> None:
        """Neither a list, nor ``latest``, nor ``prune`` takes a session for used because it was given a title."""
        home.aster("bare-1", make.aster_header("bare-1", 0))
        listed = ("sessions", "list", "--all", "--agent", "aster", "--json")
        before = {one["id"]: one["updated_at"] for one in run(*listed).json()["sessions"]}
        newest = run("sessions", "latest", "--cwd", "/w/alpha").stdout
        for session_id in ("s1", "bare-1"):
            assert run("sessions", "rename", session_id, "Named today").code == 0
        files = {path.stem: path for path in home.aster_home.rglob("alpha/*.jsonl")}
        for indexed in (False, True):
            if indexed:
                run("ingest", "--quiet")
            rows = run(*listed).json()["sessions"]
            assert [one["id"] for one in rows][-2:] == ["s1", "bare-1"], indexed
            assert {one["id"]: one["updated_at"] for one in rows} == before, indexed
            assert run("sessions", "latest", "--cwd", "/w/alpha").stdout == newest
        assert {stem: describe(path, home.aster_home).updated_at for stem, path in files.items()} == before
        assert run("verify").code == 0
        for path in files.values():
            os.utime(path, LONG_AGO)
        told = run("sessions", "prune", "--project", "/w/alpha", "--older-than", "1d", "--json").json()
        assert {one["id"] for one in told["sessions"]} == set(files)

    def test_b108_a_title_that_begins_with_a_dash(self, home: HomeBuilder, run: Run) -> None:
        told = run("sessions", "rename", "s1", "--another")
        assert (told.code, "put -- before" in told.stderr) == (2, True)
        assert run("sessions", "rename", "s1", "--", "--another", "-1").stdout == "s1  --another -1\n"
        assert describe(home.aster_home / "sessions" / "alpha" / "s1.jsonl", home.aster_home).title == "--another -1"

    def test_it_is_seen_in_a_list_without_an_index_behind_megabytes(self, home: HomeBuilder, run: Run) -> None:
        long = make.aster_answer("x" * 1000, 3)
        home.aster("s1", make.aster_header("s1", 0), make.aster_prompt("heron", 1), *[long] * 1000)
        run("sessions", "rename", "s1", "Behind it all")
        (row,) = [one for one in run("sessions", "list", "--all", "--json").json()["sessions"] if one["id"] == "s1"]
        assert (row["title"], row["counts_are_exact"]) == ("Behind it all", False)

    def test_a_torn_end_is_mended_first(self, home: HomeBuilder, run: Run) -> None:
        path = home.aster("torn-1", make.aster_header("torn-1", 0), make.aster_prompt("x", 1), end=b'{"type":"mess\xc3')
        assert run("sessions", "rename", "torn-1", "Whole").code == 0
        assert describe(path, home.aster_home).title == "Whole"

    def test_refusals(self, home: HomeBuilder, run: Run) -> None:
        home.aster("empty")
        home.aster("newer", {**make.aster_header("newer", 0), "v": 2}, make.aster_prompt("x", 1))
        before = state(home.home)
        for typed, why in (
            ("ae-7c1d", "Aether's format has no titles"),
            (THEIRS, "/rename"),
            ("empty", "no session in it to name"),
            ("newer", "format version 2"),
        ):
            told = run("sessions", "rename", typed, "A title")
            assert (told.code, why in told.stderr) == (7, True)
        assert run("sessions", "rename", "s1", " \n ").code == 7
        assert run("sessions", "rename", "s1", "x" * 301).code == 7
        assert run("sessions", "rename", "s1").code == 2
        assert state(home.home) == before


class TestRelocate:
    def test_an_aster_session_moves_with_its_prompts_and_the_index_follows(
        self, home: HomeBuilder, run: Run, tmp_path: Path
    ) -> None:
        run("ingest", "--quiet")
        done = run("sessions", "relocate", "s1", tmp_path, "--json")
        told = done.json()
        assert (done.code, told["ok"], told["cwd"], told["project"]) == (0, True, str(tmp_path), str(tmp_path))
        assert Path(told["path"]).exists()
        (row,) = run("sessions", "list", "--project", tmp_path, "--json").json()["sessions"]
        assert (row["id"], row["cwd"], row["paths"]) == ("s1", str(tmp_path), [told["path"]])
        history = run("sessions", "history", "--json").json()["entries"]
        assert {one["sessionId"]: one["cwd"] for one in history} == {"s1": str(tmp_path), "s10": "/w/alpha"}
        assert run("verify").code == 0

    def test_an_aether_session_has_its_metadata_rewritten(self, home: HomeBuilder, run: Run, tmp_path: Path) -> None:
        run("ingest", "--quiet")
        path = home.home / ".aether" / "sessions" / "ae-7c1d.jsonl"
        rest = path.read_bytes().partition(b"\n")[2]
        assert run("sessions", "relocate", "ae-7c", tmp_path).code == 0
        metadata, _, after = path.read_bytes().partition(b"\n")
        assert json.loads(metadata)["cwd"] == str(tmp_path)
        assert after == rest
        (row,) = run("sessions", "list", "--project", tmp_path, "--json").json()["sessions"]
        assert row["id"] == "ae-7c1d"

    def test_a_lone_session_of_a_store_leaves_nothing_of_its_old_place_in_the_index(
        self, isolated: Path, run: Run, tmp_path: Path
    ) -> None:
        home = HomeBuilder(isolated)
        talk(home, "s1", 1)
        run("ingest", "--quiet")
        assert run("sessions", "relocate", "s1", tmp_path).code == 0
        assert run("query", "SELECT count(*) FROM sources", "--json").json()["rows"] == [[1]]
        assert run("verify").code == 0

    def test_others_and_headerless_ones_are_refused(self, home: HomeBuilder, run: Run, tmp_path: Path) -> None:
        home.aster("headless", make.aster_prompt("x", 1))
        before = state(home.home)
        assert run("sessions", "relocate", THEIRS, tmp_path).code == 7
        assert run("sessions", "relocate", "headless", tmp_path).code == 7
        assert run("sessions", "relocate", "s1", " ").code == 2
        assert state(home.home) == before

    def test_of_two_files_of_one_session_none_is_guessed(self, home: HomeBuilder, run: Run, tmp_path: Path) -> None:
        talk(home, "s1", 1, project="copies")
        before = state(home.home)
        told = run("sessions", "relocate", "s1", tmp_path)
        assert told.code == 7
        assert "copies/s1.jsonl" in told.stderr
        assert state(home.home) == before

    def test_who_writes_it_now_is_busy(self, home: HomeBuilder, run: Run, tmp_path: Path) -> None:
        path = home.aster_home / "sessions" / "alpha" / "s1.jsonl"
        before = path.read_bytes()
        with path.open("ab"):
            os.utime(path)
            told = run("sessions", "relocate", "s1", tmp_path, "--json")
        assert (told.code, told.json()["error"]["kind"]) == (5, "busy")
        assert path.read_bytes() == before


class TestPrune:
    def test_without_an_option_it_says_what_there_is(self, home: HomeBuilder, run: Run) -> None:
        before = state(home.home)
        told = run("sessions", "prune", "--yes", "--project", "/w/alpha")
        assert told.code == 2
        assert all(option in told.stderr for option in ("--keep", "--older-than", "--empty"))
        assert state(home.home) == before

    def test_it_only_says_what_it_would_do_and_does_it_with_yes(self, home: HomeBuilder, run: Run) -> None:
        run("ingest", "--quiet")
        talk(home, "theirs", 1, cwd="/w-alpha", project="alpha")
        before = state(home.home)
        words = ("sessions", "prune", "--project", "/w/alpha", "--keep", "2", "--json")
        told = run(*words).json()
        assert (told["dry_run"], told["deleted"], told["kept"]) == (True, [], 2)
        assert [(one["id"], one["why"]) for one in told["sessions"]] == [
            ("s11", "surplus"), ("s10", "surplus"), ("s1", "surplus"),
        ]  # fmt: skip
        assert state(home.home) == before
        done = run(*words, "--yes")
        assert (done.code, done.json()["deleted"], done.json()["left_alone"]) == (0, ["s11", "s10", "s1"], [])
        assert transcripts(home) == {"01k5aaaa1111", "01k5aaaa2222", "theirs", THEIRS, "ae-7c1d"}
        assert hits(run, "heron s1") == set()
        assert run("sessions", "history").code == 1
        assert run("verify").code == 0

    def test_what_is_being_written_is_left_alone_and_named(self, home: HomeBuilder, run: Run) -> None:
        path = home.aster_home / "sessions" / "alpha" / "s1.jsonl"
        os.utime(path)
        told = run("sessions", "prune", "--project", "/w/alpha", "--older-than", "1d", "--yes")
        assert told.code == 0
        assert f"left alone: {path}: it changed less than" in told.stderr
        assert transcripts(home) == {"s1", THEIRS, "ae-7c1d"}

    @pytest.mark.parametrize("age", ["0", "-1", "0d", "soon", "30m", "", "1.5d", "1e3"])
    def test_an_age_that_is_none_is_refused(self, home: HomeBuilder, run: Run, age: str) -> None:
        before = state(home.home)
        assert run("sessions", "prune", "--project", "/w/alpha", f"--older-than={age}", "--yes").code == 2
        assert run("sessions", "prune", "--project", "/w/alpha", "--keep=0", "--yes").code == 2
        assert state(home.home) == before

    def test_days_need_no_unit(self, home: HomeBuilder, run: Run) -> None:
        assert (
            len(run("sessions", "prune", "--project", "/w/alpha", "--older-than", "1", "--json").json()["sessions"])
            == 5
        )
        assert (
            run("sessions", "prune", "--project", "/w/alpha", "--older-than", "20y", "--json").json()["sessions"] == []
        )


class TestHistory:
    def test_it_is_printed_as_it_stands(self, home: HomeBuilder, run: Run) -> None:
        assert run("sessions", "history").stdout == "heron s1  /w/alpha\nheron s10  /w/alpha\n"
        told = run("sessions", "history", "--json").json()
        assert [(one["sessionId"], one["prompt"]) for one in told["entries"]] == [
            ("s1", "heron s1"),
            ("s10", "heron s10"),
        ]
        assert told["rebuilt"] is False

    def test_it_is_remade_in_the_order_of_time_across_sessions(self, isolated: Path, run: Run) -> None:
        home = HomeBuilder(isolated)
        one = [make.aster_prompt(f"a{minute}", minute) for minute in range(0, 200, 2)]
        two = [make.aster_prompt(f"b{minute}", minute) for minute in range(1, 200, 2)]
        home.aster("zz", make.aster_header("zz", 0), *one)
        home.aster("aa", make.aster_header("aa", 0), *two)
        path = home.prompt_history("aster", make.history_entry("gone", "nobody", 1), b"damaged")
        told = run("sessions", "history", "--rebuild", "--json")
        assert told.code == 0
        prompts = [one["prompt"] for one in told.json()["entries"]]
        assert prompts == [f"{'ab'[minute % 2]}{minute}" for minute in range(100, 200)]
        assert path.read_bytes().startswith(b"damaged\n")
        assert path.stat().st_mode & 0o777 == 0o600

    def test_none_is_told(self, isolated: Path, run: Run) -> None:
        told = run("sessions", "history")
        assert (told.code, told.stdout) == (1, "")
        assert "no prompts in" in told.stderr
        assert not (isolated / ".local").exists()


def test_old_homes_are_changed_in_place_and_nothing_comes_back(isolated: Path, run: Run) -> None:
    home = HomeBuilder(isolated)
    path = talk(home, "s1", 1)
    twin = isolated / ".aster" / path.relative_to(home.aster_home)
    twin.parent.mkdir(parents=True)
    twin.write_bytes(path.read_bytes())
    os.utime(twin, LONG_AGO)
    assert run("sessions", "relocate", "s1", isolated).code == 0
    assert run("sessions", "list", "--all", "--json").json()["total"] == 1
    assert run("sessions", "delete", "--yes", "s1").code == 0
    assert run("sessions", "list", "--all", "--json").json()["total"] == 0
