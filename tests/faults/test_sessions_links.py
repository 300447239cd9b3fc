"""Links planted in the store that lead out of it: no writing command changes what lies behind one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cli.app import main
from persist.aster.importing.target import Draft
from persist.errors import RefusedError
from tests import builders as make
from tests.builders import HomeBuilder
from tests.conftest import Asx

PROMPT = json.dumps({"type": "message", "role": "user", "content": "hello"})
AETHER_PROMPT = json.dumps(make.aether_prompt("hello"))


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    return HomeBuilder(isolated)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder with a session and a canary, in nobody's store."""
    folder = tmp_path / "outside"
    folder.mkdir()
    header = make.aster_header("s1", 0, cwd="/w/alpha", repo_root="/w/alpha")
    (folder / "s1.jsonl").write_bytes(make.lines(header))
    (folder / "e1.jsonl").write_bytes(make.lines(make.aether_metadata("e1", 0)))
    (folder / "canary").write_bytes(b"canary\n")
    return folder


def state(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def sessions(home: HomeBuilder) -> Path:
    folder = home.aster_home / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def test_a_project_folder_that_is_one_is_never_written_into(home: HomeBuilder, outside: Path, asx: Asx) -> None:
    (sessions(home) / "w-alpha").symlink_to(outside)
    before = state(outside)
    for words, stdin in (
        (["start", "--id", "new", "--cwd", "/w/alpha"], ""),
        (["append", "s1"], PROMPT),
        (["rename", "s1", "x"], ""),
        (["relocate", "s1", "/w/beta"], ""),
        (["delete", "s1", "--yes"], ""),
    ):
        told = asx("sessions", *words, stdin=stdin)
        assert told.code == 7, told
        assert "leaves the store" in told.stderr
        assert state(outside) == before
    with Draft(home.aster_home) as draft, pytest.raises(RefusedError, match="leaves the store"):
        draft.place(sessions(home) / "w-alpha" / "imported.jsonl", {"type": "session", "id": "imported", "v": 1})
    assert state(outside) == before


def test_a_transcript_that_is_one_is_never_written_through(home: HomeBuilder, outside: Path, asx: Asx) -> None:
    folder = sessions(home) / "w-alpha"
    folder.mkdir()
    (folder / "s1.jsonl").symlink_to(outside / "s1.jsonl")
    aether = home.home / ".aether" / "sessions"
    aether.mkdir(parents=True)
    (aether / "e1.jsonl").symlink_to(outside / "e1.jsonl")
    before = state(outside)
    for words, stdin in (
        (["append", "s1"], PROMPT),
        (["rename", "s1", "x"], ""),
        (["relocate", "s1", "/w/beta"], ""),
        (["append", "e1"], AETHER_PROMPT),
        (["relocate", "e1", "/w/beta"], ""),
    ):
        told = asx("sessions", *words, stdin=stdin)
        assert told.code == 7, told
        assert "is a link" in told.stderr
        assert state(outside) == before
    assert asx("sessions", "delete", "--yes", "s1", "e1").code == 0
    assert state(outside) == before
    assert not (folder / "s1.jsonl").is_symlink()


def test_a_link_to_a_place_within_the_store_is_one_that_is_followed(home: HomeBuilder, asx: Asx) -> None:
    real = home.aster("s1", make.aster_header("s1", 0), make.aster_prompt("x", 1), project="alpha")
    other = sessions(home) / "beta"
    other.mkdir()
    (other / "s2.jsonl").symlink_to(real)
    before = real.read_bytes()
    assert asx("sessions", "append", "s1", stdin=PROMPT).code == 0
    assert real.read_bytes().startswith(before)
    assert len(real.read_bytes()) > len(before)


def test_a_prompt_history_that_is_one_is_told_and_hinders_nothing(home: HomeBuilder, outside: Path, asx: Asx) -> None:
    path = home.aster("s1", make.aster_header("s1", 0))
    (sessions(home) / "prompt-history.jsonl").symlink_to(outside / "canary")
    told = asx("sessions", "append", "s1", stdin=PROMPT)
    assert told.code == 0
    assert "leaves the store" in told.stderr
    assert path.read_bytes().count(b"\n") == 2
    assert asx("sessions", "history", "--rebuild").code == 7
    told = asx("sessions", "delete", "--yes", "s1")
    assert "leaves the store" in told.stderr
    assert not path.exists()
    assert (outside / "canary").read_bytes() == b"canary\n"


def test_a_sessions_folder_that_is_a_link_is_the_store(home: HomeBuilder, tmp_path: Path, asx: Asx) -> None:
    real = tmp_path / "disk"
    real.mkdir()
    home.aster_home.mkdir(parents=True)
    (home.aster_home / "sessions").symlink_to(real)
    assert asx("sessions", "start", "--id", "new", "--cwd", "/w/alpha").code == 0
    assert asx("sessions", "append", "new", stdin=PROMPT).code == 0
    assert [path.name for path in real.rglob("*.jsonl")].count("new.jsonl") == 1


@pytest.mark.parametrize("deep", [False, True])
def test_copies_behind_a_link_out_of_the_archive_are_nobodys(
    home: HomeBuilder, outside: Path, asx: Asx, deep: bool
) -> None:
    """Without this, a file behind the link was taken for the copy of a session that is gone: compressed and removed."""
    path = home.claude("c1", make.claude_prompt("hello", "c1", "u1", 1))
    assert asx("ingest", "--keep", "--quiet").code == 0
    archive = home.aster_home / "archive"
    folder = archive / "claude-code"
    (outside / "c1.jsonl").write_bytes(b"canary\n")
    place = folder / str(path.parent).lstrip("/") if deep else folder
    os.rename(place, f"{place}-before")  # noqa: PTH104 - a folder made room for
    place.symlink_to(outside)
    before = state(outside)
    path.write_bytes(path.read_bytes() + make.lines(make.claude_prompt("more", "c1", "u2", 2)))
    told = asx("ingest", "--keep", "--json")
    assert told.code == 6, told
    assert "leaves the archive" in told.stdout + told.stderr
    path.unlink()
    asx("ingest", "--keep", "--prune")
    assert state(outside) == before


def test_an_archive_that_is_a_link_is_the_store(home: HomeBuilder, tmp_path: Path) -> None:
    home.claude("c1", make.claude_prompt("hello", "c1", "u1", 1))
    real = tmp_path / "disk"
    real.mkdir()
    home.aster_home.mkdir(parents=True, exist_ok=True)
    (home.aster_home / "archive").symlink_to(real)
    assert main(["ingest", "--keep", "--quiet"]) == 0
    assert [path.name for path in real.rglob("c1.jsonl")] == ["c1.jsonl"]
