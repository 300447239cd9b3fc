"""A text to its words, alike for prompts and for what may be recalled.

Pure; imports ``persist.recall`` only. Words are stems of small letters without accents (``stems.py``), but words of up
to three letters stay whole. What is joined by signs or capitals (``exportCsv``, ``export_csv``, ``date-picker``,
``webhooks.py``) is one unit: its parts are words, and all of it together is one more, ``exportcsv``, however it was
joined. Scripts without blanks between words give overlapping pairs of characters. Words hold letters and digits only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple
from unicodedata import normalize

from persist.recall.small_words import FILE_ENDINGS, NO_CONTENT
from persist.recall.spelling import one_spelling
from persist.recall.stems import stem

MAX_TEXT_CHARACTERS: Final = 65_536
"""Of a longer text the beginning counts."""
MAX_PROMPT_CHARACTERS: Final = 8192
"""Of a longer prompt its two ends count, half each: what is pasted stands between, or behind, what is asked."""
MAX_WORD_CHARACTERS: Final = 64
"""A longer run of letters and digits is data, not a word."""
WHOLE_WORD_CHARACTERS: Final = 3
"""Words of this length and shorter have no stem: Porter makes ``t`` of ``ts``."""

_UNSPACED: Final = (
    "\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u1b00-\u1b7f\u2e80-\u2fdf"
    "\u3005-\u3007\u3021-\u3029\u3040-\u31ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua9ff\uaa60-\uaadf\uac00-\ud7ff"
    "\uf900-\ufaff\uff66-\uffdc\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
"""Thai, Lao, Tibetan, Myanmar, Hangul, Khmer, Tai, Balinese, Han, kana, Bopomofo, Yi, Javanese."""
_ASCII_UNIT = re.compile(r"[a-zA-Z0-9]+(?:(?:_*[.-]_*|_+)[a-zA-Z0-9]+)*")
_ASCII_PIECE = re.compile(r"[a-zA-Z0-9]+")
_SIGNS: Final = (
    "\u0900-\u0963\u0966-\u096f\u0971-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u0f71-\u0f87"
    "\u102b-\u103e\u17b4-\u17d3\u3099\u309a"
)
"""Signs that belong to the letter before them, and the letters of their blocks: Indic scripts, Thai to Khmer."""
_LETTERS: Final = rf"(?:[^\W_]|[{_SIGNS}])+"
_CAPITALS = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[0-9])(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MARKS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u00ad\u200b-\u200f\u2060\ufe0e\ufe0f\ufeff]+"
)
_SCHEME = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://(?:www\.)?")
_COLOUR = re.compile(r"(?<![\w#])#(?=\d*[a-fA-F])(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{8})(?!\w)")
"""A colour says by its form alone what it is."""
_SIGNED = re.compile(r"(?<![^\W_])(?:([cC])\+\+|([cCfF])#)(?![^\W_])")


class _Patterns(NamedTuple):
    """What takes a text apart: units, the pieces of one, runs of unspaced letters and of others, one such letter."""

    unit: re.Pattern[str]
    piece: re.Pattern[str]
    runs: re.Pattern[str]
    unspaced: re.Pattern[str]


@lru_cache(maxsize=1)
def _patterns() -> _Patterns:
    """Return the patterns for every script; ASCII texts, the usual ones, never pay for them."""
    return _Patterns(
        re.compile(rf"{_LETTERS}(?:(?:_*[.\-\u2010\u2011]_*|_+){_LETTERS})*"),
        re.compile(_LETTERS),
        re.compile(rf"[{_UNSPACED}]+|[^{_UNSPACED}]+"),
        re.compile(rf"[{_UNSPACED}]"),
    )


class Unit(NamedTuple):
    """A word of a text, or several that are joined.

    ``parts`` are its words in order, without those that tell nothing; ``whole`` is all of it as one word where it has
    several parts, else ``None``. ``typed`` is what stood there, in small letters and without accents. ``ending`` tells
    that the last part is a file's or host's ending, ``is_pair`` that this is a pair of characters of a longer run,
    ``is_identifier`` that only code is spelled so: ``export_csv``, ``exportCsv``, ``eu-north-1``.
    """

    typed: str
    parts: tuple[str, ...]
    whole: str | None = None
    ending: bool = False
    is_pair: bool = False
    is_identifier: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """All its words, the whole last."""
        return self.parts if self.whole is None else (*self.parts, self.whole)


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text in order, repetitions among them; never raises, whatever the text is."""
    return tuple(word for unit in units_of(text[:MAX_TEXT_CHARACTERS]) for word in unit.words)


def prompt_units(prompt: str) -> tuple[Unit, ...]:
    """Return the units of a prompt in order; of a long one those of its two ends."""
    if len(prompt) > MAX_PROMPT_CHARACTERS:
        half = MAX_PROMPT_CHARACTERS // 2
        prompt = f"{prompt[:half]}\n{prompt[-half:]}"
    return tuple(units_of(prompt))


def alias_words(alias: str) -> tuple[str, ...]:
    """Return what an alias is compared by: one word for each of its units, the whole where there is one."""
    return tuple(_alias_word(unit) for unit in units_of(alias[:MAX_TEXT_CHARACTERS]))


def field_words(*texts: str) -> tuple[str, ...]:
    """Return the words of texts that are one field, in order."""
    return tuple(word for text in texts if text for word in words_of(text))


def name_words(slug: str, title: str | None) -> tuple[str, ...]:
    """Return the words of a block's name: those of its slug, then those that only its title has."""
    words = words_of(slug)
    return (*words, *(word for word in words_of(title or "") if word not in words))


def units_of(text: str) -> Iterable[Unit]:
    """Yield the units of a text in order; a word that tells nothing by itself is none."""
    is_ascii = text.isascii()
    if not is_ascii:
        text = normalize("NFC", _MARKS.sub("", normalize("NFKD", text.replace("\u00df", "ss"))))
    if "://" in text:
        text = _SCHEME.sub(" ", text)
    if "+" in text or "#" in text:
        text = _COLOUR.sub(" hex colour ", _SIGNED.sub(_spelled, text))
    if is_ascii:
        for joined in _ASCII_UNIT.findall(text):
            yield from _units(joined, _ASCII_PIECE)
        return
    patterns = _patterns()
    for joined in patterns.unit.findall(text):
        if patterns.unspaced.search(joined) is None:
            yield from _units(joined, patterns.piece)
        else:
            for run in patterns.runs.findall(joined):
                yield from _pairs(run) if patterns.unspaced.match(run) else _units(run, patterns.piece)


@lru_cache(maxsize=8192)
def one_word(word: str) -> str:
    """Return the form of a single word in small letters in which it is counted and compared.

    Porter's stem of ``deploy`` and ``deployed`` ends in i, that of ``deployment`` and ``employer`` in y: here all in i.
    """
    if len(word) <= WHOLE_WORD_CHARACTERS:
        return word
    found = stem(one_spelling(word))
    return f"{found[:-1]}i" if found.endswith("y") else found


def _units(joined: str, pattern: re.Pattern[str]) -> Iterable[Unit]:
    if joined.islower() and joined.isalnum():  # the usual word is one piece
        pieces = [joined]
    else:
        pieces = [piece for part in pattern.findall(joined) for piece in _split_capitals(part)]
    if len(pieces) == 1:
        word = pieces[0].casefold()
        if _tells(word):
            yield Unit(word, (one_word(word),))
        return
    if not pieces:  # a sign alone, between two runs of scripts without blanks
        return
    folded = [piece.casefold() for piece in pieces]
    typed = "".join(folded)
    if len(typed) > MAX_WORD_CHARACTERS:
        for word in filter(_tells, folded):
            yield Unit(word, (one_word(word),))
        return
    ending = "." in joined and folded[-1] in FILE_ENDINGS
    parts = tuple(one_word(word) for word in folded if _tells(word) or (ending and word is folded[-1]))
    is_identifier = "_" in joined or (not ending and _is_code(joined))
    yield Unit(typed, parts, one_word(typed), ending, is_identifier=is_identifier)


def _pairs(run: str) -> Iterable[Unit]:
    letters = "".join(_patterns().piece.findall(run.casefold()))
    if len(letters) == 1:
        yield Unit(letters, (letters,), is_pair=True)
    for place in range(len(letters) - 1):
        pair = letters[place : place + 2]
        yield Unit(pair, (pair,), is_pair=True)


def _split_capitals(piece: str) -> list[str]:
    if piece.islower() or piece.isupper() or piece.isdecimal():
        return [piece]
    return _CAPITALS.split(piece)


def _tells(word: str) -> bool:
    if len(word) == 1:
        return word.isdecimal() or not word.isascii()
    return len(word) <= MAX_WORD_CHARACTERS and word not in NO_CONTENT


def _is_code(joined: str) -> bool:
    """Tell ``exportCsv`` and ``eu-north-1`` from ``GitHub``, ``date-picker`` and ``24-hour``."""
    if joined.isalnum():
        return joined[0].islower()
    return joined[0].isalpha() and any(letter.isdigit() for letter in joined)


def _alias_word(unit: Unit) -> str:
    return unit.parts[0] if unit.whole is None else unit.whole


def _spelled(found: re.Match[str]) -> str:
    return "cpp" if found[1] else f"{found[2].lower()}sharp"
