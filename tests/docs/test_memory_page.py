"""The page about the memory: its programs run as they stand in an empty home, and its sentences hold there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from persist.memory.journal import read_operations
from tests.conftest import Asx
from tests.docs.with_asx import TIMEOUT_S, blocks, run_sh, variables

BLOCKS = blocks("memory.md")
KEEPING, *_LEARNING = [text for kind, text in BLOCKS if kind == "sh"]
(IN_PYTHON,) = [text for kind, text in BLOCKS if kind == "python"]
(A_BLOCK,) = [text for kind, text in BLOCKS if kind == "text" and text.startswith("---\n")]


@pytest.fixture
def memory(isolated: Path) -> Path:
    return isolated / ".local" / "share" / "aster" / "memory"


@pytest.fixture
def kept(tmp_path: Path, memory: Path) -> str:
    """What the page's commands print in an empty home; the memory is then as they leave it."""
    return run_sh(KEEPING, tmp_path, variables(tmp_path)).stdout


def test_the_commands_leave_what_their_comments_say(kept: str, memory: Path) -> None:
    assert kept.endswith("\nTuesday to Thursday.\n")
    assert "- Deploys leave from the main branch only\n" in (memory / "ASTER.md").read_text(encoding="utf-8")
    assert {path.name for path in memory.glob("*.md")} == {"ASTER.md", "deploy-window.md", "uv.md"}
    assert (memory / ".archive" / "pip.md").exists()
    operations = [one.entry.op for one in read_operations(memory)[0]]
    assert operations[::-1] == [
        "append_project", "remember", "remember", "restore", "remember", "remember", "supersede", "archive", "recall",
    ]  # fmt: skip


def test_the_block_that_is_shown_is_what_the_command_writes(kept: str, memory: Path) -> None:
    def without_times(text: str) -> str:
        return re.sub(r"(?<=_at: )\S+", "TIME", text)

    written = (memory / "deploy-window.md").read_text(encoding="utf-8")
    assert without_times(written) == without_times(A_BLOCK)


def test_what_the_page_says_of_aliases_successors_and_updates(kept: str, asx: Asx) -> None:
    assert asx("memory", "show", "package manager").code == 1, "an alias is no name"
    before = asx("recall", "uv", "--json").json()
    assert (before["aliases"], before["kind"], before["pinned"]) == (["package manager"], "decision", True)
    asx("remember", "--title", "uv", "--alias", "installer", "Since May. More of it.")
    after = asx("recall", "uv", "--json").json()
    assert {key: after[key] for key in ("kind", "pinned", "project")} == {
        key: before[key] for key in ("kind", "pinned", "project")
    }
    assert (after["description"], after["aliases"]) == ("Since May.", ["package manager", "installer"])
    assert asx("memory", "restore", "pip").code == 0
    assert asx("recall", "pip", "--json").json()["superseded_by"] == "uv"
    assert "pip" in [one["name"] for one in asx("memory", "list", "--json").json()["blocks"]]
    refused = asx("remember", "--title", "hatch", "--supersedes", "no-such-block", "hatch it is")
    assert (refused.code, refused.stdout) == (1, "")


def test_the_beginning_of_a_version_is_enough(kept: str, asx: Asx) -> None:
    entries = asx("memory", "log", "--json").json()["entries"]
    (version,) = [one["version"] for one in entries if one["op"] == "restore"]
    assert asx("memory", "restore", "deploy-window", "--at", version[:20]).code == 0
    assert asx("recall", "deploy-window").stdout == "Tuesday only.\n"


def test_the_python_program_runs(kept: str, tmp_path: Path, memory: Path) -> None:
    script = tmp_path / "memory.py"
    script.write_text(IN_PYTHON, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=variables(tmp_path), capture_output=True, text=True,
        timeout=TIMEOUT_S, check=True,
    )  # fmt: skip
    assert "- Deploys leave from the main branch only" in done.stdout
    assert "- deploy-window — Tuesday to Thursday." in done.stdout
    assert done.stdout.endswith("\nTuesday to Thursday.\n")
    assert not (memory / "deploy-window.md").exists()
