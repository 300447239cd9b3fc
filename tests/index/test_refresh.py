"""The refresh before a search: equal to an ingest, never in anybody's way, and honest when it did not happen."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from index.errors import NoIndexError
from index.freshness import Freshness, NotRefreshed, freshness_of
from index.ingest import ingest
from index.lock import index_lock, lock_path
from index.opening import open_reader
from index.rebuild import rebuild
from index.refresh import _state, refresh
from index.search import SearchRequest, search
from index.settings import Settings
from persist.errors import BusyError
from persist.files.lock import locked, locked_if_free
from tests import builders as make
from tests.builders import HomeBuilder
from tests.conftest import REPOSITORY
from tests.index import processes
from tests.index.conftest import dump_of, rebuilt_dump
from tests.index.filled import snapshot
from tests.index.histories import STEPS, World

pytestmark = pytest.mark.usefixtures("quick_schema")

HISTORIES = int(os.environ.get("ASTER_HISTORIES", "6"))
SOON_S = 1.0


@pytest.fixture
def filled(home: HomeBuilder, tmp_path: Path) -> Settings:
    """Four sessions and an index of them."""
    for number in range(4):
        home.aster(f"s{number}", make.aster_header(f"s{number}", number), make.aster_prompt(f"heron {number}", 1))
    settings = home.settings(tmp_path / "cache" / "index.sqlite")
    ingest(settings)
    return settings


def with_budget(settings: Settings, refresh_ms: int) -> Settings:
    return replace(settings, configuration=replace(settings.configuration, refresh_ms=refresh_ms))


def append(home: HomeBuilder, text: str = "kingfisher") -> None:
    with (home.aster_home / "sessions" / "alpha" / "s0.jsonl").open("ab") as file:
        file.write(make.lines(make.aster_prompt(text, 5)))


def hits(settings: Settings, query: str) -> int:
    return search(settings, SearchRequest(query)).total


def test_what_was_added_is_found(home: HomeBuilder, filled: Settings) -> None:
    append(home)
    assert hits(filled, "kingfisher") == 0
    told = refresh(filled)
    assert (told.refreshed, told.stale, told.why_not, told.sentence) == (True, False, None, None)
    assert told.age_s is not None
    assert told.age_s < 5
    assert hits(filled, "kingfisher") == 1
    assert not freshness_of(filled).stale
    assert not ingest(filled).wrote


def test_a_fresh_index_is_not_touched(filled: Settings) -> None:
    before = snapshot(filled.index_path.parent)
    told = refresh(filled)
    assert (told.refreshed, told.stale, told.sources_behind, told.sentence) == (False, False, 0, None)
    assert snapshot(filled.index_path.parent) == before


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_after_any_history_a_refresh_does_what_an_ingest_does(seed: int, tmp_path: Path) -> None:
    world = World(tmp_path / "home")
    places = with_budget(world.build.settings(tmp_path / "cache" / "index.sqlite"), 60_000)
    twin = with_budget(world.build.settings(tmp_path / "twin" / "index.sqlite"), 60_000)
    rng = Random(seed)  # noqa: S311
    world.take("add_many", rng.randrange(10**6))
    ingest(places)
    ingest(twin)
    refreshed = 0
    for name in rng.choices([*STEPS, "add", "append", "append"], k=14):
        world.take(name, rng.randrange(10**6))
        refreshed += refresh(places).refreshed
        ingest(twin)
        assert dump_of(places.index_path) == dump_of(twin.index_path), name
        assert not freshness_of(places).stale
    assert refreshed > 3
    world.take("clear_way", 0)
    ingest(places, prune=True)
    assert dump_of(places.index_path) == rebuilt_dump(places)


def test_more_than_half_gone_stays_withheld(home: HomeBuilder, filled: Settings) -> None:
    for number in range(3):
        (home.aster_home / "sessions" / "alpha" / f"s{number}.jsonl").unlink()
    told = refresh(filled)
    assert told.refreshed
    assert any("--prune" in note for note in told.notes)
    assert hits(filled, "heron") == 4
    assert not refresh(filled).refreshed


def test_too_much_is_left_and_told_before_anything_is_done(home: HomeBuilder, filled: Settings) -> None:
    for number in range(30):
        home.aster(f"new{number}", make.aster_header(f"new{number}", 1), *[make.aster_prompt("x" * 20_000, 2)] * 4)
    before = snapshot(filled.index_path.parent)
    told = refresh(filled)
    assert (told.refreshed, told.stale, told.why_not, told.sources_behind) == (False, True, NotRefreshed.TOO_MUCH, 30)
    assert told.bytes_behind is not None
    assert told.bytes_behind > 30 * 80_000
    assert told.sentence == (
        "30 changed files are not in the index yet, 2 MB to read (too much for a search to do first); run: asx ingest"
    )
    assert snapshot(filled.index_path.parent) == before
    assert refresh(with_budget(filled, 60_000)).refreshed


def test_a_grown_file_that_was_rewritten_counts_whole(home: HomeBuilder, filled: Settings) -> None:
    path = home.aster("s0", make.aster_header("s0", 0), *(make.aster_prompt("y" * 1000, 1) for _ in range(2500)))
    ingest(filled)
    data = path.read_bytes()
    with path.open("r+b") as file:  # the same inode
        file.write(data.replace(b"/w/alpha", b"/w/other", 1) + make.lines(make.aster_prompt("tail", 2)))
    told = refresh(filled)
    assert told.why_not is NotRefreshed.TOO_MUCH
    with path.open("r+b") as file:
        file.write(data)
    assert refresh(filled).refreshed


def test_switched_off_it_only_looks(home: HomeBuilder, filled: Settings) -> None:
    append(home)
    before = snapshot(filled.index_path.parent)
    told = refresh(with_budget(filled, 0))
    assert (told.refreshed, told.stale, told.why_not, told.sources_behind) == (False, True, NotRefreshed.OFF, 1)
    assert snapshot(filled.index_path.parent) == before


def test_another_projection_is_left_to_ingest(home: HomeBuilder, filled: Settings) -> None:
    append(home)
    with closing(sqlite3.connect(filled.index_path, isolation_level=None)) as connection:
        connection.execute("UPDATE meta SET value = 'other' WHERE key = 'projection'")
    told = refresh(filled)
    assert (told.refreshed, told.stale, told.why_not) == (False, True, NotRefreshed.OTHER_RULES)
    assert hits(filled, "heron") == 4


def test_a_missing_index_is_not_made(home: HomeBuilder, tmp_path: Path) -> None:
    settings = home.settings(tmp_path / "cache" / "index.sqlite")
    with pytest.raises(NoIndexError):
        refresh(settings)
    assert not settings.index_path.parent.exists()


# Nobody is waited for (B64, B70).


def assert_busy_at_once(settings: Settings) -> None:
    began = time.monotonic()
    told = refresh(settings)
    assert hits(settings, "heron") == 4
    assert time.monotonic() - began < SOON_S
    assert (told.refreshed, told.stale, told.why_not) == (False, True, NotRefreshed.BUSY)
    assert told.sentence is not None
    assert "another process is writing it" in told.sentence


def test_a_held_lock_is_not_waited_for(home: HomeBuilder, filled: Settings) -> None:
    append(home)
    with index_lock(filled):
        assert_busy_at_once(filled)
    assert refresh(filled).refreshed


def test_a_lock_file_of_a_dead_process_is_no_lock(home: HomeBuilder, filled: Settings) -> None:
    def hold() -> None:
        with index_lock(filled):
            time.sleep(60)

    append(home)
    assert processes.run_and_kill(hold, 0.3)
    assert lock_path(filled.index_path).exists()
    assert refresh(filled).refreshed


@pytest.mark.parametrize("begin", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_held_database_is_not_waited_for(begin: str, home: HomeBuilder, filled: Settings) -> None:
    append(home)
    before = dump_of(filled.index_path)
    with closing(sqlite3.connect(filled.index_path, isolation_level=None)) as other:
        other.execute(begin)
        assert_busy_at_once(filled)
        other.execute("ROLLBACK")
    assert dump_of(filled.index_path) == before
    assert refresh(filled).refreshed


def test_the_two_ways_to_lock_are_one_lock(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with locked(path, 0), pytest.raises(BusyError), locked_if_free(path):
        pass
    with locked_if_free(path), pytest.raises(BusyError), locked(path, 0):
        pass
    with locked_if_free(path), pytest.raises(BusyError), locked_if_free(path):
        pass
    with locked_if_free(path):
        assert path.stat().st_mode & 0o777 == 0o600
    with locked(path, 0):
        pass


def test_the_lock_holds_across_processes(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    for hold, probe in (("locked", "locked_if_free"), ("locked_if_free", "locked")):
        code = (
            "import sys, time; from pathlib import Path; from persist.files.lock import locked, locked_if_free\n"
            f"with {hold}(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
        )
        holder = subprocess.Popen([sys.executable, "-c", code, path], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        lock = locked_if_free(path) if probe == "locked_if_free" else locked(path, 0.1)
        with pytest.raises(BusyError), lock:
            pass
        holder.kill()
        holder.wait()
        holder.stdout.close()


# What cannot be written (B68), and what fails half way.


def give_up_powers() -> None:
    """Become somebody whom the mode bits bind."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)


def let_all_read(home: HomeBuilder, folder: Path) -> None:
    for path in [folder, *folder.iterdir(), home.home, *home.home.rglob("*"), *home.home.parents, *folder.parents]:
        if path.stat().st_uid == os.geteuid() and path != Path("/"):
            path.chmod(path.stat().st_mode | (0o055 if path.is_dir() else 0o044))


@pytest.mark.parametrize("beside", ["writable", "read-only", "missing"])
def test_a_read_only_file_in_a_folder_that_is_none_is_told_as_read_only(
    beside: str, home: HomeBuilder, filled: Settings
) -> None:
    """Where ``-shm`` cannot be written either, SQLite takes each of its own reads for another's write."""
    append(home)
    folder = filled.index_path.parent
    let_all_read(home, folder)
    folder.chmod(0o777)
    lock_path(filled.index_path).chmod(0o666)
    filled.index_path.chmod(0o444)
    for suffix in ("-wal", "-shm"):
        path = filled.index_path.with_name(filled.index_path.name + suffix)
        if beside == "missing":
            path.unlink()
        else:
            path.chmod(0o444 if beside == "read-only" else 0o666)

    def act() -> None:
        give_up_powers()
        for _ in range(2):  # the first may make -wal and -shm, with the file's own mode
            told = refresh(filled)
            assert (told.refreshed, told.stale, told.why_not) == (False, True, NotRefreshed.READ_ONLY), told
            assert told.sentence is not None
            assert "it cannot be written here" in told.sentence
        assert hits(filled, "heron") == 4

    assert processes.start(act).wait() == (0, "")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can write what somebody else may only read")
def test_a_write_after_the_look_is_seen_where_shm_may_not_be_written(home: HomeBuilder, filled: Settings) -> None:
    path = filled.index_path
    let_all_read(home, path.parent)
    path.parent.chmod(0o777)
    ready, written = path.with_name("ready"), path.with_name("written")

    def act() -> None:
        give_up_powers()
        with closing(open_reader(path)) as reader:
            before = _state(reader, path)
            assert [_state(reader, path) for _ in range(3)] == [before] * 3
            ready.touch()
            wait_for(written)
            assert _state(reader, path) != before

    child = processes.start(act)
    wait_for(ready)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("UPDATE meta SET value = 'other' WHERE key = 'projection'")
        written.touch()
        assert child.wait() == (0, "")


def wait_for(path: Path) -> None:
    until = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_what_may_not_be_written_is_searched_as_it_is(home: HomeBuilder, filled: Settings) -> None:
    append(home)
    folder = filled.index_path.parent
    told: list[Freshness] = []

    def act() -> None:
        give_up_powers()
        told.append(refresh(filled))
        assert told[0].why_not is NotRefreshed.READ_ONLY, told
        assert told[0].stale
        assert hits(filled, "heron") == 4

    if os.geteuid() == 0:
        let_all_read(home, folder)
    else:
        folder.chmod(0o500)
        lock_path(filled.index_path).chmod(0o400)
    before = snapshot(folder)
    assert processes.start(act).wait() == (0, "")
    assert snapshot(folder) == before


def test_a_full_disk_leaves_the_index_as_it_was(home: HomeBuilder, filled: Settings) -> None:
    home.aster("much", make.aster_header("much", 1), *(make.aster_prompt(f"{n} " * 3000, 2) for n in range(40)))
    before = dump_of(filled.index_path)

    def act() -> None:
        told = refresh(with_budget(filled, 60_000))
        assert told.why_not is NotRefreshed.FAILED, told
        assert told.stale
        assert told.sentence is not None
        assert "failed" in told.sentence
        assert hits(filled, "heron") == 4

    assert processes.run_on_small_disk(act, filled.index_path.stat().st_size + 20_000) == (0, "")
    assert dump_of(filled.index_path) == before
    assert refresh(with_budget(filled, 60_000)).refreshed


def test_nothing_heavy_is_imported_by_a_refresh_that_writes(home: HomeBuilder, filled: Settings) -> None:
    append(home)
    probe = """
import sys
from pathlib import Path
from index.refresh import refresh
from index.search import SearchRequest, search
from index.settings import load_settings
from persist.places import current_environment
settings = load_settings(current_environment(), Path.cwd(), sys.argv[1])
print(refresh(settings).refreshed, search(settings, SearchRequest("kingfisher")).total)
heavy = ("sqlalchemy", "alembic", "pydantic", "ulid", "rich", "asyncio", "filelock")
print([name for name in heavy if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", probe, filled.index_path],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "True 1\n[]\n"


def test_while_another_process_rebuilds_the_answer_comes_at_once(home: HomeBuilder, tmp_path: Path) -> None:
    for number in range(60):
        talk = (make.aster_prompt(f"heron {place} " + "reed " * 400, place) for place in range(40))
        home.aster(f"s{number}", make.aster_header(f"s{number}", number), *talk)
    settings = home.settings(tmp_path / "cache" / "index.sqlite")
    ingest(settings)
    append(home)
    child = processes.start(lambda: rebuild(settings))
    waited: list[float] = []
    reasons: set[NotRefreshed | None] = set()
    while not os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        began = time.monotonic()
        reasons.add(refresh(settings).why_not)
        waited.append(time.monotonic() - began)
        with closing(open_reader(settings.index_path)) as reader:
            assert reader.execute("SELECT count(*) FROM sessions").fetchone() == (60,)
    assert child.wait() == (0, "")
    assert NotRefreshed.BUSY in reasons
    assert max(waited) < SOON_S
    assert not refresh(settings).stale
    assert dump_of(settings.index_path) == rebuilt_dump(settings)


def test_many_searches_and_ingests_at_once_end_where_a_rebuild_does(home: HomeBuilder, filled: Settings) -> None:
    def refreshes() -> None:
        for _ in range(15):
            refresh(filled)
            assert hits(filled, "heron") == 4

    def ingests() -> None:
        for _ in range(5):
            ingest(filled)

    children = [processes.start(act) for act in (refreshes, refreshes, refreshes, ingests, ingests)]
    for number in range(20):
        append(home, f"kingfisher {number}")
        time.sleep(0.02)
    assert [child.wait() for child in children] == [(0, "")] * 5
    refresh(filled)
    assert hits(filled, "kingfisher") == 20
    assert dump_of(filled.index_path) == rebuilt_dump(filled)
