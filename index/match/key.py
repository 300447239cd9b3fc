"""The search key: what the full-text table holds of each text, and the expression that asks for it.

Pure; knows FTS5 only as the text of one expression for ``tokenize='trigram case_sensitive 1'``. NFD, case
folding, NFD, characters with a combining class dropped, U+0000 made U+0001 (at which FTS5 would stop).

Every character maps by itself (``key(a + b) == key(a) + key(b)``), and a form maps to the key of its text.
So the key of a query that hits is part of the key of the text it hits, and candidates found by trigrams
are a superset of the hits in every case mode and normal form; ``index.match.spans`` decides.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

FOLD_VERSION: Final = 2
"""Raise when the key of any text changes: the index's ``meta`` holds it, and another number means rebuild."""

KEY_END: Final = "\1\1"
"""Stands behind each stored key, so that its last characters begin trigrams too: one and two characters are found by
the trigrams that begin with them. A text may hold U+0001 itself: one candidate too many, and the verifier decides."""

MAX_TRIGRAMS: Final = 64
"""Trigrams sent for one query. Any subset finds a superset, and thousands of them cost milliseconds."""

ENOUGH_SEAMS: Final = 3
"""So many trigrams about a single sign between letters say enough of short words: of seven stop words they let a fifth
more texts pass than all trigrams do and cost a fifth."""
_LONG_WORD: Final = re.compile(r"[^\W_]{5,}")
_FEW_LETTERS: Final = 16
"""Distinct characters that are replaced one pass each; more of them go through the slower general ways."""
_SHORT: Final = 64
"""Characters below which the table of marks is not worth building (14 ms, once): all queries, most prompts."""
_SPARSE: Final = 2
"""A text with at least so many bytes per byte outside ASCII is looked at by its distinct characters."""

_ASCII: Final = bytes(range(128))
_UP_TO_FFFF: Final = bytes(range(0xF0))
"""All bytes in the UTF-8 of characters up to U+FFFF; four-byte characters begin with a higher one."""
_MARKS_END: Final = 0x10000
_MAX_LETTERS: Final = 1 << 16
"""Characters remembered at once: more than any text of people has, few enough to stay small."""


def unicode_version() -> str:
    """Return the version of the Unicode data the keys rest on, for the index's ``meta``."""
    return unicodedata.unidata_version


def search_key(text: str) -> str:
    """Return the search key of ``text``, which must not hold lone surrogates (``persist`` replaces them).

    Linear. ASCII and mostly-ASCII texts cost a few passes in C over the bytes.
    """
    if text.isascii():
        return text.lower().replace("\0", "\1")
    stored = text.encode()
    foreign = stored.translate(None, _ASCII)
    is_short = len(text) < _SHORT
    if is_short or len(foreign) * _SPARSE < len(stored):
        key = _replace_letters(stored, foreign.decode())
        if key is not None:
            return key
    if is_short or foreign.translate(None, _UP_TO_FFFF):
        return text.translate(_LETTERS)
    return _fold_dense(text)


def stored_key(text: str) -> str:
    """Return what the full-text table holds of ``text``: its search key and ``KEY_END``."""
    return search_key(text) + KEY_END


def trigrams(key: str) -> list[str]:
    """Return distinct trigrams of ``key``, at most ``MAX_TRIGRAMS``, spread evenly over it, in order.

    Empty for a key under three characters: such a query is answered by a scan. Of a key of several words the trigrams
    about a single sign between letters (``t t``, ``e_w``) say most, as they tell which words stand beside each other;
    those in words of up to four letters say least and cost most. Where there are enough of the first, the others are
    those that cover the longer words.
    """
    places: Sequence[int] = range(max(len(key) - 2, 0))
    seams = [place for place in places if _is_seam(key, place)]
    if len(seams) >= ENOUGH_SEAMS:
        places = sorted({*seams, *(place for word in _LONG_WORD.finditer(key) for place in _covering(*word.span()))})
    count = len(places)
    if count > MAX_TRIGRAMS:
        places = [places[step * (count - 1) // (MAX_TRIGRAMS - 1)] for step in range(MAX_TRIGRAMS)]
    return list(dict.fromkeys(key[place : place + 3] for place in places))


def _is_seam(key: str, place: int) -> bool:
    return key[place].isalnum() and not key[place + 1].isalnum() and key[place + 2].isalnum()


def _covering(start: int, end: int) -> Iterator[int]:
    """Yield where trigrams begin that together cover the characters from ``start`` to ``end``, exclusive."""
    yield from range(start, end - 3, 3)
    yield end - 3


def fts_expression(key: str) -> str | None:
    """Return the MATCH expression that finds every text whose key holds ``key``, or ``None`` under 3 characters.

    Each trigram is an FTS5 string with ``"`` doubled, so nothing a person typed is syntax. ``AND`` is written
    out (implicit AND is 6 times slower in 3.40); ``detail=none`` has no phrases, so order is the verifier's.
    """
    asked = trigrams(key)
    if not asked:
        return None
    return " AND ".join(['"' + trigram.replace('"', '""') + '"' for trigram in asked])


class _Letters(dict[int, str | int]):
    """A table for ``str.translate``, filled with what each character gives as characters are met."""

    def __missing__(self, point: int) -> str | int:
        if len(self) >= _MAX_LETTERS:
            self.clear()
        letter = chr(point)
        key = _letter_key(letter) if point else "\1"
        # An unchanged character maps to its number: translate() copies that faster than a string.
        self[point] = point if key == letter else key
        return self[point]


_LETTERS: Final = _Letters()


def _letter_key(letter: str) -> str:
    """Return what one character gives, by the definition itself."""
    decomposed = unicodedata.normalize("NFD", unicodedata.normalize("NFD", letter).casefold())
    return "".join([part for part in decomposed if not unicodedata.combining(part)])


def _replace_letters(stored: bytes, foreign: str) -> str | None:
    """Return the key by replacing each distinct character of ``foreign`` that changes; ``None`` if many do."""
    changed = [(letter, given) for letter in set(foreign) if isinstance(given := _LETTERS[ord(letter)], str)]
    if len(changed) > _FEW_LETTERS:
        return None
    key = stored.lower()  # bytes.lower() touches ASCII letters only
    for letter, given in changed:
        # UTF-8 is self-synchronising, and what a letter gives changes no further: neither cut nor order matters.
        key = key.replace(letter.encode(), given.encode())
    return key.replace(b"\0", b"\1").decode()


def _fold_dense(text: str) -> str:
    """Return the key of a text without characters above U+FFFF: four passes in C.

    Marks go first: NFD orders the marks of one letter by insertion, which a hostile text makes quadratic.
    Folding before NFD gives the same for every character once marks are dropped (tested over all of them).
    """
    marks = _marks()
    folded = marks.sub("", text.casefold().replace("\0", "\1"))
    decomposed = unicodedata.normalize("NFD", folded)
    return folded if decomposed is folded or decomposed == folded else marks.sub("", decomposed)


@lru_cache(maxsize=1)
def _marks() -> re.Pattern[str]:
    """Compile the class of characters up to U+FFFF that have a combining class; found, not listed, so never old."""
    marked = [chr(point) for point in range(_MARKS_END) if unicodedata.combining(chr(point))]
    return re.compile(f"[{_as_ranges(marked)}]+")


def _as_ranges(letters: list[str]) -> str:
    """Write ascending characters as ranges of a regular expression's class; single ones would slow it tenfold."""
    ranges: list[list[int]] = []
    for point in map(ord, letters):
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "".join([f"\\u{first:04x}-\\u{last:04x}" for first, last in ranges])
