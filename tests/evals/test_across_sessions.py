"""Learning across sessions through the command line: what one process remembers, a fresh one recalls, or no longer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from persist.places import current_places
from tests.conftest import Asx

pytestmark = pytest.mark.slow

PROMPT = "which package manager do we use?"


def recalled(asx: Asx, prompt: str, *options: str) -> list[str]:
    """Return the names that a fresh process gives for a prompt."""
    done = asx("recall", "--prompt", prompt, "--json", *options)
    found: list[str] = [item["name"] for item in done.json()["items"]]
    assert done.code == (0 if found else 1), done.stderr
    return found


def journal() -> list[dict[str, Any]]:
    lines = (current_places().memory / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_a_fresh_process_knows_what_another_session_taught(asx: Asx) -> None:
    asx("remember", "--title", "Package manager", "--session", "session-a", "Use uv for everything, never pip.")
    assert recalled(asx, PROMPT, "--session", "session-b") == ["package-manager"]
    given = [line for line in journal() if line["op"] == "recall"]
    assert [(line["name"], line["source_session"]) for line in given] == [("package-manager", "session-b")]
    assert recalled(asx, "what is the capital of Australia?", "--session", "session-b") == []
    assert len([line for line in journal() if line["op"] == "recall"]) == 1


def test_the_natural_first_try(asx: Asx) -> None:
    asx("remember", "Deploys leave from the main branch only")
    done = asx("recall", "--prompt", "from which branch do deploys leave?")
    assert done.code == 0
    assert "> Deploys leave from the main branch only" in done.stdout


def test_what_is_superseded_stops(asx: Asx) -> None:
    asx("remember", "--title", "Package manager pip", "--description", "Package manager", "pip and requirements.txt")
    assert recalled(asx, PROMPT) == ["package-manager-pip"]
    asx(
        "remember", "--title", "Package manager uv", "--description", "Package manager",
        "--supersedes", "package-manager-pip", "uv and its lock file",
    )  # fmt: skip
    assert recalled(asx, PROMPT) == ["package-manager-uv"]
    asx("memory", "archive", "package-manager-uv")
    assert recalled(asx, PROMPT) == []


def test_what_decayed_is_silent_and_comes_back_whole(asx: Asx) -> None:
    asx("remember", "--title", "Spike branch", "--kind", "note", "The spike branch is ines/spike-3.")
    block = current_places().memory / "spike-branch.md"
    before = block.read_bytes()
    prompt = "what is on the spike branch?"
    assert recalled(asx, prompt, "--no-journal") == ["spike-branch"]
    assert asx("memory", "decay", "--as-of", "2099-01-01", "--yes").code == 0
    assert recalled(asx, prompt) == []
    asx("memory", "restore", "spike-branch")
    assert block.read_bytes() == before
    assert recalled(asx, prompt) == ["spike-branch"]


def test_marks_of_three_sessions_archive_what_did_harm(asx: Asx) -> None:
    asx("remember", "--title", "Flaky upload test", "--kind", "howto", "Just add retries to the upload test.")
    for session in ("s1", "s2", "s3"):
        assert asx("memory", "mark", "flaky-upload-test", "harmful", "--session", session).code == 0
    asx("memory", "decay", "--yes")
    assert recalled(asx, "the upload test is flaky again") == []


def test_what_was_kept_for_one_project_is_silent_in_another(asx: Asx, tmp_path: Path) -> None:
    for name in ("ferry", "ferryman"):
        (tmp_path / name / "src").mkdir(parents=True)
    asx("remember", "--title", "Chart datum", "--project", str(tmp_path / "ferry"), "Heights are above chart datum.")
    assert recalled(asx, "are heights above chart datum?", "--cwd", str(tmp_path / "ferry" / "src")) == ["chart-datum"]
    assert recalled(asx, "are heights above chart datum?", "--cwd", str(tmp_path / "ferryman")) == []
