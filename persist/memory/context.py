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
_MORE: Final = "asx memory list shows them all"
_DASH: Final = " \u2014 "


@dataclass(frozen=True, slots=True)
class Context:
    """The text, how many blocks it lists, and how many it left out for want of room."""

    text: str
    blocks: int
    left_out: int


def load_context(folder: Path, prompt: str | None = None, cwd: str | None = None) -> str:
    """Return the context of a memory folder; empty when there is nothing to say.

    With a prompt, of the blocks only those that help with it where it was typed (:func:`blocks_for`). Raises
    ``StoreIOError`` where the folder or ``ASTER.md`` cannot be read.
    """
    return read_context(folder, prompt, cwd).text


def read_context(folder: Path, prompt: str | None = None, cwd: str | None = None) -> Context:
    """Return the context of a memory folder with its counts. Cost and errors as :func:`load_context`."""
    blocks = newest_first(list_blocks(folder))
    helpful = None if prompt is None else blocks_for(prompt, [folder], blocks, cwd)
    return build_context(read_project(folder), blocks, helpful=helpful)


def blocks_for(prompt: str, folders: Sequence[Path], blocks: Sequence[Block], cwd: str | None = None) -> list[Block]:
    """Return those of the blocks of memory folders that pass recall's gate for a prompt, the best first.

    ``cwd`` is the folder in which it was typed, the current one when not given. Nothing is noted in the journal: titles
    give no block out. Raises ``StoreIOError`` like :func:`load_context`.
    """
    from persist import times
    from persist.places import current_environment, current_folder
    from persist.recall.answer import recall
    from persist.recall.from_files import read_corpus, says_same
    from persist.recall.scope import place_of

    environment = current_environment()
    place = place_of(cwd if cwd is not None else str(current_folder(environment)), str(environment.home))
    now = times.now()
    found = recall(
        prompt, read_corpus(folders, now), place=place, as_of=now, limit=MAX_INDEX_ENTRIES, says_same=says_same
    )
    by_path = {str(block.path): block for block in blocks}
    chosen = (by_path.get(verdict.candidate.path) for verdict in found.chosen)  # a fact is none of them
    return [block for block in chosen if block is not None]


def build_context(
    project: str | None,
    blocks: Sequence[Block],
    limit: int = MAX_INDEX_ENTRIES,
    helpful: Sequence[Block] | None = None,
) -> Context:
    """Return the context of a project text and of blocks in the order given; pure.

    The project text stands in it whole, trimmed. Of the blocks the first ``limit`` are listed, or of ``helpful`` where
    those are given, and a last line tells how many were left out.
    """
    listed = (blocks if helpful is None else helpful)[:limit]
    left_out = len(blocks) - len(listed)
    sections = []
    if project is not None and project.strip():
        sections.append(project.strip())
    if blocks:
        lines = ["### Recallable memory", INSTRUCTION, *(_entry(block) for block in listed)]
        if left_out and helpful is not None:
            others = "1 other block" if left_out == 1 else f"{left_out} other blocks"
            lines.append(f"- ... and {others} not about this prompt; {_MORE}")
        elif left_out:
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
