"""Opens another agent's SQLite database to read from it, so that nothing appears beside it and nothing in it changes.

Python's ``sqlite3``; no external program. As DESIGN 8 says: ``immutable=1`` when no ``-wal`` lies beside it,
``mode=ro`` when ``-wal`` and ``-shm`` both do, else (also beside a journal that is to be rolled back) from a private
copy. An immutable database is read without locks: whether it stood still meanwhile is asked afterwards.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from persist.regular import open_regular

MAX_CELL_BYTES: Final = 64 * 1024 * 1024
"""A larger value is not read: the limit of a line (DESIGN law 6)."""
_JOURNAL_MAGIC: Final = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
"""Begins a journal that is to be rolled back (https://www.sqlite.org/fileformat2.html, "The Rollback Journal")."""
_BUSY_TIMEOUT_S: Final = 2.0
_COPY_ATTEMPTS: Final = 3
_BESIDE: Final = ("", "-wal", "-journal")

Row = tuple[Any, ...]
_Seen = tuple[tuple[int, int, int] | None, ...]


class ForeignDatabase:
    """An open database of another agent. Made by :meth:`ForeignFile.open`.

    Texts that are not UTF-8 are read with U+FFFD in place of what is wrong.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, seen: _Seen | None) -> None:
        self.path = path
        self._connection = connection
        self._seen = seen

    def rows(self, statement: str, values: Sequence[object] = ()) -> Iterator[Row]:
        """Yield a statement's rows as they come. Raises ``sqlite3.Error``."""
        with closing(self._connection.cursor()) as cursor:
            yield from cursor.execute(statement, tuple(values))

    def columns(self, table: str) -> frozenset[str]:
        """Return a table's column names; none where there is no such table. Raises ``sqlite3.Error``."""
        return frozenset(name for (name,) in self.rows("SELECT name FROM pragma_table_info(?)", (table,)))

    def stood_still(self) -> bool:
        """Whether what was read is of one moment: nobody wrote to a database that was read without locks."""
        return self._seen is None or self._seen == _look(self.path)


class ForeignFile:
    """The file of another agent's database, opened as often as is asked. Made by :func:`foreign_file`.

    Where it must be read from a private copy, one copy serves every opening.
    """

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self.path = path
        self._stack = stack
        self._copy: Path | None = None

    @contextmanager
    def open(self) -> Iterator[ForeignDatabase]:
        """Open the database for the block, in one read transaction.

        Raises ``OSError`` (``FileNotFoundError`` where there is none) and ``sqlite3.Error``. Cost of a private copy,
        once: the size of the database.
        """
        with open_regular(self.path):
            pass  # a pipe or a folder of that name must not reach SQLite
        uri, seen = self._uri()
        with closing(_connect(uri)) as connection:
            connection.execute("BEGIN")
            yield ForeignDatabase(self.path, connection, seen)

    def _uri(self) -> tuple[str, _Seen | None]:
        """Return how to open it, and what it and its neighbours look like where it is read without locks."""
        path = self.path
        has_wal, has_shm = _exists(path, "-wal"), _exists(path, "-shm")
        if has_wal and has_shm:
            return f"file:{quote(str(path))}?mode=ro", None
        if has_wal or _is_to_be_rolled_back(path):
            if self._copy is None:
                folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="aster-index-"))
                self._copy = _copy(path, Path(folder))
            return f"file:{quote(str(self._copy))}", None
        return f"file:{quote(str(path))}?mode=ro&immutable=1", _look(path)


@contextmanager
def foreign_file(path: Path) -> Iterator[ForeignFile]:
    """Give the database at ``path`` for the block, at whose end a private copy is removed; opens nothing yet."""
    with ExitStack() as stack:
        yield ForeignFile(path, stack)


@contextmanager
def open_foreign(path: Path) -> Iterator[ForeignDatabase]:
    """Open the database at ``path`` once for the block; see :meth:`ForeignFile.open`."""
    with foreign_file(path) as file, file.open() as database:
        yield database


def _connect(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
    try:
        connection.text_factory = _text
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
    except BaseException:
        connection.close()
        raise
    return connection


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _exists(path: Path, suffix: str) -> bool:
    return os.path.lexists(f"{path}{suffix}")


def _look(path: Path) -> _Seen:
    """Return size and times of a database and of what may lie beside it."""
    seen: list[tuple[int, int, int] | None] = []
    for suffix in _BESIDE:
        try:
            found = Path(f"{path}{suffix}").stat()
        except FileNotFoundError:
            seen.append(None)
        else:
            seen.append((found.st_size, found.st_mtime_ns, found.st_ino))
    return tuple(seen)


def _is_to_be_rolled_back(path: Path) -> bool:
    try:
        with open_regular(f"{path}-journal") as journal:
            return journal.read(len(_JOURNAL_MAGIC)) == _JOURNAL_MAGIC
    except FileNotFoundError:
        return False


def _copy(path: Path, folder: Path) -> Path:
    """Copy a database and its log or journal into a private folder; again, if it was written to meanwhile."""
    copy = folder / "copy.sqlite"
    for _ in range(_COPY_ATTEMPTS):
        before = _look(path)
        for suffix, there in zip(_BESIDE, before, strict=True):
            target = Path(f"{copy}{suffix}")
            target.unlink(missing_ok=True)
            if there is None:
                continue
            try:
                with open_regular(f"{path}{suffix}") as source, target.open("xb") as into:
                    shutil.copyfileobj(source, into, 1024 * 1024)
            except FileNotFoundError:
                if not suffix:
                    raise
        if before == _look(path):
            return copy
    raise OSError(0, "it is being written to; try again shortly", str(path))
