"""Puts a freshly built index in the place of whatever lies at the index's path.

Never overwrites a directory or another program's database: the caller refused those. Two ways (DESIGN 8): over a live,
readable index the backup API copies in one step; where there is none, or ours is damaged, the file is renamed in after
the old ``-wal`` and ``-shm`` are gone, because they would be read as the new file's.
"""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import Final

from index.errors import IndexBusyError
from index.opening import SIDE_FILES, Finding, open_writer, read_header, read_only_uri, refuse_others
from index.sqlite_errors import BUSY_CODES, primary_code
from persist.files.folders import flush_folder

_BEYOND_BACKUP: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_READONLY)
"""What the backup answers for a damaged target; "read-only" where the damage makes the page sizes differ."""


class _DeadlineError(Exception):
    """The backup waited too long for a lock; Python's own loop would wait for ever."""


def put_in_place(new: Path, live: Path, timeout_s: float) -> str | None:
    """Make ``live`` hold what ``new`` holds; return one sentence when something was kept aside.

    Raises ``IndexBusyError`` when another connection holds the live index for ``timeout_s`` seconds, ``sqlite3.Error``
    and ``OSError`` when the disk does not take it; the live index is then the old one, whole. ``new`` may or may not
    remain.
    """
    refuse_others(live, keeps_aside=True)  # it may have been put there while the new one was built
    finding = read_header(live).finding
    note: str | None = None
    if finding is Finding.OURS:
        try:
            _copy_over(new, live, timeout_s)
            return None
        except sqlite3.DatabaseError as error:
            if primary_code(error) not in _BEYOND_BACKUP:
                raise  # the live index is sound: renaming over it would pull -wal and -shm from under its readers
            # else ours, but damaged beyond what the backup can mend: its readers fail already
    elif finding is Finding.NOT_A_DATABASE:
        aside = live.with_name(f"{live.name}.aside-{time.time_ns():x}")
        live.rename(aside)
        note = f"what lay at {live} was no database and is kept as {aside.name}"
    _rename_in(new, live)
    return note


def _copy_over(new: Path, live: Path, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s

    def watch(status: int, _remaining: int, _total: int) -> None:
        if status in BUSY_CODES and time.monotonic() > deadline:
            raise _DeadlineError

    source = sqlite3.connect(read_only_uri(new), uri=True, isolation_level=None)
    target = sqlite3.connect(live, isolation_level=None, timeout=timeout_s)
    keeper: sqlite3.Connection | None = None
    try:
        source.backup(target, progress=watch)
        target.execute("PRAGMA journal_mode = wal")
        keeper = _keep_open(live)
        target.execute("PRAGMA wal_checkpoint(truncate)")
    except _DeadlineError:
        raise IndexBusyError(live, timeout_s) from None
    finally:
        source.close()
        target.close()
        if keeper is not None:
            keeper.close()


def _rename_in(new: Path, live: Path) -> None:
    _turn_to_wal(new)
    for suffix in SIDE_FILES:
        live.with_name(live.name + suffix).unlink(missing_ok=True)
    with new.open("rb") as file:
        os.fsync(file.fileno())
    new.replace(live)
    flush_folder(live.parent)
    connection = open_writer(live)
    keeper = _keep_open(live)
    try:
        connection.execute("PRAGMA wal_checkpoint(truncate)")
    finally:
        connection.close()
        keeper.close()


def _turn_to_wal(new: Path) -> None:
    """Change the mode before the file takes its place: the change goes through a rollback journal, and one that a
    killed run leaves beside the live index would shut readers out, who may not roll it back."""
    connection = sqlite3.connect(new, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = wal")
    finally:
        connection.close()


def _keep_open(live: Path) -> sqlite3.Connection:
    """Open for reading and touch the file, so that the writer's close leaves ``-wal`` and ``-shm`` for readers."""
    connection = sqlite3.connect(read_only_uri(live), uri=True, isolation_level=None)
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return connection
