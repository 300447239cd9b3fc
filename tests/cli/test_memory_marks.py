"""``memory mark``: what a person says of a note shows in the next recall, and never decides whether it is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

PROMPT = "which grommets does the sprocket need?"


@pytest.fixture
def memory(isolated: Path, run: Run) -> Path:
    """Two notes of which a prompt has the same."""
    for name in ("Left", "Right"):
        assert run("remember", "--title", f"Sprocket {name}", f"Sprocket grommets, {name} side.").code == 0
    return isolated / ".local" / "share" / "aster" / "memory"


def given(run: Run) -> list[str]:
    told = run("recall", "--prompt", PROMPT, "--json", "--no-journal")
    assert told.code == 0, told.stderr
    return [item["name"] for item in told.json()["items"]]


@pytest.mark.parametrize("with_index", [False, True])
@pytest.mark.parametrize("name", ["sprocket-left", "sprocket-right"])
class TestAMarkShowsAtOnce:
    def test_harm_sinks_below_an_equal_however_often_it_was_recalled(
        self, name: str, with_index: bool, memory: Path, run: Run
    ) -> None:
        with (memory / "journal.jsonl").open("a") as journal:
            for day in range(1, 20):
                journal.write(json.dumps({"ts": f"2026-01-{day:02d}T00:00:00Z", "op": "recall", "name": name}) + "\n")
        if with_index:
            assert run("ingest", "--quiet").code == 0
        assert run("recall", name).code == 0
        assert run("memory", "mark", name, "harmful").code == 0
        assert run("recall", name).code == 0
        assert given(run)[1:] == [name]

    def test_help_lifts_it_and_a_new_text_forgives_harm(
        self, name: str, with_index: bool, memory: Path, run: Run
    ) -> None:
        if with_index:
            assert run("ingest", "--quiet").code == 0
        assert run("memory", "mark", name, "harmful").code == 0
        assert run("memory", "mark", name, "helpful").code == 0
        other = next(one for one in ("sprocket-left", "sprocket-right") if one != name)
        assert run("recall", other).code == 0
        assert given(run) == [name, other]
        assert run("memory", "mark", name, "harmful").code == 0
        assert given(run) == [other, name]
        assert run("memory", "restore", name, "--at", _rewritten(run, name)).code == 0
        assert given(run) == [name, other]

    def test_harm_alone_never_silences(self, name: str, with_index: bool, memory: Path, run: Run) -> None:
        if with_index:
            assert run("ingest", "--quiet").code == 0
        for one in ("sprocket-left", "sprocket-right"):
            for _ in range(4):
                assert run("memory", "mark", one, "harmful").code == 0
        assert sorted(given(run)) == ["sprocket-left", "sprocket-right"]


def _rewritten(run: Run, name: str) -> str:
    """Write a note anew, and return the version that it was."""
    side = name.removeprefix("sprocket-").title()
    told = run("remember", "--title", f"Sprocket {side}", f"Sprocket grommets, {side} side!", "--json")
    version = told.json()["version"]
    assert isinstance(version, str)
    return version
