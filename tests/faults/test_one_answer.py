"""Whatever goes wrong, and whenever: one answer, in the form that was asked for, and never a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli import exits, output
from tests.conftest import REPOSITORY, Asx


def test_a_failure_after_the_answer_is_no_second_answer(capsys: pytest.CaptureFixture[str]) -> None:
    def answer_and_fail() -> None:
        output.emit_json({"whole": True})
        raise KeyboardInterrupt

    with exits.edge(as_json=True) as outcome:
        answer_and_fail()
    told = capsys.readouterr()
    assert json.loads(told.out) == {"schema_version": 1, "whole": True}
    assert "interrupted" in told.err
    assert outcome.code == exits.INTERRUPTED


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(("ingest", "--root", "claude-code=~nobody-of-that-name/x"), exits.PARTLY_DONE, id="root"),
        pytest.param(("sessions", "list", "--project", "~nobody-of-that-name/x"), exits.NOTHING_FOUND, id="project"),
    ],
)
def test_the_home_of_another_person_is_a_plain_name(asx: Asx, words: tuple[str, ...], code: int) -> None:
    assert asx("ingest").code == exits.NOTHING_FOUND
    told = asx(*words, "--json")
    told.json()
    assert told.code == code
    plain = asx(*words)
    assert plain.code == code
    assert "not foreseen" not in plain.stderr


def test_an_interrupt_while_the_program_starts_is_quiet(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("import time\ntime.sleep(10)\n", encoding="utf-8")
    running = subprocess.Popen(
        [sys.executable, "-c", "print(flush=True); import runpy; runpy.run_module('cli', run_name='__main__')"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{REPOSITORY}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    running.stdout.readline()
    time.sleep(0.3)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=10)
    assert (running.returncode, told) == (exits.INTERRUPTED, "asx: interrupted\n")
