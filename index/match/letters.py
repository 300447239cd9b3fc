"""Where words begin and end in a search key, for terms that are compared letter by letter.

Pure; imports the standard library only. A word is a run of letters and digits with the marks that follow them; the
underscore separates. Beside a letter of a script that is written without blanks there is a border as well.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from unicodedata import category, decomposition

UNSPACED: Final = (
    "\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\u1b00-\u1b7f"
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u31ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua9ff\uaa60-\uaadf"
    "\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
"""Scripts written without blanks, or whose words grow together (Hangul), as the inside of a regular expression's class:
Thai, Lao, Tibetan, Myanmar, Hangul, Khmer, Tai, Balinese, Han, kana, Bopomofo, Yi, Javanese."""

SPACED_LETTER: Final = rf"[^\W_{UNSPACED}]"
"""A letter or digit of a script that sets blanks between words."""

VOICED: Final = "\ufdd0"
SEMIVOICED: Final = "\ufdd1"
"""What stands for kana's two voicing marks in a key that keeps them; no character, and taken out of texts before."""

_UNSPACED_LETTER = re.compile(f"[{UNSPACED}]")
_NOT_LATIN = re.compile(r"[^\W_\u0000-\u01df\u01e4-\u01ed\u01f0-\u01fb\u0200-\u024f\u1e00-\u1eff]")
"""Left out are Latin letters which SQLite's tokenizer keeps apart from their decomposed form, such as ǽ and ǿ."""
_KANA = re.compile("[\u3040-\u30ff]")
_JAMO = re.compile("[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]")
_JAMO_GOING_ON = re.compile("[\u1160-\u11ff\ud7b0-\ud7ff]")


def is_unspaced(text: str) -> bool:
    """Say whether any character belongs to a script that is written without blanks."""
    return _UNSPACED_LETTER.search(text) is not None


def is_latin(text: str) -> bool:
    """Say whether each letter and digit is an ASCII digit or Latin, as SQLite's tokenizer knows Latin."""
    return text.isascii() or _NOT_LATIN.search(text) is None


def has_kana(text: str) -> bool:
    """Say whether any character is Hiragana or Katakana."""
    return _KANA.search(text) is not None


def keep_voicing(text: str) -> str:
    """Put ``VOICED`` and ``SEMIVOICED`` where kana are voiced, which a search key then keeps: バス is no ハス."""
    return text.translate(_voicing())


def words_of(key: str) -> tuple[str, ...]:
    """Return the words of a search key, in order; marks that follow no letter belong to none."""
    words: list[str] = []
    place = 0
    for start in re.finditer(r"[^\W_]+", key):
        if start.start() < place:  # taken already, behind a mark
            continue
        place = start.end()
        while goes_on(key, place) or (place < len(key) and key[place].isalnum()):
            place += 1
        words.append(key[start.start() : place])
    return tuple(words)


def goes_on(key: str, place: int) -> bool:
    """Say whether the character at ``place`` belongs to the letter before it: a mark, or more of a Hangul syllable."""
    if not 0 < place < len(key) or key[place] < "\u0300":
        return False
    letter = key[place]
    if _is_mark(letter):
        return True
    return _JAMO_GOING_ON.match(letter) is not None and _JAMO.match(key[place - 1]) is not None


def follows_mark_of_word(key: str, place: int) -> bool:
    """Say whether ``place`` lies behind the marks of a letter whose script sets blanks, so inside its word."""
    before = place - 1
    while before > 0 and _is_mark(key[before]):
        before -= 1
    return 0 <= before < place - 1 and key[before].isalnum() and not is_unspaced(key[before])


def _is_mark(letter: str) -> bool:
    return letter >= "\u0300" and (letter in (VOICED, SEMIVOICED) or category(letter)[0] == "M")


@lru_cache(maxsize=1)
def _voicing() -> dict[int, str]:
    """Return the table for ``str.translate``: both marks, and each letter that has one, taken apart."""
    table = {0x3099: VOICED, 0x309A: SEMIVOICED, ord(VOICED): "\ufffd", ord(SEMIVOICED): "\ufffd"}
    for point in range(0x3040, 0x3100):
        parts = decomposition(chr(point)).split()
        if len(parts) == 2 and parts[0][0] != "<":
            table[point] = chr(int(parts[0], 16)) + table[int(parts[1], 16)]
    return table
