"""Files that could not be read are known to the freshness of an index, each once, with the reason."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from index.freshness import MAX_UNREAD_NAMED, Unread, freshness_of
from index.ingest import ingest
from index.refresh import refresh
from index.settings import Settings
from tests import builders as make
from tests.builders import HomeBuilder

pytestmark = pytest.mark.usefixtures("quick_schema")


@pytest.fixture
def places(home: HomeBuilder, tmp_path: Path) -> Settings:
    return home.settings(tmp_path / "cache" / "index.sqlite")


def type_in(home: HomeBuilder, name: str) -> Path:
    return home.aster(name, make.aster_header(name, 0), make.aster_prompt("a heron", 1))


def test_all_read_is_none_and_a_failed_file_is_named(home: HomeBuilder, places: Settings) -> None:
    type_in(home, "a")
    ingest(places)
    assert freshness_of(places).unread == refresh(places).unread == Unread(0, ())
    path = type_in(home, "b")
    make.make_unreadable(path)
    ingest(places)
    for told in (refresh(places), freshness_of(places)):
        assert told.unread is not None
        assert (told.stale, told.unread.total, told.unread.first[0][0]) == (False, 1, str(path))
        assert told.unread.first[0][1]


def test_a_refresh_that_meets_one_names_it(home: HomeBuilder, places: Settings) -> None:
    path = type_in(home, "a")
    ingest(places)
    make.make_unreadable(path)
    type_in(home, "b")
    told = refresh(places)
    assert (told.refreshed, told.unread is not None and told.unread.total) == (True, 1)


def test_the_first_are_named_and_all_counted(home: HomeBuilder, places: Settings) -> None:
    for number in range(MAX_UNREAD_NAMED + 2):
        make.make_unreadable(type_in(home, f"s{number}"))
    ingest(places)
    told = refresh(places).unread
    assert told is not None
    assert (told.total, len(told.first)) == (MAX_UNREAD_NAMED + 2, MAX_UNREAD_NAMED)


def test_what_the_disk_hides_is_told_by_the_look(home: HomeBuilder, places: Settings) -> None:
    path = type_in(home, "a")
    ingest(places)
    shutil.copy(path, path.with_name("old.jsonl.gz"))
    told = refresh(places).unread
    assert told is not None
    assert [Path(name).name for name, _ in told.first] == ["old.jsonl.gz"]
