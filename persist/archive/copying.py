"""Makes, grows, closes and compresses the copy of one original.

I/O on the original, which is only read, and on one folder of the archive; the caller holds the archive's lock. A copy
appears whole, under a temporary name until then, and grows by appending: whenever it is looked at, it is a beginning
of its original or all of it. Bytes are copied, never lines: a torn last line is completed by the next copying.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import IO, BinaryIO, Final, NamedTuple

from persist.archive.names import CopyName, copies_by_name
from persist.compressed import is_compressed, plain
from persist.errors import StoreIOError
from persist.files.folders import flush_folder, make_private_folder
from persist.files.temporary import sweep, temporary_file
from persist.fingerprint import edges, stat_of
from persist.regular import open_regular
from persist.sources import Stat

_PIECE_BYTES: Final = 1024 * 1024
_LEVEL: Final = 6
"""Twice as fast as 9 and within a few hundredths of its size on transcripts."""
_MANY: Final = 100


class Copied(NamedTuple):
    """What copying came to: the original's fingerprint that the copy answers to (null where it must be looked at
    again), bytes written, and whether another copy was closed for it."""

    stat: Stat | None
    written_bytes: int
    closed_another: bool = False


class _OriginalChangedError(Exception):
    """The original was rewritten while it was read."""


def bring_up_to_date(
    path: str, folder: Path, known: Stat | None, scratch: Path, *, compare_all: bool = False
) -> Copied:
    """Make the copy of ``path`` in ``folder`` hold what the original holds now.

    ``scratch`` is a folder of the same file system, where a copy lies until it is whole (``remove_leftovers``).
    ``known`` is the fingerprint that the copy answers to. A grown original (same inode, both edges as they were) is
    read from the copy's end on; anything else, and everything with ``compare_all``, is compared whole, and what is no
    longer a beginning of the original is closed as ``NAME~N``. Raises ``OSError`` where the original cannot be read,
    ``StoreIOError`` where the copy cannot be written: it is then what it was, or a longer beginning. Cost: the bytes
    added; memory is a piece.
    """
    name = path.rpartition("/")[2]
    copy = folder / name
    _refuse_link_out(folder, scratch)
    with open_regular(path, 0) as original:
        now = stat_of(os.fstat(original.fileno()))
        original.read(1)  # what cannot be read must fail before any copy is closed for it
        size_bytes = _size_of(copy)
        try:
            if size_bytes is None:
                return Copied(now, _write_whole(original, copy, now, None, scratch))
            if _goes_on(original, copy, size_bytes, known, now, compare_all=compare_all):
                return Copied(now, _append(original, copy, size_bytes, now))
            written = _write_whole(original, copy, now, _next_closed(folder, name), scratch)
            return Copied(now, written, closed_another=True)
        except _OriginalChangedError:
            return Copied(None, 0)


def close_gone(folder: Path, name: str, scratch: Path) -> Path | None:
    """Compress the living copy of an original that is gone to a closed one, which keeps its time, and return that.

    The living one is left to ``remove_closed``, once the closed one is on the disk (``make_durable``). One that is
    compressed already only gets its name: then, and where there is none, there is nothing to remove, and the result is
    null. Raises ``StoreIOError``; the copy is then as it was.
    """
    copy = folder / name
    _refuse_link_out(folder, scratch)
    if not os.path.lexists(copy):
        return None
    with _telling(copy, "close"):
        closed = _closed_copies(folder, name)
        target = folder / CopyName(name, closed[-1].number + 1 if closed else 1, True).file_name
        if is_compressed(name):
            copy.rename(target)
            return None
        last = folder / closed[-1].file_name if closed and closed[-1].is_compressed else None
        if last is not None and _holds_the_same(last, copy):  # a run that was killed here left both
            return last
        _compress(copy, target, scratch)
        return target


def remove_closed(copy: Path) -> None:
    """Remove a living copy whose closed form is on the disk. Raises ``StoreIOError``."""
    with _telling(copy, "remove"):
        copy.unlink(missing_ok=True)


def remove_leftovers(scratch: Path) -> None:
    """Remove what copying that was killed left behind; the caller holds the archive's lock.

    Raises ``StoreIOError`` where the folder is a link that leaves the archive: nothing behind it is a copy of ours.
    """
    _refuse_link_out(scratch, scratch.parent)
    sweep(scratch)


def make_durable(copies: Sequence[Path]) -> None:
    """Wait until copies are on the disk: one by one where they are few, else all that the system has in hand."""
    if len(copies) > _MANY:
        os.sync()
        return
    for copy in copies:
        with _telling(copy, "write"), open_regular(copy, 0) as file:
            os.fsync(file.fileno())
            flush_folder(copy.parent)


def begins_with(path: str, copy: Path) -> bool:
    """Tell whether the file at ``path`` begins with all that a copy holds. Raises ``OSError``. Cost: the copy."""
    with open_regular(path, 0) as original, open_regular(copy, 0) as kept:
        return _is_beginning(original, kept, os.fstat(kept.fileno()).st_size)


def _goes_on(
    original: BinaryIO, copy: Path, size_bytes: int, known: Stat | None, now: Stat, *, compare_all: bool
) -> bool:
    """Tell whether the copy is a beginning of the original."""
    if size_bytes > now.size_bytes:
        return False
    grown = known is not None and known.inode == now.inode and known.size_bytes < now.size_bytes
    with _telling(copy, "read"), open_regular(copy, 0) as kept:
        if grown and not compare_all:
            return edges(original, size_bytes) == edges(kept, size_bytes)
        return _is_beginning(original, kept, size_bytes)


def _is_beginning(original: IO[bytes], kept: IO[bytes], size_bytes: int) -> bool:
    original.seek(0)
    kept.seek(0)
    left = size_bytes
    while left:
        wanted = min(_PIECE_BYTES, left)
        piece = _read(kept, wanted)
        if not piece or _read(original, len(piece)) != piece:
            return False
        left -= len(piece)
    return True


def _append(original: BinaryIO, copy: Path, from_bytes: int, now: Stat) -> int:
    """Append what the original has beyond the copy; take it back where the original changed meanwhile."""
    original.seek(from_bytes)
    with _telling(copy, "append to"):
        descriptor = os.open(copy, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            written = _pour(original, descriptor, now.size_bytes - from_bytes) if now.size_bytes > from_bytes else 0
            if _was_rewritten(original, descriptor, from_bytes, now):
                os.ftruncate(descriptor, from_bytes)
                raise _OriginalChangedError
            os.utime(descriptor, ns=(now.mtime_ns, now.mtime_ns))
        finally:
            os.close(descriptor)
    return written


def _was_rewritten(original: BinaryIO, descriptor: int, from_bytes: int, now: Stat) -> bool:
    """Tell whether what was read while copying may be of another content than what the copy had before."""
    if os.fstat(descriptor).st_size != now.size_bytes:
        return True  # it shrank under our hands
    if stat_of(os.fstat(original.fileno())) == now:
        return False
    with open(os.dup(descriptor), "rb", buffering=0) as kept:  # noqa: PTH123 - a descriptor, not a path
        return edges(original, from_bytes) != edges(kept, from_bytes) or edges(original, now.size_bytes) != edges(
            kept, now.size_bytes
        )


def _write_whole(original: BinaryIO, copy: Path, now: Stat, close_as: CopyName | None, scratch: Path) -> int:
    """Copy the original to a new file and put that in place; what lay there gets the name ``close_as`` first."""
    make_private_folder(copy.parent)
    original.seek(0)
    with _telling(copy, "write"), temporary_file(scratch) as (descriptor, temporary):
        written = _pour(original, descriptor, now.size_bytes)
        if _was_rewritten(original, descriptor, min(written, now.size_bytes), now):
            raise _OriginalChangedError
        os.utime(descriptor, ns=(now.mtime_ns, now.mtime_ns))
        if close_as is not None:
            copy.rename(copy.with_name(close_as.file_name))
        temporary.rename(copy)
    return written


def _compress(copy: Path, target: Path, scratch: Path) -> None:
    zstandard = _zstandard()
    with open_regular(copy, 0) as kept, temporary_file(scratch) as (descriptor, temporary):
        status = os.fstat(kept.fileno())
        compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
        with open(os.dup(descriptor), "wb") as file:  # noqa: PTH123 - a descriptor, not a path
            compressor.copy_stream(kept, file, size=status.st_size)
        os.utime(descriptor, ns=(status.st_mtime_ns, status.st_mtime_ns))
        temporary.rename(target)


def _refuse_link_out(folder: Path, base: Path) -> None:
    """Raise ``StoreIOError`` where a folder of copies leads out of ``base`` once links are followed."""
    real_base = os.path.realpath(base)
    real = os.path.realpath(folder)
    if real != real_base and not real.startswith(real_base + os.sep):
        raise StoreIOError(folder, "write to", f"it is a link that leaves the archive, to {real}")


@contextmanager
def _telling(path: Path, doing: str) -> Iterator[None]:
    try:
        yield
    except _ReadingError as error:
        raise error.cause from None
    except OSError as error:
        failed = StoreIOError(path, doing, error.strerror or type(error).__name__)
        raise failed from error


class _ReadingError(Exception):
    """Reading the original failed: no fault of the archive."""

    def __init__(self, cause: OSError) -> None:
        self.cause = cause
        super().__init__()


def _pour(original: BinaryIO, descriptor: int, size_bytes: int) -> int:
    """Copy up to so many bytes from where the original is; fewer where it ends before."""
    left = size_bytes
    while left:
        try:
            piece = original.read(min(_PIECE_BYTES, left))
        except OSError as error:
            raise _ReadingError(error) from error
        if not piece:
            break
        rest = memoryview(piece)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        left -= len(piece)
    return size_bytes - left


def _read(file: IO[bytes], size_bytes: int) -> bytes:
    """Return exactly so many bytes, fewer only at the end."""
    pieces = []
    while size_bytes:
        piece = file.read(size_bytes)
        if not piece:
            break
        pieces.append(piece)
        size_bytes -= len(piece)
    return b"".join(pieces)


def _size_of(copy: Path) -> int | None:
    try:
        return copy.lstat().st_size
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return None  # making the folder tells
    except OSError as error:
        raise StoreIOError(copy, "look at", error.strerror or type(error).__name__) from error


def _closed_copies(folder: Path, name: str) -> list[CopyName]:
    copies = copies_by_name(os.listdir(folder)).get(name, [])  # noqa: PTH208 - names alone are wanted
    return [copy for copy in copies if copy.number]


def _next_closed(folder: Path, name: str) -> CopyName:
    closed = _closed_copies(folder, name)
    return CopyName(name, closed[-1].number + 1 if closed else 1, False)


def _holds_the_same(compressed: Path, copy: Path) -> bool:
    with open_regular(compressed, 0) as packed, open_regular(copy, 0) as kept:
        unpacked = plain(compressed, packed)
        return _is_beginning(unpacked, kept, os.fstat(kept.fileno()).st_size) and not unpacked.read(1)


def _zstandard() -> ModuleType:
    try:
        return importlib.import_module("zstandard")
    except ImportError as error:
        raise OSError(0, "compressing it needs the Python package zstandard, which is not installed") from error
