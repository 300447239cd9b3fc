r"""Appends a fact to ``ASTER.md`` with one ``O_APPEND`` write (DESIGN 10); nothing else in it is read or changed.

Aster rewrites the file whole (``spec/aster.md`` 4.5); this writes the same bytes at its end, so that what others append
at the same moment stays. Whoever calls holds the folder's lock.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

from persist.errors import RefusedError, StoreIOError
from persist.files import make_private_folder
from persist.files.folders import PRIVATE_FILE
from persist.files.redo import Appending
from persist.files.remove import refuse_link_outside
from persist.files.whole import append_whole, make_durable
from persist.lines import encode
from persist.memory.blocks import PROJECT_FILE
from persist.memory.describe import one_line

MAX_FACT_BYTES: Final = 64 * 1024
_HEADING: Final = b"# Project memory\n\n"
_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC


def fact_bullet(text: str) -> str:
    """Return a fact as it is written: ``- `` and the text, trimmed; further lines are indented, so that they belong.

    Raises ``RefusedError`` for an empty fact and for one over ``MAX_FACT_BYTES``: every prompt carries them all.
    """
    fact = text.strip()
    if not one_line(fact):
        raise RefusedError("the note is empty", "give it at least one character")
    if len(encode(fact)) > MAX_FACT_BYTES:
        raise RefusedError(f"a fact is over {MAX_FACT_BYTES} bytes", "give it a title, so that it is a block")
    first, *rest = fact.replace("\r\n", "\n").split("\n")
    return "\n".join([f"- {first}", *(f"  {line}".rstrip() for line in rest)])


def append_fact(folder: Path, bullet: str) -> Path:
    """Append a bullet of :func:`fact_bullet` and its newline; return the file. A new file begins with its heading.

    Raises ``RefusedError`` for a link that leaves the folder, and ``StoreIOError``; then not a byte of the fact stands
    in the file, unless another program wrote meanwhile.
    """
    make_private_folder(folder)
    path = folder / PROJECT_FILE
    refuse_link_outside(path, folder)
    try:
        descriptor = os.open(path, _FLAGS, PRIVATE_FILE)
    except OSError as error:
        raise StoreIOError(path, "append to", error.strerror or str(error)) from error
    try:
        _append(path, descriptor, encode(bullet) + b"\n")
    except OSError as error:
        raise StoreIOError(path, "append to", error.strerror or str(error)) from error
    finally:
        os.close(descriptor)
    return path


def _append(path: Path, descriptor: int, data: bytes) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise OSError(errno.EINVAL, "it is not a file")
    with Appending(path, descriptor) as appending:
        size_bytes = os.fstat(descriptor).st_size
        if size_bytes == 0:
            data = _HEADING + data
        behind = b"\n" if size_bytes and os.pread(descriptor, 1, size_bytes - 1) != b"\n" else b""
        appending.note(data, behind=behind)
        begin_bytes = append_whole(descriptor, behind + data)
    make_durable(descriptor, begin_bytes, len(behind + data))
