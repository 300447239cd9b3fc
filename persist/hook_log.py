"""The log of what a prompt hook could not do: the hook itself is silent, ``doctor`` tells it.

Standard library and ``persist.errors``. Private, of at most two files of ``MAX_LOG_BYTES``, one JSON line each trouble:
``{"ts", "kind", "message"}``. A message is a sentence of this program; texts of prompts, blocks and transcripts are
never in it (DESIGN law 7): whoever writes sees to that.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from persist import times
from persist.errors import StoreError
from persist.files.folders import PRIVATE_FILE, make_private_folder
from persist.regular import open_regular

MAX_LOG_BYTES: Final = 64 * 1024
"""A longer log becomes the older one, which is given up then."""
MAX_MESSAGE_CHARACTERS: Final = 400
_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Trouble(NamedTuple):
    """What went wrong once: when (the index's form), of which kind (those of the JSON of errors), and the sentence."""

    ts: str
    kind: str
    message: str


def older(path: Path) -> Path:
    """Return where the older half of a log lies."""
    return path.with_name(f"{path.name}.1")


def note_trouble(path: Path, kind: str, message: str) -> None:
    """Add one line; where that is not possible nothing happens: a hook has nobody to tell."""
    told = {"ts": times.now(), "kind": kind, "message": message[:MAX_MESSAGE_CHARACTERS]}
    line = json.dumps(told).encode("ascii") + b"\n"
    with suppress(OSError, StoreError):
        make_private_folder(path.parent)
        descriptor = _open_with_room(path, len(line) + 1)
        try:
            size_bytes = os.fstat(descriptor).st_size
            is_torn = size_bytes > 0 and os.pread(descriptor, 1, size_bytes - 1) != b"\n"  # a full disk cut it
            os.write(descriptor, b"\n" + line if is_torn else line)
        finally:
            os.close(descriptor)


def _open_with_room(path: Path, length_bytes: int) -> int:
    """Open the log to add to it; a full one becomes the older one, once, however many find it full. Raises ``OSError``.

    Who holds the lock of the full file puts that away and no other: those that waited for it find a new one.
    """
    while True:
        descriptor = os.open(path, _FLAGS, PRIVATE_FILE)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise OSError(errno.EINVAL, "it is not a file")
            if found.st_size + length_bytes <= MAX_LOG_BYTES:
                return os.dup(descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.path.samestat(found, path.lstat()):
                    path.replace(older(path))
        finally:
            os.close(descriptor)


def read_troubles(path: Path, since: str = "") -> list[Trouble]:
    """Return what was logged at ``since`` (the index's form) or later, the oldest first.

    Lines that are none are passed over, so is a log that cannot be read. Reads ``MAX_LOG_BYTES`` of each file at most.
    """
    found: list[Trouble] = []
    for file in (older(path), path):
        with suppress(OSError), open_regular(file) as log:
            for line in log.read(MAX_LOG_BYTES).splitlines():
                trouble = _trouble(line)
                if trouble is not None and trouble.ts >= since:
                    found.append(trouble)
    return found


def _trouble(line: bytes) -> Trouble | None:
    try:
        value = json.loads(line)
        texts = [value["ts"], value["kind"], value["message"]]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return Trouble(*texts) if all(isinstance(text, str) for text in texts) else None
