"""Names in the archive: which copy a name is, which is the newest, and that no copy lies outside."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persist.archive.names import CopyName, can_be_kept, copies_by_name, folder_of_copies, take_apart
from persist.archive.opening import newest_copy, open_transcript

NAMES = st.text(st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1, max_size=40)


@given(NAMES, st.integers(0, 10**8), st.booleans())
def test_a_name_is_taken_apart_into_what_it_was_made_of(name: str, number: int, is_compressed: bool) -> None:
    copy = CopyName(f"{name}.jsonl", number, is_compressed and number > 0)
    assert take_apart(copy.file_name) == copy


@pytest.mark.parametrize(
    ("name", "is_fit"),
    [
        ("s.jsonl", True),
        ("s.jsonl.zst", True),
        ("a~1.jsonl", True),
        ("s.jsonl~1", False),
        ("s.jsonl~12.zst", False),
        ("s.jsonl~0", True),
        ("ü" * 117 + ".jsonl", True),
        ("ü" * 118 + ".jsonl", False),
    ],
)
def test_what_would_pass_for_a_closed_copy_or_leaves_no_room_is_not_kept(name: str, is_fit: bool) -> None:
    assert can_be_kept(name) is is_fit


def test_the_living_copy_is_newer_than_all_closed_ones_and_numbers_count_as_numbers() -> None:
    names = ["a.jsonl~10.zst", "a.jsonl~9", "a.jsonl~2.zst", "b.jsonl~1", "b.jsonl", "a.jsonl~9.zst"]
    copies = copies_by_name(names)
    assert [copy.file_name for copy in copies["a.jsonl"]] == [
        "a.jsonl~2.zst",
        "a.jsonl~9",
        "a.jsonl~9.zst",
        "a.jsonl~10.zst",
    ]
    assert copies["b.jsonl"][-1].file_name == "b.jsonl"


@pytest.mark.parametrize("folder", ["/a/b", "/", "/../../etc", "/a/../../b/.", "//a", "/a/.hidden/..x"])
def test_no_copy_lies_outside_the_archive(folder: str) -> None:
    archive = Path("/data/archive")
    parts = folder_of_copies(archive, "codex", folder).parts
    assert parts[:4] == ("/", "data", "archive", "codex")
    assert not {".", ".."} & set(parts)


def test_different_folders_have_different_places() -> None:
    archive = Path("/data/archive")
    folders = ["/a/b", "/a/../b", "/a/./b", "/b", "/a/b/c", "/a/.b"]
    assert len({folder_of_copies(archive, "codex", folder) for folder in folders}) == len(folders)


def test_a_transcript_is_opened_where_it_lies_else_its_newest_copy(tmp_path: Path) -> None:
    archive, path = tmp_path / "archive", tmp_path / "home" / "s.jsonl"
    path.parent.mkdir()
    below = folder_of_copies(archive, "codex", str(path.parent))
    below.mkdir(parents=True)
    (below / "s.jsonl~1").write_bytes(b"older")
    (below / "s.jsonl~2").write_bytes(b"newer")
    path.write_bytes(b"original")
    with open_transcript(archive, "codex", str(path)) as opened:
        assert opened.plain.read() == b"original"
    path.unlink()
    with open_transcript(archive, "codex", str(path)) as opened:
        assert opened.plain.read() == b"newer"
    assert newest_copy(archive, "pi", str(path)) is None
    with pytest.raises(FileNotFoundError), open_transcript(archive, "pi", str(path)):
        pass
