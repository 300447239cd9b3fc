"""Runs a page's programs as a person does who has ``asx`` on the path; imports nothing of the product."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import REPOSITORY

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TIMEOUT_S = 60.0


def blocks(page: str) -> list[tuple[str, str]]:
    """Return the fenced blocks of a page below ``docs``, each a kind (``sh``, ``python``, …) and its text, in order."""
    return BLOCK.findall((REPOSITORY / "docs" / page).read_text(encoding="utf-8"))


def variables(folder: Path) -> dict[str, str]:
    """Return this process's variables with an ``asx`` first on the path, which is written into ``folder``."""
    place = folder / "bin"
    place.mkdir(exist_ok=True)
    program = place / "asx"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cli "$@"\n')
    program.chmod(0o700)
    return {**os.environ, "PATH": f"{place}:{os.environ['PATH']}", "PYTHONPATH": str(REPOSITORY)}


def run_sh(text: str, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a shell block to its end; the first command that fails ends it and the test."""
    return subprocess.run(
        ["sh", "-eu", "-c", text], cwd=cwd, env=env, capture_output=True, text=True, timeout=TIMEOUT_S, check=True
    )
