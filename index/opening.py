"""Looks at what lies at the index's path and opens it, for reading or writing, with plain ``sqlite3``.

Never imports SQLAlchemy, Alembic, pydantic or ulid: search, recall and query pass through here. What a file is, is
told by its first 100 bytes (https://www.sqlite.org/fileformat2.html, "The Database Header"), before SQLite sees it.
"""

from __future__ import annotations

import sqlite3
import stat
import unicodedata
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from index.errors import AsterIndexError, IndexNewerError, IndexUnusableError, NoIndexError
from index.match.key import FOLD_VERSION
from index.sqlite_errors import (
    BUSY_CODES,
    BUSY_TIMEOUT_MS,
    DAMAGED_CODES,
    REBUILD,
    UNREADABLE_CODES,
    busy,
    primary_code,
    unusable,
)
from migrations import APPLICATION_ID, GENERATION
from persist.recall import WORDS_VERSION
from persist.regular import read_regular

PROJECTION_VERSION: Final = 5
"""Raised whenever the same bytes give other rows; a golden test of projected rows fails until it is."""
SIDE_FILES: Final = ("-wal", "-shm", "-journal")
"""What SQLite may put beside a database, by the end of its name."""
_MAGIC: Final = b"SQLite format 3\0"
_SHARED_BLOCK_BYTES: Final = 32 * 1024
"""``-shm`` grows by so much (https://www.sqlite.org/walformat.html, "WAL-Index File Format")."""
_FIRST_CODES: Final = frozenset({sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_SHMSIZE})
"""Only the first connection to a database cuts ``-shm`` and makes it grow again, under a lock on it."""


class Finding(Enum):
    """What lies at the index's path."""

    MISSING = "missing"
    EMPTY = "empty"
    OURS = "ours"
    FOREIGN = "foreign"
    NOT_A_DATABASE = "not a database"
    DIRECTORY = "a directory"
    NOT_A_FILE = "not a file"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Header:
    """What the first 100 bytes tell; ``generation`` and ``page_size_bytes`` only of a database that is ours."""

    finding: Finding
    generation: int = 0
    page_size_bytes: int = 0
    reason: str = ""


def read_header(path: Path) -> Header:
    """Tell what lies at ``path`` without opening it as a database. Never raises for what it finds."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return Header(Finding.DIRECTORY)
        if not stat.S_ISREG(mode):
            return Header(Finding.NOT_A_FILE)
        first = read_regular(path, 100)
    except FileNotFoundError:
        return Header(Finding.MISSING)
    except OSError as error:
        return Header(Finding.UNREADABLE, reason=error.strerror or "unreadable")
    if not first:
        return Header(Finding.EMPTY)
    if len(first) < 100 or not first.startswith(_MAGIC):
        return Header(Finding.NOT_A_DATABASE)
    if int.from_bytes(first[68:72], "big") != APPLICATION_ID:
        return Header(Finding.FOREIGN)
    page_size = int.from_bytes(first[16:18], "big")
    return Header(Finding.OURS, int.from_bytes(first[60:64], "big"), 65536 if page_size == 1 else page_size)


def refuse_others(path: Path, *, keeps_aside: bool) -> None:
    """Raise ``IndexUnusableError`` when what lies at ``path`` is not ours to write, before anything appears beside it.

    ``keeps_aside`` lets a file pass that is no database at all: a rebuild moves it aside.
    """
    header = read_header(path)
    if header.finding in (Finding.MISSING, Finding.EMPTY, Finding.OURS):
        return
    if not (keeps_aside and header.finding is Finding.NOT_A_DATABASE):
        _refuse_unready(path, header)


def open_reader(path: Path, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> sqlite3.Connection:
    """Open the index for reading; reading adds no file and changes no byte.

    Raises ``NoIndexError`` when there is none, ``IndexNewerError`` when a newer program made it, ``IndexBusyError``
    when another connection holds it for ``busy_timeout_ms``, and ``IndexUnusableError`` with the cure for anything
    else that cannot answer. The connection keeps that timeout. An index of another projection still answers;
    ``is_current`` tells.
    """
    header = read_header(path)
    _refuse_unready(path, header)
    try:
        connection = _connect_reading(path, busy_timeout_ms)
    except sqlite3.DatabaseError as error:
        raise _told(path, error, busy_timeout_ms) from error
    try:
        generation = connection.execute("PRAGMA user_version").fetchone()[0]
        unicode_version = _meta(connection).get("unicode_version")
    except sqlite3.DatabaseError as error:
        connection.close()
        raise _told(path, error, busy_timeout_ms) from error
    if generation > GENERATION:
        connection.close()
        raise IndexNewerError(path, generation, GENERATION)
    if generation < GENERATION:
        connection.close()
        raise IndexUnusableError(path, "was made by an older version", REBUILD)
    if unicode_version != unicodedata.unidata_version:
        connection.close()
        raise IndexUnusableError(path, "was made with another Unicode version", REBUILD)
    return connection


def open_writer(path: Path) -> sqlite3.Connection:
    """Open an index that is known to be ours and current, for writing; the caller holds the lock.

    Autocommit: transactions are explicit. Raises ``sqlite3.Error`` as SQLite reports it.
    """
    connection = sqlite3.connect(path, isolation_level=None, timeout=BUSY_TIMEOUT_MS / 1000)
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("PRAGMA synchronous = normal")
    connection.execute("PRAGMA secure_delete = off")
    connection.execute(f"PRAGMA journal_size_limit = {16 * 1024 * 1024}")
    return connection


def leave_for_readers(path: Path) -> None:
    """Read once after the last writer closed, so that later readers find ``-wal`` and ``-shm`` as they leave them.

    The first connection to a WAL database rewrites ``-shm`` (https://www.sqlite.org/walformat.html, "The WAL-Index");
    done here, a reading command on an unchanged index changes not one byte.
    """
    connection = _connect_reading(path, BUSY_TIMEOUT_MS)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    finally:
        connection.close()


def read_only_uri(path: Path) -> str:
    """Return the name under which SQLite opens a file for reading only (https://www.sqlite.org/uri.html)."""
    quoted = str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file:{quoted}?mode=ro"


def remove_database(path: Path) -> None:
    """Remove a database and what lies beside it; what is not there is no error. Raises ``OSError``."""
    for suffix in ("", *SIDE_FILES):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def is_current(connection: sqlite3.Connection, projection: str) -> bool:
    """Tell whether the rows were made by this version of the parsers, with these limits."""
    return _meta(connection).get("projection") == projection


def projection_of(parser_versions: dict[str, int], limits: tuple[int, ...]) -> str:
    """Return the text that names how rows are made: another text means other rows from the same bytes."""
    agents = ",".join(f"{name}={version}" for name, version in sorted(parser_versions.items()))
    return f"{PROJECTION_VERSION};{FOLD_VERSION};{WORDS_VERSION};{'/'.join(map(str, limits))};{agents}"


def _meta(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT key, value FROM meta").fetchall())


def _refuse_unready(path: Path, header: Header) -> None:
    match header.finding:
        case Finding.MISSING | Finding.EMPTY:
            raise NoIndexError(path)
        case Finding.DIRECTORY:
            raise IndexUnusableError(path, "is a directory", "give another --index, or move it away")
        case Finding.NOT_A_FILE:
            raise IndexUnusableError(path, "is a device, a pipe or a socket", "give another --index")
        case Finding.FOREIGN:
            raise IndexUnusableError(path, "is another program's database", "give another --index, or move it away")
        case Finding.NOT_A_DATABASE:
            raise IndexUnusableError(path, "is not a database", "run: asx rebuild (the file is kept aside)")
        case Finding.UNREADABLE:
            raise IndexUnusableError(path, f"cannot be read ({header.reason})", "check its permissions")
        case Finding.OURS:
            if header.generation > GENERATION:
                raise IndexNewerError(path, header.generation, GENERATION)


def _told(path: Path, error: sqlite3.DatabaseError, busy_timeout_ms: int) -> AsterIndexError:
    return busy(path, busy_timeout_ms) if primary_code(error) in BUSY_CODES else unusable(path, error)


def _connect_reading(path: Path, busy_timeout_ms: int) -> sqlite3.Connection:
    """Open read-only and read once, which opens ``-wal`` and ``-shm``; raises ``sqlite3.DatabaseError``.

    Where they cannot be made (a read-only folder, a full disk) and the file alone is the index, opens it as immutable
    (DESIGN 7): SQLite then looks at nothing beside it and takes no lock.
    """
    try:
        return _connect(read_only_uri(path), busy_timeout_ms)
    except sqlite3.DatabaseError as error:
        if primary_code(error) not in UNREADABLE_CODES - DAMAGED_CODES or not _is_alone(path, error):
            raise
    return _connect(f"{read_only_uri(path)}&immutable=1", busy_timeout_ms)


def _connect(uri: str, busy_timeout_ms: int) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=busy_timeout_ms / 1000)
    try:
        connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


def _is_alone(path: Path, error: sqlite3.DatabaseError) -> bool:
    """Return whether the file holds all of the index, and no connection that writes it has ``-wal`` and ``-shm`` open.

    One that does has made both and given ``-shm`` its first block; a full disk leaves a few bytes of it at most. An
    older ``-shm`` may lie there with its size: then ``_FIRST_CODES`` tell that nobody has it open.
    """
    log_bytes, shared_bytes = (_size_bytes(path.with_name(path.name + suffix)) for suffix in ("-wal", "-shm"))
    if log_bytes:
        return False
    return log_bytes is None or (shared_bytes or 0) < _SHARED_BLOCK_BYTES or error.sqlite_errorcode in _FIRST_CODES


def _size_bytes(path: Path) -> int | None:
    """Return a file's size, null where there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None
