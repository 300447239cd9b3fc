"""What every test gets: a home of its own, the data folder, and the real command as a process.

The samples and public inputs of the design folder are used where it lies beside the repository (or where
``ASTER_SHARED`` says) and their tests are skipped elsewhere.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import settings as hypothesis_settings

REPOSITORY: Final = Path(__file__).resolve().parent.parent
SHARED: Final = Path(os.environ.get("ASTER_SHARED") or REPOSITORY.parent / "shared")
TIMEOUT_S: Final = 60.0
hypothesis_settings.register_profile("same", derandomize=True)
"""The same cases in every run; ``HYPOTHESIS_PROFILE=default`` looks for new ones."""
hypothesis_settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

_FOREIGN_PREFIXES: Final = (
    "XDG_",
    "ASTER_",
    "AETHER_",
    "CLAUDE_",
    "CODEX_",
    "OMP_",
    "PI_",
    "GEMINI_",
    "OPENCODE_",
    "HERMES_",
    "GOOSE_",
)
_FOREIGN_NAMES: Final = (
    "COPILOT_HOME",
    "PI_CODING_AGENT_DIR",
    "KIMI_CODE_HOME",
    "QWEN_HOME",
    "FORCE_COLOR",
    "TERM_PROGRAM",
)


@dataclass(frozen=True, slots=True)
class Result:
    """What a run of the command left: its exit code (negative: ended by that signal) and its two streams."""

    code: int
    stdout: str
    stderr: str

    def json(self) -> Any:
        """Return stdout as one JSON value; the test fails when anything else is there."""
        return json.loads(self.stdout)


@dataclass(frozen=True, slots=True)
class Asx:
    """Runs ``asx`` as its user does: a process of its own, in this test's home."""

    cwd: Path

    def __call__(
        self,
        *args: str | Path,
        env: Mapping[str, str | None] | None = None,
        stdin: str | bytes = b"",
        cwd: Path | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> Result:
        """Run it and wait. ``env`` is put over this process's variables; ``None`` takes one away."""
        variables = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONWARNINGS": "error"}
        for name, value in (env or {}).items():
            if value is None:
                variables.pop(name, None)
            else:
                variables[name] = value
        done = subprocess.run(
            [sys.executable, "-m", "cli", *map(str, args)],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            env=variables,
            cwd=cwd or self.cwd,
            timeout=timeout_s,
            check=False,
        )
        return Result(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8", "replace"))


def pytest_report_header() -> str:
    """Name the SQLite this run is about."""
    return f"SQLite {sqlite3.sqlite_version}"


@pytest.fixture(autouse=True)
def isolated(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give the test an empty home folder and none of the machine's settings; the home is the value.

    With the variables gone, every place is its default below that home.
    """
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(_FOREIGN_PREFIXES) or name in _FOREIGN_NAMES:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    time.tzset()
    yield home
    monkeypatch.undo()
    time.tzset()
    with closing(sqlite3.connect(":memory:")) as connection:
        (limit,) = connection.execute("PRAGMA hard_heap_limit").fetchone()
    assert limit == 0, "SQLite's memory limit holds for the whole process, and every test behind this one"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The design folder with specs, samples and evals; the test is skipped where it is not there."""
    if not (SHARED / "spec").is_dir():
        pytest.skip("the design folder is not beside the repository; set ASTER_SHARED to run this")
    return SHARED


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of test inputs, ``tests/data``; never written to."""
    return REPOSITORY / "tests" / "data"


@pytest.fixture
def asx(tmp_path: Path) -> Asx:
    """The real command, run in the test's temporary folder."""
    return Asx(tmp_path)
