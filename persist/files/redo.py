r"""Notes each append before it is made, so that the next writer finishes a line that a kill cut in the middle.

Linux copies a write page by page and looks between two pages whether the process is being killed: a line that crosses
a page of its file can be cut there, however short it is. So the holder of a folder's lock first writes the bytes to the
folder's record, ``.redo``, and clears it when they stand. Whoever holds the lock next and finds a record appends what
is missing, with ``O_APPEND``: nothing is ever cut, for other programs append here without our lock. No ``fsync``: a
kill loses nothing that was written, and a record that was itself cut tells that its append had not begun.

The record only protects: where it cannot be made or used, or what it holds cannot be finished now, an append is made
without it. Standard library only. It is not in the lock file: what stands in that is the business of whoever locks it.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
import time
import zlib
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

from persist.files.folders import PRIVATE_FILE
from persist.files.whole import append_whole

REDO_NAME: Final = ".redo"
"""One record per folder of the store, beside its lock file; it stays, and holds zeros but for an append under way."""
_MAGIC: Final = b"asxredo1"
_CHECKED: Final = struct.Struct(">8sI")
_SIZES: Final = struct.Struct(">QQQHQ")
_HEAD_BYTES: Final = _CHECKED.size + _SIZES.size
_MAX_OFFSET_BYTES: Final = 1 << 62
_RECORD: Final = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_TARGET: Final = os.O_RDWR | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC
_PAGE_BYTES: Final = 4096
_KEPT_BYTES: Final = 16 * 1024
_PIECE_BYTES: Final = 1 << 20
_NEWLINE: Final = 0x0A
_GONE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENXIO})
"""What opening a file says that is not there any more, or is none. Any other error may pass."""
_QUICKER_BYTES: Final = 1024 * 1024
"""More than this no other program appends between a note and its append."""
_SETTLED_S: Final = 0.005
"""A write of another program that is under way at this moment is longer by then."""


class Noted(NamedTuple):
    """An append: to which file of the folder (name, device, inode), where it begins at the earliest, its bytes."""

    name: str
    device: int
    inode: int
    offset_bytes: int
    data: bytes


def encode(noted: Noted) -> bytes:
    """Return an append as it is recorded: a magic number, the CRC-32 of all that follows, the sizes, the bytes."""
    name = os.fsencode(noted.name)
    sizes = _SIZES.pack(noted.device, noted.inode, noted.offset_bytes, len(name), len(noted.data)) + name
    return b"".join((_CHECKED.pack(_MAGIC, zlib.crc32(noted.data, zlib.crc32(sizes))), sizes, noted.data))


def decode(record: bytes) -> Noted | None:
    """Return the append of a record, ``None`` where it is not whole; what stands behind it does not matter."""
    if len(record) < _HEAD_BYTES:
        return None
    magic, checksum = _CHECKED.unpack_from(record)
    device, inode, offset_bytes, name_bytes, _ = _SIZES.unpack_from(record, _CHECKED.size)
    begin = _HEAD_BYTES + name_bytes
    end = _record_bytes(record)
    if magic != _MAGIC or len(record) < end or zlib.crc32(memoryview(record)[_CHECKED.size : end]) != checksum:
        return None
    name = os.fsdecode(record[_HEAD_BYTES:begin])
    if not name or "/" in name or "\0" in name or offset_bytes > _MAX_OFFSET_BYTES:
        return None
    return Noted(name, device, inode, offset_bytes, record[begin:end])


def _record_bytes(head: bytes) -> int:
    """Return how long the record with this head is."""
    *_, name_bytes, data_bytes = _SIZES.unpack_from(head, _CHECKED.size)
    return int(_HEAD_BYTES + name_bytes + data_bytes)


def missing_part(noted: Noted, tail: bytes) -> bytes:
    r"""Return what is missing of an append at a file's end; empty where it is whole, or where nothing of it stands.

    ``tail`` is what the file holds from one byte before the noted place on. The append began there or, where another
    program was quicker, behind a later newline; several lines (facts of ``ASTER.md``, which no other program appends to
    in place) only there, since their own end can be like their beginning. A line of JSON that another program has
    written but for its newline is never taken for ours: one object is no beginning of another. Only where ours was not
    begun and the other program was killed as well can a beginning of its line be one of ours: nothing is lost then.
    Linear.
    """
    begin = min(noted.offset_bytes, 1)
    if noted.data.find(b"\n") == len(noted.data) - 1:
        if _stands(noted.data, tail, begin):
            return b""
        begin = max(begin, tail.rfind(b"\n") + 1)
    kept = tail[begin:]
    is_ours = 0 < len(kept) < len(noted.data) and (begin == 0 or tail[begin - 1] == _NEWLINE)
    return noted.data[len(kept) :] if is_ours and noted.data.startswith(kept) else b""


def _stands(line: bytes, tail: bytes, begin: int) -> bool:
    """Tell whether a whole line stands in ``tail`` from ``begin`` on."""
    place = tail.find(line, begin)
    while place > 0 and tail[place - 1] != _NEWLINE:
        place = tail.find(line, place + 1)
    return place >= 0


def finish_left(folder: Path) -> None:
    """Finish an append to a file in ``folder`` that a kill cut, and clear the record; never raises.

    The caller holds the folder's lock. What cannot be finished now (the disk is full, the file is leased) stays noted
    for the next. Cost: four system calls.
    """
    beside = f"{folder}/"
    record = _opened(beside, 0)
    if record is not None:
        with suppress(OSError):
            _finish(record, beside)
        os.close(record)


def forget_left(path: Path) -> None:
    """Drop what is noted of the file at ``path``, which is about to be removed: no text outlives it. Never raises.

    The caller holds its folder's lock.
    """
    record = _opened(f"{path.parent}/", 0)
    if record is not None:
        with suppress(OSError):
            noted = _noted(record)
            if noted is not None and noted.name == path.name:
                os.ftruncate(record, 0)
        os.close(record)


class Appending:
    """Notes what is appended to one file while the block lasts; what was left cut in its folder is finished first.

    ``descriptor`` has the file at ``path`` open; the caller holds its folder's lock. Within the block ``append_whole``
    writes, which takes back what it could not finish: at the end of the block, however it comes, the record is cleared.
    A device or a pipe is appended to without a record. Never raises.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        folder, slash, self._name = os.fspath(path).rpartition("/")
        self._beside = folder + slash
        self._descriptor = descriptor
        self._record: int | None = None
        self._device = 0
        self._inode = 0
        self._noted_bytes = 0

    def __enter__(self) -> Self:
        found = os.fstat(self._descriptor)
        if stat.S_ISREG(found.st_mode):
            self._device, self._inode = found.st_dev, found.st_ino
            self._record = _ready(self._beside)
        return self

    def note(self, data: bytes, *, behind: bytes = b"") -> None:
        """Record that ``data`` is appended next, in one write with ``behind`` before it."""
        if self._record is None:
            return
        offset_bytes = os.lseek(self._descriptor, 0, os.SEEK_END) + len(behind)
        record = encode(Noted(self._name, self._device, self._inode, offset_bytes, data))
        self._noted_bytes = max(self._noted_bytes, len(record))
        try:
            _put(self._record, record, 0)
        except OSError:
            self._leave()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._leave()

    def _leave(self) -> None:
        record, self._record = self._record, None
        if record is None:
            return
        try:
            if self._noted_bytes:
                _clear(record, self._noted_bytes)
        except OSError:
            with suppress(OSError):
                os.ftruncate(record, 0)  # a full disk may refuse zeros
        finally:
            os.close(record)


def _ready(beside: str) -> int | None:
    """Open the record, made where there is none, and finish what it holds; ``None`` where it is of no use now."""
    record = _opened(beside, os.O_CREAT)
    if record is None:
        return None
    try:
        _finish(record, beside)
    except OSError:  # it stays for the next
        os.close(record)
        return None
    except BaseException:
        os.close(record)
        raise
    return record


def _opened(beside: str, creating: int) -> int | None:
    """Open a record that is ours; ``None`` where there is none, or something else has its name."""
    try:
        record = os.open(beside + REDO_NAME, _RECORD | creating, PRIVATE_FILE)
    except OSError:
        return None
    try:
        if _is_ours(record):
            return record
    except OSError:
        pass
    os.close(record)
    return None


def _is_ours(record: int) -> bool:
    """Tell whether a file is a record: of this user alone, and empty, zeros, or what :func:`encode` makes.

    A clearing that was cut inside its page may leave zeros for the first bytes of the magic number.
    """
    found = os.fstat(record)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1 or found.st_uid != os.geteuid():
        return False
    head = os.pread(record, len(_MAGIC), 0)
    is_cleared = not head.strip(b"\0") and found.st_size <= _KEPT_BYTES and not _read(record, 0).strip(b"\0")
    if not is_cleared and (not (begin := head.lstrip(b"\0")) or not _MAGIC.endswith(begin)):
        return False
    if stat.S_IMODE(found.st_mode) != PRIVATE_FILE:
        os.fchmod(record, PRIVATE_FILE)
    return True


def _clear(record: int, size_bytes: int) -> None:
    """Leave no text behind. Zeros cost half of what a truncation does, which a file system writes to its journal.

    The end goes first: while any text is left, the record does not look like none.
    """
    if size_bytes > _KEPT_BYTES:
        os.ftruncate(record, 0)
        return
    if size_bytes > _PAGE_BYTES:
        _put(record, bytes(size_bytes - _PAGE_BYTES), _PAGE_BYTES)
    _put(record, bytes(min(size_bytes, _PAGE_BYTES)), 0)


def _put(record: int, data: bytes, offset_bytes: int) -> None:
    written_bytes = os.pwrite(record, data, offset_bytes)
    while written_bytes < len(data):
        written_bytes += os.pwrite(record, memoryview(data)[written_bytes:], offset_bytes + written_bytes)


def _noted(record: int) -> Noted | None:
    """Return what a record holds; ``None`` where that is nothing whole. Reads no more than the record is long."""
    head = os.pread(record, _HEAD_BYTES, 0)
    if len(head) < _HEAD_BYTES or not head.startswith(_MAGIC):
        return None
    size_bytes = _record_bytes(head)
    return decode(_read(record, 0, size_bytes)) if size_bytes <= os.fstat(record).st_size else None


def _finish(record: int, beside: str) -> None:
    """Append what a record says is missing and clear it. Raises ``OSError``; then the record stays as it was."""
    if os.pread(record, len(_MAGIC), 0).strip(b"\0"):
        noted = _noted(record)
        if noted is not None:
            _append_missing(beside, noted)
        os.ftruncate(record, 0)


def _append_missing(beside: str, noted: Noted) -> None:
    try:
        descriptor = os.open(beside + noted.name, _TARGET)
    except OSError as error:
        if error.errno in _GONE:
            return
        raise
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or (found.st_dev, found.st_ino) != (noted.device, noted.inode):
            return  # another file of that name: a rewrite put it there
        if _missing_at(descriptor, noted):
            time.sleep(_SETTLED_S)
            append_whole(descriptor, _missing_at(descriptor, noted))
    finally:
        os.close(descriptor)


def _missing_at(descriptor: int, noted: Noted) -> bytes:
    behind_bytes = os.fstat(descriptor).st_size - noted.offset_bytes
    if behind_bytes > len(noted.data) + _QUICKER_BYTES:
        return b""  # others have long gone on behind it
    return missing_part(noted, _read(descriptor, max(noted.offset_bytes - 1, 0)))


def _read(descriptor: int, offset_bytes: int, size_bytes: int | None = None) -> bytes:
    """Return a file's bytes from an offset on, all or ``size_bytes`` of them."""
    pieces = []
    left_bytes = _PIECE_BYTES if size_bytes is None else size_bytes
    while left_bytes and (piece := os.pread(descriptor, min(left_bytes, _PIECE_BYTES), offset_bytes)):
        pieces.append(piece)
        offset_bytes += len(piece)
        left_bytes -= len(piece) if size_bytes is not None else 0
    return b"".join(pieces)
