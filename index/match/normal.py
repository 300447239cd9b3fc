"""NFC with a map back: into which smallest pieces a stored text falls that normalise by themselves.

Pure; imports nothing of ours and holds no table of characters, so that it follows whatever Unicode version
``unicodedata`` has. Linear in the length of the text, but for sorting the marks of one letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple
from unicodedata import combining, is_normalized, normalize

LONG_RUN: Final = 256
"""Characters outside ASCII in one piece above which ``nfc`` sorts marks itself.

``unicodedata.normalize`` orders the marks of one letter by insertion: 40,000 marks on a letter take it
seconds, a hostile text of megabytes for ever. Handed over in order they cost nothing.
"""

_LONG_RUN = re.compile(rf"[^\x00-\x7f]{{{LONG_RUN},}}")


class Unit(NamedTuple):
    """The smallest run of stored characters that no normalisation crosses: its length and its NFC."""

    length: int
    nfc: str


def nfc(text: str) -> str:
    """Return the NFC of ``text``; a text that is NFC already is returned itself, after one quick check."""
    if is_normalized("NFC", text):
        return text
    return normalize("NFC", _LONG_RUN.sub(_sort_marks, text))


def units(run: str) -> Iterator[Unit]:
    """Cut ``run`` wherever NFC(before) + NFC(after) is NFC(whole), yielding the pieces in order.

    ``run`` must begin where normalisation cannot reach back: at a text's start or at an ASCII character.
    Joined, the pieces' NFC is the NFC of ``run``.
    """
    composed = _compose(_in_order(run))
    lowest_from = [len(run)] * (len(composed) + 1)
    for place in range(len(composed) - 1, -1, -1):
        lowest_from[place] = min(composed[place].first, lowest_from[place + 1])
    start, highest, letters = 0, -1, []
    for place, piece in enumerate(composed):
        letters.append(piece.letter)
        highest = max(highest, piece.last)
        if highest < lowest_from[place + 1]:
            yield Unit(highest + 1 - start, "".join(letters))
            start, letters = highest + 1, []


class _Composed(NamedTuple):
    """One character of the NFC and the first and last (inclusive) stored characters that went into it."""

    letter: str
    first: int
    last: int


def _in_order(run: str) -> list[tuple[str, int]]:
    """Return the canonical decomposition, in canonical order, each with the index it was stored at."""
    decomposed = [(part, index) for index, letter in enumerate(run) for part in normalize("NFD", letter)]
    ordered: list[tuple[str, int]] = []
    for _, group in groupby(decomposed, key=lambda pair: combining(pair[0]) != 0):
        ordered.extend(sorted(group, key=lambda pair: combining(pair[0])))  # stable, so starters stay in place
    return ordered


def _sort_marks(run: re.Match[str]) -> str:
    return "".join([part for part, _ in _in_order(run[0])])


def _compose(ordered: list[tuple[str, int]]) -> list[_Composed]:
    """Apply Unicode's canonical composition (UAX 15), remembering where every character came from."""
    composed: list[_Composed] = []
    starter = -1
    class_before = 0
    for letter, index in ordered:
        letter_class = combining(letter)
        if starter >= 0 and (class_before == 0 or class_before < letter_class):
            base = composed[starter]
            joined = _join(base.letter, letter)
            if joined is not None:
                composed[starter] = _Composed(joined, min(base.first, index), max(base.last, index))
                continue
        if letter_class == 0:
            starter = len(composed)
        class_before = letter_class
        composed.append(_Composed(letter, index, index))
    return composed


@lru_cache(maxsize=4096)
def _join(base: str, letter: str) -> str | None:
    joined = normalize("NFC", base + letter)
    return joined if len(joined) == 1 else None
