"""Makes an empty index: a private file, the page size fixed for ever, and the migrations in one transaction.

The one module of ``index`` that imports SQLAlchemy and (through ``migrations``) Alembic at run time, and only inside
its functions: the read path never passes here.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Final

from index.errors import IndexUnusableError, IndexWriteError
from index.opening import remove_database
from index.sqlite_errors import primary_code
from migrations import PAGE_SIZE_BYTES, upgrade
from persist.errors import StoreIOError
from persist.files.folders import PRIVATE_FILE, make_private_folder

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from sqlalchemy.engine.interfaces import DBAPIConnection
    from sqlalchemy.pool import ConnectionPoolEntry

MINIMUM_SQLITE: Final = (3, 40, 0)
"""The oldest SQLite that the schema and the guard of ``asx query`` were tried with. STRICT tables need 3.37, the
trigram tokenizer 3.34; distributions that ship Python 3.11 ship 3.40 or newer."""

_PROBE: Final = "CREATE VIRTUAL TABLE temp.probe USING fts5(key, tokenize = 'trigram case_sensitive 1')"


def create_index(path: Path) -> None:
    """Make an empty index of the newest generation at ``path``, 0600 in 0700 folders from the first byte.

    The tables, views, ``application_id`` and ``user_version`` are one transaction; ``meta`` is left empty and the
    journal mode is SQLite's default. On any failure nothing remains at ``path``. Raises ``IndexUnusableError`` when
    SQLite is too old or lacks full text (before anything is made), ``StoreIOError`` when the file exists already or
    cannot be made, ``IndexWriteError`` when the disk is full or fails, and SQLAlchemy's errors for a statement that
    is wrong.
    """
    require_sqlite(path)
    make_private_folder(path.parent)
    _create_private_file(path)
    try:
        _build_schema(path)
    except BaseException:
        remove_database(path)
        raise


def require_sqlite(path: Path, probe: sqlite3.Connection | None = None) -> None:
    """Raise ``IndexUnusableError``, naming what is needed and what was found, when SQLite cannot hold the index.

    ``path`` is only named. ``probe`` is a connection on which a temporary full-text table is tried; by default one
    in memory.
    """
    needed = ".".join(map(str, MINIMUM_SQLITE))
    found = ".".join(map(str, sqlite3.sqlite_version_info))
    cure = "run aster-index with a Python that brings a newer SQLite"
    if sqlite3.sqlite_version_info < MINIMUM_SQLITE:
        raise IndexUnusableError(path, f"needs SQLite {needed} or newer, found {found}", cure)
    connection = probe or sqlite3.connect(":memory:")
    try:
        connection.execute(_PROBE)
    except sqlite3.DatabaseError as error:
        reason = f"needs SQLite {needed} or newer with FTS5 and its trigram tokenizer, found {found} without ({error})"
        raise IndexUnusableError(path, reason, cure) from error
    finally:
        connection.close()


def _create_private_file(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE)
    except OSError as error:
        raise StoreIOError(path, "create", error.strerror or str(error)) from error
    os.close(descriptor)


def _build_schema(path: Path) -> None:
    from sqlalchemy import create_engine, event
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.pool import NullPool

    engine = create_engine("sqlite://", creator=lambda: sqlite3.connect(path), poolclass=NullPool)
    event.listen(engine, "connect", _take_over_transactions)
    event.listen(engine, "begin", _begin)
    try:
        with engine.begin() as connection:
            upgrade(connection)
    except DBAPIError as error:
        if primary_code(error.orig) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            raise IndexWriteError(path, str(error.orig)) from error
        raise


def _take_over_transactions(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    # The driver's own BEGIN leaves CREATE statements outside the transaction: a failure half way would leave tables.
    connection.isolation_level = None
    connection.execute(f"PRAGMA page_size = {PAGE_SIZE_BYTES}")
    connection.execute("PRAGMA auto_vacuum = none")


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
