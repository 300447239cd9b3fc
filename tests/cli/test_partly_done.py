"""Exit code 6: what was done only in part says so, in plain words and in JSON, and what was there stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import builders as make
from tests.builders import HomeBuilder
from tests.cli.conftest import Run


@pytest.fixture
def paths(isolated: Path, run: Run) -> list[Path]:
    """Three indexed transcripts."""
    home = HomeBuilder(isolated)
    made = [home.aster(name, make.aster_header(name, 0), make.aster_prompt(f"hello {name}", 1)) for name in "abc"]
    assert run("ingest", "--quiet").code == 0
    return made


def test_sources_held_back(paths: list[Path], run: Run) -> None:
    for path in paths[:2]:
        path.unlink()
    for _ in range(2):
        told = run("ingest", "--json")
        assert (told.code, told.json()["agents"]["aster"]["sources"]["held"]) == (6, 2)
    assert run("search", "--count", "hello").stdout == "3\n"
    verified = run("verify", "--json").json()
    assert (verified["ok"], [one["path"] for one in verified["apart"]]) == (True, [str(path) for path in paths[:2]])
    held = run("status", "--json").json()["agents"]["aster"]["held"]
    assert [one["path"] for one in held] == [str(path) for path in paths[:2]]
    refused = run("rebuild", "--json")
    assert (refused.code, refused.json()["error"]["kind"]) == (7, "refused")
    assert run("search", "--count", "hello").stdout == "3\n"
    assert run("ingest", "--prune").code == 0
    assert run("search", "--count", "hello").stdout == "1\n"


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no file here that root cannot read")
def test_a_source_that_cannot_be_read(paths: list[Path], run: Run) -> None:
    (paths[0].parent / "x.jsonl").symlink_to("/proc/self/mem")
    told = run("ingest", "--json")
    (problem,) = told.json()["problems"]
    assert (told.code, problem["kind"]) == (6, "unreadable")
    plain = run("ingest")
    assert plain.code == 6
    assert [line for line in plain.stderr.splitlines() if "x.jsonl" in line] == [
        f"{paths[0].parent}/x.jsonl: {problem['message']}"
    ]
    assert run("search", "--count", "hello").stdout == "3\n"


@pytest.mark.parametrize("command", ["ingest", "rebuild", "search", "verify"])
def test_another_programs_file_in_the_indexs_place(command: str, paths: list[Path], run: Run, tmp_path: Path) -> None:
    """One clear line, exit code 4, and not a byte or a file more than there was (but by ``rebuild``: kept aside)."""
    notes = tmp_path / "notes.txt"
    notes.write_bytes(b"what somebody wrote\n" * 20)
    told = run(command, *(["x"] if command == "search" else []), "--index", notes)
    if command == "rebuild":
        assert told.code == 0
        (aside,) = [path for path in tmp_path.iterdir() if ".aside-" in path.name]
        assert aside.read_bytes() == b"what somebody wrote\n" * 20
        return
    assert (told.code, told.stdout, told.stderr.count("\n")) == (4, "", 1)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    assert notes.read_bytes() == b"what somebody wrote\n" * 20
