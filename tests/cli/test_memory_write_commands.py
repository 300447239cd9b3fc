"""The commands that change the memory: what they print, what they ask for, and what the index knows right after."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders import HomeBuilder
from tests.cli.conftest import Run
from tests.conftest import Asx

CHANGE = {
    *("schema_version", "ok", "kind", "name", "fact", "path", "is_new", "version", "version_path", "superseded"),
    *("held_again", "restored", "near", "journal_error"),
}


@pytest.fixture
def memory(isolated: Path) -> Path:
    return isolated / ".local" / "share" / "aster" / "memory"


def journal(memory: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (memory / "journal.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("words", [["memory", "add"], ["remember"]], ids=" ".join)
def test_a_note_with_a_title_is_a_block(words: list[str], memory: Path, run: Run) -> None:
    told = run(*words, "--title", "Deploy window", "Only on Tuesday.", "Never on Friday.")
    assert (told.code, told.stdout, told.stderr) == (0, "deploy-window\n", "")
    assert (
        (memory / "deploy-window.md")
        .read_text()
        .endswith("title: Deploy window\n---\n\nOnly on Tuesday. Never on Friday.\n")
    )
    again = run(*words, "--title", "Deploy window", "--json", "Only on Monday.").json()
    assert set(again) == CHANGE
    assert (again["ok"], again["kind"], again["name"], again["is_new"]) == (True, "block", "deploy-window", False)
    assert again["path"] == str(memory / "deploy-window.md")
    assert Path(again["version_path"]).read_text().endswith("Only on Tuesday. Never on Friday.\n")
    assert again["version"] in again["version_path"]


@pytest.mark.parametrize("words", [["memory", "add"], ["remember"]], ids=" ".join)
def test_a_note_without_one_is_a_fact(words: list[str], memory: Path, run: Run) -> None:
    told = run(*words, "--session", "s1", "--json", "Deploys", "leave from main").json()
    assert (told["kind"], told["name"], told["path"], told["version"]) == (
        "project",
        None,
        str(memory / "ASTER.md"),
        None,
    )
    assert (memory / "ASTER.md").read_text() == "# Project memory\n\n- Deploys leave from main\n"
    assert journal(memory)[0]["source_session"] == "s1"
    assert (told["fact"], told["is_new"]) == ("ASTER.md:3", True)
    more = run(*words, "more\nof it")
    assert (more.stdout, more.stderr) == ("ASTER.md:4\n", "")
    assert run("memory", "show", more.stdout.strip()).stdout == "more\nof it\n"


@pytest.mark.parametrize("words", [["memory", "add"], ["remember"]], ids=" ".join)
@pytest.mark.parametrize("text", ["My editor is helix", "  My editor is helix\n", "First line\r\n  second"])
def test_a_fact_that_is_there_is_not_written_again(words: list[str], text: str, memory: Path, run: Run) -> None:
    for one in ("before", text, "behind"):
        assert run(*words, one).code == 0
    files = {path: path.read_bytes() for path in memory.iterdir()}
    again = run(*words, text)
    assert (again.code, again.stdout) == (0, "ASTER.md:4\n")
    assert again.stderr == "ASTER.md:4: stands in ASTER.md already; nothing was written\n"
    told = run(*words, "--json", text).json()
    assert (told["ok"], told["fact"], told["is_new"]) == (True, "ASTER.md:4", False)
    assert {path: path.read_bytes() for path in memory.iterdir()} == files
    assert run(*words, f"{text.strip()} as well").stdout == f"ASTER.md:{6 + text.strip().count(chr(10))}\n"


def test_a_fact_that_was_taken_out_by_hand_may_come_again(memory: Path, run: Run) -> None:
    assert run("remember", "once").code == 0
    (memory / "ASTER.md").write_text("# Project memory\n\nonce\n* twice\n")
    assert run("remember", "once").stdout == "ASTER.md:5\n"
    assert "already" in run("remember", "twice").stderr


def test_a_note_from_stdin(memory: Path, asx: Asx) -> None:
    told = asx("memory", "add", "--title", "T", "-", stdin="\ufeffFirst. \u011f \u201cquoted\u201d \u6f22\r\nSecond.\n")
    assert (told.code, told.stdout) == (0, "t\n")
    assert (memory / "t.md").read_bytes().endswith("\n\nFirst. \u011f \u201cquoted\u201d \u6f22\r\nSecond.\n".encode())
    bad = asx("memory", "add", "--title", "T", "-", stdin=b"caf\xe9")
    assert bad.code == 2
    assert "stdin is not UTF-8 at byte 3" in bad.stderr
    assert asx("memory", "add", "--title", "T", "-", stdin="").code == 7


def test_everything_that_can_be_said_of_a_block(
    memory: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "repo" / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "repo" / "sub")
    assert run("memory", "add", "--title", "pip", "Use pip.").code == 0
    told = run(
        "memory", "add", "--title", "Package manager", "--description", "how packages come in", "--session", "s1",
        "--kind", "decision", "--here", "--alias", "uv", "--alias", "poetry", "--pin", "--supersedes", "pip", "Use uv.",
    )  # fmt: skip
    assert (told.code, told.stdout) == (0, "package-manager\n")
    block = run("memory", "show", "Package manager", "--json").json()
    assert block["title"] == "Package manager"
    assert (block["description"], block["source_session"], block["kind"]) == ("how packages come in", "s1", "decision")
    assert (block["aliases"], block["pinned"], block["project"]) == (["uv", "poetry"], True, str(tmp_path / "repo"))
    assert run("memory", "show", "pip", "--json").json()["superseded_by"] == "package-manager"
    assert run("memory", "add", "--title", "Package manager", "--project", "~/x", "Use uv.").code == 0
    assert run("memory", "show", "package-manager", "--json").json()["project"] == str(memory.parents[3] / "x")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pin", "x"], "needs --title"),
        (["--alias", "a", "x"], "needs --title"),
        (["--description", "", "x"], "needs --title"),
        (["--supersedes", "a", "x"], "needs --title"),
        (["--here", "x"], "needs --title"),
        (["--title", "t", "--here", "--project", "/w", "x"], "choose one"),
        (["--title", "t"], "give the note's text"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_meant_is_a_usage_error(words: list[str], said: str, memory: Path, run: Run) -> None:
    told = run("memory", "add", *words)
    assert told.code == 2
    assert said in told.stderr
    assert not memory.exists()


@pytest.mark.parametrize("words", [["memory", "add", " "], ["memory", "add", "--title", "", "x"]], ids=" ".join)
def test_nothing_is_refused(words: list[str], memory: Path, run: Run) -> None:
    told = run(*words)
    assert (told.code, told.stdout) == (7, "")
    assert not memory.exists()


@pytest.mark.parametrize("words", [["memory", "remove"], ["forget"]], ids=" ".join)
def test_a_block_is_taken_away_without_a_question_because_it_comes_back(
    words: list[str], memory: Path, run: Run
) -> None:
    run("remember", "--title", "Deploy window", "Tuesday.")
    before = (memory / "deploy-window.md").read_bytes()
    told = run(*words, "Deploy", "window")
    assert (told.code, told.stdout) == (0, "deploy-window\n")
    assert "asx memory restore deploy-window --at " in told.stderr
    assert run("recall", "deploy-window").code == 1
    back = told.stderr.strip().partition("asx ")[2].split()
    assert run(*back).code == 0
    assert (memory / "deploy-window.md").read_bytes() == before
    gone = run(*words, "--json", "deploy-window").json()
    assert (gone["name"], gone["path"], gone["kind"]) == ("deploy-window", None, "block")


@pytest.mark.parametrize("words", [["memory", "remove"], ["forget"], ["memory", "archive"]], ids=" ".join)
def test_an_unknown_block_names_near_ones(words: list[str], memory: Path, run: Run) -> None:
    run("remember", "--title", "Deploy window", "Tuesday.")
    told = run(*words, "deploy-windw", "--json")
    assert told.code == 1
    assert (told.json()["error"]["kind"], "deploy-window" in told.json()["error"]["hint"]) == ("not_found", True)
    assert [line["op"] for line in journal(memory)] == ["remember"]


def test_archive_and_restore(memory: Path, run: Run) -> None:
    run("remember", "--title", "Old host", "It was ada.")
    told = run("memory", "archive", "Old host", "--json").json()
    assert told["path"] == str(memory / ".archive" / "old-host.md")
    assert run("memory", "list", "--archived", "--json").json()["blocks"][0]["archived"] is True
    assert run("memory", "list").code == 1
    back = run("memory", "restore", "old-host", "--json").json()
    assert (back["path"], back["is_new"]) == (str(memory / "old-host.md"), True)
    assert run("recall", "old host").stdout == "It was ada.\n"
    nothing = run("memory", "restore", "old-host", "--at", "01AAAA")
    assert nothing.code == 1
    assert "the newest are" in nothing.stderr


def test_the_log_tells_how_each_change_is_undone(memory: Path, run: Run) -> None:
    run("remember", "--title", "T", "one")
    run("remember", "--title", "T", "two")
    run("remember", "--title", "U", "--supersedes", "t", "three")
    entries = run("memory", "log", "--json").json()["entries"]
    assert [(entry["op"], entry["name"], entry["by"], entry["title"]) for entry in entries] == [
        ("supersede", "t", "u", None),
        ("remember", "u", None, "U"),
        ("remember", "t", None, "T"),
        ("remember", "t", None, "T"),
    ]
    assert (memory / entries[2]["path"]).read_text().endswith("one\n")
    shown = run("memory", "log").stdout
    assert f"was {entries[2]['version']}" in shown
    assert "by u, was " in shown
    assert run("memory", "restore", "t", "--at", entries[2]["version"]).code == 0
    assert f"back to {entries[2]['version']}" in run("memory", "log").stdout
    assert run("recall", "t").stdout == "one\n"


def test_the_context_as_a_prompt_has_it(memory: Path, run: Run) -> None:
    assert run("memory", "context").code == 1
    assert run("memory", "context", "--json").json() == {"schema_version": 1, "text": "", "blocks": 0, "left_out": 0}
    run("remember", "A fact")
    run("remember", "--title", "Deploy window", "Only on Tuesday.")
    told = run("memory", "context")
    assert told.code == 0
    assert told.stdout.startswith("## Memory\n\n# Project memory\n\n- A fact\n\n### Recallable memory\n")
    assert told.stdout.endswith("- deploy-window \u2014 Only on Tuesday.\n")
    assert run("memory", "context", "--json").json()["text"] + "\n" == told.stdout
    assert run("memory", "context", "--json").json()["blocks"] == 1
    assert [line["op"] for line in journal(memory)] == ["append_project", "remember"]


def test_the_definitions_of_the_tools(run: Run) -> None:
    tools = run("memory", "tools", "--json").json()["tools"]
    assert [tool["name"] for tool in tools] == ["remember", "recall", "forget"]
    for tool in tools:
        assert set(tool) == {"name", "description", "input_schema"}
        assert tool["input_schema"]["type"] == "object"
    assert "remember(note, title?" in run("memory", "tools").stdout


def test_near_notes_are_named(memory: Path, run: Run) -> None:
    run("remember", "--title", "Deploy day", "Deploys happen on Tuesday mornings.")
    told = run("remember", "--title", "Release rule", "Deploys happen on Tuesday.")
    assert (told.code, told.stdout) == (0, "release-rule\n")
    assert told.stderr == "nearly the same: deploy-day\n"


def test_what_held_before_holds_again(memory: Path, run: Run) -> None:
    run("remember", "--title", "pip", "Use pip.")
    run("remember", "--title", "uv", "--supersedes", "pip", "Use uv.")
    told = run("remember", "--title", "pip", "Use pip after all.")
    assert "pip was superseded by uv; it holds again" in told.stderr


def test_a_journal_that_cannot_be_written_is_told_and_the_change_is_done(memory: Path, run: Run) -> None:
    (memory / "journal.jsonl").mkdir(parents=True)
    told = run("remember", "--title", "T", "text")
    assert (told.code, told.stdout) == (0, "t\n")
    assert told.stderr.count("\n") == 1
    assert "the journal does not tell of it: " in told.stderr
    again = run("remember", "--title", "T", "--json", "text")
    assert again.code == 0
    assert "journal.jsonl" in again.json()["journal_error"]
    assert (memory / "t.md").is_file()


def test_a_block_of_an_older_home_is_only_read(memory: Path, isolated: Path, run: Run) -> None:
    old = isolated / ".aster" / "memory" / "old.md"
    old.parent.mkdir(parents=True)
    old.write_text("---\nname: old\n---\n\ntext\n")
    told = run("forget", "old")
    assert told.code == 7
    assert str(old) in told.stderr
    assert old.read_text().endswith("text\n")


class TestTheIndexFollows:
    def test_b63_and_b93_what_is_added_is_found_and_what_is_removed_is_not(
        self, isolated: Path, memory: Path, run: Run
    ) -> None:
        HomeBuilder(isolated).facts("a fact of long ago")
        assert run("ingest", "--quiet").code == 0

        def found(word: str) -> int:
            told = run("search", "--no-refresh", "--in", "memory", "--json", word).json()
            assert told["index"]["stale"] is False
            return int(told["total"])

        assert run("remember", "--title", "Birds", "The heron stands still.").code == 0
        assert found("heron") == 1
        assert run("recall", "Birds").stdout == "The heron stands still.\n"
        assert run("remember", "The dunlin runs.").code == 0
        assert found("dunlin") == 1
        assert run("remember", "--title", "Birds", "The stilt stands still.").code == 0
        assert (found("heron"), found("stilt")) == (0, 1)
        assert run("memory", "restore", "Birds").code == 0
        assert (found("heron"), found("stilt")) == (1, 0)
        assert run("memory", "archive", "Birds").code == 0
        rows = run("query", "SELECT name, archived FROM memory_blocks WHERE agent = 'aster'", "--json").json()["rows"]
        assert rows == [["birds", 1]]
        assert run("memory", "restore", "Birds").code == 0
        assert run("forget", "Birds").code == 0
        assert found("heron") == 0
        assert run("recall", "Birds").code == 1
        assert run("query", "SELECT name FROM memory_blocks WHERE agent = 'aster'", "--json").json()["rows"] == []
        assert run("rebuild", "--quiet").code == 0
        assert found("heron") == 0
        assert run("verify").code == 0

    @pytest.mark.parametrize("words", [["forget"], ["memory", "archive"]], ids=" ".join)
    def test_the_only_source_of_a_home_may_go(self, words: list[str], isolated: Path, run: Run) -> None:
        HomeBuilder(isolated).block("birds", "The heron stands still.")
        assert run("ingest", "--quiet").code == 0
        told = run(*words, "birds")
        assert (told.code, told.stderr.count("\n")) == (0, 1)
        rows = run("query", "SELECT name, archived FROM memory_blocks", "--json").json()["rows"]
        assert rows == ([] if words == ["forget"] else [["birds", 1]])
        (isolated / ".local" / "share" / "aster" / "memory" / "journal.jsonl").unlink()
        assert run("ingest", "--quiet", "--prune").code == 0
        assert run("memory", "restore", "birds").code == 0
        rows = run("query", "SELECT name, archived FROM memory_blocks", "--json").json()["rows"]
        assert rows == [["birds", 0]]
        assert run("verify").code == 0

    def test_without_an_index_none_is_made(self, isolated: Path, run: Run) -> None:
        told = run("remember", "--title", "Birds", "The heron stands still.")
        assert (told.code, told.stderr) == (0, "")
        assert not (isolated / ".cache").exists()

    def test_an_index_that_is_locked_or_damaged_never_fails_the_command(self, isolated: Path, run: Run) -> None:
        assert run("remember", "one").code == 0
        assert run("ingest", "--quiet").code == 0
        index = isolated / ".cache" / "aster-index" / "index.sqlite"
        index.write_bytes(b"no database" * 1000)
        assert run("remember", "two").code == 0
        (isolated / ".config" / "aster-index").mkdir(parents=True)
        (isolated / ".config" / "aster-index" / "config.yaml").write_text("nonsense: [")
        told = run("remember", "three")
        assert (told.code, told.stdout) == (0, "ASTER.md:5\n")
        assert "the index was left as it was" in told.stderr
