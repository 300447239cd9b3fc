"""The search key and its trigrams: candidates are a superset of the hits, in a real full-text table too."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from unicodedata import combining, normalize

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from index.match import form, fts_expression, read_query, search_key, trigrams, unicode_version
from index.match.key import MAX_TRIGRAMS
from tests.index.match.definition import PIECES, TEXTS, code_points, defined_key, messages, texts_and_queries


@pytest.fixture(scope="module")
def database() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute(
        "CREATE VIRTUAL TABLE texts USING fts5(key, tokenize='trigram case_sensitive 1', detail=none, columnsize=0)"
    )
    yield connection
    connection.close()


def candidates(database: sqlite3.Connection, texts: list[str], query: str) -> set[int]:
    """Return which texts the index offers for a query, as the search asks it: MATCH, or a scan of the keys."""
    asked = read_query(query)
    database.execute("DELETE FROM texts")
    database.executemany(
        "INSERT INTO texts(rowid, key) VALUES (?, ?)",
        [(number, search_key(text)) for number, text in enumerate(texts, start=1)],
    )
    expression = fts_expression(asked.key)
    if expression is None:
        found = database.execute("SELECT rowid FROM texts WHERE instr(key, ?) > 0", (asked.key,))
    else:
        found = database.execute("SELECT rowid FROM texts WHERE texts MATCH ?", (expression,))
    return {number - 1 for (number,) in found}


@settings(max_examples=350, deadline=None)
@given(texts_and_queries())
def test_a_hits_key_is_part_of_its_texts_key(database: sqlite3.Connection, text_and_query: tuple[str, str]) -> None:
    text, typed = text_and_query
    query = read_query(typed)
    if not query.verifier().matches(text):
        return
    key = search_key(text)
    assert query.key in key
    assert set(trigrams(query.key)) <= {key[start : start + 3] for start in range(len(key))}
    assert candidates(database, ["no such thing", text], typed) >= {1}


@settings(max_examples=80, deadline=None)
@given(st.lists(TEXTS, min_size=2, max_size=8), texts_and_queries())
def test_search_over_the_index_equals_a_scan(
    database: sqlite3.Connection, others: list[str], text_and_query: tuple[str, str]
) -> None:
    texts = [*others, text_and_query[0]]
    verifier = read_query(text_and_query[1]).verifier()
    scanned = {number for number, text in enumerate(texts) if verifier.matches(text)}
    offered = candidates(database, texts, text_and_query[1])
    assert {number for number in offered if verifier.matches(texts[number])} == scanned


@settings(max_examples=250, deadline=None)
@given(TEXTS)
@example("\0")
@example("\u0345\u0301α\u0345\u0323")
def test_key_is_the_one_defined(text: str) -> None:
    assert search_key(text) == defined_key(text)


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.sampled_from(("plain ascii, mostly ", "Привет, мир, ёлка й", "数据库被锁定了", "한글 데이터 ", "")))
def test_key_of_a_long_text_is_the_one_defined(text: str, filling: str) -> None:
    # Long enough for each of the faster ways: few foreign letters, many, and some above U+FFFF.
    long = (filling + text) * 20 + filling * 20
    assert search_key(long) == defined_key(long)


@settings(max_examples=250, deadline=None)
@given(TEXTS, TEXTS)
def test_key_maps_each_character_by_itself(first: str, second: str) -> None:
    assert search_key(first + second) == search_key(first) + search_key(second)


def test_key_over_all_assigned_characters() -> None:
    letters, _ = code_points()
    for start in range(0, len(letters), 1 << 14):
        # Spaces keep neighbours apart, so that this is the key of each character alone.
        text = " ".join(letters[start : start + (1 << 14)])
        expected = defined_key(text)
        assert search_key(text) == expected
        assert search_key(form(text, True)) == expected
        assert search_key(form(text, False)) == expected
        assert search_key(normalize("NFD", text)) == expected
        assert search_key(expected) == expected


def test_key_of_every_other_code_point_is_itself() -> None:
    _, others = code_points()
    joined = "".join(others)
    assert len(others) > 900_000
    assert search_key(joined) == joined


def test_a_key_keeps_no_mark_and_no_nul() -> None:
    key = search_key("".join(PIECES))
    assert not any(map(combining, key))
    assert "\0" not in key
    assert "\1" in key


def test_a_query_of_marks_alone_has_an_empty_key() -> None:
    query = read_query("\u0301\u0323")
    assert (query.key, fts_expression(query.key)) == ("", None)
    assert query.verifier().spans("x\u0323\u0301") == [(1, 5)]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("", None),
        ("ab", None),
        ("abc", '"abc"'),
        ("abcd", '"abc" AND "bcd"'),
        ("aaaaa", '"aaa"'),
        ('a"b"', '"a""b" AND """b"""'),
        ("数据库被", '"数据库" AND "据库被"'),
        ("🚀🚀🚀", '"🚀🚀🚀"'),
        ("a b cd", '"a b" AND " b " AND "b c" AND " cd"'),
        ("of the old sea", '"f t" AND "e o" AND "d s"'),
        ("to a_b meadow", '"o a" AND "a_b" AND "b m" AND "mea" AND "dow"'),
        ("so it is harvests", '"o i" AND "t i" AND "s h" AND "har" AND "ves" AND "sts"'),
    ],
)
def test_fts_expression(key: str, expected: str | None) -> None:
    assert fts_expression(key) == expected


def test_a_long_query_sends_few_trigrams_from_all_over() -> None:
    key = "".join(f"{number:05d}" for number in range(12_000))
    asked = trigrams(key)
    assert MAX_TRIGRAMS / 2 < len(asked) <= MAX_TRIGRAMS
    assert asked[0] == key[:3]
    assert asked[-1] == key[-3:]
    assert len(set(asked)) == len(asked)
    assert all(trigram in key for trigram in asked)


def test_a_long_query_finds_its_text(database: sqlite3.Connection) -> None:
    long = " ".join(f"word{number}" for number in range(5_000))
    verifier = read_query(long).verifier()
    offered = candidates(database, [long, long[:-1], "word1"], long)
    assert 0 in offered
    assert 2 not in offered
    assert [verifier.matches(text) for text in (long, long[:-1])] == [True, False]


def test_text_behind_a_nul_is_found(database: sqlite3.Connection) -> None:
    assert candidates(database, ["before\0behind", "nothing"], "behind") == {0}
    assert candidates(database, ["before\0behind", "nothing"], "e\0b") == {0}


def test_hostile_marks_take_no_quadratic_time() -> None:
    began = time.perf_counter()
    assert search_key("e" + "\u0301\u0323" * 300_000) == "e"
    assert search_key("eй" * 50 + "\u0301\u0323" * 300_000) == "eи" * 50
    assert time.perf_counter() - began < 10


def test_unicode_version_is_that_of_the_interpreter() -> None:
    assert unicode_version().split(".")[0].isdigit()


@pytest.mark.parametrize("query", ["heron", "\ud83d heron", "high \ufffd"], ids=ascii)
def test_lone_surrogates_are_found_by_what_replaces_them(database: sqlite3.Connection, query: str) -> None:
    texts = messages("B35")
    verifier = read_query(query).verifier()
    offered = candidates(database, list(texts.values()), query)
    hits = [number for place, number in enumerate(texts) if place in offered and verifier.matches(texts[number])]
    assert hits == {"heron": [2, 3, 4, 5, 6], "\ud83d heron": [2, 3, 4], "high \ufffd": [2]}[query]
