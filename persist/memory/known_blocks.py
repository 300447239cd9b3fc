"""Blocks as header and journal together tell them: of the two the later one holds (``persist.memory.standing``).

Reads files, writes none; must never import sqlalchemy or anything of ``persist.files``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from persist import times
from persist.memory.blocks import Block, find_block, paths_of_slug, read_block
from persist.memory.journal import iter_known_operations
from persist.memory.names import block_slug
from persist.memory.standing import Standing, noted, standings, with_standing


def known_blocks(blocks: Sequence[Block], beside: Iterable[Block] = ()) -> list[Block]:
    """Return blocks of memory folders, in order, with the aliases, kind, project, pin and successor that hold now.

    ``beside`` are other blocks of these folders that the journal or a successor may mean. What cannot be read, block
    or journal, tells nothing. Cost: the journal of each folder, once more where archived blocks are among them.
    """
    groups: dict[tuple[Path, bool], list[Block]] = {}
    for block in (*blocks, *beside):
        if block.unread is None:
            groups.setdefault((_folder_of(block), block.note.archived), []).append(block)
    as_of = times.now()
    known: dict[Path, Standing] = {}
    for (folder, _), group in groups.items():
        told = standings([noted(block.path.stem, block.note) for block in group], iter_known_operations(folder), as_of)
        known |= {block.path: told[noted(block.path.stem, block.note).name] for block in group}
    return [
        replace(block, note=with_standing(block.note, known[block.path])) if block.path in known else block
        for block in blocks
    ]


def known_block(block: Block) -> Block:
    """Return one block so. Cost: the journal, and the files of the blocks that share its slug or follow it."""
    folder = _folder_of(block)
    paths = paths_of_slug(folder, block_slug(block.title or block.path.stem))
    (found,) = known_blocks([block], [read_block(path) for path in paths if path != block.path])
    successor = None if found.note.superseded_by is None else find_block(folder, found.note.superseded_by)
    if successor is None:
        return found
    return replace(found, note=found.note._replace(superseded_by=successor.path.stem))


def _folder_of(block: Block) -> Path:
    return block.path.parent.parent if block.note.archived else block.path.parent
