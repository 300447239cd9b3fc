"""Writes a whole file so that a reader, or a crash, sees the old bytes or the new ones, never a mixture.

Standard library only. Never used for transcripts, which are only appended to.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final

from persist.errors import StoreIOError
from persist.files.folders import PRIVATE_FILE, flush_folder, make_private_folder

TEMPORARY_PREFIX: Final = ".tmp-"
"""No agent and no discovery takes a name that begins so for a source."""


def write_atomic(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Put ``data`` at ``path``, whole, 0600 in 0700 folders, on disk when this returns if ``durable``.

    A link is followed, so that it stays a link. On failure the old file is untouched and nothing new
    is left behind. Callers that read before they write hold ``locked`` around both. Raises ``StoreIOError``.
    """
    target = Path(os.path.realpath(path))
    make_private_folder(target.parent)
    temporary = target.parent / f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}"
    try:
        _write_new(temporary, data, durable)
        temporary.replace(target)
        if durable:
            flush_folder(target.parent)
    except OSError as error:
        raise StoreIOError(path, "write", error.strerror or str(error)) from error
    finally:
        temporary.unlink(missing_ok=True)


def _write_new(path: Path, data: bytes, durable: bool) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
