"""English stems of words, exactly as SQLite's ``porter`` tokenizer makes them.

Pure; imports the standard library only. M. F. Porter, "An algorithm for suffix stripping" (1980), with what SQLite does
otherwise: ``bli`` and ``logi`` in step 2, a suffix must leave at least one byte, words under three bytes and over 64
are left as they are. So what the index finds by its word table and what is scored here are the same words; a test
compares the two over thousands of words.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

MIN_BYTES: Final = 3
MAX_BYTES: Final = 64

_Rules = tuple[tuple[str, str], ...]

_STEP_2: Final[dict[str, _Rules]] = {
    "a": (("ational", "ate"), ("tional", "tion")),
    "c": (("enci", "ence"), ("anci", "ance")),
    "e": (("izer", "ize"),),
    "g": (("logi", "log"),),
    "l": (("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous")),
    "o": (("ization", "ize"), ("ation", "ate"), ("ator", "ate")),
    "s": (("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous")),
    "t": (("aliti", "al"), ("iviti", "ive"), ("biliti", "ble")),
}
"""By a word's last letter but one, as the two tables below: suffixes and what takes their place."""
_STEP_3: Final[dict[str, _Rules]] = {
    "a": (("ical", "ic"),),
    "s": (("ness", ""),),
    "t": (("icate", "ic"), ("iciti", "ic")),
    "u": (("ful", ""),),
    "v": (("ative", ""),),
    "z": (("alize", "al"),),
}
_STEP_4: Final[dict[str, _Rules]] = {
    "a": (("al", ""),),
    "c": (("ance", ""), ("ence", "")),
    "e": (("er", ""),),
    "i": (("ic", ""),),
    "l": (("able", ""), ("ible", "")),
    "n": (("ant", ""), ("ement", ""), ("ment", ""), ("ent", "")),
    "o": (("ion", ""), ("ou", "")),
    "s": (("ism", ""),),
    "t": (("ate", ""), ("iti", "")),
    "u": (("ous", ""),),
    "v": (("ive", ""),),
    "z": (("ize", ""),),
}


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return the stem of a word in small letters; never raises, whatever the word is."""
    if word.isascii():
        return _stem(word) if MIN_BYTES <= len(word) <= MAX_BYTES else word
    data = word.encode("utf-8", "surrogatepass")
    if len(data) > MAX_BYTES:
        return word
    # SQLite counts bytes; as Latin-1 each is one letter, and no suffix cuts a character.
    return _stem(data.decode("latin-1")).encode("latin-1").decode("utf-8", "surrogatepass")


def _stem(word: str) -> str:
    word = _step_1b(_step_1a(word))
    if word[-1] == "y" and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, _STEP_2, 1)
    word = _replaced(word, _STEP_3, 1)
    word = _replaced(word, _STEP_4, 2)
    return _step_5(word)


def _step_1a(word: str) -> str:
    if word[-1] != "s":
        return word
    if word[-2] == "e":
        shortens = (len(word) > 4 and word[-4:-2] == "ss") or (len(word) > 3 and word[-3] == "i")
        return word[:-2] if shortens else word[:-1]
    return word if word[-2] == "s" else word[:-1]


def _step_1b(word: str) -> str:
    if len(word) > 3 and word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    if len(word) > 2 and word.endswith("ed"):
        rest = word[:-2]
    elif len(word) > 3 and word.endswith("ing"):
        rest = word[:-3]
    else:
        return word
    if not _has_vowel(rest):
        return word
    if len(rest) > 2 and rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    last = rest[-1]
    if last not in "aeioulsz" and len(rest) > 1 and last == rest[-2]:
        return rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _ends_short(rest) else rest


def _replaced(word: str, rules: dict[str, _Rules], least: int) -> str:
    """Replace the first suffix that fits, where what stays has a measure of at least ``least``."""
    if len(word) < 2:
        return word
    for suffix, replacement in rules.get(word[-2], ()):
        if len(word) > len(suffix) and word.endswith(suffix):
            rest = word[: -len(suffix)]
            allowed = _measure(rest) >= least and (suffix != "ion" or rest[-1] in "st")
            return rest + replacement if allowed else word
    return word


def _step_5(word: str) -> str:
    if word[-1] == "e":
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _ends_short(rest)):
            word = rest
    if len(word) > 1 and word.endswith("ll") and _measure(word[:-1]) > 1:
        return word[:-1]
    return word


def _consonants(word: str) -> list[bool]:
    """Tell for each letter whether it is a consonant; a y is a vowel behind a consonant."""
    told: list[bool] = []
    before = False
    for letter in word:
        before = not (letter in "aeiou" or (letter == "y" and before))
        told.append(before)
    return told


def _measure(word: str) -> int:
    """Count the runs of vowels that a consonant follows (Porter's m); past 2 it is not told apart."""
    count = 0
    before_is_vowel = False
    for is_consonant in _consonants(word):
        if is_consonant and before_is_vowel:
            count += 1
            if count == 2:
                return 2
        before_is_vowel = not is_consonant
    return count


def _has_vowel(word: str) -> bool:
    return any(letter in "aeiou" or (letter == "y" and place > 0) for place, letter in enumerate(word))


def _ends_short(word: str) -> bool:
    """Tell whether a word ends in consonant, vowel, consonant, the last none of w, x and y (Porter's ``*o``)."""
    return bool(word) and word[-1] not in "wxy" and _consonants(word)[-3:] == [True, False, True]
