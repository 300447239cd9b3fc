"""The page about plugging in: its loops run as they stand, twice, and its lines are taken as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from persist.aether.incoming import read_event as read_aether
from persist.aster import SessionWriter, Transcript
from persist.aster.incoming import read_event
from persist.aster.store import Store
from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "plugging-in.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall(PAGE)
LINES = [line for kind, text in BLOCKS if kind == "json" for line in text.splitlines()]
PROMPTS = ["When is high water?", 'A "quoted" word, a \\ and\ta tab — été', "x" * 500]


def block(kind: str) -> str:
    (text,) = [text for found, text in BLOCKS if found == kind]
    return str(text)


@pytest.fixture
def with_asx(tmp_path: Path) -> dict[str, str]:
    """The environment of a person who has ``asx`` on the path."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "asx"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cli "$@"\n')
    program.chmod(0o700)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(REPOSITORY)}


@pytest.mark.parametrize("kind", ["sh", "python"])
def test_a_loop_runs_as_it_stands_and_goes_on_where_it_stopped(
    kind: str, tmp_path: Path, isolated: Path, with_asx: dict[str, str]
) -> None:
    project = tmp_path / "app"
    project.mkdir()
    script = tmp_path / "loop"
    script.write_text(block(kind), encoding="utf-8")
    program = ["sh" if kind == "sh" else sys.executable, str(script)]
    answers = []
    for _ in range(2):
        done = subprocess.run(
            program, input="".join(f"{prompt}\n" for prompt in PROMPTS), cwd=project, env=with_asx,
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        answers += done.stdout.splitlines()
    assert "resumed 3 previous turns" in done.stderr
    assert len(answers) == 6
    latest = Store.current().latest(str(project))
    assert latest is not None
    assert latest.path.is_relative_to(isolated)
    transcript = Transcript.load(latest.path)
    told = [(message.role, message.content) for message in transcript.messages]
    assert [text for role, text in told if role == "user"] == PROMPTS * 2
    assert [text for role, text in told if role == "assistant"] == answers
    assert len(list(isolated.rglob("*.jsonl"))) == 2, "one session and the prompt history"


def test_the_python_loop_folds_what_grows_long(tmp_path: Path, with_asx: dict[str, str]) -> None:
    script = tmp_path / "loop.py"
    script.write_text(block("python"), encoding="utf-8")
    subprocess.run(
        [sys.executable, str(script)], input="more\n" * 9, cwd=tmp_path, env=with_asx, text=True, check=True,
        capture_output=True, timeout=60,
    )  # fmt: skip
    latest = Store.current().latest(str(tmp_path))
    assert latest is not None
    messages = Store.current().resume(latest.id).messages
    assert messages[0].content == "Summary of earlier conversation:\n8 messages about tides."
    assert len(messages) == 11


@pytest.mark.parametrize("line", LINES)
def test_every_line_of_the_page_is_taken(line: str, tmp_path: Path) -> None:
    if '"kind"' in line:
        assert read_aether(line.encode()) is not None
    else:
        writer = SessionWriter.create(tmp_path, "/w", "/w")
        assert writer.given([read_event(line.encode())]) == 1
        assert Transcript.load(writer.path).damaged == ()
