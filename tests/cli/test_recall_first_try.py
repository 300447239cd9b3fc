"""``asx recall`` as somebody types it first: words without ``--prompt``, and a prompt of another project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import OnATerminal, Run
from tests.conftest import Asx
from tests.faults.memory_world import journal_lines

PROMPT = "which grommets does the sprocket need?"


@pytest.fixture
def memory(isolated: Path, run: Run) -> Path:
    """A memory with a block."""
    assert run("remember", "--title", "Deploy window", "Deploys run Tuesday to Thursday before 15:00 UTC.").code == 0
    return isolated / ".local" / "share" / "aster" / "memory"


class TestWordsWithoutPrompt:
    def test_are_read_as_one_where_no_block_is_called_so(self, memory: Path, run: Run) -> None:
        told = run("recall", "when", "may", "I", "deploy")
        assert told.code == 0
        assert told.stdout == run("recall", "--prompt", "when may I deploy").stdout
        assert "asx recall --prompt 'when may I deploy'\n" in told.stderr
        assert [line["op"] for line in journal_lines(memory)] == ["remember", "recall", "recall"]

    def test_a_name_goes_before_that(self, memory: Path, run: Run) -> None:
        assert run("recall", "Deploy", "window").stdout == "Deploys run Tuesday to Thursday before 15:00 UTC.\n"

    def test_words_that_nothing_helps_with_are_a_name_that_is_not_there(self, memory: Path, run: Run) -> None:
        told = run("recall", "teploy-vindow")
        assert (told.code, told.stdout) == (1, "")
        assert told.stderr.startswith(
            "asx: no memory block 'teploy-vindow'; as a prompt it finds nothing either; did you mean"
        )
        assert [line["op"] for line in journal_lines(memory)] == ["remember"]

    def test_a_program_is_told_that_there_is_no_such_block(self, memory: Path, run: Run) -> None:
        told = run("recall", "when may I deploy", "--json")
        assert (told.code, told.json()["error"]["kind"]) == (1, "not_found")
        assert "for a prompt: asx recall --prompt 'when may I deploy'" in told.json()["error"]["hint"]

    def test_an_option_of_a_prompt_names_the_prompt(self, memory: Path, run: Run) -> None:
        told = run("recall", "when", "may", "I", "deploy", "--explain")
        assert told.code == 2
        assert "--explain: does not go with NAME; a prompt is asx recall --prompt 'when may I deploy'" in told.stderr


@pytest.mark.parametrize("with_index", [False, True])
class TestANoteOfAnotherProject:
    @pytest.fixture
    def other(self, isolated: Path, run: Run) -> Path:
        """Another project, of which two notes have the words."""
        folder = isolated / "other"
        folder.mkdir()
        for side in ("left", "right"):
            text = f"The sprocket needs {side} grommets."
            assert run("remember", "--title", f"Sprocket {side}", "--project", str(folder), text).code == 0
        return folder

    def test_is_told_on_a_terminal(self, with_index: bool, other: Path, run: Run, on_a_terminal: OnATerminal) -> None:
        if with_index:
            assert run("ingest", "--quiet").code == 0
        code, text = on_a_terminal("recall", "--prompt", PROMPT)
        assert code == 1
        assert f"no note helps here, but sprocket-right of {other} has the words, and 1 other note" in text
        assert f"--cwd {other}" in text

    def test_is_told_in_json_and_explained(self, with_index: bool, other: Path, run: Run) -> None:
        if with_index:
            assert run("ingest", "--quiet").code == 0
        told = run("recall", "--prompt", PROMPT, "--json")
        assert (told.code, told.json()["items"]) == (1, [])
        assert [(one["name"], one["project"]) for one in told.json()["elsewhere"]] == [
            ("sprocket-right", str(other)), ("sprocket-left", str(other))
        ]  # fmt: skip
        refused = run("recall", "--prompt", PROMPT, "--json", "--explain").json()["refused"]
        assert [one["reason"] for one in refused] == ["is about another project"] * 2
        shown = run("recall", "--prompt", PROMPT, "--explain").stdout
        assert "sprocket-right  no" in shown
        assert "is about another project" in shown
        there = run("recall", "--prompt", PROMPT, "--json", "--cwd", str(other)).json()
        assert (len(there["items"]), there["elsewhere"]) == (2, [])

    def test_is_not_told_to_a_pipe_nor_to_a_hook(self, with_index: bool, other: Path, run: Run, asx: Asx) -> None:
        if with_index:
            assert run("ingest", "--quiet").code == 0
        told = run("recall", "--prompt", PROMPT)
        assert (told.code, told.stdout) == (1, "")
        assert "other" not in told.stderr
        told = asx("recall", "--hook", stdin=json.dumps({"prompt": PROMPT}))
        assert (told.code, told.stdout, told.stderr) == (0, "", "")


def test_a_note_that_helps_here_hides_those_elsewhere(isolated: Path, run: Run) -> None:
    folder = isolated / "other"
    folder.mkdir()
    assert run("remember", "--title", "There", "--project", str(folder), "The sprocket needs grommets.").code == 0
    assert run("remember", "--title", "Here", "The sprocket needs grommets, two of them.").code == 0
    told = run("recall", "--prompt", PROMPT, "--json").json()
    assert ([item["name"] for item in told["items"]], told["elsewhere"]) == (["here"], [])
