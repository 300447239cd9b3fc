"""How a block or a fact is named on the command line: what is printed can be typed, and what is wrong is named."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run

MISNAMED = "is called like a fact of ASTER.md and was left out; give the file another name"


@pytest.fixture
def memory(isolated: Path, run: Run) -> Path:
    """A memory with a block and two facts."""
    assert run("remember", "--title", "Deploy window", "Deploys run Tuesday to Thursday before 15:00 UTC.").code == 0
    assert run("remember", "Sprockets need two grommets").code == 0
    assert run("remember", "Invoices are rounded\nper line").code == 0
    return isolated / ".local" / "share" / "aster" / "memory"


class TestFacts:
    @pytest.mark.parametrize("command", [("memory", "show"), ("recall",)])
    def test_are_printed_by_the_name_that_recall_gives_them(
        self, command: tuple[str, ...], memory: Path, run: Run
    ) -> None:
        (item,) = run("recall", "--prompt", "which grommets do sprockets need?", "--json").json()["items"]
        assert item["name"] == "ASTER.md:3"
        journal = (memory / "journal.jsonl").read_bytes()
        told = run(*command, item["name"])
        assert (told.code, told.stdout, told.stderr) == (0, "Sprockets need two grommets\n", "")
        assert run(*command, "ASTER.md:5").stdout == "Invoices are rounded\nper line\n"
        assert run(*command, f"{item['source']['path']}:4", "--json").json()["name"] == "ASTER.md:4"
        assert (memory / "journal.jsonl").read_bytes() == journal
        missing = run(*command, "ASTER.md:99")
        assert (missing.code, missing.stderr) == (
            1, "asx: no fact 'ASTER.md:99'; asx memory show ASTER.md prints them all\n"
        )  # fmt: skip

    @pytest.mark.parametrize("command", [("memory", "show"), ("recall",)])
    def test_what_a_list_prints_can_be_pasted(self, command: tuple[str, ...], memory: Path, run: Run) -> None:
        assert run("memory", "archive", "deploy-window").code == 0
        assert run("memory", "restore", "deploy-window").code == 0
        first, _, block = run("memory", "list").stdout.splitlines()
        path = first.split("  ")[0]
        assert run(*command, path).stdout == run(*command, "ASTER.md").stdout == (memory / "ASTER.md").read_text()
        assert "Tuesday" in run(*command, block.split()[1]).stdout
        assert "Tuesday" in run(*command, str(memory / "deploy-window.md")).stdout

    @pytest.mark.parametrize(
        "words",
        [("forget", "{}"), ("memory", "remove", "{}"), ("memory", "archive", "{}"), ("memory", "restore", "{}"),
         ("memory", "mark", "{}", "harmful")],
    )  # fmt: skip
    def test_are_refused_where_only_a_hand_changes_them(self, words: tuple[str, ...], memory: Path, run: Run) -> None:
        path = memory / "ASTER.md"
        before = path.read_bytes()
        told = run(*(word.format("ASTER.md:3") for word in words))
        assert (told.code, told.stderr) == (
            7,
            "asx: ASTER.md:3 is a fact, which no command marks, moves or removes; "
            f"edit line 3 of {path} by hand\n",
        )  # fmt: skip
        assert run(*(word.format(f"{path}:3") for word in words)).code == 7
        assert run(*(word.format(path) for word in words)).code == 1
        assert path.read_bytes() == before

    def test_a_long_name_stays_whole_in_a_narrow_list(
        self, memory: Path, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        title = "The window in which a release of the billing service may go out"
        assert run("remember", "--title", title, "Text").code == 0
        monkeypatch.setenv("COLUMNS", "40")
        assert "the-window-in-which-a-release-of-the-billing-service-may-go-out" in run("memory", "list").stdout


class TestFilesThatAreNoBlocks:
    @pytest.mark.parametrize("with_index", [False, True])
    def test_one_called_like_a_fact_is_none_anywhere(self, with_index: bool, memory: Path, run: Run) -> None:
        path = memory / "ASTER.md:3.md"
        path.write_text("---\nname: imposter\ndescription: grommets\n---\n\nSprockets need no grommets at all\n")
        if with_index:
            assert run("ingest", "--quiet").code == 0
        listed = run("memory", "list")
        assert "imposter" not in listed.stdout
        assert listed.stderr == f"{path} {MISNAMED}\n"
        assert run("memory", "show", "ASTER.md:3").stdout == "Sprockets need two grommets\n"
        assert run("memory", "show", "imposter").code == 1
        told = run("recall", "--prompt", "which grommets do sprockets need?")
        assert "> Sprockets need two grommets\n" in told.stdout
        assert "no grommets" not in told.stdout
        assert run("forget", "ASTER.md:3").code == 7
        assert path.exists()
        assert "ASTER.md:3.md" in run("memory", "review").stdout

    def test_a_header_gives_no_block_a_facts_name(self, memory: Path, run: Run) -> None:
        (memory / "odd.md").write_text("---\nname: ASTER.md:3\n---\n\nAn odd one\n")
        assert "odd" in run("memory", "list").stdout
        assert "ASTER.md:3" not in run("memory", "list").stdout
        assert run("memory", "show", "odd").stdout == "An odd one\n"
        assert run("memory", "show", "ASTER.md:3").stdout == "Sprockets need two grommets\n"
        assert run("remember", "--title", "ASTER.md:3", "text").code == 7

    @pytest.mark.parametrize("with_index", [False, True])
    def test_a_hidden_one_is_none_with_an_index_and_without(self, with_index: bool, memory: Path, run: Run) -> None:
        (memory / ".hidden.md").write_text(
            "---\nname: hidden\ndescription: sprocket grommets\n---\n\nHidden grommets\n"
        )
        if with_index:
            assert run("ingest", "--quiet").code == 0
        told = run("recall", "--prompt", "which grommets do sprockets need?", "--json").json()
        assert [item["name"] for item in told["items"]] == ["ASTER.md:3"]
        assert "hidden" not in run("memory", "list").stdout
        assert run("memory", "show", "hidden").code == 1


class TestWhatIsMissing:
    @pytest.mark.parametrize("words", [("remember",), ("remember", "--alias", "ship"), ("memory", "add", "--pin")])
    def test_a_note_without_text(self, words: tuple[str, ...], run: Run) -> None:
        told = run(*words)
        assert told.code == 2
        assert told.stderr.splitlines()[1] == (
            "asx: give the note's text, or - to read it from stdin; "
            "an alias is added by writing its block with its text"
        )

    @pytest.mark.parametrize("words", [(), ("deploy-window",), ("helpful",)])
    def test_a_mark_that_lacks_one_of_its_words(self, words: tuple[str, ...], memory: Path, run: Run) -> None:
        told = run("memory", "mark", *words)
        assert told.code == 2
        assert "asx: give two things: the block's name, and behind it what it was, helpful or harmful\n" in told.stderr

    def test_a_mark_that_is_none(self, memory: Path, run: Run) -> None:
        told = run("memory", "mark", "deploy-window", "harmfull")
        assert (told.code, "'harmfull' is neither helpful nor harmful\n" in told.stderr) == (2, True)
        told = run("memory", "mark", "helpful", "deploy-window")
        assert "'deploy-window' is neither helpful nor harmful; the name stands before helpful\n" in told.stderr

    @pytest.mark.parametrize("how", ["archive", "remove"])
    @pytest.mark.parametrize(
        "words",
        [("memory", "show", "deploy-window"), ("recall", "Deploy window"), ("recall", "deploy-window", "--json"),
         ("memory", "mark", "deploy-window", "helpful"), ("forget", "deploy-window")],
    )  # fmt: skip
    def test_a_block_that_was_put_aside(self, how: str, words: tuple[str, ...], memory: Path, run: Run) -> None:
        assert run("memory", how, "deploy-window").code == 0
        told = run(*words)
        state = {"archive": "is archived", "remove": "was removed"}[how]
        assert told.code == 1
        assert f"it {state}; to bring it back: asx memory restore deploy-window" in told.stdout + told.stderr


class TestShownAsASession:
    """``asx show`` takes a session's id; whoever gives it a note's name is told how notes are shown."""

    @pytest.mark.parametrize("with_index", [False, True])
    @pytest.mark.parametrize(
        ("name", "cure"),
        [
            ("deploy-window", "the block of that name: asx show --block deploy-window"),
            ("Deploy window", "the block of that name: asx show --block 'Deploy window'"),
            ("ASTER.md:3", "the fact of that name: asx show --block ASTER.md:3"),
            ("ASTER.md:5", "the fact of that name: asx show --block ASTER.md:5"),
            ("ASTER.md", "the file of that name: asx memory show ASTER.md"),
        ],
    )
    def test_the_error_names_the_command(self, name: str, cure: str, with_index: bool, memory: Path, run: Run) -> None:
        if with_index:
            assert run("ingest").code == 0
        told = run("show", name)
        assert (told.code, told.stderr) == (1, f"asx: no session '{name}'; {cure}\n")
        assert cure in run("show", name, "--json").json()["error"]["hint"]
        assert run(*shlex.split(cure.partition("asx ")[2])).code == 0

    def test_a_name_that_nothing_has_stays_an_unknown_session(self, memory: Path, run: Run) -> None:
        assert run("ingest").code == 0
        for name in ("nothing-here", "ASTER.md:99", "!!!!"):
            told = run("show", name)
            assert told.code == 1
            assert "--block" not in told.stderr
