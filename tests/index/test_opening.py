"""What may lie at the index's path, what readers say of it, and that reading leaves no trace."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from index.errors import AsterIndexError, IndexBusyError, IndexNewerError, IndexUnusableError, NoIndexError
from index.freshness import freshness_of
from index.ingest import ingest
from index.lock import index_lock
from index.opening import Finding, open_reader, read_header
from index.rebuild import rebuild
from index.search import SearchRequest, newest_prompts, search
from index.sessions import list_sessions, show_session
from index.settings import Settings
from index.show import show_event
from index.sqlite_errors import translate_read_errors
from index.status import status
from index.verify import verify
from migrations import GENERATION, PAGE_SIZE_BYTES
from tests import builders as make
from tests.builders import HomeBuilder
from tests.conftest import REPOSITORY
from tests.index import processes
from tests.index.filled import snapshot

pytestmark = pytest.mark.usefixtures("quick_schema")

Put: TypeAlias = Callable[[Path], None]

READERS: dict[str, Callable[[Settings], Any]] = {
    "search": lambda settings: search(settings, SearchRequest("heron", ("prompts", "answers", "memory", "titles"))),
    "search short": lambda settings: search(settings, SearchRequest("he", ("prompts", "answers"))),
    "nothing found": lambda settings: search(settings, SearchRequest("found nowhere")),
    "newest prompts": lambda settings: newest_prompts(settings, "heron", 20),
    "list": lambda settings: list_sessions(settings),
    "show session": lambda settings: [*show_session(settings, "s0")[1]],
    "show event": lambda settings: show_event(settings, "s0", 0),
    "freshness": lambda settings: freshness_of(settings),
}
DAMAGED = "is damaged; run: asx rebuild"
ANSWERED_BY_FILES = {"list", "show session"}


@pytest.fixture
def filled(home: HomeBuilder) -> Settings:
    for number in range(4):
        prompts = [make.aster_prompt(f"heron {number} {place} " + "reed " * 40, place) for place in range(30)]
        answers = [make.aster_answer(f"the heron {number} {place} stands", 40 + place) for place in range(30)]
        home.aster(f"s{number}", make.aster_header(f"s{number}", 0), *prompts, *answers, make.aster_title("herons", 90))
    home.claude_history(make.claude_history_entry("a heron of a history", None, 3))
    home.block("heron-note", "it waits")
    settings = home.settings(home.home / "cache" / "index.sqlite")
    ingest(settings)
    with closing(open_reader(settings.index_path)) as reader:  # the first reader writes -shm anew
        reader.execute("SELECT count(*) FROM meta").fetchone()
    return settings


def alone(path: Path, data: bytes) -> None:
    """Put a file in the index's place, without what lay beside it."""
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.write_bytes(data)


def put_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def put_foreign(path: Path) -> None:
    alone(path, b"")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1);")


def put_loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def put_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def pragma(sql: str) -> Put:
    def put(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(sql)
            connection.commit()

    return put


NO_INDEX: dict[str, Put] = {
    "missing": lambda path: path.unlink(),
    "missing with its folder": lambda path: shutil.rmtree(path.parent),
    "empty": lambda path: alone(path, b""),
}
UNUSABLE: dict[str, tuple[Put, str]] = {
    "text": (lambda path: alone(path, b"just a text\n" * 20), "is not a database; run: asx rebuild"),
    "100 bytes": (lambda path: alone(path, bytes(range(100))), "is not a database; run: asx rebuild"),
    "a beginning": (lambda path: alone(path, path.read_bytes()[:50]), "is not a database; run: asx rebuild"),
    "pipe": (put_pipe, "is a device, a pipe or a socket; give another --index"),
    "directory": (put_directory, "is a directory; give another --index"),
    "foreign": (put_foreign, "is another program's database; give another --index"),
    "loop": (put_loop, "cannot be read"),
    "one page": (lambda path: alone(path, path.read_bytes()[:PAGE_SIZE_BYTES]), "is damaged"),
    "half a page": (lambda path: alone(path, path.read_bytes()[: PAGE_SIZE_BYTES // 2]), "is damaged"),
    "older": (pragma(f"PRAGMA user_version = {GENERATION - 1}"), "was made by an older version; run: asx rebuild"),
    "other Unicode": (
        pragma("UPDATE meta SET value = '9.0.0' WHERE key = 'unicode_version'"),
        "was made with another Unicode version; run: asx rebuild",
    ),
    "no Unicode": (
        pragma("DELETE FROM meta WHERE key = 'unicode_version'"),
        "was made with another Unicode version; run: asx rebuild",
    ),
}
KEPT = {"directory", "foreign", "loop", "pipe"}
"""What a rebuild refuses to overwrite."""
REMADE_BY_INGEST = {"one page", "half a page", "older", "other Unicode", "no Unicode"}


def read_only(settings: Settings) -> dict[str, Any]:
    return {name: reader(settings) for name, reader in READERS.items()}


@pytest.mark.parametrize("state", NO_INDEX)
@pytest.mark.parametrize("reader", READERS)
def test_without_an_index_readers_say_so_or_the_files_answer(filled: Settings, state: str, reader: str) -> None:
    NO_INDEX[state](filled.index_path)
    if reader in ANSWERED_BY_FILES:
        READERS[reader](filled)
    else:
        with pytest.raises(NoIndexError, match="run: asx ingest"):
            READERS[reader](filled)
    told = status(filled)
    assert (told.exists, told.usable, told.stale, told.size_bytes) == (False, False, True, 0)
    assert filled.index_path.exists() == (state == "empty")


@pytest.mark.parametrize("state", NO_INDEX)
def test_an_ingest_makes_what_is_missing(filled: Settings, state: str) -> None:
    before = read_only(filled)
    NO_INDEX[state](filled.index_path)
    ingest(filled)
    assert without_age(read_only(filled)) == without_age(before)


@pytest.mark.parametrize("state", UNUSABLE)
def test_what_cannot_serve_is_told_in_one_line_with_the_cure(filled: Settings, state: str) -> None:
    put, sentence = UNUSABLE[state]
    put(filled.index_path)
    for name, reader in READERS.items():
        with pytest.raises(IndexUnusableError) as told:
            reader(filled)
        assert sentence in str(told.value), name
        assert str(told.value).startswith(f"{filled.index_path} ")
        assert "\n" not in str(told.value)
    found = status(filled)
    assert (found.exists, found.usable, found.stale) == (True, False, True)
    assert sentence in (found.why or "")


@pytest.mark.parametrize("state", UNUSABLE)
def test_a_rebuild_mends_all_but_what_is_not_ours(filled: Settings, state: str) -> None:
    before = read_only(filled)
    put, _ = UNUSABLE[state]
    put(filled.index_path)
    if state in KEPT:
        there = snapshot(filled.index_path.parent)
        with pytest.raises(IndexUnusableError):
            rebuild(filled)
        assert {name: data for name, data in snapshot(filled.index_path.parent).items() if ".lock" not in name} == {
            name: data for name, data in there.items() if ".lock" not in name
        }
        return
    rebuild(filled)
    assert without_age(read_only(filled)) == without_age(before)
    assert (status(filled).usable, status(filled).stale) == (True, False)


@pytest.mark.parametrize("state", sorted(REMADE_BY_INGEST))
def test_an_ingest_makes_an_outdated_index_anew_after_one_sentence(filled: Settings, state: str) -> None:
    put, _ = UNUSABLE[state]
    put(filled.index_path)
    report = ingest(filled)
    assert "made anew" in report.notes[0]
    assert status(filled).usable
    assert "made anew" not in " ".join(ingest(filled).notes)


def test_a_newer_index_is_refused_and_left_alone(filled: Settings) -> None:
    pragma(f"PRAGMA user_version = {GENERATION + 7}")(filled.index_path)
    before = filled.index_path.read_bytes()
    for act in (*READERS.values(), ingest):
        with pytest.raises(IndexNewerError, match=f"generation {GENERATION + 7}, this program knows {GENERATION}"):
            act(filled)
    found = status(filled)
    assert (found.exists, found.usable) == (True, False)
    assert "update aster-index" in (found.why or "")
    assert filled.index_path.read_bytes() == before


def test_an_index_of_other_rules_answers_and_says_so_until_it_is_made_anew(filled: Settings) -> None:
    before = read_only(filled)
    pragma("UPDATE meta SET value = 'other rules' WHERE key = 'projection'")(filled.index_path)
    after = read_only(filled)
    assert (before.pop("freshness").stale, after.pop("freshness").stale) == (False, True)
    assert after == before
    found = status(filled)
    assert (found.usable, found.stale, found.why) == (
        True, True, "made by other rules; the next ingest makes it anew",
    )  # fmt: skip
    assert "made by other rules" in ingest(filled).notes[0]
    assert (status(filled).stale, status(filled).why) == (False, None)
    assert not ingest(filled).wrote


def test_an_index_of_other_rules_is_not_verified_for_it_may_have_other_tables(filled: Settings) -> None:
    with closing(sqlite3.connect(filled.index_path)) as connection, connection:
        connection.execute("UPDATE meta SET value = 'other rules' WHERE key = 'projection'")
        connection.execute("ALTER TABLE candidate_rows DROP COLUMN latest_at")
    with pytest.raises(IndexUnusableError, match=r"other rules.*run: asx ingest"):
        verify(filled)
    ingest(filled)
    assert verify(filled).ok


def test_any_zeroed_page_is_an_answer_or_one_line_with_the_cure(filled: Settings) -> None:
    good = filled.index_path.read_bytes()
    right = without_age(read_only(filled))
    damaged: set[str] = set()
    pages = len(good) // PAGE_SIZE_BYTES
    assert pages > 40
    for page in range(1, pages):
        at = page * PAGE_SIZE_BYTES
        alone(filled.index_path, good[:at] + bytes(PAGE_SIZE_BYTES) + good[at + PAGE_SIZE_BYTES :])
        for name in READERS:
            told = answer_of(name, filled)
            assert told in (right[name], DAMAGED), (page, name)
            damaged.update([name] if told == DAMAGED else [])
        status(filled)
    assert damaged == set(READERS)


def test_a_cut_index_is_an_answer_or_one_line_with_the_cure(filled: Settings) -> None:
    good = filled.index_path.read_bytes()
    right = without_age(read_only(filled))
    for eighth in range(1, 8):
        alone(filled.index_path, good[: len(good) * eighth // 8])
        for name in READERS:
            assert answer_of(name, filled) in (right[name], DAMAGED)
        status(filled)
    rebuild(filled)
    assert without_age(read_only(filled)) == right


def answer_of(name: str, settings: Settings) -> object:
    """Return what a reader answers, or that it says that the index is damaged and how to mend it."""
    try:
        return without_age({name: READERS[name](settings)})[name]
    except IndexUnusableError as error:
        return DAMAGED if "is damaged" in str(error) and error.cure == "run: asx rebuild" else error


def without_age(told: dict[str, Any]) -> dict[str, Any]:
    """Leave out when a run last looked at the disk."""
    return {name: value.stale if name == "freshness" else value for name, value in told.items()}


# Reading leaves no trace.


def test_reading_adds_no_file_and_changes_no_byte(filled: Settings, isolated: Path) -> None:
    before = snapshot(isolated)
    assert {"index.sqlite", "index.sqlite-wal", "index.sqlite-shm"} <= {
        Path(name).name for name in before if name.startswith("cache/")
    }
    for _ in range(2):
        read_only(filled)
        status(filled)
    assert snapshot(isolated) == before


def test_reading_without_an_index_makes_none(home: HomeBuilder, isolated: Path) -> None:
    home.aster("s0", make.aster_header("s0", 0), make.aster_prompt("heron", 1))
    before = snapshot(isolated)
    settings = home.settings()
    for reader in READERS.values():
        try:
            reader(settings)
        except AsterIndexError:
            continue
    status(settings)
    assert snapshot(isolated) == before
    assert not settings.index_path.parent.exists()


def test_a_reader_waits_for_no_writers_lock(filled: Settings) -> None:
    before = without_age(read_only(filled))
    with index_lock(filled), closing(sqlite3.connect(filled.index_path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM prose")
        started = time.monotonic()
        assert without_age(read_only(filled)) == before
        assert time.monotonic() - started < 3
        writer.execute("ROLLBACK")


def test_a_path_may_hold_any_character(home: HomeBuilder) -> None:
    home.aster("s0", make.aster_header("s0", 0), make.aster_prompt("heron", 1))
    for name in ("a?b", "a#b", "a%41b", "a b&c=d", "ä\u202e", "x:y"):
        settings = home.settings(home.home / name / f"{name}.sqlite")
        ingest(settings)
        assert search(settings, SearchRequest("heron")).total == 1
        assert {file.name.removeprefix(f"{name}.sqlite") for file in settings.index_path.parent.iterdir()} == {
            "", "-wal", "-shm", ".lock",
        }  # fmt: skip


READ_ALL = """
import sys
from pathlib import Path
from index.search import SearchRequest, search, newest_prompts
from index.sessions import list_sessions
from index.show import show_event
from index.status import status
from tests.builders import HomeBuilder

home = HomeBuilder(Path(sys.argv[1]))
settings = home.settings(Path(sys.argv[1]) / "cache" / "index.sqlite")
try:
    (settings.index_path.parent / "probe").touch()
except OSError:
    pass
else:
    sys.exit("the folder can be written to")
print(search(settings, SearchRequest("heron")).total, newest_prompts(settings, "heron", 5)[2],
      list_sessions(settings)[0], show_event(settings, "s0", 0).text[:9], status(settings).usable)
"""


def in_a_read_only_folder(home: Path) -> subprocess.CompletedProcess[str]:
    """Run the readers where the index's folder cannot be written to: by its mode, or for root by a read-only mount."""
    cache = home / "cache"
    command = [sys.executable, "-c", READ_ALL, str(home)]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    if os.geteuid() == 0:
        mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
        command = ["unshare", "-m", "sh", "-c", mount, str(cache), *command]
        try:
            subprocess.run([*command[:5], str(cache), "true"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("root may write everywhere, and a read-only mount cannot be made here")
    else:
        cache.chmod(0o500)
    try:
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=60)
    finally:
        cache.chmod(0o700)


@pytest.mark.parametrize("beside", [True, False], ids=["with -wal and -shm", "alone"])
def test_an_index_on_read_only_storage_answers(filled: Settings, isolated: Path, beside: bool) -> None:
    if not beside:
        with closing(sqlite3.connect(filled.index_path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(truncate)")
        for suffix in ("-wal", "-shm"):
            filled.index_path.with_name(filled.index_path.name + suffix).unlink(missing_ok=True)
    before = snapshot(isolated)
    done = in_a_read_only_folder(isolated)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["121", "True", "4", "heron", "0", "0", "True"]
    assert snapshot(isolated) == before


# A disk that gives or takes no bytes is no damage, and nobody's lock is waited for by a search.


def beside(path: Path) -> list[Path]:
    return [path.with_name(path.name + suffix) for suffix in ("-wal", "-shm")]


@pytest.mark.parametrize("state", ["alone", "remains beside", "as left"])
def test_an_index_on_a_full_disk_answers(filled: Settings, state: str) -> None:
    before = without_age(read_only(filled))
    if state != "as left":
        alone(filled.index_path, filled.index_path.read_bytes())
    if state == "remains beside":  # as an attempt on a full disk leaves them
        log, shared = beside(filled.index_path)
        log.touch()
        shared.write_bytes(bytes(3))
    data = filled.index_path.read_bytes()

    def act() -> None:
        assert without_age(read_only(filled)) == before
        assert status(filled).usable

    assert processes.run_on_small_disk(act, 0) == (0, "")
    assert filled.index_path.read_bytes() == data
    assert without_age(read_only(filled)) == before


def test_where_the_log_is_needed_a_full_disk_is_named_and_no_rebuild(filled: Settings) -> None:
    """The file without its log is an older state: answering from it alone would be a lie."""
    path = filled.index_path
    log = beside(path)[0]
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("UPDATE meta SET value = 'other' WHERE key = 'projection'")
        kept = path.read_bytes(), log.read_bytes()
    alone(path, kept[0])
    log.write_bytes(kept[1])
    assert log.stat().st_size > 0

    def act() -> None:
        for name, reader in READERS.items():
            with pytest.raises(IndexUnusableError) as told:
                reader(filled)
            assert str(told.value) == f"{path} cannot be read (disk I/O error); check the disk", name
        assert "check the disk" in (status(filled).why or "")

    assert processes.run_on_small_disk(act, 0) == (0, "")
    assert search(filled, SearchRequest("heron")).total > 0
    assert freshness_of(filled).stale


def test_a_log_that_is_cut_while_it_is_read_is_no_damage(filled: Settings) -> None:
    path = filled.index_path
    log = beside(path)[0]
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("UPDATE meta SET value = hex(zeroblob(50000)) WHERE key = 'projection'")
        with closing(open_reader(path)) as reader:
            os.truncate(log, 100)
            reader.execute("PRAGMA cache_size = 0")
            with pytest.raises(IndexUnusableError) as told, translate_read_errors(path):
                reader.execute("SELECT sum(length(value)) FROM meta").fetchone()
    assert isinstance(told.value.__cause__, sqlite3.OperationalError)
    assert told.value.__cause__.sqlite_errorname == "SQLITE_IOERR_SHORT_READ"
    assert (told.value.reason, told.value.cure) == ("cannot be read (disk I/O error)", "check the disk")


def test_too_many_open_files_is_no_damage(filled: Settings) -> None:
    def act() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (len([*Path("/dev/fd").iterdir()]) + 8, 4096))
        held = [os.dup(0)]
        with contextlib.suppress(OSError):
            while True:
                held.append(os.dup(0))
        for spare in range(1, 4):
            os.close(held.pop())
            try:
                open_reader(filled.index_path).close()
            except IndexUnusableError as error:
                assert error.cure != "run: asx rebuild", (spare, error)  # noqa: PT017 - the number met is not known

    assert processes.start(act).wait() == (0, "")


@pytest.mark.parametrize("name", ["search", "search short", "nothing found", "newest prompts"])
def test_a_search_waits_for_no_lock(filled: Settings, name: str) -> None:
    with closing(sqlite3.connect(filled.index_path, isolation_level=None)) as holder:
        holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        began = time.monotonic()
        with pytest.raises(IndexBusyError) as told:
            READERS[name](filled)
        assert time.monotonic() - began < 1
        assert "waited" not in str(told.value)
        with pytest.raises(IndexBusyError, match=r"\(waited 1.2 s\)"):
            open_reader(filled.index_path, 1200)
        assert time.monotonic() - began > 1


@pytest.mark.parametrize("name", ["directory", "foreign", "text", "empty", "missing"])
def test_what_lies_there_is_told_by_its_first_bytes(tmp_path: Path, name: str) -> None:
    path = tmp_path / "index.sqlite"
    path.write_bytes(b"")
    {**NO_INDEX, **{key: put for key, (put, _) in UNUSABLE.items()}}[name](path)
    finding = {"directory": Finding.DIRECTORY, "foreign": Finding.FOREIGN, "text": Finding.NOT_A_DATABASE,
               "empty": Finding.EMPTY, "missing": Finding.MISSING}[name]  # fmt: skip
    assert read_header(path).finding is finding


def test_ours_is_told_with_its_generation_and_page_size(filled: Settings) -> None:
    header = read_header(filled.index_path)
    assert (header.finding, header.generation, header.page_size_bytes) == (Finding.OURS, GENERATION, PAGE_SIZE_BYTES)
