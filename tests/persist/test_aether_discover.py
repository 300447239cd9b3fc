"""Where Aether's logs are looked for, on a real file system."""

import os
from pathlib import Path

import pytest

from persist.agents.aether import agent as aether
from persist.agents.aether.records import AetherParser
from persist.agents.prompt_history_records import PromptHistoryParser
from persist.sources import HISTORY, TRANSCRIPT, Environment, Root, Source, Stat


def places(home: Path, **variables: str) -> list[Path]:
    return [root.path for root in aether.locate(Environment(variables, home))]


@pytest.mark.parametrize("blank", ["", "   ", "\t\n"])
def test_b55_home_is_the_default_when_the_override_is_missing_or_blank(tmp_path: Path, blank: str) -> None:
    assert places(tmp_path) == [tmp_path / ".aether"]
    assert places(tmp_path, AETHER_HOME=blank) == [tmp_path / ".aether"]


def test_b55_override_wins_and_is_taken_verbatim(tmp_path: Path) -> None:
    assert places(tmp_path, AETHER_HOME="/srv/aether ") == [Path("/srv/aether ")]
    assert places(tmp_path, AETHER_HOME="/~/x") == [Path("/~/x")]


def test_a_relative_override_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert places(tmp_path, AETHER_HOME="here") == [tmp_path / "here"]


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    folder = tmp_path / "sessions"
    folder.mkdir()
    return folder


def look(sessions: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Names of sources with their kinds, and names of what is in the way with its kind."""
    found = aether.discover(Root("aether", sessions.parent))
    assert found.exists
    assert [source.path for source in found.sources] == sorted(source.path for source in found.sources)
    sources = {Path(source.path).name: source.kind for source in found.sources}
    return sources, {Path(trouble.path).name: trouble.kind for trouble in found.troubles}


def test_b77_logs_are_found_with_their_sizes_and_the_history_apart(sessions: Path) -> None:
    (sessions / "b.jsonl").write_bytes(b"{}\n")
    (sessions / "a.jsonl").write_bytes(b"")
    (sessions / "prompt-history.jsonl").write_bytes(b"")
    for other in ("notes.txt", "a.jsonl.tmp", "x.JSONL", ".jsonl", "jsonl"):
        (sessions / other).write_bytes(b"")
    assert look(sessions) == (
        {"a.jsonl": TRANSCRIPT, "b.jsonl": TRANSCRIPT, "prompt-history.jsonl": HISTORY},
        {},
    )
    second = aether.discover(Root("aether", sessions.parent)).sources[1]
    assert (second.stat.size_bytes, second.root) == (3, str(sessions.parent))
    assert second.stat.mtime_ns == (sessions / "b.jsonl").stat().st_mtime_ns


def test_folders_are_not_entered(sessions: Path) -> None:
    (sessions / "deeper").mkdir()
    (sessions / "deeper" / "a.jsonl").write_bytes(b"")
    assert look(sessions) == ({}, {})


def test_links_to_files_are_followed_and_broken_ones_named(sessions: Path) -> None:
    target = sessions.parent / "elsewhere.jsonl"
    target.write_bytes(b"12345")
    (sessions / "link.jsonl").symlink_to(target)
    (sessions / "broken.jsonl").symlink_to(sessions.parent / "nowhere")
    assert look(sessions) == ({"link.jsonl": TRANSCRIPT}, {"broken.jsonl": "unreadable"})


def test_what_only_looks_like_a_log_is_named(sessions: Path) -> None:
    (sessions / "folder.jsonl").mkdir()
    (sessions / "a.jsonl.zst").write_bytes(b"")
    (sessions / "b.jsonl.gz").write_bytes(b"")
    os.mkfifo(sessions / "pipe.jsonl")
    assert look(sessions) == (
        {},
        {
            "a.jsonl.zst": "compressed",
            "b.jsonl.gz": "compressed",
            "folder.jsonl": "not_a_file",
            "pipe.jsonl": "not_a_file",
        },
    )


def test_a_name_that_is_not_utf8_is_a_trouble_that_can_be_printed(sessions: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(sessions) + b"/caf\xe9.jsonl")).write_bytes(b"")
    except OSError:
        pytest.skip("this file system refuses such names")
    assert look(sessions) == ({}, {"caf�.jsonl": "bad_name"})


@pytest.mark.parametrize("place", ["nothing", "home only"])
def test_b36_a_missing_folder_is_no_error(tmp_path: Path, place: str) -> None:
    root = tmp_path if place == "home only" else tmp_path / "nowhere"
    found = aether.discover(Root("aether", root))
    assert (found.sources, found.troubles, found.exists) == ((), (), False)


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "sessions").write_bytes(b"")
    found = aether.discover(Root("aether", tmp_path))
    assert (found.exists, [trouble.kind for trouble in found.troubles]) == (True, ["unreadable"])


@pytest.mark.parametrize(("kind", "parser"), [(TRANSCRIPT, AetherParser), (HISTORY, PromptHistoryParser)])
def test_each_kind_of_source_has_its_parser(kind: str, parser: type) -> None:
    assert isinstance(aether.open_parser(Source("aether", kind, "/x", "/", Stat(0, 0, 0, 0)), None), parser)
