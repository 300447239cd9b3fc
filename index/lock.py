"""One run at a time writes an index: its cross-process lock, and when a run last looked at the disk.

The lock file lies beside the index, empty; its time is that of the last look. Plain standard library; ``filelock`` is
imported by ``persist.files.lock`` when the lock is taken.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from index.errors import IndexBusyError
from index.opening import refuse_others
from index.settings import Settings
from persist.errors import BusyError
from persist.files.lock import locked

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
    path = lock_path(settings.index_path)
    with ExitStack() as held:
        try:
            held.enter_context(locked(path, settings.lock_timeout_s))
        except BusyError as error:
            raise IndexBusyError(settings.index_path, error.timeout_s) from error
        remove_leftovers(settings.index_path)
        yield
        os.utime(path)


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
