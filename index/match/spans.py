"""Where a query's form lies in a stored text: the verifier that decides what is a hit (DESIGN 9).

Pure. A hit is an occurrence of the query's form in the text's form. Its span is the shortest run of whole
stored characters that gives it; no span divides characters that NFC joins. Hits are taken from left to
right, each beginning at or after the end of the one before: spans do not overlap, and equal ones are one.

The way back from form to stored text is built only for texts that hit and whose form is not one character
for one; in real transcripts that is next to never.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias
from unicodedata import is_normalized

from index.match.form import fold, form
from index.match.normal import units

Span: TypeAlias = tuple[int, int]
"""Start and end in bytes of the stored text's UTF-8, end exclusive, both on character borders."""

_RUN = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")
"""Text outside ASCII with the letter it may join: ASCII is never changed by what stands before it."""
_REMEMBERED_RUN: Final = 32
"""Characters up to which a run's lengths are remembered: a letter and its marks come again and again."""


class Verifier:
    """Decides for one query, text after text. Build it once per query, from the query's form and case."""

    __slots__ = ("_exact", "_query_form")

    def __init__(self, query_form: str, exact: bool) -> None:
        self._query_form = query_form
        self._exact = exact

    def matches(self, text: str) -> bool:
        """Say whether ``text`` has a hit."""
        return self._query_form in form(text, self._exact)

    def spans(self, text: str) -> list[Span]:
        """Return the spans of all hits in ``text``, in order; empty where ``matches`` is false."""
        return find_spans(text, self._query_form, self._exact)


def find_spans(text: str, query_form: str, exact: bool) -> list[Span]:
    """Return the spans of all hits of a query's form in a stored text, in order, in UTF-8 bytes.

    ``query_form`` must not be empty and must have been made with the same ``exact``; ``text`` must not hold
    lone surrogates.
    """
    text_form = form(text, exact)
    if query_form not in text_form:
        return []
    if len(text_form) == len(text) and (text.isascii() or is_normalized("NFC", text)):
        stored = _occurrences(text_form, query_form)
    else:
        stored = _mapped_occurrences(text_form, query_form, _blocks(text, exact))
    return list(stored) if text.isascii() else list(in_bytes(text, stored))


def count_spans(text: str, query_form: str, exact: bool) -> int:
    """Return how many spans ``find_spans`` finds. Cost: of ASCII a third of it."""
    if text.isascii():
        return form(text, exact).count(query_form)
    return len(find_spans(text, query_form, exact))


class _Block(NamedTuple):
    """A piece of text that is not one character for one: its places in the form and in the stored text."""

    form_start: int
    form_end: int
    start: int
    end: int


def _occurrences(text_form: str, query_form: str) -> Iterator[tuple[int, int]]:
    """Yield where ``query_form`` lies, in characters, without overlaps."""
    start = text_form.find(query_form)
    while start >= 0:
        end = start + len(query_form)
        yield start, end
        start = text_form.find(query_form, end)


def _mapped_occurrences(text_form: str, query_form: str, blocks: list[_Block]) -> Iterator[tuple[int, int]]:
    """Yield the runs of stored characters that give ``query_form``, in characters, without overlaps."""
    form_starts = [block.form_start for block in blocks]

    def block_at(place: int) -> _Block:
        """Return the last block that begins at or before a character of the form, or one of no size."""
        number = bisect_right(form_starts, place) - 1
        return blocks[number] if number >= 0 else _Block(0, 0, 0, 0)

    found = text_form.find(query_form)
    while found >= 0:
        first = block_at(found)
        start = first.start if found < first.form_end else first.end + found - first.form_end
        after = found + len(query_form)
        last = block_at(after - 1)
        # A hit that ends inside a block takes all of it, and the next one is looked for behind the block.
        after = max(after, last.form_end)
        yield start, last.end + after - last.form_end
        found = text_form.find(query_form, after)


def _blocks(text: str, exact: bool) -> list[_Block]:
    """Return, in order, every piece of ``text`` that is not one stored character giving one of the form."""
    if is_normalized("NFC", text):
        return _expansions(text)
    blocks: list[_Block] = []
    shift = 0
    for run in _RUN.finditer(text):
        piece = run[0]
        place = run.start()
        for length, form_length in _lengths(piece, exact):
            if length != 1 or form_length != 1:
                blocks.append(_Block(place + shift, place + shift + form_length, place, place + length))
                shift += form_length - length
            place += length
    return blocks


def _expansions(text: str) -> list[_Block]:
    """Return the characters of an NFC text that fold to several, such as ß."""
    given = {letter: length for letter in set(text) if (length := len(fold(letter))) > 1}
    blocks: list[_Block] = []
    shift = 0
    for found in re.finditer(f"[{''.join(sorted(given))}]", text):
        place = found.start()
        length = given[found[0]]
        blocks.append(_Block(place + shift, place + shift + length, place, place + 1))
        shift += length - 1
    return blocks


def _lengths(piece: str, exact: bool) -> tuple[tuple[int, int], ...]:
    """Return how many stored characters each unit of ``piece`` has and how many they give in the form."""
    if len(piece) <= _REMEMBERED_RUN:
        return _remembered_lengths(piece, exact)
    return _measure(piece, exact)


def _measure(piece: str, exact: bool) -> tuple[tuple[int, int], ...]:
    if is_normalized("NFC", piece):
        return tuple([(1, 1 if exact else len(fold(letter))) for letter in piece])
    return tuple([(unit.length, len(unit.nfc if exact else fold(unit.nfc))) for unit in units(piece)])


_remembered_lengths = lru_cache(maxsize=4096)(_measure)


def in_bytes(text: str, stored: Iterator[tuple[int, int]]) -> Iterator[Span]:
    """Turn ascending places in characters into places in the UTF-8 of ``text``."""
    at_character = at_byte = 0
    for start, end in stored:
        start_byte = at_byte + len(text[at_character:start].encode())
        at_byte = start_byte + len(text[start:end].encode())
        at_character = end
        yield start_byte, at_byte
