"""Writes a whole file so that a reader, or a crash, sees the old bytes or the new ones, never a mixture.

Standard library only. Never used for transcripts, which are only appended to.
"""

from __future__ import annotations

import os
from pathlib import Path

from persist.errors import StoreIOError
from persist.files.folders import flush_folder, make_private_folder
from persist.files.temporary import TEMPORARY_PREFIX, temporary_file

__all__ = ["TEMPORARY_PREFIX", "write_all", "write_atomic"]


def write_atomic(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Put ``data`` at ``path``, whole, 0600 in 0700 folders, on disk when this returns if ``durable``.

    A link is followed, so that it stays a link. On failure the old file is untouched and nothing new
    is left behind. Callers that read before they write hold ``locked`` around both. Raises ``StoreIOError``.
    """
    target = Path(os.path.realpath(path))
    make_private_folder(target.parent)
    try:
        with temporary_file(target.parent) as (descriptor, temporary):
            write_all(descriptor, data)
            if durable:
                os.fsync(descriptor)
            temporary.replace(target)
            if durable:
                flush_folder(target.parent)
    except OSError as error:
        raise StoreIOError(path, "write", error.strerror or str(error)) from error


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte of ``data`` where a descriptor stands. Raises ``OSError``."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
