"""``asx doctor``: what it finds, what it says to do, and that it changes nothing."""

import json
import os
import sqlite3
import subprocess
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.builders import HomeBuilder, aster_header, aster_prompt
from tests.cli.conftest import Run


@pytest.fixture
def home(isolated: Path, run: Run) -> Path:
    """A home in which nothing is wrong."""
    mask = os.umask(0o077)
    try:
        HomeBuilder(isolated).aster("s1", aster_header("s1", 0), aster_prompt("heron", 1))
        assert run("remember", "--title", "Birds", "The heron stands.").code == 0
        assert run("ingest", "--quiet").code == 0
    finally:
        os.umask(mask)
    return isolated


def findings(run: Run) -> list[tuple[str, str, str]]:
    told = run("doctor", "--json")
    value = told.json()
    assert value["ok"] is (value["findings"] == [])
    assert told.code == (0 if value["ok"] else 6)
    return [(one["kind"], one["message"], one["cure"]) for one in value["findings"]]


def test_nothing_is_wrong(home: Path, run: Run) -> None:
    assert findings(run) == []
    told = run("doctor")
    assert (told.code, told.stdout, told.stderr) == (0, "", "nothing is wrong\n")


def test_the_lines_that_recalls_wrote_are_nothing_to_see_to(home: Path, run: Run) -> None:
    for _ in range(3):
        assert run("recall", "--prompt", "where does the heron stand?").code == 0
        assert run("recall", "birds").code == 0
        assert findings(run) == []
    journal = home / ".local/share/aster/memory/journal.jsonl"
    lines = journal.read_bytes()
    with journal.open("ab") as file:
        file.write(b'{"ts":"2026-01-01T00:00:00Z","op":"harmful","name":"birds"}\n')
    assert [kind for kind, _, _ in findings(run)] == ["index"]
    journal.write_bytes(lines + b"broken\n")
    assert [kind for kind, _, _ in findings(run)] == ["index"]
    journal.write_bytes(lines)
    assert findings(run) == []


def test_no_index_is_said_and_none_is_made(run: Run, isolated: Path) -> None:
    path = isolated / ".cache/aster-index/index.sqlite"
    assert findings(run) == [("index", f"there is no index at {path}", "asx ingest")]
    assert list(isolated.rglob("*")) == []


def test_an_index_that_cannot_be_used(home: Path, run: Run) -> None:
    path = home / ".cache/aster-index/index.sqlite"
    path.write_bytes(path.read_bytes()[:100] + b"x" * 9000)
    ((kind, message, cure),) = findings(run)
    assert (kind, cure) == ("index", "asx rebuild")
    assert str(path) in message


@pytest.mark.parametrize("fault", ["newer", "a folder", "another program's", "held"])
def test_a_rebuild_is_no_cure_for_an_index_that_it_would_refuse(fault: str, home: Path, run: Run) -> None:
    path = home / ".cache/aster-index/index.sqlite"
    data = path.read_bytes()
    held = sqlite3.connect(path, isolation_level=None)
    with closing(held):
        if fault == "held":
            held.execute("PRAGMA locking_mode = EXCLUSIVE")
            held.execute("BEGIN EXCLUSIVE")
        else:
            for file in (path, *path.parent.glob("index.sqlite-*")):
                file.unlink(missing_ok=True)
        if fault == "newer":
            path.write_bytes(data[:60] + (9999).to_bytes(4, "big") + data[64:])
        elif fault == "a folder":
            path.mkdir(mode=0o700)
        elif fault == "another program's":
            path.write_bytes(data[:68] + b"\0\0\0\7" + data[72:])
        path.chmod(0o700 if path.is_dir() else 0o600)
        ((kind, message, cure),) = findings(run)
    assert kind == "index"
    assert str(path) in message
    assert (
        cure
        == {
            "newer": "update aster-index, or move the file away and run asx rebuild",
            "a folder": "give another --index, or move it away",
            "another program's": "give another --index, or move it away",
            "held": "try again when the other program is done",
        }[fault]
    )


def test_what_is_of_another_kind_gets_no_other_mode(home: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    store = home / "a file"
    store.write_text("x")
    store.chmod(0o644)
    log = home / ".cache/aster-index/index.sqlite-hook.log"
    log.mkdir()
    monkeypatch.setenv("ASTER_HOME", str(store))
    found = [one for one in findings(run) if one[0] == "permissions"]
    assert ("permissions", f"{store} is no folder", "move it away; asx paths tells what lies where") in found
    assert ("permissions", f"{log} is no file", "move it away") in found
    assert not [cure for _, _, cure in found if "chmod" in cure]


def test_a_cure_can_be_pasted_whatever_the_path_is(home: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    store = home / "it's $(mine)"
    store.mkdir()
    store.chmod(0o755)
    monkeypatch.setenv("ASTER_HOME", str(store))
    (cure,) = [cure for kind, message, cure in findings(run) if kind == "permissions"]
    assert subprocess.run(cure, shell=True, check=False).returncode == 0  # noqa: S602 - that is what a cure is for
    assert store.stat().st_mode & 0o777 == 0o700


def test_an_index_that_is_behind(home: Path, run: Run) -> None:
    HomeBuilder(home).aster("s2", aster_header("s2", 0), aster_prompt("crane", 1)).chmod(0o600)
    assert findings(run) == [("index", "the files are newer than the index", "asx ingest")]


def test_a_configuration_that_does_not_validate(home: Path, run: Run) -> None:
    config = home / ".config/aster-index/config.yaml"
    config.parent.mkdir(parents=True, mode=0o700)
    config.write_text("refresh_ms: soon\nkeep: 5\n")
    config.chmod(0o600)
    ((kind, message, cure),) = findings(run)
    assert (kind, cure) == ("config", "correct it or remove the file")
    assert "refresh_ms" in message
    assert "keep" in message
    config.write_text("roots: {claude-code: [/nowhere/at/all]}\n")
    assert findings(run)[0][:2] == ("config", f"{config}: root of claude-code is not there: /nowhere/at/all")


@pytest.mark.parametrize("name", [".cache/aster-index", ".local/share/aster/memory", ".cache/aster-index/index.sqlite"])
def test_what_others_may_read(name: str, home: Path, run: Run) -> None:
    path = home / name
    path.chmod(0o755)
    private = "700" if path.is_dir() else "600"
    found = findings(run)  # SQLite gives its other files the mode of the index
    assert found[0] == ("permissions", f"{path} is open to others (0755)", f"chmod {private} {path}")
    assert {kind for kind, _, _ in found} == {"permissions"}


def test_hook_troubles_are_told_for_a_week(home: Path, run: Run) -> None:
    log = home / ".cache/aster-index/index.sqlite-hook.log"
    days = {
        f"{(datetime.now(UTC) - timedelta(days=ago)).isoformat(timespec='milliseconds')[:23]}Z": ago
        for ago in (9, 3, 1)
    }
    lines = [{"ts": ts, "kind": "timeout", "message": f"gave up {ago > 5}\x1b[5m"} for ts, ago in days.items()]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    log.chmod(0o600)
    ((kind, message, _),) = findings(run)
    assert kind == "hook"
    assert message.startswith(f"prompt hook, 2 times, last at {list(days)[-1]}: gave up False")
    assert "\x1b" not in run("doctor").stdout


def test_it_changes_nothing(home: Path, run: Run) -> None:
    def state() -> dict[Path, tuple[int, bytes]]:
        return {
            p: (p.stat().st_mtime_ns, p.read_bytes())
            for p in home.rglob("*")
            if p.is_file() and p.suffix != ".sqlite-shm"
        }

    (home / ".local/share/aster/memory").chmod(0o755)
    before = state()
    run("doctor")
    assert state() == before
