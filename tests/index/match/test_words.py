"""How a query of words is read, and the terms that are compared letter by letter: against a slow definition."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Literal
from unicodedata import category, combining, name, normalize

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from index.errors import EmptyQueryError, NoWordError
from index.match.key import search_key
from index.match.spelled import matches_term, merge_places, places_of_term
from index.match.words import Kind, Term, read_words
from tests.index.match.definition import PIECES

UNSPACED = (
    "CJK UNIFIED", "CJK COMPATIBILITY IDEOGRAPH", "HANGUL", "HIRAGANA", "KATAKANA", "THAI ", "LAO ", "TIBETAN ",
    "MYANMAR ", "KHMER ",
)  # fmt: skip
VOICING = "\u3099\u309a"


def is_unspaced(letter: str) -> bool:
    return name(letter, "").startswith(UNSPACED)


def letters(text: str, voiced: bool) -> list[tuple[str, int]]:
    """Return each letter of the key with the index of the character it came from."""
    found: list[tuple[str, int]] = []
    for index, letter in enumerate(text):
        if voiced and letter in VOICING:
            found.append((letter, index))
            continue
        parts = normalize("NFD", normalize("NFD", letter).casefold())
        found.extend((part, index) for part in parts if not combining(part) or (voiced and part in VOICING))
    return found


class Defined:
    """The borders of a key, straight from the sentences of the documentation."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.base: list[str] = []
        for place, letter in enumerate(key):
            if letter.isalnum():
                self.base.append(letter)
            else:
                self.base.append(self.base[place - 1] if place and category(letter)[0] == "M" else "")

    def joined(self, place: int) -> bool:
        """Say whether a letter is divided at ``place``: before its mark, or in a Hangul syllable."""
        if not 0 < place < len(self.key) or not self.base[place - 1]:
            return False
        here, before = self.key[place], self.key[place - 1]
        if category(here)[0] == "M":
            return True
        return "\u1160" <= here <= "\u11ff" and "\u1100" <= before <= "\u11ff"

    def border(self, place: int) -> bool:
        if not 0 < place < len(self.key):
            return True
        if self.joined(place):
            return False
        before, behind = self.base[place - 1], self.base[place]
        return not before or not behind or is_unspaced(before) or is_unspaced(behind)

    def words(self) -> list[str]:
        found = [""]
        for place, letter in enumerate(self.key):
            if self.base[place]:
                found[-1] += letter
            elif found[-1]:
                found.append("")
        return [word for word in found if word]

    def end_of(self, words: list[str], place: int) -> int | None:
        """Return where ``words`` end that begin at ``place`` with only separators between."""
        for number, word in enumerate(words):
            if number:
                gap = place
                while place < len(self.key) and not self.base[place]:
                    place += 1
                if gap == place:
                    return None
            if not self.key.startswith(word, place):
                return None
            place += len(word)
            if number < len(words) - 1 and self.joined(place):
                return None
        return place


def defined_places(term: Term, text: str) -> list[tuple[int, int]]:
    voiced = any("\u3040" <= letter <= "\u30ff" for letter in term.key)
    given = letters(text, voiced)
    key = Defined("".join(letter for letter, _ in given))
    words = Defined("".join(letter for letter, _ in letters(term.text, voiced))).words()
    places: list[tuple[int, int]] = []
    free_from = 0
    for start in range(len(given)):
        end = key.end_of(words, start)
        if end is None or start < free_from or not key.border(start):
            continue
        if term.kind is not Kind.PREFIX and not key.border(end):
            continue
        after = given[end - 1][1] + 1
        while after < len(text) and combining(text[after]):
            after += 1
        places.append((given[start][1], after))
        free_from = end
    return places


def read(text: str) -> tuple[list[tuple[Kind, str]], list[tuple[Kind, str]], tuple[str, ...]]:
    query = read_words(text)
    return (
        [(term.kind, term.text) for term in query.terms],
        [(term.kind, term.text) for term in query.without],
        query.ignored,
    )


W, S, X, P = Kind.WORD, Kind.SPELLED, Kind.PREFIX, Kind.PART


@pytest.mark.parametrize(
    ("typed", "wanted", "without", "ignored"),
    [
        ("disk image", [(W, "disk"), (W, "image")], [], ()),
        ("disk disk", [(W, "disk")], [], ()),
        ('"disk image"', [(W, "disk image")], [], ()),
        ('"disk image', [(W, "disk image")], [], ()),
        ('""disk', [(W, "disk")], [], ('""',)),
        ('5" disk', [(W, '5"'), (W, "disk")], [], ()),
        ('stop now"', [(W, "stop"), (W, 'now"')], [], ()),
        ('"say ""hi"" now"', [(W, 'say "hi" now')], [], ()),
        ('"a b"c -d', [(W, "a b"), (W, "c")], [(W, "d")], ()),
        ('"a"-b', [(W, "a"), (W, "-b")], [], ()),
        ('"a"-"b', [(W, "a"), (W, '-"b')], [], ()),
        ('x -"a b" -pre* -y', [(W, "x")], [(W, "a b"), (X, "pre"), (W, "y")], ()),
        ("deploy*", [(X, "deploy")], [], ()),
        ('"foo ba"*', [(X, "foo ba")], [], ()),
        ("foo-ba*", [(X, "foo-ba")], [], ()),
        ('"pre*"', [(W, "pre*")], [], ()),
        ("**bold**", [(W, "**bold**")], [], ()),
        ("foo-* *x", [(W, "foo-*"), (W, "*x")], [], ()),
        ("a*b", [(W, "a*b")], [], ()),
        ("--all", [(W, "--all")], [], ()),
        ("C++ C# .NET", [(W, "C++"), (W, "C#"), (W, ".NET")], [], ()),
        ("x - -- * && -> ()", [(W, "x")], [], ("-", "--", "*", "&&", "->", "()")),
        (
            "x AND y OR z NOT NEAR(a)",
            [(W, "x"), (W, "AND"), (W, "y"), (W, "OR"), (W, "z"), (W, "NOT"), (W, "NEAR(a)")],
            [],
            (),
        ),
        ("text:x ^a", [(W, "text:x"), (W, "^a")], [], ()),
        ("数据 数据* 数据ab*", [(P, "数据"), (X, "数据ab")], [], ()),
        ("한국 ที่ データ", [(P, "한국"), (P, "ที่"), (P, "データ")], [], ()),
        ("привет Ώρα हिन्दी ǿ", [(S, "привет"), (S, "Ώρα"), (S, "हिन्दी"), (S, "ǿ")], [], ()),
        ("привет*", [(X, "привет")], [], ()),
        ("a\u3000b\tc\xa0d", [(W, "a"), (W, "b"), (W, "c"), (W, "d")], [], ()),
        ("a\0b \ud800c", [(W, "a\0b"), (W, "\ufffdc")], [], ()),
    ],
)
def test_what_is_typed_is_read_so(
    typed: str, wanted: list[tuple[Kind, str]], without: list[tuple[Kind, str]], ignored: tuple[str, ...]
) -> None:
    assert read(typed) == (wanted, without, ignored)


@pytest.mark.parametrize("typed", ["", " ", "\t\n\u3000"])
def test_blanks_are_an_empty_query(typed: str) -> None:
    with pytest.raises(EmptyQueryError) as caught:
        read_words(typed)
    assert not isinstance(caught.value, NoWordError)


@pytest.mark.parametrize("typed", ["!!!", "—", '""', '"', '"!"', "\u200b", "\0", "-", "*", "🚀", "-* - --"])
def test_a_query_without_a_word_is_refused_and_told_what_to_do(typed: str) -> None:
    with pytest.raises(NoWordError, match="without --words it is found literally") as caught:
        read_words(typed)
    assert not caught.value.only_without
    assert "\0" not in str(caught.value)


@pytest.mark.parametrize("typed", ["-foo", '-"a b" -x*', "-数据 !"])
def test_a_query_that_only_leaves_out_is_refused(typed: str) -> None:
    with pytest.raises(NoWordError, match="add a word to find") as caught:
        read_words(typed)
    assert caught.value.only_without


def test_candidates_must_hold_each_word_of_what_is_spelled() -> None:
    query = read_words('run foo-ba* "数据 库" Straße* -x*')
    assert query.keys == ("foo", "ba", "数据", "库", "strasse")


@pytest.mark.parametrize(
    ("typed", "signs"),
    [
        ("pane_pid", "pane_pid"),
        ("v1.2.3", "v1.2.3"),
        ("C++", "c++"),
        ("C#,", "c#"),
        (".NET", ".net"),
        ('"Disk Image"', "disk image"),
        ("drill,", None),
        ("(word)", None),
        ("plain", None),
    ],
)
def test_signs_that_tell_more_than_the_words(typed: str, signs: str | None) -> None:
    assert read_words(typed).terms[0].typed == signs


CASES = [
    ("foo-ba*", "foo bar foobar foo--BAZ foo_ba", ["foo ba", "foo--BA", "foo_ba"]),
    ("deployme*", "Deployment redeployment", ["Deployme"]),
    ("strasse*", "die Straße", ["Straße"]),
    ("cafe*", "cafe\u0301s café", ["cafe\u0301", "café"]),
    ("python*", "使用Python编写 mypython done🤖python", ["Python", "python"]),
    ("api*", "API를 api", ["API", "api"]),
    ("c0ffee12*", "at c0ffee1234567890 and xc0ffee12", ["c0ffee12"]),
    ("数据", "数据库 数 据 新数据", ["数据", "数据"]),
    ('"数 据"', "数据 数，据", ["数，据"]),
    ("数据abc", "x数据abcd x数据abc库", ["数据abc"]),
    ("가", "강 가나", ["가"]),
    ("가", "\u1100\u1161\u11bc \u1100\u1161나", ["\u1100\u1161"]),
    ("검색", "자동검색기능", ["검색"]),
    ("はす", "バス はす", ["はす"]),
    ("ハス", "バス パス ハ\u3099ス ハス", ["ハス"]),
    ("バス", "ハ\u3099ス", ["ハ\u3099ス"]),
    ("ที", "ที่ดี ท", ["ที่"]),
    ("ท", "ที่", []),
    ("привет", "Привет, приветик", ["Привет"]),
    ("елка", "ёлка е\u0308лка", ["ёлка", "е\u0308лка"]),
    ("ηχω", "ΗΧΏ ηχώς", ["ΗΧΏ"]),
    ("हि", "हिन्दी हि", ["हि"]),
    ("हि*", "हिन्दी", ["हि"]),
    ("हिन्दी", "हानि दू", []),
    ("x*", "❤\ufe0fx", ["x"]),
]


@pytest.mark.parametrize(
    ("typed", "text", "expected"), CASES, ids=[f"{typed!a} ~ {text!a}" for typed, text, _ in CASES]
)
def test_terms_decided_letter_by_letter(typed: str, text: str, expected: list[str]) -> None:
    (term,) = read_words(typed).terms
    places = places_of_term(term, text)
    assert [text[start:end] for start, end in places] == expected
    assert places == defined_places(term, text)
    assert matches_term(term, text) is bool(expected)


def test_places_are_joined_where_they_touch_and_given_in_bytes() -> None:
    text = "数据库 é🚀x"
    assert merge_places(text, [(5, 6), (0, 2), (2, 3), (6, 7), (1, 2)]) == [(0, 9), (12, 17)]
    assert merge_places("abc", [(2, 3), (0, 1)]) == [(0, 1), (2, 3)]


ALPHABET = (
    *PIECES, "a", "b", "ab", "foo", "ba", "_", "-", "é", "数", "据", "数据", "库", "한", "국", "バ", "ハ", "ス", "が",
    "か", "ที่", "ท", "हि", "न्", "दी", "п", "й", "ё", "е", "ß", "\u3099", "\u309a", "\ufe0f", " ", " ", " ", "1",
)  # fmt: skip
WORDS = st.lists(st.sampled_from(ALPHABET), min_size=1, max_size=4).map("".join)


CASES_OF_LETTERS: tuple[Callable[[str], str], ...] = (str, str.lower, str.upper)


@st.composite
def terms_and_texts(draw: st.DrawFn) -> tuple[Term, str]:
    """Draw a term that is spelled and a text that mostly holds it, respelt, with something before and behind."""
    typed = draw(WORDS)
    star = draw(st.sampled_from(("", "*")))
    try:
        (term,) = read_words('"' + typed.replace('"', "") + '"' + star).terms
    except EmptyQueryError:
        (term,) = read_words("数").terms
    if term.kind is Kind.WORD:
        (term,) = read_words('"' + term.text + '"*').terms
        if term.kind is Kind.WORD:
            (term,) = read_words("x*").terms
    pieces: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        spelling = draw(st.sampled_from(CASES_OF_LETTERS))
        form: Literal["NFC", "NFD"] = draw(st.sampled_from(("NFC", "NFD")))
        pieces += [
            draw(WORDS),
            normalize(form, spelling(term.text)),
            draw(st.sampled_from(("", " ", "a", "据", "\u0301"))),
        ]
    return term, "".join(pieces)


@settings(max_examples=600, deadline=None)
@given(terms_and_texts())
@example((read_words("ハ*").terms[0], "バハ"))
@example((read_words("aバ").terms[0], "a\u309aaバ"))
def test_places_are_those_of_the_definition(term_and_text: tuple[Term, str]) -> None:
    term, text = term_and_text
    places = places_of_term(term, text)
    assert places == defined_places(term, text)
    assert matches_term(term, text) is bool(places)
    if places:
        assert all(word in search_key(text) for word in term.words)  # else it would be no candidate
        spans = merge_places(text, places)
        stored = text.encode()
        assert all(stored[start:end].decode() for start, end in spans)  # strict: fails inside a character
        assert all(before[1] < after[0] for before, after in pairwise(spans))


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from('ab"*- \0数é🚀(\ud800')))
def test_reading_never_fails_but_for_want_of_a_word(typed: str) -> None:
    try:
        query = read_words(typed)
    except EmptyQueryError:
        return
    for term in (*query.terms, *query.without):
        assert term.words
        assert term.key == search_key(term.text)


def test_places_far_in_a_long_text() -> None:
    text = "e\u0301ß" * 3000 + " Ünder数据 " + "é" * 2000 + "数据"
    (term,) = read_words("数据").terms
    assert [text[start:end] for start, end in places_of_term(term, text)] == ["数据", "数据"]
    assert places_of_term(term, text) == defined_places(term, text)


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("a*", "b" + "a" * 1_000_000),
        ('"a a"*', ("a" + " " * 50) * 20_000),
        ("数", "数" * 300_000),
        ("ท", "ที่" * 100_000),
        ("क*", "क" + "\u0301" * 300_000),
        ("x*", "e" + "\ufe0f" * 300_000 + "x"),
        ('"' + "a " * 2000 + '"*', "a " * 30_000),
    ],
)
def test_hostile_texts_take_time_in_line_with_their_length(typed: str, text: str) -> None:
    (term,) = read_words(typed).terms
    began = time.process_time()
    places_of_term(term, text)
    assert time.process_time() - began < 3.0
