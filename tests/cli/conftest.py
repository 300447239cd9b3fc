"""Fixtures of the command line's tests: the commands run in this process, and on a pseudo-terminal."""

import os
import pty
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.app import main
from tests.conftest import REPOSITORY, Result

Run = Callable[..., Result]
OnATerminal = Callable[..., tuple[int, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """The command, run in this process: a tenth of a process's time, the same words, streams and exit code."""

    def call(*words: str | Path) -> Result:
        capsys.readouterr()
        code = main([str(word) for word in words])
        return Result(code, *capsys.readouterr())

    return call


@pytest.fixture
def on_a_terminal() -> OnATerminal:
    """The command as a process whose three streams are one pseudo-terminal: its exit code and all it wrote."""

    def call(*words: str, no_color: str = "") -> tuple[int, str]:
        ours, theirs = pty.openpty()
        running = subprocess.Popen(
            [sys.executable, "-m", "cli", *words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm-256color", "NO_COLOR": no_color, "PYTHONPATH": str(REPOSITORY)},
        )
        os.close(theirs)
        shown = b""
        while select.select([ours], [], [], 30)[0]:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # Linux's way of saying that the other side is closed
                break
            if not piece:
                break
            shown += piece
        os.close(ours)
        return running.wait(30), shown.decode("utf-8")

    return call
