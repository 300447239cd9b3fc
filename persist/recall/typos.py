"""Reads a word that nobody knows as one that candidates do know, when they are one slip apart.

Pure; imports ``persist.recall`` only. Careful on purpose: only words of letters, five or more of them, known neither to
the candidates nor to technical English; only to words of few candidates that begin with the same two letters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from persist.recall.background import background
from persist.recall.corpus import Statistics
from persist.recall.small_words import light_words
from persist.recall.words import Unit

MIN_LETTERS: Final = 5
SAME_LETTERS: Final = 2
"""Letters at the beginning that must be the same."""
MAX_REPAIRED: Final = 8
"""Words of one prompt that are looked at: more unknown ones are another language, or data."""
_ENDING_LETTERS: Final = 2
_FEW: Final = 3
_FEW_SHARE: Final = 0.1


def to_repair(units: tuple[Unit, ...], statistics: Statistics) -> tuple[str, ...]:
    """Return the words of a prompt that may be slips, in order; none where there are too many to be slips."""
    found = dict.fromkeys(
        unit.parts[0]
        for unit in units
        if unit.whole is None and not unit.is_pair and len(unit.typed) >= MIN_LETTERS and unit.typed.isalpha()
    )
    unknown = tuple(word for word in found if not _is_known(word, statistics))
    return unknown[:MAX_REPAIRED]


def repair(word: str, known: Mapping[str, int], count: int) -> str | None:
    """Return the word of ``known`` (words with their frequencies) that ``word`` is a slip of, ``None`` for none.

    One letter is missing, too many, another or changed places with the next; or the two differ in an ending of at most
    two letters, which the English stems of another language's words leave. The rarest, then the first by letters.
    """
    most = max(_FEW, int(count * _FEW_SHARE))
    fits = [
        (frequency, other)
        for other, frequency in known.items()
        if frequency <= most
        and other[:SAME_LETTERS] == word[:SAME_LETTERS]
        and len(other) >= MIN_LETTERS - 1
        and other.isalpha()
        and (is_one_edit(word, other) or _differ_in_ending(word, other))
    ]
    return min(fits)[1] if fits else None


def is_one_edit(word: str, other: str) -> bool:
    """Tell whether one insertion, deletion, replacement or exchange of neighbours makes one word of the other."""
    if word == other or abs(len(word) - len(other)) > 1:
        return False
    start = 0
    shortest = min(len(word), len(other))
    while start < shortest and word[start] == other[start]:
        start += 1
    if len(word) > len(other):
        return word[start + 1 :] == other[start:]
    if len(word) < len(other):
        return word[start:] == other[start + 1 :]
    if word[start + 1 :] == other[start + 1 :]:
        return True
    return word[start : start + 2] == other[start : start + 2][::-1] and word[start + 2 :] == other[start + 2 :]


def _differ_in_ending(word: str, other: str) -> bool:
    shorter, longer = sorted((word, other), key=len)
    return len(shorter) > MIN_LETTERS and longer.startswith(shorter) and len(longer) - len(shorter) <= _ENDING_LETTERS


def _is_known(word: str, statistics: Statistics) -> bool:
    return word in statistics.frequencies or word in background() or word in light_words()
