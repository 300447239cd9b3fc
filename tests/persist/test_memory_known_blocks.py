"""Blocks as header and journal tell them: real files, each case the one that a list, a look or a plan would meet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from persist.memory import Block, list_blocks, read_block
from persist.memory.known_blocks import known_block, known_blocks

WRITTEN = {"op": "remember", "aliases": ["force push"], "kind": "decision", "project": "/w/app", "pinned": True}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    (folder / ".archive").mkdir(parents=True)
    return folder


def put(folder: Path, name: str, updated: str = "2025-05-01", **fields: str) -> Path:
    header = {"name": name, "created_at": "2025-01-01", "updated_at": updated, **fields}
    path = folder / f"{name}.md"
    path.write_text("---\n" + "".join(f"{key}: {value}\n" for key, value in header.items()) + "---\n\ntext\n")
    return path


def tell(folder: Path, *lines: dict[str, object]) -> None:
    with (folder / "journal.jsonl").open("a") as journal:
        journal.writelines(json.dumps(line) + "\n" for line in lines)


def told(block: Block) -> tuple[object, ...]:
    note = block.note
    return (note.aliases, note.kind, note.project, note.pinned, note.superseded_by)


def both(folder: Path, name: str) -> tuple[object, ...]:
    """Return what is told of a block among all of them; looked at alone it is the same."""
    blocks = list_blocks(folder, include_archived=True)
    (found,) = [block for block in known_blocks(blocks) if block.path.stem == name]
    assert known_block(read_block(found.path, found.note.archived)) == found
    return told(found)


def test_what_a_later_rewrite_dropped_is_told_and_what_was_taken_out_by_hand_is_not(folder: Path) -> None:
    put(folder, "later", "2025-06-01")
    put(folder, "earlier", "2025-04-01")
    for name in ("later", "earlier"):
        tell(folder, {"ts": "2025-05-01T00:00:00Z", "name": name, **WRITTEN})
    assert both(folder, "later") == (("force push",), "decision", "/w/app", True, None)
    assert both(folder, "earlier") == ((), None, None, False, None)


def test_what_the_header_says_stays(folder: Path) -> None:
    put(folder, "a", "2025-06-01", kind="note", aliases="[x, y]", project="/w/b", pinned="true")
    tell(folder, {"ts": "2025-05-01T00:00:00Z", "name": "a", **WRITTEN})
    assert both(folder, "a") == (("x", "y"), "note", "/w/b", True, None)


def test_a_line_that_supersedes_holds_until_the_block_is_written_again(folder: Path) -> None:
    put(folder, "npm")
    put(folder, "pnpm", title="Use pnpm")
    tell(folder, {"ts": "2025-05-02T00:00:00Z", "op": "supersede", "name": "npm", "by": "Use pnpm"})
    assert both(folder, "npm")[-1] == "pnpm"
    put(folder, "npm", "2025-05-03")
    assert both(folder, "npm")[-1] is None


def test_of_two_titles_with_one_slug_each_has_its_own_lines(folder: Path) -> None:
    put(folder, "build", title="build")
    put(folder, "build-2", title="BUILD!", updated="2025-06-01")
    tell(folder, {"ts": "2025-05-01T00:00:00Z", "name": "BUILD!", **WRITTEN})
    assert both(folder, "build")[3] is False
    assert both(folder, "build-2")[3] is True


def test_archived_ones_have_the_same_journal(folder: Path) -> None:
    put(folder / ".archive", "old", "2025-06-01")
    tell(folder, {"ts": "2025-05-01T00:00:00Z", "name": "old", **WRITTEN})
    (found,) = known_blocks(list_blocks(folder, include_archived=True))
    assert told(found) == (("force push",), "decision", "/w/app", True, None)


def test_what_cannot_be_read_tells_nothing(folder: Path) -> None:
    put(folder, "a", superseded_by="b")
    (folder / "folder.md").mkdir()
    (folder / "journal.jsonl").mkdir()
    blocks = list_blocks(folder)
    assert known_blocks(blocks) == blocks
    assert known_block(blocks[0]) == blocks[0]
