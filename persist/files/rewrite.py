r"""Replaces one line at the head of a file that other programs append to, and keeps the rest byte for byte.

Standard library and ``persist.regular`` only. The rewritten file takes the old one's place by one rename: at every
moment there is one whole file. The caller holds the folder's lock.

What a writer that knows nothing of our locks (Aster, Aether) appends meanwhile: the rename gives the file a new inode,
and who has the old one open would go on into a file without a name. So a file that a program has open for writing is
refused (``persist.files.in_use``), the lease makes a program that opens it during the swap wait, and afterwards the old
file, kept by a second name, is looked at again: if it grew or was opened, it is put back and nothing has happened.
Where the system knows no leases, a file is refused that changed in the last seconds, and what a program that had it
open all along and was silent appends later is lost.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from persist.errors import BusyError
from persist.files.atomic import write_all
from persist.files.folders import flush_folder
from persist.files.in_use import QUIET_S, is_waited_for, lease
from persist.files.temporary import temporary_file

_BLOCK_BYTES: Final = 1024 * 1024
_TRIES: Final = 5
_KIND: Final = "relocate-"


class InUseError(BusyError):
    """Another program writes the session at ``path`` now, so that its file must not be replaced; ``why`` tells how."""

    def __init__(self, path: Path, why: str) -> None:
        self.path = path
        self.timeout_s = 0
        Exception.__init__(self, f"{path} {why}; end the session in the other program and try again")


class Span(NamedTuple):
    """Bytes of a file from ``start`` to ``end`` (exclusive)."""

    start: int
    end: int


def replace_span(path: Path, file: BinaryIO, span: Span, data: bytes) -> None:
    """Put ``data`` in the place of a span of the file at ``path``, which ``file`` has open for reading, unbuffered.

    The file keeps its modification time. Raises ``InUseError`` and ``OSError``; the old file then stands. Cost: the
    file is copied, in pieces.
    """
    with temporary_file(path.parent, _KIND) as (descriptor, written):
        kept = written.with_name(f"{written.name}-old")
        try:
            for _ in range(_TRIES):
                copied_bytes = _copy(file, descriptor, span, data)
                if _swap(path, file, written, kept, copied_bytes):
                    break
            else:
                raise InUseError(path, "grows all the time")
            _refuse_if_used(path, file, copied_bytes)
            flush_folder(path.parent)
        except InUseError:
            if kept.exists():
                _put_back(path, kept, descriptor)
            raise
        finally:
            kept.unlink(missing_ok=True)


def _copy(file: BinaryIO, descriptor: int, span: Span, data: bytes) -> int:
    """Write the file with its new span, on disk; return the old file's size as far as it was read."""
    size_bytes = os.fstat(file.fileno()).st_size
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    write_all(descriptor, os.pread(file.fileno(), span.start, 0) + data)
    offset = span.end
    while offset < size_bytes:
        piece = os.pread(file.fileno(), min(_BLOCK_BYTES, size_bytes - offset), offset)
        if not piece:
            break  # it was cut meanwhile: the swap sees another size
        write_all(descriptor, piece)
        offset += len(piece)
    os.fsync(descriptor)
    return size_bytes


def _swap(path: Path, file: BinaryIO, written: Path, kept: Path, copied_bytes: int) -> bool:
    """Put ``written`` at ``path`` and the old file at ``kept``; ``False`` where it grew since it was copied.

    Nobody can open the old file for writing while this lasts, where the system knows leases.
    """
    with lease(file.fileno()) as granted:
        state = os.fstat(file.fileno())
        if granted is False:
            raise InUseError(path, "is open for writing in another program")
        if granted is None and abs(time.time() - state.st_mtime) < QUIET_S:
            raise InUseError(path, f"changed less than {QUIET_S:g} s ago")
        if state.st_size != copied_bytes:
            return False
        os.utime(written, ns=(state.st_atime_ns, state.st_mtime_ns))  # the last activity is not this one
        os.link(path, kept)
        written.replace(path)
        if granted and is_waited_for(file.fileno()):
            raise InUseError(path, "is being opened by another program")
    return True


def _refuse_if_used(path: Path, file: BinaryIO, copied_bytes: int) -> None:
    """Raise where a program opened the old file for writing in the moment of the swap, or has written to it."""
    with lease(file.fileno()) as granted:
        if granted is not False and os.fstat(file.fileno()).st_size == copied_bytes:
            return
    raise InUseError(path, "was opened by another program in this moment")


def _put_back(path: Path, kept: Path, descriptor: int) -> None:
    """Put the old file back; what another program appended to the new one since the swap goes with it."""
    written_bytes = os.lseek(descriptor, 0, os.SEEK_CUR)
    late = os.pread(descriptor, _BLOCK_BYTES, written_bytes)
    if late:
        with kept.open("ab", buffering=0) as file:
            file.write(late)
    kept.replace(path)
