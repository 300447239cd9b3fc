"""Ingest and rebuild as processes: many at once, killed at any moment, on a full disk, private, and idle when idle."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TypeAlias

import filelock  # noqa: F401 - imported before children are forked
import pytest

from index import ingest as ingesting
from index import opening, swap
from index import slices as slicing
from index.errors import IndexBusyError, IndexUnusableError, NoIndexError
from index.ingest import ingest
from index.lock import index_lock, new_path
from index.opening import open_reader
from index.rebuild import rebuild
from index.results import IngestReport
from index.settings import Settings
from index.verify import verify
from persist.errors import RefusedError
from tests import builders as make
from tests.builders import HomeBuilder
from tests.index import processes
from tests.index.conftest import dump_of, rebuilt_dump, rows
from tests.index.filled import snapshot

pytestmark = pytest.mark.usefixtures("quick_schema")

Run: TypeAlias = Callable[[Settings], IngestReport]


@pytest.fixture
def places(home: HomeBuilder, tmp_path: Path) -> Settings:
    return home.settings(tmp_path / "cache" / "index.sqlite")


def fill(home: HomeBuilder, count: int, size: int = 10) -> None:
    for number in range(count):
        name = f"s{number:03}"
        talk = [make.aster_prompt(f"prompt {place} of {name} " * 8, place) for place in range(size)]
        home.aster(name, make.aster_header(name, number), *talk)
        home.claude(
            name, *(make.claude_prompt(f"{place} in {name}", name, f"u{place}", place) for place in range(size))
        )


def append(home: HomeBuilder, number: int) -> None:
    """Change the store a little: a longer file, a new one, one less."""
    with home.aster(f"more{number}", make.aster_header(f"more{number}", 1)).open("ab") as file:
        file.write(make.lines(make.aster_prompt(f"appended {number}", 2)))
    (home.aster_home / "sessions" / "alpha" / f"s{number:03}.jsonl").unlink(missing_ok=True)
    with (home.aster_home / "sessions" / "alpha" / f"s{number + 20:03}.jsonl").open("ab") as file:
        file.write(make.lines(make.aster_prompt(f"grown {number}", 3)))


def without_lock(folder: Mapping[str, object]) -> dict[str, object]:
    """Leave out the lock file, whose time tells when a run last looked at the disk."""
    return {name: data for name, data in folder.items() if not name.endswith(".lock")}


def assert_whole(places: Settings) -> None:
    report = verify(places)
    assert report.differences == ()
    assert [name for name in snapshot(places.index_path.parent) if ".new-" in name] == []


@pytest.mark.parametrize("act", [ingest, rebuild], ids=["ingest", "rebuild"])
def test_a_run_killed_at_any_moment_leaves_an_index_that_the_next_one_completes(
    act: Run, home: HomeBuilder, places: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slicing, "SLICE_SOURCES", 7)
    fill(home, 50)
    began = time.monotonic()
    ingest(places)
    whole_s = time.monotonic() - began
    rng = Random(5)  # noqa: S311
    caught = 0
    for number in range(7):
        append(home, number)
        if number == 4:  # as for the first time
            for file in places.index_path.parent.iterdir():
                file.unlink()
        elif act is ingest:
            for path in sorted((home.aster_home / "sessions" / "alpha").glob("s*.jsonl"))[: rng.randrange(40)]:
                os.utime(path)
        caught += processes.run_and_kill(lambda: act(places), rng.random() * whole_s)
        if places.index_path.exists():
            with closing(open_reader(places.index_path)) as reader:
                reader.execute("SELECT count(*) FROM events").fetchone()
        ingest(places)
        assert [name for name in snapshot(places.index_path.parent) if ".new-" in name] == []
        assert dump_of(places.index_path) == rebuilt_dump(places)
    assert caught >= 2
    assert_whole(places)


@pytest.mark.parametrize("put", [None, b"", b"no database at all"], ids=["missing", "empty", "text"])
def test_a_run_killed_right_after_the_new_index_took_its_place_shuts_no_reader_out(
    put: bytes | None, home: HomeBuilder, places: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(home, 3)
    if put is not None:
        places.index_path.parent.mkdir()
        places.index_path.write_bytes(put)
    monkeypatch.setattr(swap, "flush_folder", lambda folder: os.kill(os.getpid(), signal.SIGKILL))
    assert processes.start(lambda: rebuild(places)).wait() == (-signal.SIGKILL, "")
    monkeypatch.undo()
    assert places.index_path.read_bytes()[18:20] == b"\2\2"  # "file format version numbers": 2 is WAL
    with closing(open_reader(places.index_path)) as reader:
        assert reader.execute("SELECT count(*) FROM sessions").fetchone() == (6,)
    assert not ingest(places).wrote
    assert_whole(places)


def test_many_at_once_end_well_and_readers_never_fail(home: HomeBuilder, places: Settings) -> None:
    """B64: six ingests and rebuilds from nothing, two readers meanwhile, while the store grows."""
    fill(home, 40)
    until = time.monotonic() + 60

    def read() -> None:
        seen = 0
        while not (places.index_path.parent / "done").exists() and time.monotonic() < until:
            try:
                with closing(open_reader(places.index_path)) as reader:
                    assert reader.execute("PRAGMA busy_timeout").fetchone()[0] >= 5000
                    counted = reader.execute("SELECT count(*) FROM sessions").fetchone()[0]
                    assert counted >= seen, "a reader saw less than before"
                    seen = counted
            except NoIndexError:
                assert seen == 0, "the index was gone for a moment"

    def write() -> None:
        ingest(places)
        rebuild(places)
        ingest(places)

    readers = [processes.start(read) for _ in range(2)]
    writers = [processes.start(write) for _ in range(6)]
    for number in range(50, 60):
        home.aster(f"late{number}", make.aster_header(f"late{number}", 1), make.aster_prompt("late", 2))
        time.sleep(0.02)
    ended = [child.wait() for child in writers]
    (places.index_path.parent / "done").touch()
    ended += [child.wait() for child in readers]
    assert ended == [(0, "")] * 8
    ingest(places)
    assert_whole(places)
    assert rows(places, "SELECT count(*) FROM sessions") == [(90,)]


def test_a_second_run_waits_and_then_says_who_is_busy(home: HomeBuilder, places: Settings) -> None:
    fill(home, 2)
    ingest(places)
    hurried = replace(places, lock_timeout_s=0.2)
    with index_lock(places):
        for act in (ingest, rebuild):
            told = processes.start(lambda act=act: act(hurried)).wait()[1]  # type: ignore[misc]
            assert told.startswith("IndexBusyError: another ingest is writing")
    assert not ingest(places).wrote


def test_another_program_that_holds_the_database_is_one_sentence(
    home: HomeBuilder, places: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B66."""
    monkeypatch.setattr(opening, "BUSY_TIMEOUT_MS", 200)
    hurried = replace(places, lock_timeout_s=0.2)
    fill(home, 2)
    ingest(places)
    with closing(sqlite3.connect(places.index_path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert not ingest(hurried).wrote  # nothing changed: reading is enough
        fill(home, 3)
        with pytest.raises(IndexBusyError, match="another"):
            ingest(hurried)
        with pytest.raises(IndexBusyError, match="another"):
            rebuild(hurried)
        assert rows(places, "SELECT count(*) FROM sessions") == [(4,)]
    ingest(places)
    assert_whole(places)


def test_the_log_does_not_stay_large_behind_a_long_reader(
    home: HomeBuilder, places: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B67."""
    monkeypatch.setattr(opening, "BUSY_TIMEOUT_MS", 200)
    fill(home, 5)
    ingest(places)
    log = places.index_path.with_name("index.sqlite-wal")
    with closing(open_reader(places.index_path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchone()
        fill(home, 30, 60)
        ingest(places)
        assert log.stat().st_size > 0
    append(home, 1)
    ingest(places)
    assert log.stat().st_size == 0
    assert_whole(places)


@pytest.mark.parametrize("act", [ingest, rebuild], ids=["ingest", "rebuild"])
def test_a_full_disk_is_one_sentence_and_the_old_index_answers(act: Run, home: HomeBuilder, places: Settings) -> None:
    """B79."""
    fill(home, 10)
    ingest(places)
    before = dump_of(places.index_path)
    room = places.index_path.stat().st_size + 100_000
    fill(home, 40, 30)
    code, told = processes.run_on_small_disk(lambda: act(places), room)
    assert code == 1
    assert told.startswith(f"IndexWriteError: cannot write {places.index_path}: "), told
    assert dump_of(places.index_path) == before
    assert [name for name in snapshot(places.index_path.parent) if ".new-" in name] == []
    ingest(places)
    assert dump_of(places.index_path) == rebuilt_dump(places)
    assert_whole(places)


@pytest.mark.parametrize("room", [0, 3000, 150_000, 900_000])
def test_a_full_disk_at_the_first_ingest_leaves_no_half_index(
    room: int, home: HomeBuilder, places: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # with the migrations as they are
    fill(home, 60, 40)
    code, told = processes.run_on_small_disk(lambda: ingest(places), room)
    assert code == 1
    assert told.split(":")[0] == "IndexWriteError", told
    left = [path.name for path in places.index_path.parent.iterdir()] if places.index_path.parent.exists() else []
    assert left in ([], ["index.sqlite.lock"])
    with pytest.raises(NoIndexError):
        open_reader(places.index_path)
    ingest(places)
    assert rows(places, "SELECT count(*) FROM sessions") == [(120,)]


def test_nothing_new_writes_nothing(home: HomeBuilder, places: Settings) -> None:
    """B58: no byte, no file, no write transaction, and nothing read, twenty times."""
    fill(home, 5)
    home.block("note", "body")
    home.claude("odd", b"7")
    ingest(places)
    before = snapshot(places.index_path.parent)
    with closing(open_reader(places.index_path)) as reader:
        version = reader.execute("PRAGMA data_version").fetchone()
        for _ in range(20):
            report = ingest(places)
            assert (report.wrote, report.bytes_read, report.lines_seen) == (False, 0, 0)
        assert reader.execute("PRAGMA data_version").fetchone() == version
    assert without_lock(snapshot(places.index_path.parent)) == without_lock(before)
    counts = report.agents["claude-code"].sources
    assert (counts.seen, counts.unchanged, counts.ignored) == (6, 5, 1)


def test_every_source_seen_is_counted_in_one_class(home: HomeBuilder, places: Settings) -> None:
    fill(home, 6)
    home.claude("odd", b"7")
    ingest(places)
    fill(home, 1, 12)
    home.claude("s002", make.claude_prompt("new words", "s002", "u1", 1))
    with home.claude("tail", make.claude_prompt("one", "tail", "u1", 1)).open("ab"):
        ingest(places)
    with (home.claude_home / "projects" / "-w-gamma" / "tail.jsonl").open("ab") as file:
        file.write(make.lines(make.claude_prompt("two", "tail", "u2", 2)))
    (home.claude_home / "projects" / "-w-gamma" / "s003.jsonl").unlink()
    home.claude("s004", make.claude_prompt("other", "s004", "u1", 1))
    home.claude("fresh", make.claude_prompt("hi", "fresh", "u1", 1))
    counts = ingest(places).agents["claude-code"].sources
    assert (counts.new, counts.tailed, counts.replaced, counts.removed, counts.ignored) == (1, 1, 1, 1, 1)
    assert counts.seen == counts.new + counts.tailed + counts.replaced + counts.unchanged + counts.ignored


def test_all_that_is_made_is_private_from_the_first_byte(home: HomeBuilder, places: Settings) -> None:
    """B124."""
    fill(home, 40, 20)
    folder = places.index_path.parent.parent / "made"
    private = replace(places, index_path=folder / "below" / "index.sqlite")

    def act() -> None:
        os.umask(0o022)
        ingest(private)
        fill(home, 45, 21)
        ingest(private)
        rebuild(private)

    child = processes.start(act)
    modes: dict[str, int] = {}
    while os.waitpid(child.pid, os.WNOHANG) == (0, 0):
        for path in (folder, *folder.rglob("*")):
            try:
                modes[path.name.partition(".new-")[0] + path.suffix] = stat.S_IMODE(path.stat().st_mode)
            except FileNotFoundError:
                continue
            assert modes[path.name.partition(".new-")[0] + path.suffix] == (0o700 if path.is_dir() else 0o600), path
    os.close(child.told)
    assert len(modes) >= 5
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()} == {0o600}


def test_a_folder_that_was_there_keeps_its_mode(home: HomeBuilder, places: Settings) -> None:
    places.index_path.parent.mkdir(mode=0o755)
    places.index_path.parent.chmod(0o755)
    fill(home, 1)
    ingest(places)
    assert stat.S_IMODE(places.index_path.parent.stat().st_mode) == 0o755
    assert stat.S_IMODE(places.index_path.stat().st_mode) == 0o600


def test_a_rebuild_reads_no_row_of_the_old_index(home: HomeBuilder, places: Settings) -> None:
    """B74."""
    fill(home, 3)
    ingest(places)
    before = dump_of(places.index_path)
    with closing(sqlite3.connect(places.index_path)) as connection:
        connection.execute("UPDATE prose SET text = 'changed by another hand'")
        connection.execute("UPDATE source_rows SET lines_seen = 99")
        connection.commit()
    assert not verify(places).ok
    rebuild(places)
    assert dump_of(places.index_path) == before
    assert_whole(places)


@pytest.mark.parametrize(
    ("change", "view"),
    [
        ("UPDATE event_rows SET hidden = 1 WHERE id = (SELECT min(id) FROM event_rows)", "events"),
        ("UPDATE session_rows SET turns = turns + 1", "sessions"),
        ("DELETE FROM prompt_keys WHERE rowid = (SELECT min(rowid) FROM prompt_keys)", "fulltext"),
        ("UPDATE prompt_keys SET key = 'other' WHERE rowid = (SELECT min(rowid) FROM prompt_keys)", "fulltext"),
        ("INSERT INTO prose_keys (rowid, key) VALUES (99999, 'stray')", "fulltext"),
        ("DELETE FROM source_rows WHERE id = 2", "sources"),
    ],
)
def test_verify_sees_what_is_wrong(change: str, view: str, home: HomeBuilder, places: Settings) -> None:
    fill(home, 3)
    ingest(places)
    before = snapshot(places.index_path.parent)
    assert verify(places).ok
    assert snapshot(places.index_path.parent) == before
    with closing(sqlite3.connect(places.index_path)) as connection:
        connection.execute(change)
        connection.commit()
    report = verify(places)
    assert not report.ok
    assert view in {difference.what for difference in report.differences}
    assert report.fulltext_ok == (view != "fulltext")
    assert all("prompt 0 of" not in difference.detail for difference in report.differences)


def test_what_is_no_database_is_kept_aside_by_rebuild(home: HomeBuilder, places: Settings) -> None:
    """B72."""
    fill(home, 1)
    places.index_path.parent.mkdir()
    places.index_path.write_bytes(b"a text that somebody wrote\n" * 10)
    for _ in range(2):
        with pytest.raises(IndexUnusableError, match="is not a database; run: asx rebuild"):
            ingest(places)
    report = rebuild(places)
    (aside,) = [path for path in places.index_path.parent.iterdir() if ".aside-" in path.name]
    assert aside.read_bytes() == b"a text that somebody wrote\n" * 10
    assert [aside.name in note for note in report.notes].count(True) == 1
    assert_whole(places)


@pytest.mark.parametrize("act", [ingest, rebuild], ids=["ingest", "rebuild"])
@pytest.mark.parametrize("application_id", [0, 0x12345678], ids=["none", "theirs"])
def test_another_programs_database_is_never_written(
    act: Run, application_id: int, home: HomeBuilder, places: Settings
) -> None:
    """B72, and prototypes D: the backup API would overwrite it without a word."""
    fill(home, 1)
    places.index_path.parent.mkdir()
    with closing(sqlite3.connect(places.index_path)) as connection:
        connection.executescript(f"PRAGMA application_id = {application_id}; CREATE TABLE theirs (x)")
    beside = places.index_path.with_name("index.sqlite.new-draft")
    beside.write_bytes(b"a file of that program")
    before = snapshot(places.index_path.parent)
    with pytest.raises(IndexUnusableError, match="another program's database; give another --index"):
        act(places)
    assert snapshot(places.index_path.parent) == before


@pytest.mark.parametrize("act", [ingest, rebuild], ids=["ingest", "rebuild"])
def test_only_leftovers_of_our_own_making_are_removed(act: Run, home: HomeBuilder, places: Settings) -> None:
    fill(home, 1)
    ingest(places)
    ours = [new_path(places.index_path), new_path(places.index_path).with_name("index.sqlite.new-7-1f-journal")]
    theirs = [
        places.index_path.with_name(name) for name in ("index.sqlite.new-draft", "index.sqlite.new-7", "x.new-7-1")
    ]
    for path in (*ours, *theirs):
        path.write_bytes(b"left over")
    act(places)
    assert [path.exists() for path in ours] == [False, False]
    assert [path.read_bytes() for path in theirs] == [b"left over"] * 3


@pytest.mark.parametrize("damage", ["half", "page 2", "middle pages", "no bytes", "a wal of rubbish"])
def test_a_damaged_index_is_made_anew(damage: str, home: HomeBuilder, places: Settings) -> None:
    """B72: by rebuild always; ingest makes it anew, mends nothing silently, or says in one line what to do."""
    fill(home, 20)
    ingest(places)
    good = places.index_path.read_bytes()
    for path in places.index_path.parent.glob("index.sqlite-*"):
        path.unlink()
    page = 8192
    damaged = {
        "half": good[: len(good) // 2],
        "page 2": good[:page] + bytes(page) + good[2 * page :],
        "middle pages": good[: 6 * page] + bytes(4 * page) + good[10 * page :],
        "no bytes": b"",
        "a wal of rubbish": good,
    }[damage]
    places.index_path.write_bytes(damaged)
    if damage == "a wal of rubbish":
        places.index_path.with_name("index.sqlite-wal").write_bytes(b"rubbish " * 5000)
    append(home, 1)
    told = processes.start(lambda: ingest(places)).wait()[1].split("\n")[0]
    assert told == "" or (told.startswith("IndexUnusableError: ") and told.endswith("; run: asx rebuild"))
    rebuild(places)
    assert_whole(places)
    ingest(places)
    assert not ingest(places).wrote


def test_a_great_loss_is_refused_by_rebuild_until_allowed(home: HomeBuilder, places: Settings) -> None:
    fill(home, 4)
    ingest(places)
    before = dump_of(places.index_path)
    home.aster_home.rename(home.home / "away")
    with pytest.raises(RefusedError, match="--prune"):
        rebuild(places)
    assert dump_of(places.index_path) == before
    report = rebuild(places, prune=True)
    assert any("were dropped" in note for note in report.notes)
    assert dump_of(places.index_path) == rebuilt_dump(places)


def test_a_generation_that_changes_meanwhile_is_not_written(
    home: HomeBuilder, places: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every write transaction first reads ``user_version`` (DESIGN 7)."""
    fill(home, 2)
    ingest(places)
    fill(home, 3)
    writer = opening.open_writer

    def late(path: Path) -> sqlite3.Connection:
        connection = writer(path)
        connection.execute("PRAGMA user_version = 99")
        return connection

    monkeypatch.setattr(ingesting, "open_writer", late)
    with pytest.raises(IndexUnusableError, match="became generation 99"):
        ingest(places)
