"""Start-up: what is imported, and what the version says. Each case is a process of its own."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from cli.version import VERSION
from tests.conftest import REPOSITORY, Asx

HEAVY = ("pydantic", "sqlalchemy", "alembic", "rich", "ulid", "filelock", "asyncio", "importlib.metadata", "yaml")
PROBE = """
import sys
from cli.app import main
code = main(sys.argv[1:])
print(code, *[name for name in {heavy!r} if name in sys.modules], file=sys.stderr)
"""


def _imported(cwd: Path, *words: str) -> tuple[int, list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(heavy=HEAVY), *words],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        timeout=60,
        check=True,
    )
    code, *heavy = done.stderr.splitlines()[-1].split()
    return int(code), heavy


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--help"], 0),
        (["--version"], 0),
        (["search", "--help"], 0),
        (["search", "x"], 3),
        (["search", "--in", "answers", "--limit", "5", "--json", "x"], 3),
        (["memory", "list"], 1),
        (["recall", "x"], 1),
        (["recall", "--prompt", "x"], 1),
        (["recall", "--prompt", "x", "--explain", "--json"], 1),
        (["paths"], 0),
        (["search", "--limit", "many", "x"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_nothing_heavy_is_imported(words: list[str], code: int, tmp_path: Path) -> None:
    assert _imported(tmp_path, *words) == (code, [])


@pytest.mark.parametrize("with_index", [False, True], ids=["files", "index"])
def test_an_answer_to_a_prompt_imports_nothing_heavy(with_index: bool, tmp_path: Path, asx: Asx) -> None:
    assert asx("remember", "--title", "Heron", "The heron stands in the pond.").code == 0
    if with_index:
        assert asx("ingest", "--quiet").code == 0
    for words in (["recall", "--prompt", "where does the heron stand?"], ["recall", "heron"]):
        assert _imported(tmp_path, *words) == (0, [])
    words = ["recall", "--prompt", "where does the heron stand?", "--turns", "--no-journal"]
    assert _imported(tmp_path, *words) == (0 if with_index else 3, [])
    assert asx("memory", "log", "--json").stdout.count('"op":"recall"') == 2


def test_help_imports_no_command(tmp_path: Path) -> None:
    probe = "import sys; from cli.app import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, cwd=REPOSITORY, timeout=60, check=True
    )
    loaded = set(done.stderr.split())
    assert "cli.app" in loaded
    assert [name for name in loaded if name.startswith(("cli.commands.", "cli.recall", "cli.hook"))] == []
    assert [name for name in loaded if name.startswith(("index.match", "persist.agents"))] == []


def test_version_is_the_one_of_the_package(asx: Asx) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == VERSION
    shown = asx("--version")
    assert (shown.code, shown.stdout, shown.stderr) == (0, f"aster-index {VERSION}\n", "")


def test_version_is_the_newest_of_the_changelog() -> None:
    changelog = REPOSITORY / "CHANGELOG.md"
    if not changelog.exists():
        pytest.skip("there is no CHANGELOG.md")
    found = re.search(r"^## \[?(\d+\.\d+\.\d+)", changelog.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    assert found[1] == VERSION
