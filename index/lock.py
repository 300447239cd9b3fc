"""One run at a time writes an index: its cross-process lock, and when a run last looked at the disk.

The lock file lies beside the index, empty; its time is that of the last look. Plain standard library; ``filelock`` is
imported by ``persist.files.lock`` when the lock is taken.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from index.errors import IndexBusyError
from index.settings import Settings
from persist.errors import BusyError
from persist.files.lock import locked

NEW_MARK: Final = ".new-"
"""Stands in the name of an index that is being built beside the live one."""


@contextmanager
def index_lock(settings: Settings) -> Iterator[None]:
    """Hold the index's cross-process lock; its file's time tells when a run last looked at the disk.

    Whoever takes it removes what a rebuild that died left behind.
    Raises ``IndexBusyError`` after ``settings.lock_timeout_s`` seconds.
    """
    path = lock_path(settings.index_path)
    try:
        with locked(path, settings.lock_timeout_s):
            remove_leftovers(settings.index_path)
            yield
            os.utime(path)
    except BusyError as error:
        raise IndexBusyError(settings.index_path, error.timeout_s) from error


def lock_path(index_path: Path) -> Path:
    """Return the lock file beside an index."""
    return index_path.with_name(index_path.name + ".lock")


def remove_leftovers(path: Path) -> None:
    """Remove what rebuilds that died left beside the index; the caller holds the lock."""
    for entry in path.parent.iterdir():
        if entry.name.startswith(path.name + NEW_MARK) and not entry.is_dir():
            entry.unlink(missing_ok=True)
