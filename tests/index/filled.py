"""Small indexes for the tests of queries: an empty one, and one made by a real ingest of the samples."""

from __future__ import annotations

import os
import shutil
import sqlite3
import unicodedata
from pathlib import Path

from index.creating import create_index
from index.ingest import ingest
from index.opening import open_reader
from index.settings import load_settings
from persist.sources import Environment


def never() -> None:
    """What a statement that stays in its time never calls."""
    raise AssertionError("the watchdog fired")


def empty_index(path: Path) -> Path:
    """Make an index without rows, with its side files beside it as a writer leaves them."""
    create_index(path)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("INSERT INTO meta VALUES ('unicode_version', ?)", (unicodedata.unidata_version,))
    reader = open_reader(path)
    reader.execute("SELECT count(*) FROM meta").fetchall()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    reader.close()
    return _settled(path)


def sample_index(folder: Path, data: Path) -> Path:
    """Ingest the samples of Aether and Aster below ``folder``; all file times are the same."""
    home = folder / "home"
    shutil.copytree(data / "aether", home / ".aether" / "sessions")
    shutil.copytree(data / "aster", home / ".local" / "share" / "aster")
    for file in home.rglob("*"):
        os.utime(file, (1_790_000_000, 1_790_000_000))
    index = folder / "index" / "index.sqlite"
    ingest(load_settings(Environment({}, home), home, str(index)))
    return _settled(index)


def _settled(index: Path) -> Path:
    """Read once: the first reader after a writer writes the ``-shm`` anew, the later ones write the same again."""
    reader = open_reader(index)
    reader.execute("SELECT count(*) FROM meta").fetchall()
    reader.close()
    return index


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return every file below ``folder`` with its bytes and modification time.

    The first reader of a WAL database writes the ``-shm`` anew with what it held before: its time tells nothing.
    """
    return {
        str(file.relative_to(folder)): (
            file.read_bytes(),
            0 if file.name.endswith("-shm") else file.stat().st_mtime_ns,
        )
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }
