"""A line that a kill cut, as readers see it, not finished yet, and as commands that move or remove its file do."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path

import pytest

from cli.app import main
from persist.aether.log import PENDING, read_log
from persist.aether.store import SessionStore
from persist.files.redo import REDO_NAME
from persist.memory import MemoryStore
from tests import builders as make
from tests.builders import HomeBuilder
from tests.conftest import Asx
from tests.faults.cut_lines import run_cut, seen_after_kill
from tests.index.conftest import dump_of, rebuilt_dump
from tests.persist import aether_records

TEXT = "the words of a title"
RENAME = ["sessions", "rename", "s1", TEXT]
KEPT_BYTES = 45
"""Of the title's line: its text has begun."""


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    return HomeBuilder(isolated)


def cut_title(home: HomeBuilder, session_id: str = "s1", kept_bytes: int = KEPT_BYTES) -> Path:
    """Make a session whose renaming was cut."""
    path = home.aster(session_id, make.aster_header(session_id, 0), make.aster_prompt("hello", 1))
    words = ["sessions", "rename", session_id, TEXT]
    run_cut(partial(main, words), path, kept_bytes)
    return path


def redo_bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes().strip(b"\0") for path in folder.rglob(REDO_NAME))


def test_readers_see_a_line_that_is_not_finished_and_the_next_command_finishes_it(home: HomeBuilder, asx: Asx) -> None:
    path = home.aster("s1", make.aster_header("s1", 0), make.aster_prompt("hello", 1))
    assert asx("ingest", "--quiet").code == 0
    old = path.read_bytes()
    run_cut(partial(main, RENAME), path, KEPT_BYTES)
    seen = seen_after_kill(path, old)
    assert (seen.lines, len(seen.cut)) == ((), KEPT_BYTES)
    before = path.read_bytes()

    listed = json.loads(asx("sessions", "list", "--all", "--json").stdout)
    assert [(one["id"], one["title"]) for one in listed["sessions"]] == [("s1", "hello")]
    shown = asx("sessions", "show", "s1")
    assert shown.code == 0
    assert "hello" in shown.stdout
    assert TEXT not in shown.stdout
    assert asx("ingest", "--strict").code == 0
    assert asx("verify").code == 0
    assert path.read_bytes() == before

    assert asx("sessions", "rename", "s1", "another").code == 0
    assert [json.loads(line)["title"] for line in seen.assert_finished()] == [TEXT, "another"]
    assert asx("ingest", "--strict").code == 0
    assert asx("verify").code == 0
    places = home.settings()
    assert dump_of(places.index_path) == rebuilt_dump(places)


def test_a_session_that_is_moved_is_whole_where_it_then_lies(home: HomeBuilder, tmp_path: Path) -> None:
    path = cut_title(home)
    assert main(["sessions", "relocate", "s1", str(tmp_path)]) == 0
    (moved,) = home.aster_home.rglob("s1.jsonl")
    assert moved != path
    assert json.loads(moved.read_bytes().splitlines()[-1])["title"] == TEXT
    assert redo_bytes(home.home) == b""


def test_a_session_that_is_deleted_leaves_no_text_in_the_record(home: HomeBuilder) -> None:
    path = cut_title(home)
    assert TEXT.encode() in redo_bytes(home.home)
    assert main(["sessions", "delete", "--yes", "s1"]) == 0
    assert not path.exists()
    assert redo_bytes(home.home) == b""


def test_a_session_that_is_pruned_leaves_no_text_in_the_record(home: HomeBuilder) -> None:
    path = cut_title(home)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    assert main(["sessions", "prune", "--project", "/w/alpha", "--older-than", "1d", "--yes"]) == 0
    assert not path.exists()
    assert redo_bytes(home.home) == b""


def test_a_log_of_aethers_store_is_finished_too(isolated: Path, asx: Asx) -> None:
    store = SessionStore()
    path = store.create("/w/app", "a:b", session_id="log")
    old = path.read_bytes()
    assert isolated in path.parents
    run_cut(lambda: store.append_checked(path, [aether_records.prompt(TEXT, "u1")]), path, KEPT_BYTES)
    seen = seen_after_kill(path, old)
    assert [entry.status for entry in read_log(path).entries()] == [PENDING]
    store.append_checked(path, [aether_records.prompt("next", "u2")])
    assert len(seen.assert_finished()) == 2
    loaded = store.load("log")
    assert [entry.event.text for entry in loaded.events if entry.event is not None] == [TEXT, "next"]
    assert loaded.malformed == 0


def test_a_journal_that_is_cut_is_read_without_its_line_and_counts_no_damage(isolated: Path) -> None:
    store = MemoryStore(isolated / "memory")
    store.remember("The heron stands still.", "Birds")
    journal = store.folder / "journal.jsonl"
    old = journal.read_bytes()
    run_cut(lambda: store.mark("Birds", "helpful"), journal, 20)
    seen = seen_after_kill(journal, old)
    operations, damaged = store.read_log()
    assert (len(operations), damaged) == (1, 0)
    store.mark("Birds", "harmful")
    assert [json.loads(line)["op"] for line in seen.assert_finished()] == ["helpful", "harmful"]
    assert store.read_log()[1] == 0
