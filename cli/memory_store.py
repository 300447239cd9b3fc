"""Finds memory blocks in the data home and, lower in rank, in Aster's older homes, and notes a recall in the journal.

Answered from the files alone: imports ``persist``, never ``index``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cli import output

if TYPE_CHECKING:
    from persist.memory.blocks import Block
    from persist.places import Places

_JOURNAL_WAIT_S: Final = 0.5
"""A recall answers at once: its line in the journal is worth no longer wait."""


def memory_folders(places: Places) -> list[Path]:
    """Return the memory folders, the highest rank first: those of the homes that ingest reads, and no others."""
    from persist.agents.aster.agent import locate
    from persist.places import current_environment

    homes = [root.path for root in locate(current_environment())]
    return [places.memory, *(home / "memory" for home in homes if home != places.data)]


def list_all_blocks(places: Places, *, archived: bool = False) -> list[Block]:
    """Return the blocks of all homes, newest first; of files of one name that of the highest rank."""
    from persist.memory.blocks import list_blocks, newest_first

    found: dict[tuple[str, bool], Block] = {}
    for folder in memory_folders(places):
        for block in list_blocks(folder, include_archived=archived):
            found.setdefault((block.path.name, block.note.archived), block)
    return newest_first(found.values())


def get_block(places: Places, name: str) -> Block:
    """Return the block that ``name`` means. Raises ``NotFoundError``, naming near ones, and ``StoreIOError``."""
    from persist.errors import NotFoundError, StoreIOError
    from persist.memory.blocks import find_block

    for folder in memory_folders(places):
        block = find_block(folder, name)
        if block is not None:
            if block.unread is not None:
                raise StoreIOError(block.path, "read", block.unread)
            if block.problem:
                output.talk(f"{block.path} {block.problem}")
            return block
    from difflib import get_close_matches

    near = get_close_matches(name, [block.note.name for block in list_all_blocks(places)])
    raise NotFoundError("memory block", name, f"did you mean {' or '.join(near)}?" if near else "see: asx memory list")


def note_recall(places: Places, block: Block) -> None:
    """Write the journal line of a block that is given out (DESIGN 10); one that cannot be written is only told."""
    from persist import times
    from persist.errors import StoreError
    from persist.files import append_lines
    from persist.memory.journal import JOURNAL_FILE

    entry = {"ts": times.now(), "op": "recall", "name": block.path.stem}
    text = json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    try:
        append_lines(places.memory / JOURNAL_FILE, [text], timeout_s=_JOURNAL_WAIT_S, durable=False)
    except StoreError as error:
        output.talk(f"the recall is not in the journal: {error}")
