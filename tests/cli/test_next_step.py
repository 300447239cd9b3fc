"""An error names the next step that fits it: the help of the command, the rule of prefixes, the way of that agent."""

import re
from pathlib import Path

import pytest

from tests import builders as make
from tests.builders import HomeBuilder
from tests.cli.conftest import Run
from tests.conftest import Asx

OF_ONE_SESSION = [
    ["show", "01k"],
    ["sessions", "show", "01k"],
    ["sessions", "rename", "01k", "title"],
    ["sessions", "delete", "--yes", "01k"],
    ["sessions", "relocate", "01k", "."],
    ["sessions", "resume", "01k"],
    ["sessions", "append", "01k"],
]


@pytest.mark.parametrize("indexed", [False, True], ids=["without an index", "with one"])
@pytest.mark.parametrize("words", OF_ONE_SESSION, ids=" ".join)
def test_a_prefix_that_is_too_short_is_told_so(words: list[str], indexed: bool, run: Run, isolated: Path) -> None:
    assert run("sessions", "start", "--id", "01k5p3", "--cwd", isolated).code == 0
    if indexed:
        assert run("ingest", "--quiet").code == 0
    shown = run(*words)
    assert shown.code == 1
    assert "no session '01k'; a prefix needs at least 4 characters" in shown.stderr
    unknown = run(*(word.replace("01k", "01kxyz") for word in words))
    assert unknown.code == 1
    assert "no session '01kxyz'; asx sessions list --all shows the ids" in unknown.stderr


@pytest.mark.parametrize(
    ("agent", "step"),
    [
        ("aster", "asx sessions start begins one"),
        ("aether", "asx sessions start --aether begins one"),
        ("claude-code", "begin one in Claude Code itself"),
        ("pi", "begin one in pi itself"),
    ],
)
def test_latest_names_the_way_to_begin_one_with_that_agent(agent: str, step: str, run: Run) -> None:
    shown = run("sessions", "latest", "--agent", agent)
    assert (shown.code, shown.stdout) == (1, "")
    assert shown.stderr.endswith(f"; {step}\n")


@pytest.mark.parametrize("words", [["sessions", "prune", "--all"], ["memory", "log", "-n", "3"], ["search", "-1"]])
def test_an_unknown_option_leads_to_the_help_that_lists_them(words: list[str], run: Run) -> None:
    command = " ".join(word for word in words if word.isalpha())
    shown = run(*words)
    assert shown.code == 2
    assert shown.stderr.endswith(f"hint: asx {command} --help; put -- before words that begin with a dash\n")


def test_an_import_of_one_project_names_it_before_its_numbers(run: Run, isolated: Path) -> None:
    home_builder = HomeBuilder(isolated)
    uuid = "3f6d2c1e-58ab-4d0f-9c77-0e5b1a2c3d4e"
    home_builder.claude(uuid, make.claude_prompt("hi", uuid, "a", 0))
    told = run("sessions", "import", "--dry-run").stderr
    assert re.fullmatch(
        r"/.*: 0 sessions would be imported, 0 already there, 1 of other projects \(--all imports them\)\n", told
    )


def test_a_time_that_is_none_is_told_with_the_way_out(asx: Asx, isolated: Path) -> None:
    assert asx("sessions", "start", "--id", "01k5p3").code == 0
    line = '{"type":"message","role":"user","content":"x","ts":"yesterday"}'
    told = asx("sessions", "append", "01k5p3", stdin=line)
    assert told.code == 2
    assert "is no time like 2026-08-19T07:12:08.737Z; without it the line is of this moment; 0 events" in told.stderr
