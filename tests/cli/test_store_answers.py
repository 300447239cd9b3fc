"""The store's commands in every state of a home: one JSON value on stdout, and the exit code that the README names.

Checks named b109 and b110 are those of ``spec/fault-checks.md``; those of search and SQL have their own files.
"""

from __future__ import annotations

import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from cli.registry import GROUP_COMMANDS
from persist.files import LOCK_NAME, locked
from tests import builders as make
from tests.builders import HomeBuilder
from tests.cli.conftest import Run
from tests.conftest import REPOSITORY, Asx, Result

THEIRS: Final = "3f6d2c1e-0000-4000-8000-000000000001"
LONG_AGO: Final = (1_700_000_000, 1_700_000_000)
ESCAPE: Final = re.compile("[\x1b\x9b]")
PROMPT: Final = make.lines(make.aster_prompt("one more", 50))

WORDS: Final[list[tuple[str, int]]] = [
    ("sessions", 0), ("sessions list --all", 0), ("sessions list --project /nowhere", 1), ("sessions show s1-told", 0),
    ("sessions show s1-told --preview", 0), ("sessions show damaged", 0), ("sessions show nobody", 1),
    ("sessions start --id new-1 --cwd /w/alpha", 0), ("sessions start --aether --model a:b --id new-2", 0),
    ("sessions append s1-told", 0), ("sessions append nobody", 1), ("sessions latest --project /w/alpha", 0),
    ("sessions latest --project /nowhere", 1), ("sessions resume damaged", 0), ("sessions resume nobody", 1),
    ("sessions digest s1-told", 0), ("sessions digest nobody", 1),
    ("sessions rename s1-told A title", 0), ("sessions rename nobody A title", 1), ("sessions rename ae-7c1d x", 7),
    ("sessions relocate s2-told /", 0), ("sessions relocate nobody /", 1), ("sessions history", 0),
    ("sessions history --rebuild", 0), ("sessions prune --project /w/alpha --keep 9", 0),
    ("sessions prune --project /w/alpha --keep 9 --yes", 0), ("sessions prune --project /w/alpha", 2),
    ("sessions delete --dry-run s1-told", 0), ("sessions delete s1-told", 7), ("sessions delete --yes s1-told", 0),
    ("sessions delete --yes s1-told", 1), (f"sessions delete --yes {THEIRS}", 7),
    ("sessions import --all --dry-run", 0), ("sessions import --all", 0),
    ("memory", 0), ("memory list --archived", 0), ("memory show birds", 0), ("memory show nothing", 1),
    ("recall birds", 0), ("memory log", 0), ("memory context", 0), ("memory tools", 0), ("remember a fact", 0),
    ("memory add --title Other text", 0), ("memory add --pin text", 2), ("memory archive other", 0),
    ("memory mark birds helpful", 0), ("memory mark nothing harmful", 1), ("memory decay", 0),
    ("memory decay --yes", 0), ("memory review", 0), ("memory apply --schema", 0), ("memory apply -", 2),
    ("memory archive other", 1), ("memory restore other", 0), ("memory remove other", 0), ("forget nothing", 1),
    ("memory restore other --at 01AAAA", 1), ("ingest --keep", 0),
]  # fmt: skip
"""Typed in this order, with the code of each where something is there."""
EMPTY: Final[dict[str, int]] = {
    "sessions": 1, "sessions list --all": 1, "sessions show s1-told": 1, "sessions show s1-told --preview": 1,
    "sessions show damaged": 1, "sessions append s1-told": 1, "sessions latest --project /w/alpha": 1,
    "sessions resume damaged": 1, "sessions digest s1-told": 1, "sessions rename s1-told A title": 1,
    "sessions rename ae-7c1d x": 1,
    "sessions relocate s2-told /": 1, "sessions history": 1, "sessions history --rebuild": 1,
    "sessions delete --dry-run s1-told": 1, "sessions delete s1-told": 1, "sessions delete --yes s1-told": 1,
    f"sessions delete --yes {THEIRS}": 1, "sessions import --all --dry-run": 1, "sessions import --all": 1,
    "memory": 1, "memory list --archived": 1, "memory show birds": 1, "recall birds": 1, "memory log": 1,
    "memory context": 1, "ingest --keep": 0, "memory mark birds helpful": 1, "memory review": 1,
}  # fmt: skip
"""Codes of the same words where there is nothing: the home of a first day."""


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    return HomeBuilder(isolated)


@pytest.fixture
def filled(home: HomeBuilder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> HomeBuilder:
    """A home where every kind of file of the store has something damaged in it."""
    for session_id in ("s1-told", "s2-told"):
        path = home.aster(
            session_id, make.aster_header(session_id, 0), make.aster_prompt("heron", 1), make.aster_answer("ok", 2)
        )
        os.utime(path, LONG_AGO)
    broken = b'{"type":"message","role":"user","content":"\x1b[5m caf\xe9'
    home.aster("damaged", make.aster_header("damaged", 0), broken, make.aster_prompt("x", 1), end=b'{"torn":\xc3')
    home.aster("empty-1")
    home.aether("ae-7c1d", make.aether_metadata("ae-7c1d", 0), b"garbage", make.aether_prompt("heron of aether"))
    home.claude(THEIRS, make.claude_prompt("theirs", THEIRS, "u1", 1), b"{broken")
    home.prompt_history("aster", make.history_entry("heron", "s1-told", 1), b"broken")
    home.block("birds", "The heron stands.")
    home.facts("a fact of long ago")
    memory = home.aster_home / "memory"
    (memory / "journal.jsonl").write_bytes(b'{"ts":"2026-01-01T00:00:00Z","op":"recall","name":"birds"}\nbroken\n{"to')
    (memory / "odd.md").write_bytes(b"---\nname: [x\n\x1b[5m caf\xe9\n")
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / ".git").mkdir()
    monkeypatch.chdir(tmp_path / "app")
    here = home.aster("here-1", make.aster_header("here-1", 0) | {"cwd": str(tmp_path / "app")}, project="app")
    with here.open("ab") as file:
        file.write(make.lines(make.aster_prompt("of this project", 1)))
    return home


def typed(run: Run, monkeypatch: pytest.MonkeyPatch, words: str, *options: str) -> Result:
    """Run a command with one event on stdin, for those that read it."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PROMPT)))
    return run(*words.split(), *options)


def one_value(told: Result) -> Any:
    """Return the one JSON value that stdout is, its line end behind it and nothing else."""
    assert told.stdout.endswith("\n")
    value = json.loads(told.stdout)
    assert told.stdout.count("\n") == 1
    assert value["schema_version"] == 1
    assert not told.stderr.lstrip().startswith("{")
    assert not ESCAPE.search(told.stdout + told.stderr)
    return value


def kept_files(home: HomeBuilder) -> dict[Path, bytes]:
    """Return every transcript and memory file; not the prompt history, which is derived and of which a removal is
    written first (``persist.removal``)."""
    files = [path for path in home.aster_home.rglob("*") if path.suffix in (".jsonl", ".md") and path.is_file()]
    return {path: path.read_bytes() for path in files if path.name != "prompt-history.jsonl"}


def test_every_command_of_both_groups_is_typed_here() -> None:
    groups = {
        group: {words.split()[1] for words, _ in WORDS if words.startswith(f"{group} ")} for group in GROUP_COMMANDS
    }
    assert groups == {group: set(names) for group, names in GROUP_COMMANDS.items()}


@pytest.mark.parametrize("state", ["no index", "fresh index", "stale index"])
def test_b109_stdout_is_one_json_value_and_b110_the_code_is_the_same_with_and_without_it(
    state: str, filled: HomeBuilder, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    if state != "no index":
        assert run("ingest", "--quiet").code == 0
    if state == "stale index":
        filled.aster("late-1", make.aster_header("late-1", 5), make.aster_prompt("late", 6))
    for words, code in WORDS:
        told = typed(run, monkeypatch, words, "--json")
        value = one_value(told)
        assert told.code == code, (words, told)
        assert ("error" in value) == (code != 0 and not words.startswith("sessions list")), words


def test_b110_the_codes_without_json_are_those(filled: HomeBuilder, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for words, code in WORDS:
        told = typed(run, monkeypatch, words)
        assert told.code == code, (words, told)
        assert (told.stdout == "") or code in (0, 1), words
        assert not ESCAPE.search(told.stdout + told.stderr)


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["plain", "json"])
def test_b109_and_b110_of_a_first_day(
    options: tuple[str, ...], home: HomeBuilder, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.home.joinpath(".claude", "projects").mkdir(parents=True)
    for words, code in WORDS:
        told = typed(run, monkeypatch, words, *options)
        if options:
            one_value(told)
        assert told.code == EMPTY.get(words, code), (words, told)


@pytest.mark.parametrize("group", GROUP_COMMANDS)
def test_b110_an_option_that_is_none_is_2(group: str, run: Run, home: HomeBuilder) -> None:
    for name in GROUP_COMMANDS[group]:
        assert run(group, name, "--nonsense").code == 2
        told = run(group, name, "--nonsense", "--json")
        assert (told.code, one_value(told)["error"]["kind"]) == (2, "usage")
    assert list(home.home.iterdir()) == []


CHANGES: Final = {
    "sessions rename s1-told A title": "sessions/alpha",
    "sessions append s1-told": "sessions/alpha",
    "sessions relocate s1-told /": "sessions/alpha",
    "sessions delete --yes s1-told": "sessions/alpha",
    "sessions start --id s9 --cwd /w/alpha": "sessions/w-alpha",
    "sessions history --rebuild": "sessions",
    "memory add --title Birds text": "memory",
    "memory add a fact": "memory",
    "memory remove birds": "memory",
    "memory archive birds": "memory",
}


@pytest.mark.parametrize("words", CHANGES)
def test_b110_a_folder_that_another_program_is_writing_is_5(
    words: str, filled: HomeBuilder, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locked.__wrapped__, "__defaults__", (0.05,))  # type: ignore[attr-defined]
    lock = filled.aster_home / CHANGES[words] / LOCK_NAME
    with locked(lock):
        before = kept_files(filled)
        told = typed(run, monkeypatch, words, "--json")
        assert (told.code, one_value(told)["error"]["kind"]) == (5, "busy")
        assert typed(run, monkeypatch, words).code == 5
        assert kept_files(filled) == before
    assert typed(run, monkeypatch, words).code == 0


@pytest.mark.parametrize(
    "damage", [b"no database" * 1000, b"SQLite format 3\0" + b"\1" * 9000], ids=["garbage", "header"]
)
def test_b110_a_damaged_index_stops_only_what_is_answered_from_it(
    damage: bytes, filled: HomeBuilder, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("ingest", "--quiet").code == 0
    index = filled.home / ".cache" / "aster-index" / "index.sqlite"
    index.write_bytes(damage)
    for words, code in WORDS:
        told = typed(run, monkeypatch, words, "--json")
        one_value(told)
        from_index = words.startswith(("sessions list", "sessions show", "ingest")) or words == "sessions"
        assert told.code == (4 if from_index else code), (words, told)
    assert index.read_bytes() == damage


@pytest.mark.parametrize("words", ["sessions rename s1-told A title", "memory add --title T x", "remember x"])
def test_a_change_that_failed_is_one_sentence_whatever_the_index_is(
    words: str, filled: HomeBuilder, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("ingest", "--quiet").code == 0
    index = filled.home / ".cache" / "aster-index" / "index.sqlite"
    with closing(sqlite3.connect(index)) as connection:
        connection.execute("UPDATE meta SET value = 'other rules' WHERE key = 'projection'")
        connection.commit()
    for folder in ("sessions/alpha", "memory"):
        filled.aster_home.joinpath(folder, LOCK_NAME).mkdir()  # what stands here cannot be locked, by root neither
    told = typed(run, monkeypatch, words)
    assert (told.code, told.stdout, told.stderr.count("\n")) == (6, "", 1), told
    assert told.stderr.startswith("asx: cannot lock ")


WAITING: Final = {
    "for the next event": ["sessions", "append", "s1-told"],
    "for a note": ["memory", "add", "--title", "T", "-"],
    "for a lock": ["sessions", "rename", "s1-told", "A", "title"],
}


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["plain", "json"])
@pytest.mark.parametrize("what", WAITING)
def test_b110_interrupted_is_130(what: str, options: tuple[str, ...], filled: HomeBuilder) -> None:
    path = filled.aster_home / "sessions" / "alpha" / "s1-told.jsonl"
    before = path.read_bytes()
    with locked(path.with_name(LOCK_NAME)):
        running = subprocess.Popen(
            [sys.executable, "-m", "cli", *WAITING[what], *options], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        )  # fmt: skip
        time.sleep(1.5)
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=20)
    assert running.returncode == 130
    if options:
        assert json.loads(out)["error"]["kind"] == "interrupted"
    else:
        assert out == b""
    assert path.read_bytes() == before
    assert not (filled.aster_home / "memory" / "t.md").exists()


def test_b109_a_pipe_gets_no_colour_and_no_color_is_kept_to(filled: HomeBuilder, asx: Asx) -> None:
    for words in (
        ["sessions", "list", "--all"],
        ["memory", "list"],
        ["sessions", "show", "s1-told"],
        ["memory", "log"],
    ):
        for environment in ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, {}):
            told = asx(*words, env=environment)
            assert told.code == 0
            assert not ESCAPE.search(told.stdout + told.stderr)
