"""Where Aster's homes lie, which files in them are sources, and what is named as in the way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from persist.agents.aster import agent as aster
from persist.places import places_of
from persist.sources import BLOCK, HISTORY, JOURNAL, PROJECT_MEMORY, TRANSCRIPT, Environment, Found, Root

DATA = Path(__file__).parents[1] / "data"


def environment(home: Path, platform: str = "linux", **variables: str) -> Environment:
    return Environment(variables, home, platform)


def put(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def names(found: Found) -> list[str]:
    return [os.path.relpath(source.path, source.root) for source in found.sources]


class TestLocate:
    def test_the_order_of_places(self, tmp_path: Path) -> None:
        def data_home(platform: str = "linux", **variables: str) -> Path:
            return aster.locate(environment(tmp_path, platform, **variables))[0].path

        assert data_home() == tmp_path / ".local/share/aster"
        assert data_home(XDG_DATA_HOME="/x") == Path("/x/aster")
        assert data_home(XDG_DATA_HOME="") == tmp_path / ".local/share/aster"
        assert data_home(XDG_DATA_HOME="relative") == tmp_path / ".local/share/aster"
        assert data_home(XDG_DATA_HOME="/x", ASTER_HOME="/y/../z/") == Path("/z")
        assert data_home("darwin") == tmp_path / ".local/share/aster"

    def test_what_is_read_is_what_the_places_say(self, tmp_path: Path) -> None:
        for value in ("~/own", "/own", "own"):
            seen = environment(tmp_path, ASTER_HOME=value)
            assert aster.locate(seen)[0].path == places_of(seen, Path.cwd()).data

    def test_old_homes_that_exist_rank_lower(self, tmp_path: Path) -> None:
        assert aster.locate(environment(tmp_path)) == [Root("aster", tmp_path / ".local/share/aster")]
        (tmp_path / ".config/aster").mkdir(parents=True)
        (tmp_path / ".aster").mkdir()
        assert [(root.path.relative_to(tmp_path), root.rank) for root in aster.locate(environment(tmp_path))] == [
            (Path(".local/share/aster"), 0),
            (Path(".aster"), 1),
            (Path(".config/aster"), 2),
        ]
        mac = tmp_path / "Library/Application Support/aster"
        mac.mkdir(parents=True)
        assert aster.locate(environment(tmp_path, "darwin"))[2].path == mac

    def test_old_homes_are_not_read_when_one_is_named_or_all_was_migrated(self, tmp_path: Path) -> None:
        (tmp_path / ".aster").mkdir()
        assert len(aster.locate(environment(tmp_path, ASTER_HOME=str(tmp_path / "own")))) == 1
        put(tmp_path / ".local/share/aster/.legacy-migrated", "")
        assert len(aster.locate(environment(tmp_path))) == 1

    def test_one_folder_under_two_names_is_one_root(self, tmp_path: Path) -> None:
        (tmp_path / "d/aster").mkdir(parents=True)
        both = environment(tmp_path, XDG_DATA_HOME=str(tmp_path / "d"), XDG_CONFIG_HOME=str(tmp_path / "d"))
        assert len(aster.locate(both)) == 1


class TestDiscover:
    def test_the_sample_home(self) -> None:
        found = aster.discover(Root("aster", DATA / "aster"))
        kinds = {name: source.kind for name, source in zip(names(found), found.sources, strict=True)}
        assert sum(kind == TRANSCRIPT for kind in kinds.values()) == 11
        assert kinds["memory/ASTER.md"] == PROJECT_MEMORY
        assert kinds["memory/journal.jsonl"] == JOURNAL
        assert sum(kind == BLOCK for kind in kinds.values()) == 7
        hints = {source.path_tells for source in found.sources if source.path.endswith("old-deploy-host.md")}
        assert hints == {"archived"}
        assert names(found) == sorted(names(found))
        assert found.troubles == ()

    def test_a_missing_home_is_not_there(self, tmp_path: Path) -> None:
        assert aster.discover(Root("aster", tmp_path / "none")) == Found(
            Root("aster", tmp_path / "none"), (), (), exists=False
        )

    def test_what_is_no_source(self, tmp_path: Path) -> None:
        for name in (
            "credentials.json", "grants/x.jsonl", "plans/x/y.md", "skills/a.md", "sessions/.lock", "sessions/x/.lock",
            "sessions/x/.redo", "sessions/x/.tmp-1.jsonl", "sessions/x/notes.txt", "memory/.tmp-1", "memory/.#a.md",
            "memory/.lock", "memory/.archive/a@01ARZ3NDEKTSV4RRFFQ69G5FAV.md", "archive/claude-code/x.jsonl",
        ):  # fmt: skip
            put(tmp_path / name)
        put(tmp_path / "sessions/prompt-history.jsonl")
        put(tmp_path / "sessions/loose.jsonl")
        put(tmp_path / "memory/.archive/a.md")
        found = aster.discover(Root("aster", tmp_path))
        assert [(name, source.kind) for name, source in zip(names(found), found.sources, strict=True)] == [
            ("memory/.archive/a.md", BLOCK),
            ("sessions/loose.jsonl", TRANSCRIPT),
            ("sessions/prompt-history.jsonl", HISTORY),
        ]
        assert found.troubles == ()

    def test_what_is_in_the_way_is_named_and_hides_nothing(self, tmp_path: Path) -> None:
        home = tmp_path / "home"
        good = put(home / "sessions/p/good.jsonl")
        put(home / "sessions/p/old.jsonl.zst")
        put(home / "sessions/p/nested/deep.jsonl")
        (home / "sessions/p/folder.jsonl").mkdir()
        (home / "sessions/p/gone.jsonl").symlink_to(home / "nowhere")
        (home / "sessions/p/loop").symlink_to(home / "sessions/p")
        (home / "sessions/up").symlink_to(tmp_path)
        (home / "sessions/again").symlink_to(home / "sessions/p")
        (home / "sessions/p/same.jsonl").symlink_to(good)
        outside = put(tmp_path / "outside/there.jsonl").parent
        (home / "sessions/outside").symlink_to(outside)
        os.mkfifo(home / "memory.fifo")
        (home / "memory").mkdir()
        (home / "memory.fifo").rename(home / "memory/pipe.md")
        found = aster.discover(Root("aster", home))
        assert names(found) == ["sessions/outside/there.jsonl", "sessions/p/good.jsonl"]
        assert sorted((os.path.relpath(trouble.path, home), trouble.kind) for trouble in found.troubles) == [
            ("memory/pipe.md", "not_a_file"),
            ("sessions/again", "link_inside"),
            ("sessions/p/folder.jsonl", "not_a_file"),
            ("sessions/p/gone.jsonl", "dangling_link"),
            ("sessions/p/nested", "nested_folder"),
            ("sessions/p/old.jsonl.zst", "compressed"),
            ("sessions/p/same.jsonl", "link_inside"),
            ("sessions/up", "link_inside"),
        ]

    def test_an_unreadable_folder_hides_no_other(self, tmp_path: Path) -> None:
        put(tmp_path / "sessions/a/a.jsonl")
        (tmp_path / "sessions/b").mkdir()
        put(tmp_path / "sessions/c/c.jsonl")
        (tmp_path / "sessions/b").chmod(0)
        if os.access(tmp_path / "sessions/b", os.R_OK):
            pytest.skip("this user reads every folder")
        found = aster.discover(Root("aster", tmp_path))
        assert [trouble.kind for trouble in found.troubles] == ["unreadable"]
        assert len(found.sources) == 2

    def test_a_file_in_the_homes_place_is_named(self, tmp_path: Path) -> None:
        found = aster.discover(Root("aster", put(tmp_path / "home")))
        assert (found.exists, [trouble.kind for trouble in found.troubles]) == (False, ["not_a_folder"])

    def test_a_file_in_a_folders_place_is_named(self, tmp_path: Path) -> None:
        put(tmp_path / "memory")
        put(tmp_path / "sessions/a/a.jsonl")
        found = aster.discover(Root("aster", tmp_path))
        assert [trouble.kind for trouble in found.troubles] == ["unreadable"]
        assert len(found.sources) == 1


def test_a_file_in_an_older_home_is_shadowed_file_by_file(tmp_path: Path) -> None:
    new, old, other = tmp_path / "new", tmp_path / "old", tmp_path / "other"
    put(new / "sessions/p/a.jsonl")
    put(old / "sessions/p/a.jsonl")
    put(old / "sessions/p/b.jsonl")
    put(other / "sessions/p/b.jsonl")
    put(other / "memory/c.md")
    found = [aster.discover(Root("aster", path, rank)) for path, rank in ((other, 2), (new, 0), (old, 1))]
    assert [names(look) for look in aster.shadowed(found)] == [
        ["memory/c.md"],
        ["sessions/p/a.jsonl"],
        ["sessions/p/b.jsonl"],
    ]
    same_rank = [aster.discover(Root("aster", path)) for path in (new, old)]
    assert [len(look.sources) for look in aster.shadowed(same_rank)] == [1, 2]
