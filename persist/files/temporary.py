"""Files on their way to a name of their own: made beside their target, and swept away where nobody makes them any more.

Standard library only. Whoever makes one holds it by a lock on the file itself, which goes with the process; so a
leftover is told from a file in the making whatever lock its folder is written under, and nobody has to guess by age.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from persist.files.folders import PRIVATE_FILE

TEMPORARY_PREFIX: Final = ".tmp-"
"""No agent and no discovery takes a name that begins so for a source."""
_OURS: Final = re.compile(r"\.tmp-(?:[a-z]+-)?[0-9a-f]+(?:-old)?\Z", re.ASCII)
_NEW: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_LOOK: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_TAKEN: Final = frozenset({errno.EAGAIN, errno.EACCES})
_QUIET_NS: Final = 1_000_000_000
"""Names may come and go within one tick of a folder's clock, which is far shorter."""
_swept: dict[Path, int] = {}


@contextmanager
def temporary_file(folder: Path, kind: str = "") -> Iterator[tuple[int, Path]]:
    """Give a new private file in ``folder``, open for reading and writing; afterwards it is gone, unless renamed.

    Whoever renames or links it does so within the block: until its end no sweep takes it. ``kind`` (letters and a dash)
    says in its name what it is. Raises ``OSError``.
    """
    descriptor, path = _make(folder, kind)
    try:
        yield descriptor, path
    finally:
        try:
            path.unlink(missing_ok=True)
        finally:
            os.close(descriptor)


def sweep(folder: Path) -> None:
    """Remove what writers that were killed left in a folder; never raises. The caller holds the folder's lock.

    A file that a living process makes is left alone, and so is every name that is not ours. A folder in which no name
    came or went since this process swept it last costs one ``stat``.
    """
    with suppress(OSError):
        changed_ns = folder.stat().st_mtime_ns
        if _swept.get(folder) == changed_ns:
            return
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.name.startswith(TEMPORARY_PREFIX)]
        for name in names:
            if _OURS.match(name):
                _remove_if_left(folder / name)
        if time.time_ns() - changed_ns > _QUIET_NS:
            _swept[folder] = changed_ns


def _make(folder: Path, kind: str) -> tuple[int, Path]:
    while True:
        path = folder / f"{TEMPORARY_PREFIX}{kind}{secrets.token_hex(8)}"
        descriptor = os.open(path, _NEW, PRIVATE_FILE)
        try:
            if _hold(descriptor) is not False and _is_at(path, descriptor):
                return descriptor, path
        except BaseException:
            path.unlink(missing_ok=True)
            os.close(descriptor)
            raise
        os.close(descriptor)  # a sweep came between the two and takes it: another name


def _remove_if_left(path: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(path, _LOOK)
        try:
            is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
            if is_file and _hold(descriptor) and _is_at(path, descriptor):
                path.unlink()
        finally:
            os.close(descriptor)


def _hold(descriptor: int) -> bool | None:
    """Lock a file if nobody has; ``False`` where somebody has, ``None`` where the file system knows no such lock."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in _TAKEN else None
    return True


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
