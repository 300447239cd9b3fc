"""Fixtures of the command line's tests: the commands run in this process, and on a pseudo-terminal."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cli.app import main
from index.query import run_query
from index.reports import run_report
from tests import terminal
from tests.conftest import Result

Run = Callable[..., Result]
OnATerminal = Callable[..., tuple[int, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command, run in this process: a tenth of a process's time, the same words, streams and exit code.

    But for SQLite's memory limit: it holds for the whole process, and none of the tests behind could raise it again.
    """
    for function in (run_query, run_report):
        defaults = function.__kwdefaults__
        assert defaults is not None
        monkeypatch.setitem(defaults, "heap_limit_bytes", None)

    def call(*words: str | Path) -> Result:
        capsys.readouterr()
        code = main([str(word) for word in words])
        return Result(code, *capsys.readouterr())

    return call


@pytest.fixture
def on_a_terminal() -> OnATerminal:
    """The command as a process whose three streams are one pseudo-terminal: its exit code and all it wrote."""

    return terminal.on_a_terminal
