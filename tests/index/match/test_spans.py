"""Spans equal a brute force written straight from the definition, over texts of all planes."""

from __future__ import annotations

import time
from unicodedata import normalize

import pytest
from hypothesis import example, given, settings

from index.match import find_spans, form, read_query
from tests.index.match.definition import TEXTS, code_points, defined_form, defined_spans, texts_and_queries


def spans(text: str, query: str) -> list[tuple[int, int]]:
    return read_query(query).verifier().spans(text)


CASES = [
    ("İstanbul", "i", [(0, 2)]),
    ("İstanbul", "istanbul", [(0, 9)]),
    ("I\u0307stanbul", "istanbul", [(0, 10)]),
    ("İstanbul", "\u0307stanbul", []),
    ("İstanbul", "\u0307", []),
    ("aİ \u0307", "\u0307", [(4, 6)]),
    ("ΟΔΟΣ", "οδοσ", [(0, 8)]),
    ("ΟΔΟΣ", "οδος", [(0, 8)]),
    ("ΟΔΟΣ", "σ", [(6, 8)]),
    ("ΣΣ", "σ", [(0, 2), (2, 4)]),
    ("ΟΔΟΣΑ", "οδος", [(0, 8)]),
    ("GROẞE", "große", [(0, 7)]),
    ("GROẞE", "grosse", [(0, 7)]),
    ("Straße", "strasse", [(0, 7)]),
    ("Straße", "s", [(0, 1), (4, 6)]),
    ("Straße", "ss", [(4, 6)]),
    ("Straße", "ase", []),
    ("Straße", "as", [(3, 6)]),
    ("Straße", "Strasse", []),
    ("\u212aelvin", "kelvin", [(0, 8)]),
    ("\u212aelvin", "Kelvin", [(0, 8)]),
    ("xȺy", "y", [(3, 4)]),
    ("cafe\u0301", "café", [(0, 6)]),
    ("café", "cafe\u0301", [(0, 5)]),
    ("cafe\u0301", "cafe", []),
    ("café", "cafe", []),
    ("I", "ı", []),
    ("ﬁle", "file", [(0, 5)]),
    ("ﬁle", "f", [(0, 3)]),
    ("ﬁle", "il", [(0, 4)]),
    ("aaa", "aa", [(0, 2)]),
    ("ßßß", "sss", [(0, 4)]),
    ("ßßßs", "sss", [(0, 4), (4, 7)]),
    ("ßßsss", "sss", [(0, 4), (4, 7)]),
    ("ᾼ", "Α\u0345", [(0, 3)]),
    ("ᾳ", "Α\u0345", [(0, 3)]),
    ("ȷǰ J\u030c", "ǰ", [(2, 4), (5, 8)]),
    ("ที่", "ที", [(0, 6)]),
    ("क्ष", "क", [(0, 3)]),
    ("naïve café Łódź Ærø", "łódź", [(13, 20)]),
    ("naïve café Łódź Ærø", "ærø", [(21, 26)]),
    ("naïve café Łódź Ærø", "naïve", [(0, 6)]),
    ("naïve café Łódź Ærø", "naive", []),
    ("use <mark>x</mark> and [needle] \x02needle\x03", "needle", [(24, 30), (33, 39)]),
    ('aé\n\nneedle \\ "', "needle", [(5, 11)]),
]


@pytest.mark.parametrize(
    ("text", "query", "expected"), CASES, ids=[f"{text!a} ~ {query!a}" for text, query, _ in CASES]
)
def test_hits_and_their_byte_spans(text: str, query: str, expected: list[tuple[int, int]]) -> None:
    assert spans(text, query) == expected
    assert defined_spans(text, query) == expected
    assert read_query(query).verifier().matches(text) is bool(expected)


@pytest.mark.parametrize(
    ("stored", "query", "expected"),
    [
        pytest.param("e\u0323\u0301", "ẹ", [(0, 3)], id="marks in order: the free mark stays outside"),
        pytest.param("e\u0301\u0323", "ẹ", [(0, 5)], id="marks out of order: the letter is joined across them"),
        pytest.param("e\u0301\u0323", "\u0301", [(0, 5)], id="a mark inside a joined letter"),
        pytest.param("e\u0301\u0316", "é", [(0, 3)], id="a lower mark behind, not joined"),
        pytest.param("α\u0305\u0301α\u0301", "α", [(0, 2)], id="a mark kept off by an equal one before it"),
        pytest.param("\u1112\u1161\u11ab", "\u1112", [], id="a jamo of a syllable"),
        pytest.param("\u1112 \u1161", "\u1161", [(4, 7)], id="a jamo alone"),
        pytest.param("\u0958", "\u093c", [(0, 3)], id="one stored character that NFC takes apart"),
        pytest.param("か\u3099き", "がき", [(0, 9)], id="kana with its own voicing mark"),
    ],
)
def test_no_span_divides_what_nfc_joins(stored: str, query: str, expected: list[tuple[int, int]]) -> None:
    assert spans(stored, query) == defined_spans(stored, query) == expected


@settings(max_examples=400, deadline=None)
@given(texts_and_queries())
@example(("a\u0301\u0316\u0316b", "\u0316"))
@example(("ǰj\u030c", "j"))
@example(("\u0344\u0301a\u0344", "\u0301"))
def test_spans_are_those_of_the_definition(text_and_query: tuple[str, str]) -> None:
    text, query = text_and_query
    assert spans(text, query) == defined_spans(text, query)


@settings(max_examples=80, deadline=None)
@given(TEXTS, texts_and_queries())
def test_long_texts_are_cut_the_same_way(before: str, text_and_query: tuple[str, str]) -> None:
    # Longer than what is remembered per run, so that the other way through is taken too.
    text, query = "数" * 40 + before + text_and_query[0], text_and_query[1]
    assert spans(text, query) == defined_spans(text, query)


@settings(max_examples=250, deadline=None)
@given(texts_and_queries())
def test_as_many_are_counted_as_found(text_and_query: tuple[str, str]) -> None:
    text, typed = text_and_query
    for spelled in (text, text.encode("ascii", "replace").decode()):
        query = read_query(typed)
        assert query.count(spelled) == len(query.spans(spelled))


@given(texts_and_queries())
def test_spans_are_whole_characters_in_order_that_give_the_query(text_and_query: tuple[str, str]) -> None:
    text, typed = text_and_query
    query = read_query(typed)
    stored = text.encode()
    end_before = 0
    for start, end in query.verifier().spans(text):
        assert end_before <= start < end <= len(stored)
        piece = stored[start:end].decode()  # strict: fails inside a character
        assert query.form in defined_form(piece, query.exact)
        assert stored[:start].decode() + piece + stored[end:].decode() == text
        end_before = end
    assert bool(end_before) is query.verifier().matches(text)


@settings(max_examples=250, deadline=None)
@given(texts_and_queries())
def test_normal_forms_of_text_and_query_do_not_matter(text_and_query: tuple[str, str]) -> None:
    text, query = text_and_query
    answers = {
        read_query(normalize(query_form, query)).verifier().matches(normalize(text_form, text))
        for query_form in ("NFC", "NFD")
        for text_form in ("NFC", "NFD")
    }
    assert answers == {read_query(query).verifier().matches(text)}
    composed = spans(normalize("NFC", text), query)
    assert composed == spans(normalize("NFC", text), normalize("NFD", query))


def test_every_assigned_character_alone_is_hit_by_its_own_spellings() -> None:
    letters, _ = code_points()
    assert len(letters) > 140_000
    for letter in letters:
        whole = [(0, len(letter.encode()))]
        assert find_spans(letter, form(letter, True), True) == whole, ascii(letter)
        assert find_spans(letter, form(letter, False), False) == whole, ascii(letter)
        for spelling in {letter.lower(), letter.upper(), normalize("NFD", letter)} - {letter}:
            if spelling.isspace():
                continue
            assert spans(letter, spelling) == defined_spans(letter, spelling), (ascii(letter), ascii(spelling))
            if spelling == normalize("NFD", letter):
                assert spans(letter, spelling) == whole, ascii(letter)


def test_every_other_code_point_is_its_own_form() -> None:
    _, others = code_points()
    assert len(others) > 900_000
    joined = "".join(others)
    assert form(joined, True) == form(joined, False) == joined


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("漢" * 10_000, id="10,000 ideographs"),
        pytest.param("👩\u200d👩\u200d👧\u200d👦" * 500, id="joined emoji"),
        pytest.param("a" + "\u0301" * 200, id="200 marks on one letter"),
        pytest.param("a" + "\u0301\u0323" * 100, id="200 marks out of order"),
        pytest.param(normalize("NFD", "한글 데이터 ") * 300, id="decomposed Hangul"),
    ],
)
def test_a_needle_behind_many_wide_characters(text: str) -> None:
    size = len(text.encode())
    assert spans(text + " needle", "needle") == [(size + 1, size + 7)]


def test_hostile_marks_take_no_quadratic_time() -> None:
    text = "e" + "\u0301\u0323" * 50_000 + " needle"
    began = time.perf_counter()
    assert spans(text, "needle") == [(200_002, 200_008)]
    # Tenths of a second; sorting by insertion takes over a minute.
    assert time.perf_counter() - began < 20
