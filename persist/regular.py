"""Opens a file to read from it, and nothing else: what only has a file's name must never stop a command.

Standard library only. A pipe without a writer blocks whoever opens it, and a device may have no end; a look at the
path before is not enough, because an agent may put another thing there in between.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_regular(path: Path | str, buffering: int = -1) -> BinaryIO:
    """Open a regular file, or a link to one, for reading bytes; ``buffering`` is that of :func:`open`.

    Never waits. Raises ``OSError``, ``IsADirectoryError`` for a folder, and says of a pipe, socket or device that it
    is not a file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is not a file", os.fspath(path))
        return open(descriptor, "rb", buffering=buffering)  # noqa: PTH123 - a descriptor, not a path
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path | str, limit_bytes: int | None = None) -> bytes:
    """Return the bytes of a regular file, or of a link to one; of a longer one the first ``limit_bytes``.

    Raises as :func:`open_regular`. For small files: without a buffer, and without room for all that a file may have,
    it takes a third of the time.
    """
    with open_regular(path, 0) as file:
        if limit_bytes is None or os.fstat(file.fileno()).st_size <= limit_bytes:
            return file.read()[:limit_bytes]
        return file.read(limit_bytes)
