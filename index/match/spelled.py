"""Terms of a query of words that are compared letter by letter, on search keys: accents and case are ignored.

Pure; of ours it imports this package only, never sqlite3. Beginnings of words, words of other alphabets than Latin, and
parts of texts in scripts that are written without blanks. What stands where in the key is mapped back to the stored
text, only for texts that match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final
from unicodedata import combining

from index.match.key import search_key
from index.match.letters import (
    SEMIVOICED,
    SPACED_LETTER,
    VOICED,
    follows_mark_of_word,
    goes_on,
    has_kana,
    is_unspaced,
    keep_voicing,
    words_of,
)
from index.match.spans import Span, in_bytes
from index.match.words import Kind, Term

_CHUNK: Final = 512
"""Characters per step on the way from a key back to its text."""


def matches_term(term: Term, text: str) -> bool:
    """Say whether ``text`` matches ``term``, not of kind ``WORD``. Cost: the key of the text and a search."""
    return next(_found(term, text), None) is not None


def key_counter(term: Term) -> Callable[[Sequence[str]], list[int]] | None:
    """Return what tells by the search keys of texts how often ``term`` stands in each, without overlaps.

    The term is not of kind ``WORD``. Null for a term with kana: only the text itself tells. Many keys at once, since to
    ask for each costs as much as half of the answer.
    """
    if has_kana(term.key):
        return None
    find_all = _pattern(term).findall

    def count(keys: Sequence[str]) -> list[int]:
        return [len(find_all(key)) if key.isascii() else sum(1 for _ in _found_in_key(term, key)) for key in keys]

    return count


def count_term(term: Term, text: str) -> int:
    """Return how often ``term`` (not of kind ``WORD``) stands in ``text``, without overlaps."""
    return sum(1 for _ in _found(term, text))


def places_of_term(term: Term, text: str) -> list[tuple[int, int]]:
    """Return where ``term`` (not of kind ``WORD``) stands in ``text``: in characters, in order, end exclusive.

    Whole stored characters with the marks that follow them; occurrences do not overlap in the key, so that two may
    share a character such as ß.
    """
    found = list(_found(term, text))
    if not found or text.isascii():
        return found
    return _stored(text, _key_of(term), found)


def merge_places(text: str, places: Iterable[tuple[int, int]]) -> list[Span]:
    """Return places in characters, of any order, as spans: joined where they touch or overlap, in UTF-8 bytes."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged if text.isascii() else list(in_bytes(text, iter(merged)))


def _found(term: Term, text: str) -> Iterator[tuple[int, int]]:
    """Yield where ``term`` stands in the key of ``text``, without overlaps."""
    return _found_in_key(term, _key_of(term)(text))


def _found_in_key(term: Term, key: str) -> Iterator[tuple[int, int]]:
    """Yield where ``term`` stands in a key, which keeps voicing marks if the term has kana, without overlaps."""
    pattern = _pattern(term)
    # Only signs of ASCII and letters one for one: the pattern alone decides.
    is_simple = key.isascii()
    match = pattern.search(key)
    while match is not None:
        if is_simple or _has_borders(term, key, match):
            yield match.span()
            match = pattern.search(key, match.end())
        else:
            match = pattern.search(key, match.start() + 1)


def _has_borders(term: Term, key: str, match: re.Match[str]) -> bool:
    """Say whether marks and syllables are whole, which the pattern does not look at."""
    if goes_on(key, match.start()):
        return False
    if not is_unspaced(key[match.start()]) and follows_mark_of_word(key, match.start()):
        return False
    if any(goes_on(key, match.start(gap)) for gap in range(1, len(term.words))):
        return False
    return term.kind is Kind.PREFIX or not goes_on(key, match.end())


def _key_of(term: Term) -> Callable[[str], str]:
    """Return what texts are compared by: the search key, which for kana keeps their voicing marks."""
    return _voiced_key if has_kana(term.key) else search_key


def _voiced_key(text: str) -> str:
    return search_key(keep_voicing(text))


@lru_cache(maxsize=256)
def _pattern(term: Term) -> re.Pattern[str]:
    """Compile the words of ``term`` in order with signs and blanks between, from border to border.

    The border before it is looked for behind the first word: so the expression begins with letters, which are fast.
    """
    first, *others = words_of(_key_of(term)(term.text))
    expression = re.escape(first)
    if not is_unspaced(first[0]):
        expression += f"(?<!{SPACED_LETTER}{re.escape(first)})"
    for word in others:
        expression += rf"(?![{VOICED}{SEMIVOICED}])([\W_]++){re.escape(word)}"
    last_letter = next(letter for letter in reversed([first, *others][-1]) if letter.isalnum())
    if term.kind is not Kind.PREFIX and not is_unspaced(last_letter):
        expression += f"(?!{SPACED_LETTER})"
    return re.compile(expression)


def _stored(text: str, key_of: Callable[[str], str], found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Turn ascending places in the key of ``text`` into those of the characters that gave them."""
    places: list[tuple[int, int]] = []
    way = _Way(text, key_of)
    for start, end in found:
        first = way.character_at(start)
        after = way.character_at(end - 1) + 1
        while after < len(text) and combining(text[after]):
            after += 1
        places.append((first, after))
    return places


class _Way:
    """The way from places in a key, asked for in ascending order, back to characters of its text."""

    __slots__ = ("_key_of", "_key_start", "_owners", "_start", "_text")

    def __init__(self, text: str, key_of: Callable[[str], str]) -> None:
        self._text = text
        self._key_of = key_of
        self._start = 0
        self._key_start = 0
        self._owners = self._chunk_owners()

    def character_at(self, place: int) -> int:
        """Return the index of the character that gave the key's character at ``place``."""
        while place >= self._key_start + len(self._owners):
            self._key_start += len(self._owners)
            self._start += _CHUNK
            self._owners = self._chunk_owners()
        return self._start + self._owners[place - self._key_start]

    def _chunk_owners(self) -> range | list[int]:
        """Return, for each character of the key of the chunk, which of the chunk's characters gave it."""
        chunk = self._text[self._start : self._start + _CHUNK]
        if chunk.isascii():
            return range(len(chunk))
        given = {letter: len(self._key_of(letter)) for letter in set(chunk)}
        if all(length == 1 for length in given.values()):
            return range(len(chunk))
        return [index for index, letter in enumerate(chunk) for _ in range(given[letter])]
