"""One run at a time writes an index: its cross-process lock, and when a run last looked at the disk.

The lock file lies beside the index, empty; its time is that of the last look. Plain standard library; ``filelock`` is
imported by ``persist.files.lock`` when a lock is waited for.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Final

from index.errors import IndexBusyError
from index.opening import refuse_others
from index.settings import Settings
from persist.errors import BusyError
from persist.files.lock import locked, locked_if_free

NEW_MARK: Final = ".new-"
"""Stands in the name of an index that is being built beside the live one."""
_NEW_NAME: Final = re.compile(r"\d+-[0-9a-f]+(?:-journal|-wal|-shm)?")
"""What follows it: see ``new_path``. Another program's file of nearly that name is left alone."""


@contextmanager
def index_lock(settings: Settings, *, keeps_aside: bool = False) -> Iterator[None]:
    """Hold the index's cross-process lock; its file's time tells when a run last looked at the disk.

    Whoever takes it removes what a rebuild that died left behind. Raises ``IndexBusyError`` after
    ``settings.lock_timeout_s`` seconds, and first of all what ``refuse_others`` raises.
    """
    refuse_others(settings.index_path, keeps_aside=keeps_aside)
    with _held(settings.index_path, locked(lock_path(settings.index_path), settings.lock_timeout_s)):
        yield


@contextmanager
def index_lock_if_free(settings: Settings) -> Iterator[None]:
    """Hold the same lock if nobody does now, without waiting and without ``filelock``, for an index that is there.

    Raises ``IndexBusyError`` at once where another run holds it, ``StoreIOError`` where the folder or the lock file
    cannot be written, and first of all what ``refuse_others`` raises.
    """
    refuse_others(settings.index_path, keeps_aside=False)
    with _held(settings.index_path, locked_if_free(lock_path(settings.index_path))):
        yield


@contextmanager
def _held(index_path: Path, lock: AbstractContextManager[None]) -> Iterator[None]:
    with ExitStack() as held:
        try:
            held.enter_context(lock)
        except BusyError as error:
            raise IndexBusyError(index_path, error.timeout_s) from error
        remove_leftovers(index_path)
        yield
        os.utime(lock_path(index_path))


def new_path(index_path: Path) -> Path:
    """Return where this process may build an index that is to take the place of the one at ``index_path``."""
    return index_path.with_name(f"{index_path.name}{NEW_MARK}{os.getpid()}-{time.time_ns():x}")


def lock_path(index_path: Path) -> Path:
    """Return the lock file beside an index."""
    return index_path.with_name(index_path.name + ".lock")


def remove_leftovers(path: Path) -> None:
    """Remove what rebuilds that died left beside the index; the caller holds the lock."""
    begin = path.name + NEW_MARK
    for entry in path.parent.iterdir():
        is_ours = entry.name.startswith(begin) and _NEW_NAME.fullmatch(entry.name, len(begin)) is not None
        if is_ours and not entry.is_dir():
            entry.unlink(missing_ok=True)
