"""Which blocks say nearly what a new one says (``spec/aster.md`` 4.5): a hint, never a reason to refuse. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from persist.memory.blocks import Block, by_name

MAX_NEAR: Final = 3
_MIN_WORD_BYTES: Final = 4
_WORD = re.compile(r"\w+")
_NOISE: Final = frozenset(
    {"about", "always", "from", "have", "into", "must", "that", "their", "this", "when", "will", "with"}
)
"""Words that tell nothing about what a note is about."""


def near_duplicates(stem: str, description: str, blocks: Iterable[Block]) -> tuple[str, ...]:
    """Return the stems of up to three blocks that share half of the words of name and description, most shared first.

    Half is of the smaller set of words; words are lower-cased, at least four bytes long and no noise. Blocks with the
    stem itself and superseded ones are left out. Ties by name.
    """
    words = _words(f"{stem} {description}")
    found: list[tuple[int, str]] = []
    for block in by_name(blocks):
        if block.path.stem == stem or block.note.superseded_by is not None:
            continue
        others = _words(f"{block.note.name} {block.title or ''} {block.note.description}")
        shared = len(words & others)
        if shared and 2 * shared >= min(len(words), len(others)):
            found.append((shared, block.path.stem))
    return tuple(name for _, name in sorted(found, key=lambda pair: -pair[0])[:MAX_NEAR])


def _words(text: str) -> set[str]:
    words = {word for part in _WORD.findall(text.lower()) for word in part.split("_")}
    return {word for word in words if len(word.encode("utf-8", "replace")) >= _MIN_WORD_BYTES and word not in _NOISE}
