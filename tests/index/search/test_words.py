"""Queries of words against SQLite's tokens: expressions, decisions and spans, beside a slow definition."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final
from unicodedata import combining

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from index.errors import EmptyQueryError
from index.match.key import search_key, stored_key
from index.match.spans import Span
from index.match.spelled import matches_term
from index.match.words import Kind, Term, WordsQuery, read_words
from index.search.words import TOKENIZER, WordMatcher
from tests.index.match.definition import PIECES, TEXTS, messages


def spans(typed: str, text: str) -> list[Span]:
    with WordMatcher(read_words(typed)) as matcher:
        return matcher.spans(text)


def marked(typed: str, text: str) -> list[str]:
    return [text.encode()[start:end].decode() for start, end in spans(typed, text)]


def matches(typed: str, text: str) -> bool:
    with WordMatcher(read_words(typed)) as matcher:
        return matcher.matches(text)


class Tokens:
    """SQLite's tokens of any text, through a table of the test's own."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.connection.execute(f"CREATE VIRTUAL TABLE own USING fts5(text, tokenize='{TOKENIZER}')")
        self.connection.execute("CREATE VIRTUAL TABLE own_tokens USING fts5vocab(own, instance)")

    def of(self, text: str) -> list[str]:
        self.connection.execute("DELETE FROM own")
        self.connection.execute("INSERT INTO own VALUES (?)", (text,))
        return [row[0] for row in self.connection.execute("SELECT term FROM own_tokens ORDER BY offset")]

    def holds(self, text: str, term: Term) -> bool:
        if term.kind is not Kind.WORD:
            return matches_term(term, text)
        wanted, there = self.of(term.text), self.of(text)
        assert wanted, "a term of kind WORD has a token"
        return any(there[at : at + len(wanted)] == wanted for at in range(len(there)))

    def matches(self, text: str, query: WordsQuery) -> bool:
        return all(self.holds(text, term) for term in query.terms) and not any(
            self.holds(text, term) for term in query.without
        )


@pytest.fixture(scope="module")
def tokens() -> Iterator[Tokens]:
    own = Tokens()
    yield own
    own.connection.close()


def test_the_tokenizer_is_that_of_the_index(empty_index: Path) -> None:
    with closing(sqlite3.connect(empty_index)) as connection:
        (created,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'prose_words'").fetchone()
    assert f"tokenize = '{TOKENIZER}'" in created


@pytest.mark.parametrize(
    ("typed", "expression", "without"),
    [
        ("disk image", '"disk" AND "image"', None),
        ("disk -foo -bar", '("disk") NOT ("foo" OR "bar")', '"foo" OR "bar"'),
        ("disk dep* 数据", '"disk"', None),
        ("dep* -foo", None, '"foo"'),
        ("dep* -pre*", None, None),
        ('a"b AND x:y ^z NEAR(q', '"a""b" AND "AND" AND "x:y" AND "^z" AND "NEAR(q"', None),
        ("a\0b", '"a\1b"', None),
    ],
)
def test_expressions_hold_quoted_text_only(typed: str, expression: str | None, without: str | None) -> None:
    with WordMatcher(read_words(typed)) as matcher:
        assert matcher.expression == expression
        assert matcher.without_expression == without


def test_stems_and_accents_and_case() -> None:
    text = "They DEPLOYED the Naïve café; Łódź"
    assert marked("deploys naive CAFÉ łodz", text) == ["DEPLOYED", "Naïve", "café", "Łódź"]
    for typed in ("naïve", "naive", "café", "cafe", "łódź", "ærø"):
        assert matches(typed, "naïve café Łódź Ærø")


def test_a_stem_is_made_once_only() -> None:
    # Porter makes "databases" to "databas", and that to "databa": a stem given back to it would find nothing.
    assert marked("databases generously", "a database, generously") == ["database", "generously"]


def test_identifiers_are_whole_and_the_literal_one_comes_first() -> None:
    assert matches("pane_pid", "pane_pid")
    assert matches("pane_pid", "pane pid")
    assert not matches("v1.2.3", "v1.2.30")
    assert not matches("a.b.c", "a.b.d c")
    with WordMatcher(read_words("pane_pid x")) as matcher:
        assert matcher.as_typed("Pane_PID")
        assert not matcher.as_typed("pane pid")
    with WordMatcher(read_words("plain words")) as matcher:
        assert matcher.as_typed("nothing of it")
    commit = "3f2a9c81d47be0563f2a9c81d47be0563f2a9c81"
    assert matches(commit, f"at {commit}.")
    assert matches(commit[:8] + "*", f"at {commit}.")
    assert matches(commit[:12] + "*", f"at {commit}.")
    assert not matches(commit[1:9] + "*", f"at {commit}.")


def test_without() -> None:
    assert not matches("disk -image", "disk images")
    assert matches("disk -image", "disk")
    assert not matches("dis* -image", "disk images")
    assert matches("dis* -image", "disk")
    assert not matches("disk -ima*", "disk images")
    assert not matches('disk -"is full"', "the disk is full")
    assert matches('disk -"full is"', "the disk is full")
    assert not matches("数据 -库", "数据库")


@pytest.mark.parametrize(
    ("typed", "text", "expected"),
    [
        ("needle", "use <mark>x</mark> and [needle] \x02needle\x03", [(24, 30), (33, 39)]),
        ("mark x", "use <mark>x</mark>", [(5, 9), (10, 11), (13, 17)]),
        ("needle", "\ue000 needle\ue001 needle \ue002", [(14, 20)]),
        ("x", "🚀 x\r\nx\0x é x", [(5, 6), (8, 9), (10, 11), (15, 16)]),
        ("cafe", "cafe\u0301\u0338 cafe", [(0, 8), (9, 13)]),
        ("数据 据库", "数据库", [(0, 9)]),
        ('"a b" "b c"', "a b c, a c", [(0, 5)]),
        ('"a a"', "a a a a", [(0, 7)]),
        ("pane_pid pane", "pane_pid pane", [(0, 8), (9, 13)]),
        ("fo* foo", "foobar foo", [(0, 2), (7, 10)]),
        ("absent", "nothing here", []),
    ],
)
def test_spans_are_bytes_of_whole_characters(typed: str, text: str, expected: list[Span]) -> None:
    assert spans(typed, text) == expected


@pytest.mark.parametrize(
    ("text", "found_by", "not_by"),
    [
        ("They deployed the café", ["deploy", "CAFE", '"the cafe"', "depl*"], ["ploy", '"the deployed"', "café -they"]),
        ("disk image is malformed", ["malformed disk", '"disk image'], ['"image disk"', "disk -image"]),
        ("foo-bar.txt", ["foo", "foo-bar.txt", '"foo bar"', "foo-ba*"], ["foobar", "oo"]),
        ("Straße", ["straße", "stras*", "strasse*"], ["strasse"]),
        ("数据库被锁定了", ["锁", "数据 锁", "数据库被"], ['"数 据"', "数据 -库"]),
        ("API를 호출", ["호출", "api* 호출"], ["api"]),
    ],
)
def test_the_examples_of_the_documentation(text: str, found_by: list[str], not_by: list[str]) -> None:
    assert [typed for typed in found_by if not matches(typed, text)] == []
    assert [typed for typed in not_by if matches(typed, text)] == []


QUERIES_B48 = ('"disk image"', '"disk image', '""disk', '5" disk', 'say ""hi""')


def test_b48_phrases_and_an_unclosed_quote() -> None:
    first, second = "disk image is malformed", "malformed image on disk"
    found = {typed: [matches(typed, first), matches(typed, second)] for typed in QUERIES_B48}
    assert found == {
        '"disk image"': [True, False],
        '"disk image': [True, False],
        '""disk': [True, True],
        '5" disk': [False, False],
        'say ""hi""': [False, False],
    }
    assert matches('"say ""hi"" now"', 'they say "hi" now')


def test_b43_ordinary_text_is_never_syntax(data: Path) -> None:
    lines = messages("B43")
    for entry in json.loads((data / "faults" / "B43" / "queries.json").read_text()):
        with WordMatcher(read_words(entry["q"])) as matcher:
            found = {line for line, text in lines.items() if matcher.matches(text)}
            assert set(entry["must"]) <= found <= {*entry["must"], *entry["may"]}, entry["q"]
            for line in found:
                assert matcher.spans(lines[line])


def test_b59_short_words_of_chinese_japanese_and_korean(data: Path) -> None:
    lines = messages("B59")
    queries = json.loads((data / "faults" / "B59" / "queries.json").read_text())
    for entry in queries["cjk"]:
        found = [line for line, text in lines.items() if matches(entry["q"], text)]
        assert found == entry["lines"], entry["q"]
    for entry in queries["latin"]:
        found = [line for line, text in lines.items() if matches(entry["q"], text)]
        assert set(entry["must"]) <= set(found) <= {*entry["must"], *entry["may"]}, entry["q"]


def test_b61_more_often_in_a_shorter_text_weighs_more() -> None:
    often = "слово " * 5 + "и ещё пять других тут"
    once = "другое " * 200 + "слово " + "другое " * 200
    weights = [weight("слово", text) or 0.0 for text in (often, "слово", once)]
    assert weights[0] > weights[1] > weights[2] > 0
    assert weight("слово", "дело") is None
    assert weight("word", "word word") == 0


@pytest.mark.parametrize(
    ("typed", "text", "found"),
    [
        ("pre*", "prefix and Préfixe", True), ("pre*", "compress", False), ("数据 pre*", "大数据 prefix", True),
        ("バス", "バス停", True), ("バス", "ハス", False), ("バス", "ハスとバス", True),
        ("pre* -バス", "prefix バス", False),
        ("pre* -バス", "prefix ハス", True), ("pre* -数据", "prefix 数据", False), ("pre* -数据", "prefix 数", True),
        ("слово -del*", "слово model", True), ("слово -del*", "слово (delta)", False),
        ("한국 pre*", "prefix 한국어", True),
    ],
)  # fmt: skip
def test_the_key_and_the_text_tell_what_the_text_alone_tells(typed: str, text: str, found: bool) -> None:
    with WordMatcher(read_words(typed)) as matcher:
        assert matcher.spelled_match(text) is found
    assert (weight(typed, text) is not None) is found


def weight(typed: str, text: str) -> float | None:
    """Return what a ranking makes of a text's stored key and then of the text."""
    with WordMatcher(read_words(typed)) as matcher:
        (counts,) = matcher.count_spelled([stored_key(text)])
        return None if counts is None else matcher.weight(counts, text)


def test_many_and_long_terms_are_no_error() -> None:
    many = " ".join(f"x{number}" for number in range(5000))
    assert matches(many, many + " end")
    assert not matches(many, many[:-5])
    long_word = "y" * 30_000  # of longer tokens SQLite keeps the first 32,768 bytes
    assert matches(long_word, long_word)
    assert not matches(long_word, long_word[:-1])
    assert matches('"' + many, "start " + many)


SIGNS = (
    '"',
    '""',
    "-",
    "*",
    " ",
    " ",
    " ",
    "(",
    ")",
    ":",
    "^",
    "+",
    "AND",
    "OR",
    "NOT",
    "NEAR",
    "{",
    ",",
    "\0",
    "_",
    ".",
)
LETTERS = ("a", "ab", "run", "running", "runs", "é", "e\u0301", "数", "据", "한국", "п", "x1", "🚀", "\ud800", "\u0338")
TYPED = st.lists(st.sampled_from((*SIGNS, *LETTERS, *LETTERS)), max_size=12).map("".join)
PROSE = st.lists(
    st.sampled_from((*LETTERS[:-2], "\u0338", " ", " ", ". ", "_", "-", "\r\n", "\0", "\x01", '"', *PIECES)),
    max_size=14,
)


@settings(max_examples=500, deadline=None)
@given(TYPED, PROSE.map("".join))
@example("running a", "A run")
@example('-"a run" ab', "ab a\0runs")
def test_matching_is_that_of_the_terms_one_by_one(tokens: Tokens, typed: str, text: str) -> None:
    try:
        query = read_words(typed)
    except EmptyQueryError:
        return
    with WordMatcher(query) as matcher:
        expected = tokens.matches(text, query)
        assert matcher.matches(text) is expected
        # The same through a table, as a search asks it.
        tokens.of(text)
        asked = matcher.expression
        rows = tokens.connection.execute(
            "SELECT count(*) FROM own WHERE own MATCH ?", (asked or matcher.without_expression or '"x"',)
        ).fetchone()[0]
        if asked is None:
            rows = 1 - rows if matcher.without_expression else 1
        assert (bool(rows) and matcher.spelled_match(text)) is expected


@settings(max_examples=500, deadline=None)
@given(TYPED, st.one_of(PROSE.map("".join), TEXTS))
def test_spans_are_whole_and_belong_to_a_term(tokens: Tokens, typed: str, text: str) -> None:
    try:
        query = read_words(typed.replace("-", " "))
    except EmptyQueryError:
        return
    stored = text.encode()
    with WordMatcher(query) as matcher:
        found = matcher.spans(text)
        assert bool(found) is any(tokens.holds(text, term) for term in query.terms)
        end_before = -1
        for start, end in found:
            assert end_before < start < end <= len(stored)
            piece = stored[start:end].decode()  # strict: fails inside a character
            behind = stored[end:].decode()[:1]
            assert not (behind and combining(behind)), "a mark is left behind"
            assert any(tokens.holds(piece, term) for term in query.terms)
            end_before = end


@settings(max_examples=300, deadline=None)
@given(TYPED, st.one_of(PROSE.map("".join), TEXTS))
@example("-バス ab*", "ab バス")
def test_the_key_first_decides_as_the_text_does(typed: str, text: str) -> None:
    try:
        query = read_words(typed)
    except EmptyQueryError:
        return
    text = text.encode("utf-8", "replace").decode()
    with WordMatcher(query) as matcher:
        assert (weight(typed, text) is not None) is matcher.spelled_match(text)


ENDINGS: Final = (
    "", "s", "es", "ies", "sses", "ed", "ing", "eed", "y", "ational", "tional", "enci", "anci", "izer", "abli", "alli",
    "ently", "eli", "ously", "ization", "ation", "ator", "alism", "iveness", "fulness", "ousness", "aliti", "ality",
    "iviti", "ivity", "biliti", "bility", "logi", "logy", "icate", "ative", "alize", "iciti", "icity", "ical", "ful",
    "ness", "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "sion", "tion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize", "e", "ll", "bling", "ating", "izing", "bbed", "sion", "yed",
)  # fmt: skip


def test_words_begin_like_their_stems(tokens: Tokens) -> None:
    """What spans rest on: only the last letters of a stem differ from its word, whatever ending was cut off."""
    roots = [*("abcehilosyz"), *(a + b for a in "aeysb" for b in "aybtzsli"), "sky", "rel", "oper", "hop", "fizz",
             "troubl", "siz", "condit", "sens", "vietnam", "plast", "adopt", "éa", "Ágil"]  # fmt: skip
    words = [root + one + other for root in roots for one in ENDINGS for other in ENDINGS]
    stems = tokens.of(" ".join(words))
    assert len(stems) == len(words)
    for word, stem in zip(words, stems, strict=True):
        begin = stem[: max(1, len(stem) - 2)]  # the matcher lets one letter more be another
        assert search_key(word).startswith(begin), (word, stem)


@settings(max_examples=200, deadline=None)
@given(st.text("abeilnstyz", min_size=1, max_size=14))
def test_any_word_begins_like_its_stem(tokens: Tokens, word: str) -> None:
    (stem,) = tokens.of(word)
    assert word.startswith(stem[: max(1, len(stem) - 2)])


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(("able", "ability", "abilities", "Ability", "ábility", "a", "of", "stable", "—ability",
                              "ability—able", "数ability", "ＡＢ", "_", "x")), min_size=1, max_size=60),
    st.sampled_from((" ", "  ", ", ", " " * 70)),
    st.sampled_from(("ability", '"of ability"', "able of", '"a of a"', "ábility", '"ability able"')),
)  # fmt: skip
def test_spans_are_those_of_the_whole_text(tokens: Tokens, parts: list[str], gap: str, typed: str) -> None:
    text = gap.join(parts)
    assert spans(typed, text) == highlighted(tokens, read_words(typed), text)


LONG = st.tuples(
    st.lists(st.sampled_from((*LETTERS[:6], " ", "-", ", ")), min_size=1, max_size=9), st.integers(100, 900)
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(LONG, min_size=1, max_size=3), st.sampled_from(("run", '"a run"', '"ab a run" é', '"' + "a " * 90 + '"'))
)
def test_long_texts_have_the_spans_of_their_parts(
    tokens: Tokens, parts: list[tuple[list[str], int]], typed: str
) -> None:
    text = "".join("".join(pieces) * times for pieces, times in parts)
    query = read_words(typed)
    with WordMatcher(query) as matcher:
        assert matcher.spans(text) == highlighted(tokens, query, text)


def highlighted(tokens: Tokens, query: WordsQuery, text: str) -> list[Span]:
    """Return what ``highlight`` marks in the whole text, in bytes, with what touches joined."""
    connection = tokens.connection
    connection.execute("DELETE FROM own")
    connection.execute("INSERT INTO own VALUES (?)", (text,))
    (whole,) = connection.execute(
        "SELECT highlight(own, 0, '<', '>') FROM own WHERE own MATCH ?",
        (" OR ".join(f'"{term.text}"' for term in query.terms),),
    ).fetchone() or (text,)
    expected: list[Span] = []
    at = 0
    for piece in whole.encode().split(b"<"):
        inside, closed, rest = piece.partition(b">")
        if closed:
            start = at
            end = at + len(inside)
            if expected and expected[-1][1] == start:
                expected[-1] = (expected[-1][0], end)
            else:
                expected.append((start, end))
        at += len(inside) + len(rest)
    return expected


@pytest.mark.parametrize("unit", ["word and some prose ", "wörd und 数据 проза word "])
def test_spans_cost_little(unit: str) -> None:
    texts = [(unit * 60)[:1000] for _ in range(20)]
    with WordMatcher(read_words("word pro* 数据")) as matcher:
        began = time.process_time()
        for text in texts:
            assert matcher.spans(text)
        assert time.process_time() - began < 0.2
        began = time.process_time()
        assert matcher.spans(unit * (4_000_000 // len(unit.encode())))
        assert time.process_time() - began < 6.0
