"""A lock for which one waits a moment and no longer, without what a waiting command imports."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from persist.errors import BusyError
from persist.files import LOCK_NAME, locked
from persist.files.lock import locked_soon
from persist.memory.journal_writer import append_recalls
from tests.conftest import REPOSITORY
from tests.faults.memory_world import journal_lines


def test_it_is_the_lock_of_every_writer(tmp_path: Path) -> None:
    path = tmp_path / LOCK_NAME
    with locked(path, 0), pytest.raises(BusyError), locked_soon(path, 0.02):
        raise AssertionError
    with locked_soon(path, 0), pytest.raises(BusyError), locked(path, 0):
        raise AssertionError
    with locked_soon(path, 0):
        pass


def test_it_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / LOCK_NAME
    taken, done = threading.Event(), threading.Event()

    def hold() -> None:
        with locked(path):
            taken.set()
            done.wait(0.2)

    holder = threading.Thread(target=hold)
    holder.start()
    taken.wait(10)
    before = time.monotonic()
    with locked_soon(path, 20):
        assert time.monotonic() - before > 0.1
    holder.join()


def test_the_blocks_of_one_answer_are_noted_together(tmp_path: Path) -> None:
    assert append_recalls(tmp_path, ["a", "b"], session="s1", ts="2026-01-01T00:00:00.000Z") is None
    assert append_recalls(tmp_path, ["c"], session=None, ts="2026-01-01T00:00:00.000Z") is None
    assert [(line["op"], line["name"], line.get("source_session")) for line in journal_lines(tmp_path)] == [
        ("recall", "a", "s1"),
        ("recall", "b", "s1"),
        ("recall", "c", None),
    ]


def test_a_folder_that_is_not_there_is_a_reason_and_not_made(tmp_path: Path) -> None:
    told = append_recalls(tmp_path / "none", ["a"], session=None, ts="2026-01-01T00:00:00.000Z")
    assert told is not None
    assert not (tmp_path / "none").exists()


def test_it_imports_no_filelock(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from persist.memory.journal_writer import append_recalls;"
        f"assert append_recalls(Path({str(tmp_path)!r}), ['a'], session=None, ts='x') is None;"
        "assert 'filelock' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=True, timeout=60)
