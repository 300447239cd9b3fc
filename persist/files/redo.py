r"""Notes each append before it is made, so that the next writer finishes a line that a kill cut in the middle.

Linux copies a write page by page and looks between two pages whether the process is being killed: a line that crosses
a page of its file can be cut there, however short it is. So the holder of a folder's lock first writes the bytes to the
folder's record, ``.redo``, and clears it when they stand. Whoever holds the lock next and finds a record appends what
is missing, with ``O_APPEND``: nothing is ever cut, for other programs append here without our lock. No ``fsync``: a
kill loses nothing that was written, and a record that was itself cut tells that its append had not begun.

Standard library only. The record is not in the lock file: what stands in that is the business of whoever locks it.
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

from persist.errors import StoreIOError
from persist.files.folders import PRIVATE_FILE
from persist.files.whole import append_whole

REDO_NAME: Final = ".redo"
"""One record per folder of the store, beside its lock file; it stays, and holds zeros but for an append under way."""
_MAGIC: Final = b"asxredo1"
_CHECKED: Final = struct.Struct(">8sI")
_SIZES: Final = struct.Struct(">QQHQ")
_RECORD: Final = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_TARGET: Final = os.O_RDWR | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC
_PAGE_BYTES: Final = 4096
_KEPT_BYTES: Final = 16 * 1024
_NEWLINE: Final = 0x0A
_QUICKER_BYTES: Final = 1024 * 1024
"""More than this no other program appends between a note and its append."""
_SETTLED_S: Final = 0.005
"""A write of another program that is under way at this moment is longer by then."""


class Noted(NamedTuple):
    """An append: to which file of the folder (name and inode), where it begins at the earliest, its bytes."""

    name: str
    inode: int
    offset_bytes: int
    data: bytes


def encode(noted: Noted) -> bytes:
    """Return an append as it is recorded: a magic number, the CRC-32 of all that follows, the sizes, the bytes."""
    name = os.fsencode(noted.name)
    sizes = _SIZES.pack(noted.inode, noted.offset_bytes, len(name), len(noted.data)) + name
    return b"".join((_CHECKED.pack(_MAGIC, zlib.crc32(noted.data, zlib.crc32(sizes))), sizes, noted.data))


def decode(record: bytes) -> Noted | None:
    """Return the append of a record, ``None`` where it is not whole; what stands behind it does not matter."""
    if len(record) < _CHECKED.size + _SIZES.size:
        return None
    magic, checksum = _CHECKED.unpack_from(record)
    inode, offset_bytes, name_bytes, data_bytes = _SIZES.unpack_from(record, _CHECKED.size)
    begin = _CHECKED.size + _SIZES.size + name_bytes
    end = begin + data_bytes
    if magic != _MAGIC or len(record) < end or zlib.crc32(memoryview(record)[_CHECKED.size : end]) != checksum:
        return None
    name = os.fsdecode(record[begin - name_bytes : begin])
    return None if "/" in name else Noted(name, inode, offset_bytes, record[begin:end])


def missing_part(noted: Noted, tail: bytes) -> bytes:
    r"""Return what is missing of an append at a file's end; empty where it is whole, or where nothing of it stands.

    ``tail`` is what the file holds from one byte before the noted place on. The append began there or, where another
    program was quicker, behind a later newline; several lines (facts of ``ASTER.md``, which no other program appends to
    in place) only there, since their own end can be like their beginning. A line of JSON that another program has
    written but for its newline is never taken for ours: one object is no beginning of another. Only where ours was not
    begun and the other program was killed as well can a beginning of its line be one of ours: nothing is lost then.
    """
    begin = min(noted.offset_bytes, 1)
    is_one_line = noted.data.find(b"\n") == len(noted.data) - 1
    while begin < len(tail):
        if begin == 0 or tail[begin - 1] == _NEWLINE:
            if tail.startswith(noted.data, begin):
                break
            if len(tail) - begin < len(noted.data) and noted.data.startswith(tail[begin:]):
                return noted.data[len(tail) - begin :]
        newline = tail.find(b"\n", begin) if is_one_line else -1
        if newline < 0:
            break
        begin = newline + 1
    return b""


def finish_left(folder: Path) -> None:
    """Finish an append to a file in ``folder`` that a kill cut, and clear the record; never raises.

    The caller holds the folder's lock. Where the disk is full the record stays for the next. Cost: four system calls.
    """
    with suppress(OSError, StoreIOError):
        beside = f"{folder}/"
        descriptor = os.open(beside + REDO_NAME, _RECORD)
        try:
            _finish(descriptor, beside)
        finally:
            os.close(descriptor)


class Appending:
    """Notes what is appended to one file while the block lasts; what was left cut in its folder is finished first.

    ``descriptor`` has the file at ``path`` open; the caller holds its folder's lock. Where the block ends by an
    ``OSError`` the append was taken back (``append_whole``), so the record goes as it does at a good end. A device or a
    pipe is appended to without a record. Entering raises ``StoreIOError``, :meth:`note` ``OSError``; then nothing was
    appended.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        folder, slash, self._name = os.fspath(path).rpartition("/")
        self._beside = folder + slash
        self._descriptor = descriptor
        self._record: int | None = None
        self._inode = 0
        self._noted_bytes = 0

    def __enter__(self) -> Self:
        found = os.fstat(self._descriptor)
        if stat.S_ISREG(found.st_mode):
            self._inode = found.st_ino
            self._record = _opened(self._beside)
        return self

    def note(self, data: bytes, *, behind: bytes = b"") -> None:
        """Record that ``data`` is appended next, in one write with ``behind`` before it."""
        if self._record is not None:
            offset_bytes = os.lseek(self._descriptor, 0, os.SEEK_END) + len(behind)
            record = encode(Noted(self._name, self._inode, offset_bytes, data))
            self._noted_bytes = max(self._noted_bytes, len(record))
            _put(self._record, record, 0)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._record is None:
            return
        try:
            if kind is None and self._noted_bytes:
                _clear(self._record, self._noted_bytes)
            elif kind is not None and issubclass(kind, OSError):
                os.ftruncate(self._record, 0)  # a full disk may refuse zeros
        except OSError:
            pass  # a record of what stands whole does no harm
        finally:
            os.close(self._record)


def _opened(beside: str) -> int:
    """Open the record, made where there is none, and finish what it holds. Raises ``StoreIOError``."""
    path = beside + REDO_NAME
    try:
        record = os.open(path, _RECORD | os.O_CREAT, PRIVATE_FILE)
        try:
            _finish(record, beside)
        except BaseException:
            os.close(record)
            raise
    except OSError as error:
        raise StoreIOError(Path(path), "use", error.strerror or str(error)) from error
    return record


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


def _finish(record: int, beside: str) -> None:
    """Append what a record says is missing and clear it.

    Raises ``OSError`` for the record and ``StoreIOError`` for the file to be finished; then the record stays as it was.
    """
    begin = os.pread(record, len(_MAGIC), 0).rstrip(b"\0")
    if not begin:
        return
    if not _MAGIC.startswith(begin):
        raise OSError(errno.EEXIST, "another program's file has this name")
    noted = decode(_read(record, 0))
    if noted is not None:
        _append_missing(beside, noted)
    os.ftruncate(record, 0)


def _append_missing(beside: str, noted: Noted) -> None:
    try:
        descriptor = os.open(beside + noted.name, _TARGET)
    except OSError:
        return  # gone, or no longer to be written: there is nothing to finish
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_ino != noted.inode:
            return  # another file of that name: a rewrite put it there
        if _missing_at(descriptor, noted):
            time.sleep(_SETTLED_S)
            append_whole(descriptor, _missing_at(descriptor, noted))
    except OSError as error:
        raise StoreIOError(Path(beside + noted.name), "append to", error.strerror or str(error)) from error
    finally:
        os.close(descriptor)


def _missing_at(descriptor: int, noted: Noted) -> bytes:
    behind_bytes = os.fstat(descriptor).st_size - noted.offset_bytes
    if behind_bytes > len(noted.data) + _QUICKER_BYTES:
        return b""  # others have long gone on behind it
    return missing_part(noted, _read(descriptor, max(noted.offset_bytes - 1, 0)))


def _read(descriptor: int, offset_bytes: int) -> bytes:
    pieces = []
    while piece := os.pread(descriptor, 1 << 20, offset_bytes):
        pieces.append(piece)
        offset_bytes += len(piece)
    return b"".join(pieces)
