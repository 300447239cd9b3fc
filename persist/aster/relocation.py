r"""Moves a session to another folder: its header says the new one, its file goes to that project's (DESIGN 12).

The one operation that replaces a header (DESIGN law 1). Two renames: the rewritten file takes the old one's place, then
moves to the new project's folder; at every moment there is one whole file, and a second run ends what a killed one
began. Everything behind the header stays byte for byte.

What a writer that knows nothing of our lock (Aster) appends meanwhile: the first rename gives the file a new inode, and
who has the old one open would go on into a file without a name. So a session that a program has open for writing is
refused (``persist.files.in_use``), the lease makes a program that opens it during the swap wait, and afterwards the old
file, kept by a second name, is looked at again: if it grew or was opened, it is put back and nothing has happened. The
second rename keeps the inode and loses nothing. Where the system knows no leases, a session is refused that changed in
the last seconds, and what a program that had it open all along and was silent appends later is lost.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from persist.agents.aster.shapes import SUPPORTED_VERSION, format_version
from persist.aster.places import SUFFIX, find_in_folder, project_folder
from persist.errors import BusyError, NotFoundError, RefusedError, StoreIOError
from persist.files import LOCK_NAME, locked, make_private_folder
from persist.files.folders import PRIVATE_FILE, flush_folder
from persist.files.in_use import QUIET_S, is_waited_for, lease
from persist.files.remove import LEFTOVER_PREFIX, refuse_outside, remove_leftovers
from persist.lines import decode_line, encode, iter_lines
from persist.projects import project_of
from persist.regular import open_regular

_BLOCK_BYTES: Final = 1024 * 1024
_TRIES: Final = 5


class InUseError(BusyError):
    """Another program writes the session at ``path`` now, so that its file must not be replaced; ``why`` tells how."""

    def __init__(self, path: Path, why: str) -> None:
        self.path = path
        self.timeout_s = 0
        Exception.__init__(self, f"{path} {why}; end the session in the other program and try again")


class _Head(NamedTuple):
    """The header's line in a file: its bytes from ``start`` to ``end``, without its line end, and its record."""

    start: int
    end: int
    record: dict[str, Any]


def new_place(path: Path, home: Path, cwd: str) -> tuple[Path, str]:
    """Return where a session's file belongs whose folder is ``cwd``, and the project it is then of."""
    root = project_of(cwd)
    return project_folder(home, root) / path.name, root


def relocate_file(path: Path, home: Path, cwd: str) -> Path:
    """Make ``cwd`` (absolute) the folder of the session in ``path``, and return where its file stands now.

    Does what is left to do: a file whose header says so already is only moved. Raises ``RefusedError`` where there is
    no header of a line of its own, where it is of a newer version, where the new place is taken or leads out of the
    store; ``InUseError`` where another program writes the session; ``NotFoundError``, ``BusyError``, ``StoreIOError``.
    The old file or the new one is there whole whatever happens.
    """
    target, root = new_place(path, home, cwd)
    refuse_outside(path, home)
    if path.is_symlink():
        raise RefusedError(f"{path} is a link", "relocate the file where it lies, or replace the link by it")
    _refuse_headerless(path, cwd, root)
    make_private_folder(target.parent)
    refuse_outside(target, home)
    with ExitStack() as locks:
        for folder in sorted({path.parent, target.parent}):
            locks.enter_context(locked(folder / LOCK_NAME))
        remove_leftovers(path.parent)
        _refuse_taken(path, target)
        try:
            _rewrite(path, cwd, root)
            if target != path:
                path.rename(target)
                flush_folder(target.parent)
        except FileNotFoundError:
            raise NotFoundError("file", str(path), "it was deleted or moved meanwhile") from None
        except OSError as error:
            raise StoreIOError(path, "relocate", error.strerror or str(error)) from error
    return target


def _refuse_headerless(path: Path, cwd: str, root: str) -> None:
    """Raise before anything is made what would be raised once the locks are held."""
    try:
        with open_regular(path, 0) as file:
            _new_line(path, _head_of(path, file), cwd, root)
    except FileNotFoundError:
        raise NotFoundError("file", str(path), "it was deleted or moved meanwhile") from None
    except OSError as error:
        raise StoreIOError(path, "read", error.strerror or str(error)) from error


def _refuse_taken(path: Path, target: Path) -> None:
    if target.parent == path.parent:
        return
    taken = find_in_folder(target.parent, target.name.removesuffix(SUFFIX))
    if taken is not None or os.path.lexists(target):
        raise RefusedError(f"{taken or target} is there already", "two sessions of one project cannot share an id")


def _rewrite(path: Path, cwd: str, root: str) -> None:
    """Put the file with its new header in the place of the old one, unless the header says so already."""
    with open_regular(path, 0) as file:
        head = _head_of(path, file)
        line = _new_line(path, head, cwd, root)
        if line is None:
            return
        written = path.parent / f"{LEFTOVER_PREFIX}{secrets.token_hex(8)}"
        kept = written.with_name(f"{written.name}-old")
        try:
            for _ in range(_TRIES):
                copied_bytes = _copy(file, written, head, line)
                if _swap(path, file, written, kept, copied_bytes):
                    break
            else:
                raise InUseError(path, "grows all the time")
            _undo_if_used(path, file, kept, copied_bytes)
            flush_folder(path.parent)
        finally:
            written.unlink(missing_ok=True)
            kept.unlink(missing_ok=True)


def _copy(file: BinaryIO, written: Path, head: _Head, line: bytes) -> int:
    """Write the file with its new header to ``written``, on disk; return the old file's size as far as it was read."""
    size_bytes = os.fstat(file.fileno()).st_size
    descriptor = os.open(written, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, PRIVATE_FILE)
    try:
        _write(descriptor, _read(file, 0, head.start) + line)
        for offset in range(head.end, size_bytes, _BLOCK_BYTES):
            _write(descriptor, _read(file, offset, min(_BLOCK_BYTES, size_bytes - offset)))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
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
            kept.replace(path)
            raise InUseError(path, "is being opened by another program")
    return True


def _undo_if_used(path: Path, file: BinaryIO, kept: Path, copied_bytes: int) -> None:
    """Put the old file back where a program opened it for writing in the moment of the swap, or has written to it."""
    with lease(file.fileno()) as granted:
        if granted is not False and os.fstat(file.fileno()).st_size == copied_bytes:
            return
    kept.replace(path)
    raise InUseError(path, "was opened by another program in this moment")


def _head_of(path: Path, file: BinaryIO) -> _Head:
    for raw in iter_lines(file):
        if raw.oversize:
            continue
        decoded = decode_line(raw.data)
        if not any(isinstance(record, dict) and record.get("type") == "session" for record in decoded.records):
            continue
        if not decoded.is_object:
            raise RefusedError(f"the header of {path} shares its line {raw.number} with damage or another event")
        return _Head(raw.offset_bytes, raw.offset_bytes + len(raw.data.rstrip(b"\r")), decoded.records[0])
    raise RefusedError(f"{path} has no header that says where the session belongs", "there is nothing to relocate")


def _new_line(path: Path, head: _Head, cwd: str, root: str) -> bytes | None:
    version = format_version(head.record)
    if version is None or version > SUPPORTED_VERSION:
        raise RefusedError(
            f"{path} has format version {version or 'that is no number'}",
            f"this program writes version {SUPPORTED_VERSION}; update it",
        )
    if (head.record.get("cwd"), head.record.get("repo_root")) == (cwd, root):
        return None
    record = {**head.record, "cwd": cwd, "repo_root": root}
    return encode(json.dumps(record, ensure_ascii=False, separators=(",", ":")))


def _read(file: BinaryIO, offset: int, length: int) -> bytes:
    return os.pread(file.fileno(), length, offset)


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
