"""Blocks and facts among the hits of a search: the line that was hit, and what shows it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.builders import HomeBuilder, aster_header, aster_prompt
from tests.cli.conftest import Run


@pytest.fixture
def memory(isolated: Path, run: Run) -> Path:
    """A memory with two facts and two blocks, one of them archived."""
    assert run("remember", "Releases leave on Tuesday").code == 0
    assert run("remember", "Deploys leave from\nthe main branch only").code == 0
    block = ("remember", "--title", "Deploy window", "Tuesday to Thursday before noon.\nThe rota is empty otherwise.")
    assert run(*block).code == 0
    assert run("remember", "--title", "Old rota", "The rota of last year.").code == 0
    assert run("memory", "archive", "old-rota").code == 0
    assert run("ingest").code == 0
    return isolated / ".local" / "share" / "aster" / "memory"


def lines(run: Run, *words: str) -> list[list[str]]:
    return [line.split("\t") for line in run("search", "--lines", "--in", "memory", *words).stdout.splitlines()]


def test_what_stands_in_the_first_column_shows_a_fact_as_a_block(memory: Path, run: Run) -> None:
    found = {columns[0]: columns[4] for columns in lines(run, "leave")}
    assert found == {"block:ASTER.md:3": "Releases leave on Tuesday", "block:ASTER.md:4": "Deploys leave from"}
    for argument, line in found.items():
        assert line in run("show", argument).stdout
    # Nothing shows an archived one.
    assert {columns[0] for columns in lines(run, "rota")} == {"block:deploy-window", ""}


def test_the_command_below_a_fact_prints_it(memory: Path, run: Run) -> None:
    (command,) = re.findall(r"^    asx (.*)$", run("search", "--in", "memory", "main branch").stdout, re.MULTILINE)
    assert run(*shlex.split(command)).stdout == "Deploys leave from\nthe main branch only\n"


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("deploy-window", "deploy-window"),
        ("Deploy window", "Deploy window"),
        ("before noon", "Tuesday to Thursday before noon."),
        ("rota is", "The rota is empty otherwise."),
        ("main branch", "the main branch only"),
    ],
)
def test_the_line_that_was_hit_stands_there_and_no_other(word: str, line: str, memory: Path, run: Run) -> None:
    assert [columns[4] for columns in lines(run, word)] == [line]


def test_a_span_over_two_lines_gives_both(memory: Path, run: Run) -> None:
    assert [columns[4] for columns in lines(run, "--regex", r"leave from\s+the main")] == [
        "Deploys leave from the main branch only"
    ]


def test_of_a_prompt_too(isolated: Path, run: Run) -> None:
    prompt = aster_prompt("first\r\n  the second\tline  \r\nthird second", 1)
    HomeBuilder(isolated).aster("01k5p3he024b2zft51ksjccbw0", aster_header("01k5p3he024b2zft51ksjccbw0", 0), prompt)
    assert run("ingest").code == 0
    (line,) = run("search", "--lines", "second").stdout.splitlines()
    assert line.split("\t")[4:] == ["the second line"]
