"""Which blocks say nearly what a new one says (``spec/aster.md`` 4.5): a hint, never a reason to refuse. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from persist.memory.blocks import Block, by_name

MAX_NEAR: Final = 3
_MIN_WORD_BYTES: Final = 4
_FEW: Final = 100
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


def near_pairs(words: Mapping[str, set[str]]) -> list[tuple[str, str]]:
    """Return which of many say nearly the same by the rule of :func:`near_duplicates`, each pair once, in order.

    ``words`` are those of :func:`telling_words` by name. At most ``MAX_NEAR`` pairs for a name.
    """
    found: dict[str, list[tuple[int, str]]] = {}
    for one, other, shared in shared_words(words):
        if 2 * shared >= min(len(words[one]), len(words[other])):
            found.setdefault(one, []).append((-shared, other))
    return [(one, other) for one in sorted(found) for _shared, other in sorted(found[one])[:MAX_NEAR]]


def shared_words(words: Mapping[str, set[str]]) -> Iterator[tuple[str, str, int]]:
    """Yield each pair of names, in order, that have words in common, and how many.

    Of more than ``_FEW`` names a word that over a tenth of them have tells nothing: so the cost stays far below that
    of comparing each with each.
    """
    most = max(_FEW, len(words) // 10)
    holders: dict[str, list[str]] = {}
    for name in sorted(words):
        for word in words[name]:
            holders.setdefault(word, []).append(name)
    for name in sorted(words):
        counts: Counter[str] = Counter()
        for word in words[name]:
            if len(holders[word]) <= most:
                counts.update(other for other in holders[word] if other > name)
        yield from ((name, other, shared) for other, shared in counts.items())


def telling_words(text: str) -> set[str]:
    """Return the words of a text that tell what it is about: lower-cased, at least four bytes long, no noise."""
    return _words(text)


def _words(text: str) -> set[str]:
    words = {word for part in _WORD.findall(text.lower()) for word in part.split("_")}
    return {word for word in words if len(word.encode("utf-8", "replace")) >= _MIN_WORD_BYTES and word not in _NOISE}
