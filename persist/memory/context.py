"""Builds the text that an agent puts into its system prompt: project memory and the list of blocks.

The shape is Aster's (``spec/aster.md`` 4.4), byte for byte but for the two sentences, which are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from persist.memory.blocks import Block, list_blocks, newest_first
from persist.memory.project import read_project

MAX_INDEX_ENTRIES: Final = 60
"""Blocks that are listed; more would push the conversation out of the prompt."""
INSTRUCTION: Final = "These are titles only: call recall with a block's name and read it before you rely on it."
_MORE: Final = "call recall without a name to list them all"
_DASH: Final = " \u2014 "


@dataclass(frozen=True, slots=True)
class Context:
    """The text, how many blocks it lists, and how many it left out for want of room."""

    text: str
    blocks: int
    left_out: int


def load_context(folder: Path) -> str:
    """Return the context of a memory folder; empty when there is nothing to say.

    Raises ``StoreIOError`` where the folder or ``ASTER.md`` cannot be read.
    """
    return read_context(folder).text


def read_context(folder: Path) -> Context:
    """Return the context of a memory folder with its counts. Cost and errors as :func:`load_context`."""
    return build_context(read_project(folder), newest_first(list_blocks(folder)))


def build_context(project: str | None, blocks: Sequence[Block], limit: int = MAX_INDEX_ENTRIES) -> Context:
    """Return the context of a project text and of blocks in the order given; pure.

    The project text stands in it whole, trimmed. Of the blocks the first ``limit`` are listed, and a last line
    tells how many were left out.
    """
    listed = blocks[:limit]
    left_out = len(blocks) - len(listed)
    sections = []
    if project is not None and project.strip():
        sections.append(project.strip())
    if blocks:
        lines = ["### Recallable memory", INSTRUCTION, *(_entry(block) for block in listed)]
        if left_out:
            lines.append(f"- ... and {left_out} more blocks; {_MORE}")
        sections.append("\n".join(lines))
    if not sections:
        return Context("", 0, 0)
    return Context("\n\n".join(["## Memory", *sections]), len(listed), left_out)


def _entry(block: Block) -> str:
    name = _one_line(block.note.name)
    description = _one_line(block.note.description)
    return f"- {name}{_DASH}{description}" if description else f"- {name}"


def _one_line(text: str) -> str:
    """Keep an entry on its line: a description with line breaks would make entries of its own."""
    return " ".join(line.strip() for line in text.splitlines())
