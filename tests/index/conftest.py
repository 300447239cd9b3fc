"""What tests of the index share: a home to fill, and an index that can be compared with a rebuild."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from index import creating
from index.discovery import look
from index.dump import dump
from index.load import Silent
from index.rebuild import build
from index.settings import Settings
from tests.builders import HomeBuilder


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    """An empty home folder to put sources in."""
    return HomeBuilder(isolated)


@pytest.fixture(scope="session")
def empty_index() -> Iterator[Path]:
    """An index without rows, made once by the migrations."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.sqlite"
        creating.create_index(path)
        yield path


@pytest.fixture
def quick_schema(empty_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copy the empty index instead of running the migrations again (0.2 s each), where many indexes are made."""

    data = empty_index.read_bytes()

    def copy(path: Path) -> None:
        path.touch(0o600, exist_ok=False)
        path.write_bytes(data)

    monkeypatch.setattr(creating, "create_index", copy)


def dump_of(path: Path) -> list[str]:
    """Return the whole index at ``path`` as text."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return list(dump(connection))


def rows(settings: Settings, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """Return what a statement finds in the index of ``settings``."""
    with closing(sqlite3.connect(f"file:{settings.index_path}?mode=ro", uri=True)) as connection:
        return connection.execute(sql, values).fetchall()


def rebuilt_dump(settings: Settings) -> list[str]:
    """Return what an index made anew from today's files says; the index of ``settings`` is not looked at."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fresh.sqlite"
        build(settings, path, look(settings), Silent())
        return dump_of(path)
