"""Tells whether another program has a file open for writing, where the system can say so.

Standard library and ``persist.errors`` only. Linux grants a read lease on a file only while nobody has it open for
writing (``fcntl(2)``, "Leases"): asking for one is a question, and nothing is read or written. Other systems have no
such question.
"""

from __future__ import annotations

import fcntl
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EAGAIN, ELOOP
from pathlib import Path
from typing import Final

from persist.errors import StoreIOError

QUIET_S: Final = 5.0
"""A file that changed less than so long ago may be in the middle of being written."""


def has_writer(descriptor: int) -> bool | None:
    """Return whether any program has the file open for writing; ``None`` where the system cannot tell.

    ``descriptor`` is open for reading only.
    """
    with lease(descriptor) as granted:
        return None if granted is None else not granted


@contextmanager
def lease(descriptor: int) -> Iterator[bool | None]:
    """Hold a read lease on a file open for reading: whoever opens it for writing meanwhile waits until the block ends.

    The value is ``True`` where it was granted, ``False`` where a program has the file open for writing, ``None`` where
    the system knows no leases. Hold it for moments: after ``/proc/sys/fs/lease-break-time`` the system takes it away.
    """
    granted = _take(descriptor)
    try:
        yield granted
    finally:
        if granted:
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)


def is_waited_for(descriptor: int) -> bool:
    """Whether a program waits to open the file for writing until a granted lease on it ends."""
    return fcntl.fcntl(descriptor, fcntl.F_GETLEASE) == fcntl.F_UNLCK


def _take(descriptor: int) -> bool | None:
    take, signal_of = getattr(fcntl, "F_SETLEASE", None), getattr(fcntl, "F_SETSIG", None)
    if take is None or signal_of is None:
        return None
    try:
        # Who waits for the lease is told by a signal; this one is ignored where nobody handles it.
        fcntl.fcntl(descriptor, signal_of, signal.SIGURG)
        fcntl.fcntl(descriptor, take, fcntl.F_RDLCK)
    except OSError as error:
        return False if error.errno == EAGAIN else None
    return True


def is_open_elsewhere(path: Path) -> bool:
    """Whether a program is known to have the file open for writing; ``False`` also where that cannot be told."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return has_writer(descriptor) is True
    finally:
        os.close(descriptor)


@contextmanager
def in_use(path: Path) -> Iterator[None]:
    """Hold a file open for writing, without writing: whoever asks is told that it is in use until the block ends.

    Waits while somebody holds a lease. A link is not opened: whoever writes refuses it. Raises ``StoreIOError`` where
    the file cannot be opened.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == ELOOP:
            yield
            return
        raise StoreIOError(path, "append to", error.strerror or str(error)) from error
    try:
        yield
    finally:
        os.close(descriptor)


def why_in_use(path: Path) -> str | None:
    """Return why a file must be taken for one that is being written, ``None`` where nothing says so.

    Raises ``OSError`` where the file cannot be opened.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        age_s = time.time() - os.fstat(descriptor).st_mtime
        if has_writer(descriptor):
            return "another program has it open for writing"
    finally:
        os.close(descriptor)
    if abs(age_s) < QUIET_S:
        return f"it changed less than {QUIET_S:g} s ago"
    return None
