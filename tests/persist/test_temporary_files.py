"""What a killed writer leaves behind is swept by the next one, and what a living one makes never is."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from persist.files import LOCK_NAME, locked, write_atomic
from persist.files.temporary import TEMPORARY_PREFIX, sweep, temporary_file
from tests.index.processes import run_and_kill, start

OURS = [f"{TEMPORARY_PREFIX}{name}" for name in ("0123abcd", "relocate-01", "relocate-01-old", "import-ff", "log-9")]
OTHERS = ["note.md", f"{TEMPORARY_PREFIX}notes.txt", f"{TEMPORARY_PREFIX}", ".tmp", f"x{TEMPORARY_PREFIX}01"]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def make_forever(folder: Path) -> None:
    with temporary_file(folder):
        time.sleep(60)


def test_leftovers_go_and_what_is_not_ours_stays(tmp_path: Path) -> None:
    for name in (*OURS, *OTHERS):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / f"{TEMPORARY_PREFIX}aa").mkdir()
    (tmp_path / f"{TEMPORARY_PREFIX}bb").symlink_to(tmp_path / "note.md")
    os.mkfifo(tmp_path / f"{TEMPORARY_PREFIX}cc")
    sweep(tmp_path)
    assert names(tmp_path) == {*OTHERS, *(f"{TEMPORARY_PREFIX}{each}" for each in ("aa", "bb", "cc"))}
    sweep(tmp_path / "none")


def test_a_file_in_the_making_stays_until_its_maker_is_gone(tmp_path: Path) -> None:
    maker = start(lambda: make_forever(tmp_path))
    while not names(tmp_path):
        time.sleep(0.001)
    sweep(tmp_path)
    assert len(names(tmp_path)) == 1
    os.kill(maker.pid, 9)
    maker.wait()
    sweep(tmp_path)
    assert names(tmp_path) == set()


def test_one_of_this_very_process_stays(tmp_path: Path) -> None:
    with temporary_file(tmp_path) as (descriptor, path):
        os.write(descriptor, b"x")
        sweep(tmp_path)
        path.rename(tmp_path / "named")
    assert (tmp_path / "named").read_bytes() == b"x"
    assert names(tmp_path) == {"named"}


def test_a_killed_writers_file_goes_with_the_next_lock_of_its_folder(tmp_path: Path) -> None:
    assert run_and_kill(lambda: make_forever(tmp_path), 0.2)
    assert len(names(tmp_path)) == 1
    with locked(tmp_path / LOCK_NAME):
        assert names(tmp_path) == {LOCK_NAME}
    assert run_and_kill(lambda: make_forever(tmp_path), 0.2)
    with locked(tmp_path / LOCK_NAME):
        assert names(tmp_path) == {LOCK_NAME}


def test_a_folder_where_nothing_came_or_went_is_not_listed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_ago_ns = 1_700_000_000_000_000_000
    os.utime(tmp_path, ns=(long_ago_ns, long_ago_ns))
    sweep(tmp_path)
    monkeypatch.setattr("os.scandir", lambda _path: pytest.fail("it was listed"))
    sweep(tmp_path)
    monkeypatch.undo()
    (tmp_path / OURS[0]).write_bytes(b"")
    sweep(tmp_path)
    assert names(tmp_path) == set()


def test_writers_and_sweepers_at_once_lose_no_file(tmp_path: Path) -> None:
    """Without any lock of the folder: a sweep may come between making a file and holding it."""

    def sweeps() -> None:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not (tmp_path / "done").exists():
            sweep(tmp_path)

    sweepers = [start(sweeps) for _ in range(2)]

    def write(worker: int) -> None:
        for number in range(300):
            write_atomic(tmp_path / f"{worker}-{number}", b"x" * 100, durable=False)

    writers = [start(lambda worker=worker: write(worker)) for worker in range(2)]  # type: ignore[misc]
    assert [writer.wait() for writer in writers] == [(0, "")] * 2
    (tmp_path / "done").write_bytes(b"")
    assert [sweeper.wait() for sweeper in sweepers] == [(0, "")] * 2
    assert names(tmp_path) == {"done", *(f"{worker}-{number}" for worker in range(2) for number in range(300))}
