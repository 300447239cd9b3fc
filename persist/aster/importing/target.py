"""Writes an imported session's file: whole, by a name that appears at once, or not at all.

The records go to a temporary file while the source is read; when its end is known, so is the header, and the file is
put together, made durable and linked to its name. A link never replaces what stands there. What a killed import left
behind has a name of its own, is no transcript to any reader, and is swept away by whoever next holds a lock of the
folder. Knows no source.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from persist.aster.places import SESSIONS
from persist.aster.writer import wire_line
from persist.errors import RefusedError, StoreIOError
from persist.files import LOCK_NAME, locked, make_private_folder
from persist.files.create import give_name
from persist.files.folders import flush_folder
from persist.files.remove import refuse_outside
from persist.files.temporary import TEMPORARY_PREFIX, temporary_file
from persist.sources import Record

IMPORT_LOCK: Final = ".import.lock"
_KIND: Final = "import-"
LEFTOVER_PREFIX: Final = f"{TEMPORARY_PREFIX}{_KIND}"
_WAIT_S: Final = 30.0
_COPY_BYTES: Final = 1024 * 1024


@contextmanager
def import_lock(home: Path) -> Iterator[None]:
    """Keep other imports into ``home`` away for the block.

    Raises ``BusyError`` after half a minute, ``StoreIOError``.
    """
    with locked(home / SESSIONS / IMPORT_LOCK, _WAIT_S):
        yield


class Draft:
    """A session that is being written; ``add`` its records, then ``place`` it. A context manager that leaves nothing.

    Every method raises ``StoreIOError`` where the disk refuses, and ``RefusedError`` for a record over 64 MB.
    """

    def __init__(self, home: Path) -> None:
        self._folder = home / SESSIONS
        self._files = ExitStack()
        self._body, self._path = self._new()

    def __enter__(self) -> Draft:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # what did not reach a full disk is not wanted any more
            self._body.close()
        self._files.close()

    def add(self, records: Iterable[dict[str, Record]]) -> int:
        """Write records behind those before; return how many. What the iterable raises is passed on as it is."""
        count = 0
        for record in records:
            line = wire_line(record)
            with _writing(self._path):
                self._body.write(line + b"\n")
            count += 1
        return count

    def place(self, target: Path, header: dict[str, Record]) -> None:
        """Put the session together at ``target``, in its project's folder: its bytes are on disk before its name is.

        Raises ``RefusedError`` when a file of that name is there or the folder leads out of the store, and
        ``BusyError``.
        """
        line = wire_line(header)
        file, path = self._new()
        with closing(file) as whole, _writing(path):
            self._put_together(whole, line)
        refuse_outside(target, self._folder)
        make_private_folder(target.parent)
        with locked(target.with_name(LOCK_NAME)):
            try:
                with _writing(target):
                    give_name(path, target)
            except StoreIOError as error:
                if isinstance(error.__cause__, FileExistsError):
                    raise RefusedError(f"session {target.stem} exists already", "delete it to import it anew") from None
                raise

    def _new(self) -> tuple[BinaryIO, Path]:
        make_private_folder(self._folder)
        with _writing(self._folder):
            descriptor, path = self._files.enter_context(temporary_file(self._folder, _KIND))
            return open(os.dup(descriptor), "w+b"), path  # noqa: PTH123 - a descriptor, not a path

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
