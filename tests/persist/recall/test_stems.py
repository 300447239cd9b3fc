"""Stems are SQLite's: compared word by word with what its ``porter`` tokenizer leaves in the full-text vocabulary."""

from __future__ import annotations

import random
import re
import sqlite3
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persist.recall.background import PATH
from persist.recall.stems import stem

ENDINGS = [
    "ational", "tional", "enci", "anci", "izer", "logi", "bli", "alli", "entli", "eli", "ousli", "ization",
    "ation", "ator", "alism", "iveness", "fulness", "ousness", "aliti", "iviti", "biliti", "icate", "ative",
    "alize", "iciti", "ical", "ful", "ness", "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement",
    "ment", "ent", "ion", "sion", "tion", "ou", "ism", "ate", "iti", "ous", "ive", "ize", "e", "ll", "s", "es",
    "ies", "sses", "ss", "ed", "eed", "ing", "y", "ying", "ated", "bled", "ized", "tted",
]  # fmt: skip


def sqlite_stems(words: list[str]) -> dict[str, str]:
    """Return SQLite's stem of each word that its tokenizer takes for one."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE t USING fts5(word, tokenize='porter unicode61 remove_diacritics 0')")
    database.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, instance)")
    database.executemany("INSERT INTO t (rowid, word) VALUES (?, ?)", enumerate(words))
    rows = database.execute("SELECT doc, term, offset FROM v").fetchall()
    database.close()
    several = {number for number, _term, offset in rows if offset}
    return {words[number]: term for number, term, _offset in rows if number not in several}


def made_up(count: int) -> set[str]:
    chance = random.Random(20261130)  # noqa: S311 - the same words in every run
    return {
        "".join(chance.choice("aeiouybcdlstvwxz") for _ in range(chance.randint(0, 6)))
        + "".join(chance.choice(ENDINGS) for _ in range(chance.randint(1, 2)))
        for _ in range(count)
    }


def real_words() -> set[str]:
    folder = Path(sysconfig.get_path("stdlib"))
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.glob("*.py"))]
    found = {word for text in texts for word in re.findall(r"[^\W\d_]+", text.lower())}
    return found | {word for line in PATH.read_text().splitlines() for word in line.split()[1:]}


@pytest.mark.parametrize("source", [real_words, lambda: made_up(20_000)], ids=["real", "made up"])
def test_every_stem_is_that_of_sqlite(source: Callable[[], set[str]]) -> None:
    words = sorted(source())
    theirs = sqlite_stems(words)
    assert len(theirs) > 5000
    assert {word: (stem(word), told) for word, told in theirs.items() if stem(word) != told} == {}


@pytest.mark.parametrize("length", [1, 2, 3, 63, 64, 65, 66])
def test_lengths_at_the_borders_are_sqlites(length: int) -> None:
    words = [("ab" * 40)[: max(0, length - len(ending))] + ending for ending in ("s", "ing", "ed") if length > 3]
    words = words or ["s" * length, "as"[:length], "ys"[:length]]
    theirs = sqlite_stems(words)
    assert {word: stem(word) for word in theirs} == theirs


@pytest.mark.parametrize("word", ["überraschungen", "naïveness", "résumés", "ñandúes", "привет", "日本語s", "éed"])
def test_letters_of_several_bytes_are_counted_as_sqlite_does(word: str) -> None:
    assert sqlite_stems([word]) == {word: stem(word)}


@given(st.text(max_size=80))
def test_no_text_raises(text: str) -> None:
    assert isinstance(stem(text), str)
