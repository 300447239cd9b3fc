"""One writer at a time, across processes: a lock file beside what is written.

``filelock`` is imported inside, so that reading commands never pay for it (31 ms, a third of a search): where one must
not wait, ``locked_if_free`` asks the system for the same lock itself. A lock is advisory: Aster itself
does not take it, which is why every line is also written in one call (``persist.files.append``).
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from persist.errors import BusyError, StoreIOError
from persist.files.folders import PRIVATE_FILE, make_private_folder
from persist.files.redo import finish_left
from persist.files.temporary import sweep

LOCK_NAME: Final = ".lock"
"""One lock file per folder of the store; it stays, empty, because removing it would race."""
WAIT_S: Final = 10.0
_POLL_S: Final = 0.005


@contextmanager
def locked(path: Path, timeout_s: float = WAIT_S) -> Iterator[None]:
    """Hold the lock file at ``path`` for the block; made 0600 where missing, never removed.

    Not re-entrant: taking it again inside the block waits until the time is over. The operating system
    lets go when the holder dies; what a killed one left in the lock's folder is swept away, and a line that it cut is
    finished (``persist.files.redo``), so that whoever moves or rewrites a file finds it whole. Raises ``BusyError``
    after ``timeout_s`` seconds, ``StoreIOError`` where the file cannot be made.
    """
    make_private_folder(path.parent)
    with locked_as_left(path, timeout_s):
        if path.name == LOCK_NAME:
            finish_left(path.parent)
        yield


@contextmanager
def locked_as_left(path: Path, timeout_s: float = WAIT_S) -> Iterator[None]:
    """Hold the lock file at ``path`` as ``locked`` does, and leave a line that a killed holder cut as it is.

    For who only appends: that finishes it (``persist.files.redo.Appending``). Raises as ``locked``; makes no folder.
    """
    from filelock import FileLock, Timeout

    os.close(_opened(path))  # filelock takes some of what is in the way for another holder, and waits
    lock = FileLock(
        path, timeout=timeout_s, mode=PRIVATE_FILE, thread_local=False, poll_interval=_POLL_S, preserve_lock_file=True
    )
    try:
        lock.acquire()
    except Timeout:
        raise BusyError(path, timeout_s) from None
    except OSError as error:
        raise StoreIOError(path, "lock", error.strerror or str(error)) from error
    try:
        sweep(path.parent)
        yield
    finally:
        lock.release()


@contextmanager
def locked_if_free(path: Path) -> Iterator[None]:
    """Hold the lock file at ``path`` for the block if nobody does now; never waits.

    The lock is that of ``locked``: ``flock`` on the whole file, as filelock takes it where the system has it
    (https://py-filelock.readthedocs.io/, "FileLock"). Raises ``BusyError`` where another holds it, also within this
    process, and ``StoreIOError`` where the file cannot be made or the file system knows no such lock.
    """
    descriptor = _opened(path)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                raise BusyError(path, 0) from error
            raise StoreIOError(path, "lock", error.strerror or str(error)) from error
        if not _is_still_at(path, descriptor):
            raise BusyError(path, 0)  # another made the file anew in between, and holds that one
        yield
    finally:
        os.close(descriptor)  # lets go of the lock


@contextmanager
def locked_soon(path: Path, timeout_s: float) -> Iterator[None]:
    """Hold the lock file at ``path`` for the block as ``locked`` does, for a wait so short that it sweeps nothing.

    Nor does it finish what a killed holder cut: who appends does that. Never imports filelock. Raises ``BusyError``
    after ``timeout_s`` seconds, ``StoreIOError`` as ``locked_if_free``.
    """
    end_s = time.monotonic() + timeout_s
    with ExitStack() as held:
        while True:
            try:
                held.enter_context(locked_if_free(path))
                break
            except BusyError as error:
                if time.monotonic() >= end_s:
                    raise BusyError(path, timeout_s) from error
            time.sleep(_POLL_S)
        yield


def _opened(path: Path) -> int:
    """Return a descriptor of the lock file, made where it is missing. Raises ``StoreIOError``."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, PRIVATE_FILE)
    except OSError as error:
        reason = error.strerror or str(error)
        if isinstance(error, FileNotFoundError) and path.parent.is_dir():
            reason = "no file can be made in its folder"
        raise StoreIOError(path, "lock", reason) from error


def _is_still_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
