"""What only has a file's name (a pipe, a device, a folder) never stops a command, wherever it stands."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from persist.regular import open_regular
from tests.builders import HomeBuilder, aster_answer, aster_header, aster_prompt
from tests.conftest import Asx

_SESSION = "01KA0000000000000000000001"
_DONE, _USAGE, _IO = 0, 2, 6


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    """A home with a session, a block, facts and a journal."""
    home = HomeBuilder(isolated)
    home.aster(_SESSION, aster_header(_SESSION, 0), aster_prompt("hello there", 1), aster_answer("well", 2))
    home.block("plain", "a body")
    home.facts("a fact")
    home.journal({"ts": "2026-05-04T08:00:00Z", "op": "remember", "name": "plain"})
    return home


@pytest.mark.parametrize(
    ("place", "command", "code"),
    [
        pytest.param(".local/share/aster/memory/journal.jsonl", ("memory", "log"), _IO, id="journal"),
        pytest.param(".local/share/aster/memory/ASTER.md", ("memory", "list"), _IO, id="facts"),
        pytest.param(".config/aster-index/config.yaml", ("status",), _USAGE, id="configuration"),
        pytest.param(".config/aster-index/reports/x.sql", ("report",), _DONE, id="list of reports"),
        pytest.param(".config/aster-index/reports/x.sql", ("report", "x"), _IO, id="own report"),
        pytest.param(f".local/share/aster/sessions/w/{_SESSION}.jsonl", ("show", f"{_SESSION}:0"), _IO, id="event"),
        pytest.param(f".local/share/aster/sessions/w/{_SESSION}.jsonl", ("sessions", "show", _SESSION), _IO,
                     id="transcript"),
    ],
)  # fmt: skip
def test_a_pipe_in_place_of_a_file_is_told_at_once(
    home: HomeBuilder, asx: Asx, place: str, command: tuple[str, ...], code: int
) -> None:
    if "sessions" in place:
        assert asx("ingest").code == _DONE
        (transcript,) = (home.home / ".local/share/aster/sessions").glob(f"*/{_SESSION}.jsonl")
        place = str(transcript)
    path = home.home / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    told = asx(*command, timeout_s=15)
    assert told.code == code
    assert "not a file" in told.stdout + told.stderr


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/tty"])
def test_a_device_is_not_a_file(path: str) -> None:
    with pytest.raises(OSError, match=r"not a file|No such device"):
        open_regular(path)


def test_a_folder_is_named_as_one(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
