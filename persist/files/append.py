r"""Appends lines so that no other line is lost to them, nor they to a torn one (``spec/aster.md`` 2.8).

Standard library only. Each line reaches the file with its newline in one ``write`` on a descriptor opened
``O_APPEND``: writers that know nothing of the lock (Aster) cannot land inside it. Where the file does not end in
``\n``, one is put before the first line, in the same write. A line that a full disk cut is taken back, one that a kill
cut is finished by the next writer (``persist.files.redo``): that line alone, not those that were to follow it, which
nobody was told of, and which their sender would send again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Final, Literal

from persist.errors import NotFoundError, RefusedError, StoreIOError
from persist.files.folders import PRIVATE_FILE, make_private_folder
from persist.files.lock import LOCK_NAME, WAIT_S, locked_as_left
from persist.files.redo import Appending
from persist.files.whole import append_whole

Existing = Literal["any", "required", "refused"]
_TORN_WAITS_S: Final = (0.001, 0.004)
_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC


def append_lines(
    path: Path,
    lines: Iterable[bytes],
    *,
    existing: Existing = "any",
    timeout_s: float = WAIT_S,
    already_locked: bool = False,
    durable: bool = True,
) -> int:
    r"""Append ``lines`` (bytes without ``\n``) to ``path`` under its folder's lock; return how many.

    A missing file is made 0600 in 0700 folders, unless ``existing`` says it must be there (a transcript
    deleted meanwhile is not begun again without a header) or must not. ``durable`` waits for the disk
    once, after the last line. Raises ``ValueError`` before anything is written when a line holds ``\n``,
    ``BusyError``, ``NotFoundError``, ``RefusedError`` and ``StoreIOError``; lines written before a failure stay.
    """
    ready = [_ended(line) for line in lines]
    if existing != "required":
        make_private_folder(path.parent)
    elif not path.parent.is_dir():
        raise _missing(path)
    with nullcontext() if already_locked else locked_as_left(path.with_name(LOCK_NAME), timeout_s):
        descriptor = _open(path, existing)
        try:
            _write(path, descriptor, ready, durable)
        except OSError as error:
            raise StoreIOError(path, "append to", error.strerror or str(error)) from error
        finally:
            os.close(descriptor)
    return len(ready)


def _ended(line: bytes) -> bytes:
    if b"\n" in line:
        raise ValueError("a line to append holds a newline")
    return line + b"\n"


def _missing(path: Path) -> NotFoundError:
    return NotFoundError("file", str(path), "it was deleted or moved meanwhile")


def _open(path: Path, existing: Existing) -> int:
    flags = _FLAGS
    if existing == "any":
        flags |= os.O_CREAT
    elif existing == "refused":
        flags |= os.O_CREAT | os.O_EXCL
    try:
        return os.open(path, flags, PRIVATE_FILE)
    except FileNotFoundError:
        raise _missing(path) from None
    except FileExistsError:
        raise RefusedError(f"{path} exists already", "open it to append") from None
    except OSError as error:
        raise StoreIOError(path, "append to", error.strerror or str(error)) from error


def _is_torn(descriptor: int) -> bool:
    """Whether the file ends inside a line, and not because another program is just writing it.

    Aster writes a long line in two pieces, the newline last (``spec/aster.md`` 2.8). A newline put between
    them costs a blank line, which readers skip, so a short wait is enough.
    """
    for wait_s in (*_TORN_WAITS_S, None):
        size_bytes = os.fstat(descriptor).st_size
        if size_bytes == 0 or os.pread(descriptor, 1, size_bytes - 1) == b"\n":
            return False
        if wait_s is not None:
            time.sleep(wait_s)
    return True


def _write(path: Path, descriptor: int, lines: list[bytes], durable: bool) -> None:
    with Appending(path, descriptor) as appending:
        behind = b"\n" if _is_torn(descriptor) else b""
        for line in lines:
            appending.note(line, behind=behind)
            append_whole(descriptor, behind + line)
            behind = b""
    if durable and lines:
        os.fsync(descriptor)
