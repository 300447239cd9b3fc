"""A damaged page may read as nulls: that is damage, and a fault of ours on a whole index is none."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from index.errors import IndexUnusableError
from index.freshness import freshness_of
from index.ingest import ingest
from index.refresh import refresh
from index.settings import Settings
from index.sqlite_errors import ROW_FAULTS, translate_read_errors
from tests import builders as make
from tests.builders import HomeBuilder

pytestmark = pytest.mark.usefixtures("quick_schema")


@pytest.fixture
def filled(home: HomeBuilder, tmp_path: Path) -> Settings:
    settings = home.settings(tmp_path / "cache" / "index.sqlite")
    home.aster("s", make.aster_header("s", 0), make.aster_prompt("a heron", 1))
    ingest(settings)
    return settings


def lose_half_of(table: str, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    with path.open("r+b") as file:
        file.seek(page * page_bytes - page_bytes // 2)
        file.write(bytes(page_bytes // 2))


@pytest.mark.parametrize("fault", ROW_FAULTS)
def test_a_fault_of_ours_is_not_called_damage(fault: type[Exception], filled: Settings) -> None:
    with pytest.raises(fault, match="ours"), translate_read_errors(filled.index_path):
        raise fault("ours")


@pytest.mark.parametrize("fault", ROW_FAULTS)
def test_on_a_damaged_index_it_is(fault: type[Exception], filled: Settings) -> None:
    lose_half_of("event_rows", filled.index_path)
    with pytest.raises(IndexUnusableError, match=r"is damaged .*asx rebuild"), translate_read_errors(filled.index_path):
        raise fault("a null")


def test_a_refresh_and_a_look_tell_damage_that_reads_as_nulls(filled: Settings) -> None:
    lose_half_of("source_rows", filled.index_path)
    before = filled.index_path.read_bytes()
    for ask in (refresh, freshness_of):
        with pytest.raises(IndexUnusableError, match="is damaged"):
            ask(filled)
    assert filled.index_path.read_bytes() == before
