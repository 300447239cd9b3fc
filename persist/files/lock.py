"""One writer at a time, across processes: a lock file beside what is written.

``filelock`` is imported inside, so that reading commands never pay for it. A lock is advisory: Aster itself
does not take it, which is why every line is also written in one call (``persist.files.append``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from persist.errors import BusyError, StoreIOError
from persist.files.folders import PRIVATE_FILE, make_private_folder

LOCK_NAME: Final = ".lock"
"""One lock file per folder of the store; it stays, empty, because removing it would race."""
WAIT_S: Final = 10.0
_POLL_S: Final = 0.005


@contextmanager
def locked(path: Path, timeout_s: float = WAIT_S) -> Iterator[None]:
    """Hold the lock file at ``path`` for the block; made 0600 where missing, never removed.

    Not re-entrant: taking it again inside the block waits until the time is over. The operating system
    lets go when the holder dies. Raises ``BusyError`` after ``timeout_s`` seconds, ``StoreIOError`` where
    the file cannot be made.
    """
    from filelock import FileLock, Timeout

    make_private_folder(path.parent)
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
        yield
    finally:
        lock.release()
