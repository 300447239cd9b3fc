"""Writes bytes at the end of a file, whole or not at all as far as the disk is concerned; a kill is ``redo``'s concern.

Standard library only.
"""

from __future__ import annotations

import os
from contextlib import suppress


def append_whole(descriptor: int, data: bytes, *, durable: bool = False) -> None:
    """Write ``data`` through a descriptor opened ``O_APPEND``, whole or not at all; on the disk if ``durable``.

    What a full disk cut is taken back, unless another program appended meanwhile: what is its own is never cut. Raises
    ``OSError``.
    """
    begin = written = 0
    try:
        while written < len(data):
            count = os.write(descriptor, memoryview(data)[written:])
            if not written:
                begin = os.lseek(descriptor, 0, os.SEEK_CUR) - count
            written += count
        if durable:
            os.fsync(descriptor)
    except OSError:
        if written:
            _take_back(descriptor, begin, begin + written)
        raise


def _take_back(descriptor: int, begin: int, end: int) -> None:
    with suppress(OSError):
        if os.lseek(descriptor, 0, os.SEEK_CUR) == os.fstat(descriptor).st_size == end:
            os.ftruncate(descriptor, begin)
