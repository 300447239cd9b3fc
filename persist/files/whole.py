"""Writes bytes at the end of a file, whole or not at all as far as the process lives; a kill is ``redo``'s concern.

Standard library only.
"""

from __future__ import annotations

import os
from contextlib import suppress


def append_whole(descriptor: int, data: bytes) -> int:
    """Write ``data`` through a descriptor opened ``O_APPEND``, whole or not at all; return where it begins, in bytes.

    What a full disk or an interrupt cut is taken back, unless another program appended meanwhile: what is its own is
    never cut. Raises ``OSError``.
    """
    begin = written = 0
    try:
        while written < len(data):
            count = os.write(descriptor, memoryview(data)[written:])
            if not written:
                begin = os.lseek(descriptor, 0, os.SEEK_CUR) - count
            written += count
    except BaseException:
        if written:
            _take_back(descriptor, begin, begin + written)
        raise
    return begin


def make_durable(descriptor: int, begin_bytes: int, size_bytes: int) -> None:
    """Wait until what :func:`append_whole` wrote is on the disk; what does not get there is taken back.

    Raises ``OSError``.
    """
    try:
        os.fsync(descriptor)
    except BaseException:
        _take_back(descriptor, begin_bytes, begin_bytes + size_bytes)
        raise


def _take_back(descriptor: int, begin: int, end: int) -> None:
    with suppress(OSError):
        if os.lseek(descriptor, 0, os.SEEK_CUR) == os.fstat(descriptor).st_size == end:
            os.ftruncate(descriptor, begin)
