"""Opens a transcript where it lies, or its kept copy where it is gone.

I/O on one file and, where that is gone, one folder of the archive; standard library and ``persist`` only: this is on
the way of each search. Which of the two an index is made from is decided by ``persist.archive.standing_in``; this
serves those who know a path alone.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, Final, NamedTuple

from persist.archive.names import copies_by_name, folder_of_copies
from persist.compressed import plain
from persist.regular import open_regular

_GONE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EACCES})
"""What opening says of a path where the original no longer is, or may not be looked at."""


class OpenedTranscript(NamedTuple):
    """An open transcript: its file, and what is in it (another object where it is compressed)."""

    file: BinaryIO
    plain: IO[bytes]


@contextmanager
def open_transcript(archive: Path, agent: str, path: str) -> Iterator[OpenedTranscript]:
    """Open the transcript that the index knows by ``path``; its newest kept copy where the original is gone.

    Raises ``OSError`` as opening the original does, where there is no copy either.
    """
    name = path
    try:
        file = open_regular(path, 0)
    except OSError as error:
        copy = newest_copy(archive, agent, path) if error.errno in _GONE else None
        if copy is None:
            raise
        name, file = copy, open_regular(copy, 0)
    with file:
        yield OpenedTranscript(file, plain(name, file))


def newest_copy(archive: Path, agent: str, path: str) -> str | None:
    """Return the newest copy of an original, null where there is none. Cost: the names in its folder."""
    folder, _, name = path.rpartition("/")
    below = folder_of_copies(archive, agent, folder)
    try:
        copies = copies_by_name(os.listdir(below)).get(name)  # noqa: PTH208 - names alone are wanted
    except OSError:
        return None
    return f"{below}/{copies[-1].file_name}" if copies else None
