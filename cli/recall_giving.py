"""What is given out of an answer: as much as has room, framed; and the journal lines of it (DESIGN 10)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cli.recall_answer import Asked, Item
from cli.shapes.memory import STORE_AGENT


class Given(NamedTuple):
    """The items that are given out, the best first, their text in its frame, and how many were cut or left out."""

    items: tuple[Item, ...]
    text: str
    cut: int
    left_out: int


def given(items: Sequence[Item], max_characters: int) -> Given:
    """Return as many of the items as have room, the best ones; pure."""
    from persist.recall.frame import framed

    found = framed([item.quoted for item in items], max_characters)
    kept = {id(quoted) for quoted in found.given}
    return Given(tuple(item for item in items if id(item.quoted) in kept), found.text, found.cut, found.left_out)


def note_given(folder: Path, items: Sequence[Item], asked: Asked) -> str | None:
    """Write one journal line for each block that was given out; return why that was not possible.

    Facts have no line, and notes of other agents none in this journal. Call it when the answer has left the program.
    """
    from persist import times
    from persist.memory.journal_writer import append_recalls

    names = [Path(item.quoted.path).stem for item in items if item.kind == "block" and item.agent == STORE_AGENT]
    return append_recalls(folder, names, session=asked.session, ts=times.now()) if names else None
