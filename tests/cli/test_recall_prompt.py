"""``asx recall --prompt``: what helps, or nothing; what is printed, what is noted, and what is refused."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from persist.recall.frame import CLOSING, OPENING
from tests.builders import HomeBuilder, aster_answer, aster_header, aster_prompt
from tests.cli.conftest import OnATerminal, Run
from tests.conftest import REPOSITORY, Asx, Result
from tests.faults.memory_world import journal_lines

PROMPT: Final = "when may we deploy in the release window?"
NOTHING: Final = "write me a poem about the sea"


@pytest.fixture
def memory(isolated: Path, run: Run) -> Path:
    """A memory with two blocks and two facts."""
    assert (
        run("remember", "--title", "Deploy window", "Deploys run Tuesday to Thursday before 15:00 UTC only.").code == 0
    )
    assert run("remember", "--title", "Billing export", "The billing export is written as semicolon CSV.").code == 0
    assert run("remember", "The staging database allows 40 connections").code == 0
    assert run("remember", "Invoices are rounded per line").code == 0
    return isolated / ".local" / "share" / "aster" / "memory"


def recalls(memory: Path) -> list[dict[str, Any]]:
    return [line for line in journal_lines(memory) if line["op"] == "recall"]


def type_in(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


class TestAnAnswer:
    def test_the_first_try_works_without_an_index(self, isolated: Path, asx: Asx) -> None:
        assert asx("remember", "We deploy from the release branch on Tuesdays").code == 0
        told = asx("recall", "--prompt", "which branch do we deploy from?")
        assert told.code == 0
        assert "> We deploy from the release branch on Tuesdays\n" in told.stdout
        assert told.stderr == ""

    def test_it_is_quoted_in_one_frame_with_its_source(self, memory: Path, run: Run) -> None:
        told = run("recall", "--prompt", PROMPT)
        lines = told.stdout.splitlines()
        assert (told.code, told.stderr) == (0, "")
        assert (lines[0], lines[-1]) == (OPENING, CLOSING)
        assert re.fullmatch(
            rf"\[1\] deploy-window \(fact, [0-9-]+\) from {re.escape(str(memory))}/deploy-window\.md", lines[2]
        )
        assert lines[3:-1] == ["> Deploys run Tuesday to Thursday before 15:00 UTC only."]

    def test_nothing_is_1_and_empty(self, memory: Path, run: Run) -> None:
        without = run("recall", "--prompt", NOTHING)
        assert (without.code, without.stdout, without.stderr[:18]) == (1, "", "there is no index:")
        assert run("ingest", "--quiet").code == 0
        for prompt in (NOTHING, "", "   ", "yes", "\N{THUMBS UP SIGN}", "the of and"):
            told = run("recall", "--prompt", prompt)
            assert (told.code, told.stdout, told.stderr) == (1, "", ""), prompt
            assert run("recall", "--prompt", prompt, "--json").json()["items"] == []
        assert recalls(memory) == []

    def test_a_home_without_memory_has_nothing(self, run: Run, isolated: Path) -> None:
        assert run("recall", "--prompt", PROMPT).code == 1
        told = run("recall", "--prompt", PROMPT, "--json")
        assert (told.code, told.json()["status"], told.json()["considered"]) == (1, "nothing_relevant", 0)
        assert list(isolated.rglob("*")) == []

    def test_the_prompt_may_come_on_stdin(self, memory: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        type_in(monkeypatch, b"\xef\xbb\xbf" + PROMPT.encode() + b"\xff\n")
        assert "[1] deploy-window" in run("recall", "--prompt", "-").stdout
        type_in(monkeypatch, PROMPT.encode() + b" " * (1024 * 1024))
        told = run("recall", "--prompt", "-")
        assert "[1] deploy-window" in told.stdout
        assert told.stderr == "the prompt was read up to 1,048,576 bytes\n"

    def test_the_text_is_what_its_file_says_now(self, memory: Path, run: Run) -> None:
        assert run("ingest", "--quiet").code == 0
        path = memory / "deploy-window.md"
        path.write_text(path.read_text().replace("Tuesday", "Monday"))
        assert "Monday" in run("recall", "--prompt", PROMPT).stdout
        path.unlink()
        assert run("recall", "--prompt", PROMPT).code == 1

    def test_two_runs_give_the_same(self, memory: Path, asx: Asx) -> None:
        told = {asx("recall", "--prompt", PROMPT, "--as-of", "2027-01-01", "--json").stdout for _ in range(3)}
        assert len(told) == 1

    def test_limit(self, memory: Path, run: Run) -> None:
        prompt = "deploy window, billing export as CSV, staging database connections, invoices rounded per line"
        assert len(run("recall", "--prompt", prompt, "--json").json()["items"]) == 3
        assert len(run("recall", "--prompt", prompt, "--json", "--limit", "2").json()["items"]) == 2

    def test_where_it_was_typed_counts(self, memory: Path, run: Run, tmp_path: Path) -> None:
        (tmp_path / "shop").mkdir()
        (tmp_path / "shopping").mkdir()
        words = ("remember", "--title", "Lantern", "--project", tmp_path / "shop", "The lantern glows at dusk.")
        assert run(*words).code == 0
        assert run("recall", "--prompt", "does the lantern glow?", "--cwd", tmp_path / "shop").code == 0
        assert run("recall", "--prompt", "does the lantern glow?", "--cwd", tmp_path / "shopping").code == 1
        assert run("recall", "--prompt", "does the lantern glow?").code == 1


class TestTheBudget:
    def test_it_holds_for_all_that_is_printed(self, memory: Path, run: Run) -> None:
        for title in ("Kiln drift one", "Kiln drift two", "Kiln drift three"):
            assert run("remember", "--title", title, f"{title}: " + "the kiln controller drifts again. " * 40).code == 0
        for characters in (600, 800, 1500, 4000):
            told = run("recall", "--prompt", "why does the kiln controller drift?", "--max-chars", str(characters))
            assert told.code == 0
            assert 0 < len(told.stdout.rstrip("\n")) <= characters
            assert told.stdout.count(OPENING) == told.stdout.count(CLOSING) == 1
            assert "cut" in told.stdout
            assert f"--max-chars {characters} gives no more room" in told.stderr

    def test_the_best_one_stays_and_only_what_is_given_is_noted(self, memory: Path, run: Run) -> None:
        for title in ("Kiln drift one", "Kiln drift two", "Kiln drift three"):
            assert run("remember", "--title", title, f"{title}: " + "the kiln controller drifts again. " * 40).code == 0
        words = ("recall", "--prompt", "why does the kiln controller drift?", "--json")
        best = run(*words, "--no-journal").json()["items"][0]["name"]
        told = run(*words, "--max-chars", "520").json()
        assert [item["name"] for item in told["items"]] == [best]
        assert (told["cut"], told["left_out"]) == (1, 2)
        assert [line["name"] for line in recalls(memory)] == [best]

    def test_a_note_whose_header_has_no_room_hides_no_other(self, memory: Path, run: Run) -> None:
        note = f"---\ndescription: deploy release window\nkind: {'k' * 5000}\n---\n\nDeploy in the release window.\n"
        (memory / "deploy-release-window.md").write_text(note)
        for _ in ("from the files", "from the index"):
            told = run("recall", "--prompt", PROMPT, "--json")
            assert [one["name"] for one in told.json()["items"]] == ["deploy-window"]
            assert (told.code, told.json()["left_out"]) == (0, 1)
            assert "Deploys run Tuesday" in told.json()["text"]
            assert run("ingest", "--quiet").code == 0

    def test_what_helps_and_has_no_room_is_not_nothing(self, run: Run, isolated: Path, tmp_path: Path) -> None:
        home = tmp_path / ("deep" * 50)
        memory = home / "memory"
        memory.mkdir(parents=True)
        (memory / "kiln.md").write_text("---\nname: kiln\n---\n\nThe kiln drifts. " + "It does so again. " * 40)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ASTER_HOME", str(home))
            told = run("recall", "--prompt", "why does the kiln drift?", "--max-chars", "400")
            assert (told.code, told.stdout) == (7, "")
            assert "1 item helps and has no room in 400 characters" in told.stderr
            told = run("recall", "--prompt", "why does the kiln drift?", "--max-chars", "400", "--json")
            assert (told.code, told.json()["items"], told.json()["left_out"]) == (7, [], 1)
        assert not (memory / "journal.jsonl").exists()

    def test_too_little_is_refused(self, memory: Path, run: Run) -> None:
        assert run("recall", "--prompt", PROMPT, "--max-chars", "100").code == 2


class TestJson:
    def test_the_shape(self, memory: Path, run: Run) -> None:
        told = run("recall", "--prompt", "how many connections does the staging database allow", "--json").json()
        assert (told["status"], told["considered"]) == ("ok", 1)
        item = told["items"][0]
        assert (item["kind"], item["name"], item["agent"]) == ("fact", "ASTER.md:3", "aster")
        assert item["source"] == {"path": str(memory / "ASTER.md"), "line": 3, "offset": None}
        assert item["why"] == ["has connections, staging, database, allow"]
        assert item["text"] == "The staging database allows 40 connections"
        assert told["text"].startswith(OPENING)
        assert "refused" not in told

    def test_explained_it_names_what_was_refused(self, memory: Path, run: Run) -> None:
        assert run("remember", "--title", "Old export", "A release goes out with every export.").code == 0
        told = run("recall", "--prompt", PROMPT, "--json", "--explain").json()
        assert [(one["name"], bool(one["reason"])) for one in told["refused"]] == [("old-export", True)]


class TestWhatIsNoted:
    def test_a_block_that_is_given_out_with_its_session(self, memory: Path, run: Run) -> None:
        assert run("recall", "--prompt", PROMPT, "--session", "01m3y9fha0vhf161j4dztyjypy").code == 0
        line = recalls(memory)[-1]
        assert (line["name"], line["source_session"]) == ("deploy-window", "01m3y9fha0vhf161j4dztyjypy")
        assert set(line) == {"ts", "op", "name", "source_session"}

    def test_a_fact_is_no_block(self, memory: Path, run: Run) -> None:
        assert run("recall", "--prompt", "how many connections does the staging database allow").code == 0
        assert recalls(memory) == []

    @pytest.mark.parametrize("option", [["--explain"], ["--as-of", "2027-01-01"], ["--no-journal"]], ids=" ".join)
    def test_some_ways_of_asking_note_nothing(self, option: list[str], memory: Path, run: Run) -> None:
        before = {path: path.read_bytes() for path in memory.rglob("*") if path.is_file()}
        assert run("recall", "--prompt", PROMPT, *option).code == 0
        assert run("recall", "--prompt", PROMPT, *option, "--json").code == 0
        assert {path: path.read_bytes() for path in memory.rglob("*") if path.is_file()} == before

    def test_a_journal_that_cannot_be_written_fails_no_answer(self, memory: Path, run: Run) -> None:
        (memory / "journal.jsonl").unlink()
        (memory / "journal.jsonl").mkdir()
        told = run("recall", "--prompt", PROMPT)
        assert (told.code, told.stdout.splitlines()[0]) == (0, OPENING)
        assert "the recall is not in the journal" in told.stderr

    @pytest.mark.parametrize("to", [">&-", ">/dev/full", "| true"])
    def test_what_nobody_could_read_was_not_given_out(self, to: str, memory: Path) -> None:
        if to == "| true":
            to = "| (exec <&-; sleep 1)"
        subprocess.run(
            ["sh", "-c", f"{sys.executable} -m cli recall --prompt '{PROMPT}' {to}"],
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            capture_output=True,
            timeout=30,
            check=False,
        )
        assert recalls(memory) == []

    def test_a_busy_folder_is_not_waited_for(self, memory: Path, run: Run) -> None:
        from persist.files import LOCK_NAME, locked

        with locked(memory / LOCK_NAME):
            told = run("recall", "--prompt", PROMPT)
        assert (told.code, told.stdout.splitlines()[0]) == (0, OPENING)
        assert "the recall is not in the journal" in told.stderr


class TestExplained:
    def test_a_person_sees_what_was_weighed(self, memory: Path, run: Run) -> None:
        assert run("remember", "--title", "Old export", "A release goes out with every export.").code == 0
        told = run("recall", "--prompt", PROMPT, "--explain")
        assert told.code == 0
        lines = told.stdout.splitlines()
        assert lines[0].startswith("words by weight: ")
        assert {"deploy", "release", "window"} <= set(re.findall(r"([a-z]+) \d", lines[0]))
        assert lines[1].split() == ["candidate", "given", "evidence", "covers", "score", "has", "why"]
        assert lines[2].split()[:2] == ["deploy-window", "yes"]
        assert lines[3].split()[:2] == ["old-export", "no"]

    def test_nothing_to_say_is_1_still(self, memory: Path, run: Run) -> None:
        told = run("recall", "--prompt", "the of and", "--explain")
        assert (told.code, told.stdout) == (1, "the prompt has no word that tells anything\n")
        told = run("recall", "--prompt", "zephyr", "--explain")
        assert told.code == 1
        assert told.stdout.endswith("no candidate has one of its words\n")

    def test_a_repaired_word_is_told(self, memory: Path, run: Run) -> None:
        told = run("recall", "--prompt", "where is the biling export?", "--explain")
        assert "\nbiling is read as bill\n" in told.stdout


class TestTurns:
    @pytest.fixture
    def home(self, isolated: Path) -> HomeBuilder:
        home = HomeBuilder(isolated)
        said = "The zephyr gateway restarts at noon, after the backup."
        home.aster(
            "s1",
            aster_header("s1", 0),
            aster_prompt("What is with it?", 1),
            aster_answer(said, 2),
            aster_prompt("ok", 3),
        )
        return home

    PROMPT: Final = "when does the zephyr gateway restart?"

    def test_a_turn_is_quoted_with_what_was_around_it(self, home: HomeBuilder, run: Run) -> None:
        assert run("ingest", "--quiet").code == 0
        told = run("recall", "--prompt", self.PROMPT, "--turns", "--cwd", "/w/alpha")
        lines = told.stdout.splitlines()
        assert told.code == 0
        assert lines[2].startswith("[1] s1:1 (turn, 2026-05-04) from ")
        assert "> user: What is with it?" in lines
        assert "> agent: The zephyr gateway restarts at noon, after the backup." in lines
        assert run("show", "s1:1").stdout.endswith("The zephyr gateway restarts at noon, after the backup.\n")
        assert not (home.aster_home / "memory").exists()
        item = run("recall", "--prompt", self.PROMPT, "--turns", "--cwd", "/w/alpha", "--json").json()["items"][0]
        assert (item["event_index"], item["count"], item["source"]["line"]) == (1, 1, 3)

    def test_explained_too(self, home: HomeBuilder, run: Run) -> None:
        assert run("ingest", "--quiet").code == 0
        told = run("recall", "--prompt", self.PROMPT, "--turns", "--cwd", "/w/alpha", "--explain")
        assert told.code == 0
        assert re.search(r"^s1:1 +yes +\d\.\d +\d+% +\d+\.\d .* a past turn$", told.stdout, re.MULTILINE)

    def test_why_one_was_refused_is_told_with_what_it_has(self, home: HomeBuilder, run: Run) -> None:
        assert run("ingest", "--quiet").code == 0
        asked = (
            "recall",
            "--prompt",
            "the gateway of the museum and its opening hours",
            "--turns",
            "--cwd",
            "/w/alpha",
        )
        told = run(*asked, "--explain")
        assert told.code == 1
        assert re.search(r"^s1 +no +\d\.\d +\d+% +\d+\.\d +gateway +", told.stdout, re.MULTILINE)
        (refused,) = run(*asked, "--explain", "--json").json()["refused"]
        assert list(refused) == ["name", "reason", "score", "evidence", "coverage"]
        assert (refused["name"], 0 < refused["coverage"] < 1) == ("s1", True)

    def test_without_an_index_it_is_3(self, home: HomeBuilder, memory: Path, run: Run) -> None:
        told = run("recall", "--prompt", PROMPT, "--turns")
        assert (told.code, told.stdout) == (3, "")
        assert run("recall", "--prompt", PROMPT, "--turns", "--json").json()["error"]["kind"] == "no_index"
        assert run("recall", "--prompt", PROMPT).code == 0

    def test_a_hook_gives_what_memory_has(self, home: HomeBuilder, memory: Path, asx: Asx) -> None:
        told = asx("recall", "--hook", "--turns", stdin=json.dumps({"prompt": PROMPT}))
        assert "deploy-window" in told.json()["hookSpecificOutput"]["additionalContext"]
        assert "no index" in asx("doctor").stdout

    def test_a_terminal_says_that_turns_would_help(
        self, home: HomeBuilder, run: Run, on_a_terminal: OnATerminal
    ) -> None:
        assert run("ingest", "--quiet").code == 0
        words = ("recall", "--prompt", self.PROMPT, "--cwd", "/w/alpha")
        assert run(*words) == Result(1, "", "")
        code, shown = on_a_terminal(*words, no_color="1")
        assert (code, shown) == (1, "no note helps, but 1 past turn may: add --turns\r\n")
        code, shown = on_a_terminal("recall", "--prompt", "yes", "--cwd", "/w/alpha", no_color="1")
        assert (code, shown) == (1, "no note helps with this prompt; --explain says why\r\n")


class TestMixtures:
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            ([], "give a block's name, or --prompt TEXT"),
            (["--prompt", "what", "is", "it"], "quote a prompt of several words"),
            (["name", "--explain"], "does not go with NAME"),
            (["name", "--as-of", "1d"], "does not go with NAME"),
            (["--prompt", "x", "--limit", "0"], "--limit"),
            (["--prompt", "x", "--as-of", "soon"], "not a time like"),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else "",
    )
    def test_it_is_a_usage_error(self, words: list[str], said: str, run: Run) -> None:
        told = run("recall", *words)
        assert (told.code, told.stdout) == (2, "")
        assert said in told.stderr
        assert run("recall", *words, "--json").json()["error"]["kind"] == "usage"


class TestByName:
    def test_a_fact_by_its_line(self, memory: Path, run: Run, isolated: Path) -> None:
        assert run("recall", "ASTER.md:4").stdout == "Invoices are rounded per line\n"
        older = isolated / ".aster" / "memory"
        older.mkdir(parents=True)
        (older / "ASTER.md").write_text("\n" * 8 + "- a fact that no prompt has any more\n")
        assert run("recall", "ASTER.md:9").code == 1
        assert run("recall", "ASTER.md:4", "--json").json()["body"] == "Invoices are rounded per line"
        assert run("recall", "ASTER.md:1").code == 1
        assert recalls(memory) == []

    def test_the_running_session_is_noted(self, memory: Path, run: Run) -> None:
        assert run("recall", "deploy-window", "--session", "s1").code == 0
        assert [(line["name"], line["source_session"]) for line in recalls(memory)] == [("deploy-window", "s1")]


def test_nothing_on_a_terminal_turns_or_rings(memory: Path, on_a_terminal: OnATerminal) -> None:
    evil = "\x1b]0;title\x07 lantern \x9b31m \u202egnp\u2066 \u200b \r over\x08 \x00"
    (memory / "lantern.md").write_text(f"---\nname: lantern\n---\n\nThe lantern {evil} glows.", newline="")
    for words in (
        ["--prompt", "why does the lantern glow"],
        ["--prompt", "why does the lantern glow \x1b[5m", "--explain"],
    ):
        code, shown = on_a_terminal("recall", *words, no_color="1")
        assert code == 0
        assert "lantern" in shown
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    told = json.loads(on_a_terminal("recall", "--prompt", "why does the lantern glow", "--json", no_color="1")[1])
    assert told["items"][0]["text"] == f"The lantern {evil} glows."


def test_the_context_for_a_prompt_lists_what_helps(memory: Path, run: Run, tmp_path: Path) -> None:
    told = run("memory", "context", "--prompt", PROMPT)
    assert told.code == 0
    assert "- deploy-window" in told.stdout
    assert "- billing-export" not in told.stdout
    assert "- The staging database allows 40 connections" in told.stdout  # ASTER.md stands in it whole
    assert told.stdout.splitlines()[-1].startswith("- ... and 1 other block not about this prompt; ")
    assert run("memory", "context", "--prompt", PROMPT, "--json").json()["left_out"] == 1
    assert run("memory", "context", "--cwd", tmp_path).code == 2
    assert recalls(memory) == []


def test_older_homes_are_asked_too(isolated: Path, run: Run) -> None:
    old = isolated / ".aster" / "memory"
    old.mkdir(parents=True)
    (old / "kept.md").write_text(
        "---\nname: kept\ndescription: the zephyr gateway\n---\n\nThe zephyr gateway restarts.\n"
    )
    told = run("recall", "--prompt", "when does the zephyr gateway restart?", "--json")
    assert [item["source"]["path"] for item in told.json()["items"]] == [str(old / "kept.md")]
    assert run("memory", "context", "--prompt", "does the zephyr gateway restart?", "--json").json()["blocks"] == 1
