"""Faults of search and of the refresh before it, found by breaking the real command on real files."""

from __future__ import annotations

import os
import resource
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import builders as make
from tests.builders import HomeBuilder
from tests.conftest import REPOSITORY, Asx


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    return HomeBuilder(isolated)


def type_in(home: HomeBuilder, *texts: str, session: str = "s", cwd: str = "/w/alpha") -> Path:
    prompts = (make.aster_prompt(text, minute) for minute, text in enumerate(texts, start=1))
    return home.aster(session, make.aster_header(session, 0, cwd=cwd), *prompts)


def index_of(asx: Asx) -> Path:
    return Path(asx("paths", "index").stdout.strip())


def test_a_memory_note_with_an_escaped_emoji_stops_neither_ingest_nor_search(home: HomeBuilder, asx: Asx) -> None:
    """JSON writes an emoji as two escaped halves, and a YAML reader makes two lone surrogates of them."""
    type_in(home, "a heron")
    assert asx("ingest").code == 0
    memory = home.aster_home / "memory"
    memory.mkdir(parents=True, exist_ok=True)
    (memory / "rocket.md").write_text('---\nname: rocket\ndescription: "launch \\ud83d\\ude80"\n---\n\nbody\n')
    told = asx("search", "heron")
    assert (told.code, "foreseen" in told.stderr) == (0, False), told.stderr
    told = asx("rebuild")
    assert (told.code, "foreseen" in told.stderr) == (0, False), told.stderr


@pytest.mark.parametrize("is_known", [True, False], ids=["known", "new"])
def test_nothing_found_names_a_transcript_that_could_not_be_read(is_known: bool, home: HomeBuilder, asx: Asx) -> None:
    type_in(home, "a heron")
    path = type_in(home, "a stork", session="t")
    if not is_known:
        path.unlink()
    assert asx("ingest").code == 0
    make.make_unreadable(path)
    assert asx("ingest").code == 6
    told = asx("search", "bittern")
    assert told.code == 1
    assert path.name in told.stderr or "not be read" in told.stderr or "cannot be read" in told.stderr, told.stderr


def test_a_full_disk_is_not_called_a_damaged_index(home: HomeBuilder, asx: Asx) -> None:
    type_in(home, "a heron")
    assert asx("ingest").code == 0
    index = index_of(asx)
    for suffix in ("-wal", "-shm"):
        index.with_name(index.name + suffix).unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-B", "-m", "cli", "search", "heron"],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "damaged" not in done.stderr, done.stderr
    assert (done.returncode, "a heron" in done.stdout) == (0, True), done.stderr


@pytest.mark.parametrize("words", [("--here",), ("--project", ".")], ids=["here", "dot"])
def test_a_folder_whose_name_is_no_utf_8_is_a_project(words: tuple[str, ...], asx: Asx, home: HomeBuilder) -> None:
    type_in(home, "a heron")
    assert asx("ingest").code == 0
    folder = Path(os.fsdecode(os.fsencode(asx.cwd) + b"/d\xff"))
    folder.mkdir()
    told = asx("search", "heron", *words, cwd=folder)
    assert (told.code, "foreseen" in told.stderr) == (1, False), told.stderr


def test_a_search_waits_for_no_exclusive_lock(home: HomeBuilder, asx: Asx) -> None:
    type_in(home, "a heron")
    assert asx("ingest").code == 0
    holder = sqlite3.connect(index_of(asx), isolation_level=None)
    try:
        holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        begun = time.monotonic()
        told = asx("search", "heron")
        took_s = time.monotonic() - begun
    finally:
        holder.close()
    assert told.code in (0, 5)
    assert took_s < 4, f"{took_s:.1f} s: {told.stderr}"


def test_a_lost_half_of_a_page_is_a_damaged_index(home: HomeBuilder, asx: Asx) -> None:
    type_in(home, "a heron")
    assert asx("ingest").code == 0
    index = index_of(asx)
    with sqlite3.connect(index) as reader:
        page_bytes = reader.execute("PRAGMA page_size").fetchone()[0]
        (page,) = reader.execute("SELECT rootpage FROM sqlite_master WHERE name = 'source_rows'").fetchone()
    reader.close()
    with index.open("r+b") as file:
        file.seek(page * page_bytes - page_bytes // 2)
        file.write(bytes(page_bytes // 2))
    told = asx("search", "heron")
    assert (told.code, "foreseen" in told.stderr) == (4, False), told.stderr


@pytest.mark.parametrize("since", ["2026-03-29T02:30", "2026-03-29T02:59"])
def test_a_time_that_the_clock_skipped_leaves_out_nothing_after_it(since: str, home: HomeBuilder, asx: Asx) -> None:
    """At 02:00 clocks in Berlin went to 03:00; what was typed at 03:10 was typed after 02:30."""
    prompt = {**make.aster_prompt("a heron", 1), "ts": "2026-03-29T01:10:00Z"}
    home.aster("s", make.aster_header("s", 0), prompt)
    berlin = {"TZ": "Europe/Berlin"}
    assert asx("ingest", env=berlin).code == 0
    assert asx("search", "heron", "--since", "2026-03-29T01:59", env=berlin).code == 0
    assert asx("search", "heron", "--since", since, env=berlin).code == 0
