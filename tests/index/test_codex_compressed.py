"""Compressed rollouts in the index: read as what they were, reported where they cannot be read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from index.ingest import ingest
from index.settings import Settings
from index.show import show_event
from index.verify import verify
from tests.builders import HomeBuilder
from tests.index.codex_world import family, name_of, put
from tests.index.conftest import dump_of, rebuilt_dump, rows

pytestmark = pytest.mark.usefixtures("quick_schema")


@pytest.fixture
def places(home: HomeBuilder, tmp_path: Path) -> Settings:
    return home.settings(tmp_path / "cache" / "index.sqlite")


@pytest.fixture
def zstd() -> Any:
    return pytest.importorskip("zstandard", reason="zstandard is not installed")


def compress(zstd: Any, path: Path) -> Path:
    """Compress a file as Codex does: the plain one goes."""
    compressed = path.with_name(f"{path.name}.zst")
    compressed.write_bytes(zstd.ZstdCompressor().compress(path.read_bytes()))
    path.unlink()
    return compressed


def test_without_the_package_the_file_is_named_and_nothing_else_is_hidden(
    home: HomeBuilder, places: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    members = family()
    put(home.home, name_of(members.ids["origin"]), members.records["origin"])
    broken = home.home / ".codex" / f"{name_of(members.ids['fork'])}.zst"
    broken.write_bytes(b"(\xb5/\xfd")
    report = ingest(places)
    assert [(problem.path, "zstandard" in problem.message) for problem in report.problems] == [(str(broken), True)]
    assert rows(places, "SELECT count(*) FROM sessions") == [(1,)]


def test_b07_a_rollout_that_was_compressed_stays_the_same_session(
    home: HomeBuilder, places: Settings, zstd: Any
) -> None:
    members = family()
    first = put(home.home, name_of(members.ids["origin"]), members.records["origin"])
    put(home.home, name_of(members.ids["fork"]), members.records["fork"])
    ingest(places)
    events = "SELECT session_id, event_index, event_type, text, canonical FROM events ORDER BY 1, 2"
    before = rows(places, events)
    compressed = compress(zstd, first)
    report = ingest(places, prune=True)
    assert report.problems == []
    assert (report.agents["codex"].sources.new, report.agents["codex"].sources.removed) == (1, 1)
    assert rows(places, events) == before
    assert dump_of(places.index_path) == rebuilt_dump(places)
    assert verify(places).ok
    assert ingest(places).bytes_read == 0
    shown = show_event(places, f"codex:{members.ids['origin']}", 0)
    assert (shown.text, shown.source_path) == ("plant the pear", str(compressed))


def test_a_compressed_file_that_was_replaced_by_a_longer_one_is_read_anew(
    home: HomeBuilder, places: Settings, zstd: Any
) -> None:
    members = family()
    records = members.records["origin"]
    path = compress(zstd, put(home.home, name_of(members.ids["origin"]), records[:10]))
    ingest(places)
    with path.open("r+b") as file:  # the same inode, as a tail would have
        whole = put(home.home, name_of(members.ids["fork"]), records)
        file.write(zstd.ZstdCompressor().compress(whole.read_bytes()))
        whole.unlink()
    ingest(places)
    assert rows(places, "SELECT count(*) FROM prompts") == [(2,)]
    assert dump_of(places.index_path) == rebuilt_dump(places)


def test_a_compressed_file_cut_short_is_one_damaged_line(home: HomeBuilder, places: Settings, zstd: Any) -> None:
    members = family()
    path = compress(zstd, put(home.home, name_of(members.ids["origin"]), members.records["origin"]))
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    report = ingest(places)
    assert report.lines_damaged == 1
    ((error,),) = rows(places, "SELECT error FROM parse_errors")
    assert "compressed file" in error
    assert rows(places, "SELECT count(*) FROM prompts") == [(2,)]
    assert ingest(places).bytes_read == 0
