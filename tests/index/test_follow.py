"""The index follows a change of the store at once, and never stands in its way."""

from __future__ import annotations

from pathlib import Path

import pytest

from index.follow import follow_store
from index.ingest import ingest
from index.lock import index_lock
from index.settings import Settings
from tests import builders as make
from tests.builders import HomeBuilder
from tests.index.conftest import rows

pytestmark = pytest.mark.usefixtures("quick_schema")


@pytest.fixture
def settings(home: HomeBuilder, tmp_path: Path) -> Settings:
    return home.settings(tmp_path / "cache" / "index.sqlite")


def begin(home: HomeBuilder) -> Path:
    return home.aster("s", make.aster_header("s", 0), make.aster_prompt("heron", 1))


def test_what_was_added_and_removed_is_followed(home: HomeBuilder, settings: Settings) -> None:
    first = begin(home)
    ingest(settings)
    home.aster("t", make.aster_header("t", 0), make.aster_prompt("egret", 1))
    assert follow_store(settings) is None
    assert rows(settings, "SELECT text FROM prompts ORDER BY text") == [("egret",), ("heron",)]
    first.unlink()
    assert follow_store(settings) is None
    assert rows(settings, "SELECT text FROM prompts") == [("egret",)]


def test_without_an_index_none_is_made(home: HomeBuilder, settings: Settings) -> None:
    begin(home)
    assert follow_store(settings) is None
    assert not settings.index_path.exists()


def test_who_holds_the_lock_is_not_waited_for(home: HomeBuilder, settings: Settings) -> None:
    begin(home)
    ingest(settings)
    home.aster("t", make.aster_header("t", 0), make.aster_prompt("egret", 1))
    with index_lock(settings):
        told = follow_store(settings)
    assert told is not None
    assert "another process" in told
    assert "asx ingest" in told


def test_an_index_that_is_none_of_ours_is_left_alone(home: HomeBuilder, settings: Settings) -> None:
    begin(home)
    settings.index_path.parent.mkdir(parents=True)
    settings.index_path.write_text("no database")
    assert follow_store(settings) is None
    assert settings.index_path.read_text() == "no database"
