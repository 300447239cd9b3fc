"""Reads a journal that goes on growing: once whole, then only what was added since. Holds one line; writes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from persist.errors import StoreIOError
from persist.lines import iter_lines
from persist.memory.journal import JOURNAL_FILE, Operation, operations_of
from persist.regular import open_regular


class JournalTail:
    """A place in a memory folder's journal: behind the last whole line that was read.

    ``replaced`` is true once the file was found to be another one, or shorter than what was read of it: what was read
    before is then nothing to go by.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / JOURNAL_FILE
        self._offset = 0
        self._inode: int | None = None
        self.replaced = False

    def read(self) -> Iterator[Operation]:
        """Yield the operations behind the place and move it; a last line without newline is read again next time.

        A missing journal has none. Raises ``StoreIOError`` where it cannot be read.
        """
        try:
            with open_regular(self._path) as file:
                found = os.fstat(file.fileno())
                if self._inode is not None and (found.st_ino != self._inode or found.st_size < self._offset):
                    self.replaced = True
                    self._offset = 0
                self._inode = found.st_ino
                for line in iter_lines(file, self._offset):
                    if line.terminated:
                        self._offset = line.offset_bytes + line.length_bytes + 1
                    yield from operations_of(line.data)
        except FileNotFoundError:
            self.replaced = self.replaced or self._inode is not None
        except OSError as error:
            raise StoreIOError(self._path, "read", error.strerror or str(error)) from error
