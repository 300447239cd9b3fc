"""Writes an imported session's file: whole, by a name that appears at once, or not at all.

The records go to a temporary file while the source is read; when its end is known, so is the header, and the file is
put together, made durable and linked to its name. A link never replaces what stands there. What a killed import left
behind has a name of its own, is no transcript to any reader, and is removed by the next import. Knows no source.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from persist.aster.places import SESSIONS
from persist.aster.writer import wire_line
from persist.errors import RefusedError, StoreIOError
from persist.files import LOCK_NAME, locked, make_private_folder
from persist.files.atomic import TEMPORARY_PREFIX
from persist.files.folders import PRIVATE_FILE, flush_folder
from persist.sources import Record

IMPORT_LOCK: Final = ".import.lock"
LEFTOVER_PREFIX: Final = f"{TEMPORARY_PREFIX}import-"
_WAIT_S: Final = 30.0
_COPY_BYTES: Final = 1024 * 1024


@contextmanager
def import_lock(home: Path) -> Iterator[None]:
    """Keep other imports into ``home`` away for the block, and remove what a killed one left.

    Raises ``BusyError`` after half a minute, ``StoreIOError``.
    """
    folder = home / SESSIONS
    with locked(folder / IMPORT_LOCK, _WAIT_S):
        for leftover in folder.glob(f"{LEFTOVER_PREFIX}*"):
            leftover.unlink(missing_ok=True)
        yield


class Draft:
    """A session that is being written; ``add`` its records, then ``place`` it. A context manager that leaves nothing.

    Every method raises ``StoreIOError`` where the disk refuses, and ``RefusedError`` for a record over 64 MB.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._paths: list[Path] = []
        self._body = self._new()

    def __enter__(self) -> Draft:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # what did not reach a full disk is not wanted any more
            self._body.close()
        for path in self._paths:
            path.unlink(missing_ok=True)

    def add(self, records: Iterable[dict[str, Record]]) -> int:
        """Write records behind those before; return how many. What the iterable raises is passed on as it is."""
        count = 0
        for record in records:
            line = wire_line(record)
            with _writing(self._paths[0]):
                self._body.write(line + b"\n")
            count += 1
        return count

    def place(self, target: Path, header: dict[str, Record]) -> None:
        """Put the session together at ``target``, in its project's folder: its bytes are on disk before its name is.

        Raises ``RefusedError`` when a file of that name is there, and ``BusyError``.
        """
        line = wire_line(header)
        with closing(self._new()) as whole, _writing(self._paths[-1]):
            self._put_together(whole, line)
        make_private_folder(target.parent)
        with locked(target.with_name(LOCK_NAME)):
            try:
                with _writing(target):
                    _link(self._paths[-1], target)
            except StoreIOError as error:
                if isinstance(error.__cause__, FileExistsError):
                    raise RefusedError(f"session {target.stem} exists already", "delete it to import it anew") from None
                raise

    def _new(self) -> BinaryIO:
        folder = self._home / SESSIONS
        path = folder / f"{LEFTOVER_PREFIX}{secrets.token_hex(8)}"
        make_private_folder(folder)
        with _writing(path):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE)
        self._paths.append(path)
        return open(descriptor, "w+b")  # noqa: PTH123 - a descriptor, not a path

    def _put_together(self, whole: BinaryIO, header: bytes) -> None:
        whole.write(header + b"\n")
        self._body.seek(0)
        shutil.copyfileobj(self._body, whole, _COPY_BYTES)
        whole.flush()
        os.fsync(whole.fileno())


def make_durable(folders: Iterable[Path]) -> None:
    """Wait until the names placed in these folders are on disk. Raises ``StoreIOError``."""
    for folder in folders:
        with _writing(folder):
            flush_folder(folder)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreIOError(path, "write", error.strerror or str(error)) from error


def _link(temporary: Path, target: Path) -> None:
    """Give a file its name, never in the place of another."""
    try:
        target.hardlink_to(temporary)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: the folder's lock keeps our own writers away
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        temporary.rename(target)
