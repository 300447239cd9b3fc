"""Kept copies: history that outlives an agent's clean-up, and a rebuild."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from index.ingest import ingest
from index.rebuild import rebuild
from index.refresh import refresh
from index.search import SearchRequest, search
from index.settings import Settings
from index.show import show_event
from index.unindexed import list_from_files
from index.verify import verify
from persist.archive.catalogue import load_catalogue
from persist.sources import Root
from tests import builders as make
from tests.builders import HomeBuilder
from tests.index.codex_world import family, name_of, put
from tests.index.conftest import dump_of, rebuilt_dump, rows
from tests.index.keeping import archive_files, copy_of, keeping

pytestmark = pytest.mark.usefixtures("quick_schema")


@pytest.fixture
def places(home: HomeBuilder, tmp_path: Path) -> Settings:
    return keeping(home.settings(tmp_path / "cache" / "index.sqlite"))


def filled(home: HomeBuilder, count: int = 3) -> list[Path]:
    """Write some sessions, one with a sub-agent, and sources that are not kept."""
    paths = [
        home.claude(f"s{n}", make.claude_prompt(f"water the roses {n}", f"s{n}", f"u{n}", n),
                    make.claude_answer(f"done {n}", f"s{n}", f"v{n}", n))
        for n in range(count)
    ]  # fmt: skip
    paths.append(home.claude_agent("s0", "a1", make.claude_prompt("find the can", "s0", "w1", 1, isSidechain=True)))
    home.aster("own", make.aster_header("own", 0), make.aster_prompt("mine", 1))
    home.aether("log", make.aether_metadata("log", 0), make.aether_prompt("ours"))
    home.claude_history(make.claude_history_entry("water the roses 0", "s0", 1))
    note = home.claude_home / "projects" / "-w-gamma" / "memory" / "note.md"
    note.parent.mkdir(parents=True)
    note.write_text("---\nname: note\n---\nprune in winter\n")
    return paths


def test_transcripts_of_other_agents_are_copied_and_nothing_else(home: HomeBuilder, places: Settings) -> None:
    paths = filled(home)
    report = ingest(places)
    assert sorted(archive_files(places)) == sorted(copy_of(places, path) for path in paths)
    for path in paths:
        copy = copy_of(places, path)
        assert copy.read_bytes() == path.read_bytes()
        assert stat.S_IMODE(copy.stat().st_mode) == 0o600
        assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
    assert report.agents["claude-code"].kept
    assert not report.agents["aster"].kept
    assert not report.agents["aether"].kept
    assert not [note for note in report.notes if "deletes its transcripts" in note]


def test_what_the_agent_deletes_stays_in_the_index_as_it_was_and_after_a_rebuild(
    home: HomeBuilder, places: Settings
) -> None:
    paths = filled(home)
    ingest(places)
    before = dump_of(places.index_path)
    copies = [copy_of(places, path) for path in (paths[0], paths[3])]
    for path in (paths[0], paths[3]):
        path.unlink()
    assert refresh(places).stale is False
    assert dump_of(places.index_path) == before, "the copy is read before anything closed it"
    report = ingest(places)
    assert not report.wrote, "nothing changed for the index"
    assert report.notes == ["2 transcripts of Claude Code are gone; kept copies are read instead"]
    assert dump_of(places.index_path) == before
    for copy in copies:
        assert not copy.exists()
        assert copy.with_name(f"{copy.name}~1.zst").exists()
    assert ingest(places).notes == []
    rebuild(places)
    assert dump_of(places.index_path) == before
    assert verify(places).ok
    places.index_path.unlink()
    ingest(places)
    assert dump_of(places.index_path) == before
    assert show_event(places, "claude-code:s0", 0).text == "water the roses 0"


def test_half_of_the_sources_gone_at_once_holds_back_what_is_not_kept_and_loses_nothing_kept(
    home: HomeBuilder, places: Settings
) -> None:
    filled(home)
    ingest(places)
    before = dump_of(places.index_path)
    away = home.claude_home.with_name("away")
    home.claude_home.rename(away)
    report = ingest(places)
    assert report.agents["claude-code"].sources.held == 2
    assert report.agents["claude-code"].sources.removed == 0
    assert rows(places, "SELECT count(*) FROM prompts WHERE agent = 'claude-code'") == [(3,)]
    assert verify(places).ok
    pruned = ingest(places, prune=True)
    assert pruned.agents["claude-code"].sources.removed == 2
    assert rows(places, "SELECT count(*) FROM prompts WHERE agent = 'claude-code'") == [(3,)]
    rebuild(places)
    assert rows(places, "SELECT count(*) FROM prompts WHERE agent = 'claude-code'") == [(3,)]
    away.rename(home.claude_home)
    ingest(places)
    assert dump_of(places.index_path) == before
    assert verify(places).ok


def test_a_copy_grows_with_its_original_by_what_is_new(home: HomeBuilder, places: Settings) -> None:
    path = filled(home)[0]
    ingest(places)
    copy = copy_of(places, path)
    inode = copy.stat().st_ino
    with path.open("ab") as file:
        file.write(make.lines(make.claude_prompt("and the pears", "s0", "u9", 9))[:-7])
    ingest(places)
    assert copy.read_bytes() == path.read_bytes(), "whole bytes, a torn line too"
    assert copy.stat().st_ino == inode
    path.unlink()
    ingest(places)
    assert dump_of(places.index_path) == rebuilt_dump(places)


def test_a_copy_grows_though_a_search_had_read_the_new_lines_first(home: HomeBuilder, places: Settings) -> None:
    path = filled(home)[0]
    ingest(places)
    with path.open("ab") as file:
        file.write(make.lines(make.claude_prompt("and the pears", "s0", "u9", 9)))
    assert refresh(places).refreshed
    assert copy_of(places, path).read_bytes() != path.read_bytes(), "a search writes nothing but the index"
    assert not ingest(places).wrote
    assert copy_of(places, path).read_bytes() == path.read_bytes()


def rewrite_shorter(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def rewrite_equal(path: Path) -> None:
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"roses", b"pears"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def rewrite_by_link(path: Path) -> None:
    elsewhere = path.parents[3] / "elsewhere.jsonl"
    elsewhere.write_bytes(path.read_bytes().replace(b"roses", b"tulips"))
    path.unlink()
    path.symlink_to(elsewhere)


@pytest.mark.parametrize("change", [rewrite_shorter, rewrite_equal, rewrite_by_link])
def test_a_rewritten_original_closes_its_copy_and_begins_another(
    home: HomeBuilder, places: Settings, change: object
) -> None:
    path = filled(home)[0]
    ingest(places)
    old = path.read_bytes()
    change(path)  # type: ignore[operator]
    ingest(places)
    copy = copy_of(places, path)
    assert copy.read_bytes() == path.read_bytes()
    assert copy.with_name(f"{copy.name}~1").read_bytes() == old
    path.write_bytes(b"")
    ingest(places)
    assert copy.with_name(f"{copy.name}~2").exists()
    path.unlink()
    ingest(places)
    assert copy.with_name(f"{copy.name}~3.zst").exists()
    assert dump_of(places.index_path) == rebuilt_dump(places)
    assert verify(places).ok


def test_an_original_that_only_got_another_time_keeps_its_copy(home: HomeBuilder, places: Settings) -> None:
    path = filled(home)[0]
    ingest(places)
    os.utime(path, (1, 1))
    ingest(places)
    assert len(archive_files(places)) == 4
    path.unlink()
    ingest(places)
    assert rows(places, "SELECT mtime_ns FROM sources WHERE path = ?", str(path)) == [(10**9,)]


def test_what_comes_back_is_read_where_it_lies_and_counts_once(home: HomeBuilder, places: Settings) -> None:
    path = filled(home)[0]
    ingest(places)
    before = dump_of(places.index_path)
    away = path.with_suffix(".away")
    path.rename(away)
    ingest(places)
    away.rename(path)
    ingest(places)
    assert dump_of(places.index_path) == before
    with path.open("ab") as file:
        file.write(make.lines(make.claude_prompt("and the pears", "s0", "u9", 9)))
    ingest(places)
    assert copy_of(places, path).read_bytes() == path.read_bytes()
    assert rows(places, "SELECT count(*) FROM session_files WHERE session_id = 's0'") == [(1,)]
    assert dump_of(places.index_path) == rebuilt_dump(places)


def test_an_original_that_was_moved_takes_its_copy_along(home: HomeBuilder, places: Settings) -> None:
    path = filled(home)[1]
    ingest(places)
    target = path.parents[1] / "-w-delta" / path.name
    target.parent.mkdir()
    path.rename(target)
    assert refresh(places).refreshed
    assert rows(places, "SELECT source_path FROM session_files WHERE session_id = 's1'") == [(str(target),)]
    ingest(places)
    assert copy_of(places, target).read_bytes() == target.read_bytes()
    assert not copy_of(places, path).exists()
    with target.open("ab") as file:
        file.write(make.lines(make.claude_prompt("and the pears", "s1", "u9", 9)))
    ingest(places)
    assert rows(places, "SELECT source_path FROM session_files WHERE session_id = 's1'") == [(str(target),)]
    assert dump_of(places.index_path) == rebuilt_dump(places)


def test_a_rollout_that_its_agent_compressed_counts_once_and_outlives_that_too(
    home: HomeBuilder, places: Settings
) -> None:
    zstandard = pytest.importorskip("zstandard")
    members = family()
    path = put(home.home, name_of(members.ids["origin"]), members.records["origin"])
    put(home.home, name_of(members.ids["fork"]), members.records["fork"])
    ingest(places)
    events = "SELECT session_id, event_index, event_type, text, canonical FROM events ORDER BY 1, 2"
    before = rows(places, events)
    packed = path.with_name(f"{path.name}.zst")
    packed.write_bytes(zstandard.ZstdCompressor().compress(path.read_bytes()))
    path.unlink()
    ingest(places, prune=True)
    assert rows(places, events) == before
    packed.unlink()
    ingest(places, prune=True)
    assert rows(places, events) == before
    assert copy_of(places, packed).with_name(f"{packed.name}~1.zst").exists()
    assert verify(places).ok
    assert show_event(places, f"codex:{members.ids['origin']}", 0).text == "plant the pear"


def test_an_excluded_transcript_is_neither_copied_nor_read_from_its_copy(home: HomeBuilder, places: Settings) -> None:
    paths = filled(home)
    excluding = replace(places, configuration=replace(places.configuration, excludes=("**/s0*",)))
    ingest(excluding)
    assert not copy_of(places, paths[0]).exists()
    ingest(places)
    assert copy_of(places, paths[0]).exists()
    paths[0].unlink()
    ingest(excluding)
    assert rows(places, "SELECT count(*) FROM sources WHERE path = ?", str(paths[0])) == [(0,)]
    assert dump_of(places.index_path) == rebuilt_dump(excluding)


def test_copies_of_a_root_that_is_not_visited_stand_in_only_for_what_is_gone(
    home: HomeBuilder, places: Settings, tmp_path: Path
) -> None:
    other = HomeBuilder(tmp_path / "laptop")
    there = other.claude("far", make.claude_prompt("a far prompt", "far", "f1", 1))
    gone = other.claude("lost", make.claude_prompt("a lost prompt", "lost", "f2", 1))
    visiting = replace(places, roots=(*places.roots, Root("claude-code", other.claude_home)))
    filled(home)
    ingest(visiting)
    gone.unlink()
    ingest(places)
    assert rows(places, "SELECT count(*) FROM prompts WHERE session_id IN ('far', 'lost')") == [(2,)]
    rebuild(places)
    assert rows(places, "SELECT session_id FROM prompts WHERE session_id IN ('far', 'lost')") == [("lost",)]
    assert verify(places).ok
    ingest(visiting)
    assert dump_of(places.index_path) == rebuilt_dump(visiting)
    assert there.exists()


def test_without_an_index_kept_sessions_are_listed_too(home: HomeBuilder, places: Settings) -> None:
    paths = filled(home)
    ingest(places)
    paths[1].unlink()
    ingest(places)
    places.index_path.unlink()
    total, listed = list_from_files(places, None, "claude-code", None)
    assert total == 4
    assert {row.session_id for row in listed} == {"s0", "s1", "s2", "s0/a1"}


def test_copies_are_read_when_keeping_was_switched_off_again(home: HomeBuilder, places: Settings) -> None:
    paths = filled(home)
    ingest(places)
    before = dump_of(places.index_path)
    off = replace(places, configuration=replace(places.configuration, keep=False))
    paths[0].unlink()
    report = ingest(off)
    assert dump_of(places.index_path) == before
    assert copy_of(places, paths[0]).exists(), "only an ingest that keeps writes the archive"
    assert report.agents["claude-code"].sources.removed == 0


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"version":99}'])
def test_a_lost_catalogue_loses_no_copy(home: HomeBuilder, places: Settings, damage: bytes) -> None:
    paths = filled(home)
    ingest(places)
    paths[0].unlink()
    paths[3].unlink()
    ingest(places)
    catalogue = places.places.archive / "claude-code" / "catalogue.json"
    assert catalogue.exists()
    if damage:
        catalogue.write_bytes(damage)
    else:
        catalogue.unlink()
    rebuild(places)
    prompts = "SELECT text FROM prompts WHERE agent = 'claude-code' ORDER BY 1"
    assert len(rows(places, prompts)) == 3
    assert ingest(places).problems == []
    assert load_catalogue(places.places.archive, "claude-code") is not None
    assert dump_of(places.index_path) == rebuilt_dump(places)


def test_excluded_copies_leave_without_prune_however_many(home: HomeBuilder, places: Settings) -> None:
    paths = filled(home)
    ingest(places)
    for path in paths:
        path.unlink()
    ingest(places)
    excluding = replace(places, configuration=replace(places.configuration, excludes=("**/projects/**",)))
    report = ingest(excluding)
    assert (report.agents["claude-code"].sources.removed, report.agents["claude-code"].sources.held) == (5, 0)
    assert dump_of(places.index_path) == rebuilt_dump(excluding)
    assert len(archive_files(places)) == 4


def test_a_check_finds_a_copy_that_is_not_what_its_original_is(home: HomeBuilder, places: Settings) -> None:
    path = filled(home)[0]
    ingest(places)
    copy = copy_of(places, path)
    spoiled = copy.read_bytes().replace(b"roses", b"nettle")
    copy.write_bytes(spoiled)
    ingest(places)
    assert copy.read_bytes() == spoiled
    ingest(places, check=True)
    assert copy.read_bytes() == path.read_bytes()
    assert copy.with_name(f"{copy.name}~1").read_bytes() == spoiled


def test_a_name_without_room_for_a_mark_is_told_and_not_copied(home: HomeBuilder, places: Settings) -> None:
    home.claude("n" * 245, make.claude_prompt("x", "n", "u1", 1))
    home.claude("c", make.claude_prompt("x", "c", "u1", 1))
    assert "1 transcript of Claude Code is not copied: the name is too long" in ingest(places).notes
    assert [path.name for path in archive_files(places)] == ["c.jsonl"]


def test_whole_texts_of_tools_are_searched_and_shown_from_copies(home: HomeBuilder, places: Settings) -> None:
    text = "x" * 5000 + " needle at the end"
    path = home.claude("c", make.claude_prompt("find it", "c", "u1", 1),
                       make.claude_tool_call("t1", "c", "u2", 2, command="ls"),
                       make.claude_tool_result("t1", text, "c", "u3", 3))  # fmt: skip
    ingest(places)
    request = SearchRequest("needle", searched=("tools",), deep=True)
    path.unlink()
    for _ in range(2):
        result = search(places, request)
        assert len(result.hits) == 1
        assert show_event(places, "claude-code:c", 2).text == text
        ingest(places)


def test_a_session_that_two_files_tell_keeps_both_when_one_goes(home: HomeBuilder, places: Settings) -> None:
    """One id in two folders, the second with more (B30): neither stands for the other."""
    both = [make.claude_prompt("one", "s", "u1", 1), make.claude_answer("two", "s", "u2", 2)]
    first = home.claude("s", *both, project="-w-gamma")
    home.claude("s", *both, make.claude_prompt("three", "s", "u3", 3), project="-w-delta")
    ingest(places)
    before = dump_of(places.index_path)
    first.unlink()
    ingest(places)
    assert dump_of(places.index_path) == before == rebuilt_dump(places)
