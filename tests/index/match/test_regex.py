"""``--regex``: what a pattern is read as, what it matches, which texts may be passed over, and that it always ends."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
import unicodedata
from collections.abc import Iterator
from itertools import product
from string import ascii_lowercase

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from index.errors import BadPatternError, EmptyQueryError, PatternTimeoutError
from index.match.key import search_key, stored_key
from index.match.pattern import MAX_DEPTH, MAX_SIZE, Gap
from index.match.regex import MAX_PATTERN_CHARS, MAX_TIMEOUTS, TEXT_TIMEOUT_S, read_regex
from tests.conftest import REPOSITORY

EVERYTHING = "".join(chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000)
RETURNS_WITHIN_S = TEXT_TIMEOUT_S + 0.05


def found(pattern: str, text: str) -> list[str]:
    stored = text.encode()
    return [stored[start:end].decode() for start, end in read_regex(pattern).spans(text)]


class TestSmartCaseB50:
    TEXTS = ("Error", "error", "ERROR", "ÉTÉ", "été", "漢字A", "404 Not Found")

    @pytest.mark.parametrize(
        ("pattern", "hits"),
        [
            ("error", ["Error", "error", "ERROR"]),
            ("Error", ["Error"]),
            ("ERROR", ["ERROR"]),
            ("été", ["ÉTÉ", "été"]),
            ("ÉTÉ", ["ÉTÉ"]),
            ("漢字", ["漢字A"]),
            ("404", ["404 Not Found"]),
            ("404 not", ["404 Not Found"]),
            (r"^error\S*$", ["Error", "error", "ERROR"]),
            (r"e[r]+o[A-Z]", []),
            (r"e[r]+o[a-z]", ["Error", "error", "ERROR"]),
        ],
    )
    def test_a_literal_capital_makes_it_exact(self, pattern: str, hits: list[str]) -> None:
        query = read_regex(pattern)
        assert [text for text in self.TEXTS if query.spans(text)] == hits

    @pytest.mark.parametrize(
        "pattern",
        [
            r"\S",
            r"\W",
            r"\B",
            r"\D",
            r"\A\b",
            r"\Z",
            r"\X",
            r"\R",
            r"a\K",
            r"\M",
            r"\p{Lu}",
            r"\P{Lu}",
            r"\pL",
            r"\p{Script=Greek}",
            r"\N{LATIN CAPITAL LETTER A}",
            r"\x41",
            r"\u00C9",
            r"\U000000C9",
            r"(?P<Name>x)",
            r"(?<Name>x)",
            r"(?P<N>x)(?P=N)",
            r"(?P<N>x)(?&N)",
            r"[[:Upper:]]",
            r"[\S\W\x41\p{Lu}]",
            r"[^\S]",
            r"(?i)Error",
            r"x(?R)?",
            r"(?#Comment)x",
            r"(*FAIL)",
            r"(?(DEFINE)(?P<Q>a))(?&Q)",
        ],
    )
    def test_escapes_names_and_flags_do_not(self, pattern: str) -> None:
        assert not read_regex(pattern).exact

    @pytest.mark.parametrize(
        "pattern", ["A", "É", r"\É", "Ⅷ", "Ⓐ", "[A-Z]", "[^A-Z]", r"\(A", "(?:A)", "(?P<n>A)", "a|A", r"\\S", "E\u0301"]
    )
    def test_capitals_that_stand_for_themselves_do(self, pattern: str) -> None:
        assert read_regex(pattern).exact

    def test_a_flag_in_the_pattern_decides(self) -> None:
        assert found("(?i)ERR", "error") == ["err"]
        assert found("(?-i:err)or", "error ERRor errOR") == ["error", "errOR"]
        assert found(r"(?-i:\p{Lu})", "aB") == ["B"]

    @pytest.mark.parametrize(
        ("pattern", "text"),
        [("strasse", "STRASSE Straße"), ("ﬁle", "file"), ("i", "İ"), ("οδοσ", "ΟΔΟΣ"), ("k", "\u212a"), ("s", "ſ")],
    )
    def test_folding_is_full_without_case(self, pattern: str, text: str) -> None:
        assert "".join(found(pattern, text)) == text.replace(" ", "")


class TestMatches:
    def test_lines_as_in_grep(self) -> None:
        text = "one\ntwo\r\nthree"
        assert found("^t.*$", text) == ["two\r", "three"]
        assert found("e.t", text) == []
        assert found(r"e\st", text) == ["e\nt"]

    def test_empty_matches_are_left_out(self) -> None:
        assert read_regex("a*").spans("baab") == [(1, 3)]
        assert read_regex("^|$").spans("baab") == []
        assert read_regex(r"x\K").spans("xxx") == []

    def test_spans_are_bytes_of_the_stored_text(self) -> None:
        text = "e\u0301 😀\t漢\r\nneedle é needle"
        assert read_regex("needle").spans(text) == [(14, 20), (24, 30)]
        assert read_regex(".needle").spans("😀needle") == [(0, 10)]

    def test_a_text_is_matched_in_its_own_normal_form(self) -> None:
        assert found("é", "cafe\u0301 café") == ["é"]
        assert found(r"\Xt", "e\u0301t") == ["e\u0301t"]

    def test_version_0_has_no_operators_in_classes(self) -> None:
        assert found("[[a]", "[ab") == ["[", "a"]
        assert found("[a||b]", "a|b") == ["a", "|", "b"]

    def test_lone_surrogates_are_the_replacement_character(self) -> None:
        query = read_regex("a\ud83db")
        assert (query.text, query.spans("a\ufffdb")) == ("a\ufffdb", [(0, 5)])

    def test_a_word_of_the_pattern_is_looked_up_only_when_asked(self) -> None:
        code = "import sys, index.match.regex; print('regex' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
        assert done.stdout == "False\n"


class TestRefused:
    @pytest.mark.parametrize("pattern", ["", " ", "\t\n", "\u3000"])
    def test_blanks(self, pattern: str) -> None:
        with pytest.raises(EmptyQueryError):
            read_regex(pattern)

    @pytest.mark.parametrize(
        ("pattern", "reason", "offset_chars"),
        [
            ("(", "missing )", 1),
            ("a)", "unbalanced parenthesis", 1),
            ("[a", "unterminated character set", 2),
            ("äö**", "multiple repeat", 3),
            ("*", "nothing to repeat", 0),
            (r"a\q", r"bad escape \q", 3),
            ("a\\", "end of pattern", 2),
            (r"\p{Nonsense}", "unknown property", 12),
            (r"(a)\2", "invalid group reference", 5),
            (r"\L<words>", "undefined named list", 9),
            ("(?<=x", "missing )", 5),
            ("a{2,1}", "min repeat greater than max repeat", 2),
        ],
    )
    def test_what_is_no_pattern_says_why_and_where(self, pattern: str, reason: str, offset_chars: int) -> None:
        with pytest.raises(BadPatternError) as raised:
            read_regex(pattern)
        assert reason in raised.value.reason
        assert raised.value.offset_chars == offset_chars
        assert f"at character {offset_chars + 1};" in str(raised.value)
        assert "\n" not in str(raised.value)

    @pytest.mark.parametrize(
        "pattern",
        [
            "(?:foo){e<=3}",
            "foo{e}",
            "foo{1<=e<=3}",
            "foo{2i+1d+1s<=4}",
            "foo{i<=1:[a]}",
            "foo{d",
            "(?e)foo",
            "(?b)foo",
            "(?p)foo",
            "(?r)foo",
            "(?x)f o",
            "(?V1)foo",
            "(?V0)foo",
            "(?L)foo",
            "(?w)foo",
            "(?iV1)foo",
            "(?i-x:foo)",
            r"\p",
            r"\px",
            r"\p{a*b}",
            r"\p{a|b}",
            r"\N",
            r"\N{a|b}",
            "[[:a|b:]]",
            "[[:alpha]",
            r"[\p]",
        ],
    )
    def test_what_cannot_be_bounded_or_followed(self, pattern: str) -> None:
        with pytest.raises(BadPatternError):
            read_regex(pattern)

    @pytest.mark.parametrize(
        "pattern",
        [
            "(a{1000}){1000}",
            "((a{1000}){1000}){1000}",
            "(((a{100}){100}){100}){100}",
            "a{4294967294}",
            "a{99999999999}",
            "(?:[ab]{1000}c){1000}",
            "(" * 40 + "a" + "+)" * 40,
            "(" * 40 + "a" + "){2}" * 40,
            "(?:" * 30 + "a" + "){2,}" * 30,
            "(a(?i)){1000}(?:b{1000}){1000}",
            "(?:[[:alpha:]]{500}(?#x){3}|b{30000})",
            "(" * 400 + "a" + ")" * 400,
            "(?=" * 60 + "a" + ")" * 60,
            "x" * (MAX_PATTERN_CHARS + 1),
            r"(?:(?:\x41{300}){300})",
        ],
    )
    def test_monsters_at_once(self, pattern: str) -> None:
        started = time.perf_counter()
        with pytest.raises(BadPatternError):
            read_regex(pattern)
        assert time.perf_counter() - started < 0.05

    @pytest.mark.parametrize(
        "pattern",
        [
            f"a{{{MAX_SIZE}}}",
            f"(?:ab){{{MAX_SIZE // 4}}}",
            "(" * 13 + "a" + "+)" * 13,
            "(?:a{0,1000}){0,1000}",
            "(" * (MAX_DEPTH - 1) + "a" + ")?" * (MAX_DEPTH - 1),
            "ß" * MAX_PATTERN_CHARS,
            "[ßﬃ]" * 250,
            r"[[:alpha:]\p{L}]" * 60,
            "(?:ß|ss|ﬃ)" * 100,
            "(" * 49 + "a|b" + "|c)" * 49,
            ".?" * 500,
            r"\p{L}{1,1000}" * 70,
            "[" + "a-z" * 300 + "]{20}",
        ],
    )
    def test_what_is_let_in_compiles_in_a_moment(self, pattern: str) -> None:
        read_regex("warm")
        started = time.perf_counter()
        read_regex(pattern)
        assert time.perf_counter() - started < 0.5


HEAVY = r"[^\W\d" + r"\p{Greek}\p{Cyrillic}\p{Arabic}\p{Hebrew}\p{Thai}\p{Han}\p{Hangul}\p{Mn}\p{Sc}" * 10 + "]+\\d"


class TestTimeLimit:
    @pytest.fixture(autouse=True)
    def nothing_runs_on(self) -> Iterator[None]:
        """A match that was left goes on for a while, and its time is this process's."""
        yield
        while threading.active_count() > 1 and any(thread.daemon for thread in threading.enumerate()):
            time.sleep(0.01)

    @pytest.mark.parametrize("text_chars", [900, 20_000, 300_000])
    @pytest.mark.parametrize(
        "pattern",
        [
            "(a+)+$",
            "(a|aa)+$",
            "(.*)*[xy]",
            r"(\w+\s*)+[:;]",
            "(a+)+[bc]",
            "(?:a|a)*[bc]",
            r"\w*\d",
            r"[^\W\d]+\d",
            r"\w+?\d",
            r"(?=.*\d)a",
            r"(?=.*?\d)a",
            r"a{2,}\d",
            r"(.+)\1\d",
            r"(a*)\1[bc]",
            r"(?<=(?:a|b)*c)a",
            r"(?<!a*b)a\d",
            r"(?:aa)*\d",
            r"([ab])*\d",
            r"(?R)?a\d",
            r"(a(?1)?b)",
            r"(?:a?){1000}a{1000}\d",
            r"(ß|s|a)+\d",
            r"\X+\d",
            r"(?(?=a*\d)a|b)",
            r"(?=(\w*))\1\d",
        ],
    )
    def test_every_call_ends(self, pattern: str, text_chars: int) -> None:
        query = read_regex(pattern)
        text = "a" * (text_chars - 1) + "!"
        started = time.process_time()
        with contextlib.suppress(PatternTimeoutError):
            assert query.spans(text) == []
        assert time.process_time() - started <= RETURNS_WITHIN_S

    @pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$"])
    def test_a_text_that_is_not_done_is_no_text_without_a_match(self, pattern: str) -> None:
        with pytest.raises(PatternTimeoutError, match=r"0\.2 s"):
            read_regex(pattern).spans("a" * 5000 + "!")

    def test_a_long_text_is_matched_as_a_short_one(self) -> None:
        text = "é needle 7\n" * 30_000
        spans = read_regex(r"needle \d$").spans(text)
        assert (len(spans), spans[0], spans[-1]) == (30_000, (3, 11), (3 + 12 * 29_999, 11 + 12 * 29_999))

    def test_a_search_may_give_up_within_two_seconds(self) -> None:
        assert (MAX_TIMEOUTS + 1) * RETURNS_WITHIN_S <= 2

    @pytest.mark.parametrize("pattern", [r"[^\W\d]+\d", HEAVY])
    def test_a_process_ends_although_matches_were_left(self, pattern: str) -> None:
        """The module alone looked at its clock after 8 s, and after 139 s."""
        code = (
            "import sys\n"
            "from index.errors import PatternTimeoutError\n"
            "from index.match.regex import MAX_TIMEOUTS, read_regex\n"
            "for _ in range(MAX_TIMEOUTS + 1):\n"
            "    try: read_regex(sys.argv[1]).spans('a' * 4_000_000)\n"
            "    except PatternTimeoutError: print('left')\n"
        )
        words = [sys.executable, "-c", code, pattern]
        started = time.perf_counter()
        done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=True)
        assert (done.stdout, done.stderr) == ("left\n" * (MAX_TIMEOUTS + 1), "")
        assert time.perf_counter() - started < 10


class TestKey:
    @pytest.mark.parametrize(
        ("pattern", "key"),
        [
            ("needle", "needle"),
            ("Needle", "needle"),
            (r"foo\.bar", "foo.bar"),
            (r"C\+\+", "c++"),
            (r"a\(b\)c", "a(b)c"),
            ("abc?de", "ab"),
            ("abc*", "ab"),
            ("abc+d", "abc"),
            ("abc{0,3}", "ab"),
            ("abc{,3}", "ab"),
            ("abc{2}d", "abc"),
            ("abc{0}", "ab"),
            ("abc??", "ab"),
            ("abc+?", "abc"),
            ("a.bcd.e", "bcd"),
            ("^abc$", "abc"),
            (r"\bfoo\b", "foo"),
            ("(x|y)abc", "abc"),
            ("(?:x)?abc", "abc"),
            ("(?:abc)", ""),
            ("[a|b]cd", "cd"),
            ("[]|]cd", "cd"),
            (r"[\]|]cd", "cd"),
            ("[[:alpha:]|]cd", "cd"),
            ("ab|cd", ""),
            ("(ab|cd)ef", "ef"),
            ("(?=x|y)abc", "abc"),
            ("(?P<n>x|y)abc", "abc"),
            ("(?i)abc", ""),
            ("abc(?i:x)", ""),
            ("abc(?#note)?", ""),
            (r"(a)\1abc", ""),
            (r"(?P<n>a)(?P=n)abc", ""),
            (r"(a)\g<1>abc", ""),
            ("(?(?=a)b|c)abc", ""),
            ("abc(?R)?", ""),
            ("(*SKIP)abc", ""),
            (r"\x61bc", "bc"),
            (r"\N{LATIN SMALL LETTER A}bc", "bc"),
            (r"\p{L}bc", "bc"),
            ("STRAßE", "strasse"),
            ("straße", "stra"),
            ("class", "cla"),
            ("e\u0301?t", "e"),
            ("{abc}", "{abc}"),
            ("İx", "ix"),
            ("\0a", "\1a"),
            ("\u019bmbda", "mbda"),
            ("#a b", "#a b"),
        ],
    )
    def test_is_the_longest_literal_of_every_match(self, pattern: str, key: str) -> None:
        assert read_regex(pattern).key == key

    def test_every_letter_that_matches_another_has_its_key(self) -> None:
        """Over all of Unicode: what the module folds together, the search key does too, or the key leaves it out."""
        flags = regex.V0 | regex.I | regex.F
        cased = regex.findall(r"[\p{Changes_When_Casemapped}\p{Changes_When_Casefolded}]", EVERYTHING, regex.V0)
        together = "\n".join(cased)
        pairs = {left + right for left in "abcdefghijklmnopqrstuvwxyz" for right in "abcdefghijklmnopqrstuvwxyz"}
        given = {letter for letter in cased if not letter.isupper()} | pairs | {letter.casefold() for letter in cased}
        checked = 0
        for literal in sorted(given):
            query = read_regex(literal)
            if query.exact:  # Cherokee folds to its capitals
                continue
            for other in regex.findall(regex.escape(literal), together, flags):
                assert query.key in search_key(other), (literal, other)
                checked += other != literal
        assert checked > 1500

    def test_most_letters_are_in_the_key(self) -> None:
        cased = regex.findall(r"\p{Ll}", EVERYTHING, regex.V0)
        without = [letter for letter in cased if not read_regex(letter).key]
        assert len(without) < len(cased) / 10
        assert not [letter for letter in "abcdefghjklmnopqrstuvwxyzäéñøçσжяѣ" if letter in without]


NASTY = [
    "a",
    "A",
    "b",
    "k",
    "K",
    "\u212a",
    "s",
    "S",
    "ſ",
    "ss",
    "ß",
    "ẞ",
    "i",
    "I",
    "İ",
    "ı",
    "ﬁ",
    "fi",
    "ﬀ",
    "ﬆ",
    "σ",
    "ς",
    "Σ",
    "é",
    "É",
    "e\u0301",
    "\u0301",
    "\u0345",
    "ᾼ",
    "ͅα",
    "漢",
    "한",
    "한",
    "😀",
    "\0",
    "\1",
    "\n",
    " ",
    "|",
    "(",
    "[",
    "]",
    "{",
    "}",
    "#",
    "-",
    "\u019b",
    "\ua7dc",
    "ǆ",
    "ǅ",
    "ŉ",
    "ʼn",
    "\u1e9b\u0323",
    "\U00010d50",
    "\U00010d70",
    "і",
    "Ⅷ",
    "ⅷ",
    "\u2028",
    "å",
    "\u212b",
]
ESCAPED = {"|", "(", "[", "]", "{", "}", "\\", "^", "$", ".", "?", "*", "+"}


@st.composite
def patterns_and_texts(draw: st.DrawFn) -> tuple[str, str]:
    """A pattern built of pieces, and a text built of what those pieces match, now and then changed."""
    letters = st.sampled_from(NASTY)
    pattern: list[str] = []
    text: list[str] = [draw(letters)] if draw(st.booleans()) else []

    def swap(letter: str) -> str:
        return draw(
            st.sampled_from([letter, letter, letter.upper(), letter.lower(), letter.swapcase(), letter.casefold()])
        )

    def literal() -> tuple[str, str]:
        letter = draw(letters)
        return ("\\" + letter if letter in ESCAPED else letter), swap(letter)

    for _ in range(draw(st.integers(1, 8))):
        written, matched = literal()
        shape = draw(st.integers(0, 19))
        if shape < 8:
            pattern.append(written)
            text.append(matched)
        elif shape < 12:
            quantifier, times = draw(
                st.sampled_from(
                    [
                        ("?", 0),
                        ("?", 1),
                        ("*", 0),
                        ("*", 2),
                        ("+", 2),
                        ("{0,2}", 0),
                        ("{,2}", 1),
                        ("{2}", 2),
                        ("{1,3}?", 2),
                        ("*+", 0),
                        ("??", 0),
                    ]
                )
            )
            pattern.append(written + quantifier)
            text.append("".join(swap(matched) for _ in range(times)))
        elif shape < 14:
            other, other_matched = literal()
            opening = draw(st.sampled_from(["(", "(?:", f"(?P<n{len(pattern)}>", "(?>", "(?|"]))
            pattern.append(f"{opening}{written}|{other}){draw(st.sampled_from(['', '?', '*', '{0}']))}")
            text.append(draw(st.sampled_from([matched, other_matched, ""])))
        elif shape == 14:
            pattern.append(f"[{written}{draw(st.sampled_from(['|', '(', ')', '[', 'x', '[:alpha:]', '{', '#']))}]")
            text.append(matched)
        elif shape == 15:
            pattern.append(
                draw(st.sampled_from(["^", "$", r"\b", "(?=)", "(?!x)", r"\K", "(?#|)", "(?i)", "(?s)", "(?m)"]))
            )
        elif shape == 16:
            pattern.append("|" if draw(st.booleans()) else written)
        elif shape == 17:
            pattern.append(draw(st.sampled_from([".", r"\X", r"\S", r"\w", r"\p{L}", r"[^x]"])))
            text.append(matched)
        elif shape == 18:
            pattern.append(f"(?{draw(st.sampled_from(['i', '-i', 's', 'm', 'i-s']))}:{written})")
            text.append(matched)
        else:
            pattern.append("".join(f"\\U{ord(letter):08x}" for letter in matched))
            text.append(swap(matched))
    text.extend(draw(st.lists(letters, max_size=3)))
    return "".join(pattern), "".join(text)


@settings(max_examples=1000, deadline=None)
@given(patterns_and_texts())
def test_no_text_that_matches_lacks_the_key(made: tuple[str, str]) -> None:
    pattern, text = made
    try:
        query = read_regex(pattern)
        spans = query.spans(text)
    except (BadPatternError, EmptyQueryError, PatternTimeoutError):
        return
    if spans:
        assert all(key in search_key(text) for key in (query.key, *query.more_keys))
        assert query.may_match(stored_key(text))
    stored = text.encode()
    assert spans == sorted(spans)
    for start, end in spans:
        assert start < end
        stored[start:end].decode()


@settings(max_examples=500, deadline=None)
@given(
    st.text(alphabet=st.sampled_from([*r"""\()[]{}|?*+^$.#-:=!<>P&,013aiRxKpNLu'""", "A", "é", " "]), max_size=14),
    st.text(alphabet=st.sampled_from([*r"\()[]{}|?*+^$.#-:=!<>P&,013aiRxKpNLu", "A", "é", " "]), max_size=14),
)
def test_whatever_is_typed_is_read_or_refused_in_one_sentence(pattern: str, text: str) -> None:
    try:
        query = read_regex(pattern)
        if query.spans(text):
            assert all(key in search_key(text) for key in (query.key, *query.more_keys))
            assert query.may_match(stored_key(text))
    except (BadPatternError, EmptyQueryError, PatternTimeoutError) as error:
        told = str(error)
    else:
        told = ""
    assert "\n" not in told


# --- Outlines: what the key of a text that matches must look like -----------------------------------------------------


def test_the_key_of_each_character_keeps_what_gaps_say_of_it() -> None:
    blank = regex.compile(r"\s", regex.VERSION0)
    for code in (*range(0xD800), *range(0xE000, 0x110000)):
        letter = chr(code)
        key = search_key(letter)
        if blank.match(letter):
            assert len(key) == 1, hex(code)
            assert blank.match(key), hex(code)
        else:
            assert blank.search(key) is None, hex(code)
        assert letter == "\n" or "\n" not in key, hex(code)


@pytest.mark.parametrize(
    ("pattern", "fits", "does_not"),
    [
        (
            r"had\s+\S+\s+in",
            ["Had it\tin", "had \u0301 in", "HAD  x  İn"],
            ["hadit in", "in it had", "had in", "had a b in"],
        ),
        (r"in\s+\w+", ["In x", "İn a"], ["inx", "in"]),
        (r"\bfoo\b.*bar", ["foo bar", "foo(x) BAR"], ["foo\nbar", "bar foo"]),
        (r"a(b|c)+d\s*e", ["abd e", "acde"], ["ade f", "e a d"]),
        (r"Straße\s\d+", ["Straße 7"], ["Straße7"]),
        (r"x{2,}\s{2}y", ["xx  y"], ["y  xx"]),
        (r"ab?c\s*d", ["abc d", "acd"], ["c d a"]),
        (r"[xy]\s+z", ["x z"], ["xz"]),
        (r"\s+in\s+", ["a in b"], ["ain b", "a inb"]),
        (r"α\s+ς", ["Α Σ"], ["ας"]),
    ],
)
def test_an_outline_lets_every_match_in_and_tells_others_apart(
    pattern: str, fits: list[str], does_not: list[str]
) -> None:
    query = read_regex(pattern)
    assert query.has_outline
    for text in fits:
        assert query.matches(text), text
        assert query.may_match(stored_key(text)), text
    kept_out = [text for text in does_not if not query.may_match(stored_key(text))]
    assert not any(map(query.matches, does_not))
    assert kept_out, does_not


@pytest.mark.parametrize(
    "pattern", ["two words", r"foo\b", "^foo", r"a|b\s", r"(?i)a\s+b", ".*word.*", r"\S+", "(a b)+"]
)
def test_a_pattern_whose_literals_tell_as_much_has_no_outline(pattern: str) -> None:
    query = read_regex(pattern)
    assert not query.has_outline
    assert query.may_match("anything")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\\s\+\sfoo", r"\s+ foo"),  # a literal that reads like a gap
        (r"i\\S\*\di", r"i\S*1i"),
        (r"\s\[\\s\\S\]\*\?[Å]\s", r" [\s\S]*?Å "),
        ("sssx", "s\U0001df95x"),  # a letter of a newer Unicode that equals ss: which two is not known
        (r"sss\s+z", "s\U0001df95 z"),
        ("sßs", "\U0001df95\U0001df95"),
        ("s\U0001df95s\\s+z", "ss\U0001df95 z"),
        (r"\x73s", "\U0001df95"),
        (r"s\u0073", "\U0001df95"),
        (r"s[s]s", "s\U0001df95"),
        (r"\s(?:s)s", " \U0001df95"),
        ("pass(word)", "pa\U0001df95word"),
        ("ﬁg", "fıg"),
        (r"fﬃ\s+z", "ffFı z"),
    ],
)
def test_what_the_module_takes_for_equal_is_kept_out_by_nothing(pattern: str, text: str) -> None:
    query = read_regex(pattern)
    assert query.matches(text)
    assert all(key in stored_key(text) for key in (query.key, *query.more_keys))
    assert query.may_match(stored_key(text))


def test_only_a_double_s_is_two_letters_to_one_that_python_does_not_know() -> None:
    """The cuts know of this one; another would have to be cut as well."""
    unknown = "".join(
        chr(code)
        for code in (*range(0x80, 0xD800), *range(0xE000, 0x20000))
        if unicodedata.category(chr(code)) == "Cn"
        and regex.match(r"\p{Changes_When_Casefolded}|\p{Lowercase}", chr(code))
    )
    letters = regex.compile(f"[{unknown}]", regex.VERSION0 | regex.IGNORECASE | regex.FULLCASE)
    several = {"".join(pair) for pair in product(ascii_lowercase, repeat=2) if letters.fullmatch("".join(pair))}
    assert several <= {"ss"}


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"a\s+\S+\s+b", "a" + " " * 1900),
        (r"\s+\S+\s+b", " " * 1900 + "b"),
        (r" \s+\S+\s+b", " " * 1900 + "b"),
        (r"a\s+\S+b\s+c", "a " + "b" * 1900),
        (r"a\S+b\S+c\S+d\S+e", "abcd" * 400),
        (r"a\s*\S*\s*\S*\s*\S*\s*b", "a" + "x " * 900),
        (r"a.*b.*c.*d.*e", "abcd" * 4000),
        (r"\s+$\s+^\s*y", "\n" * 1990 + "zy"),
        (r" \s+$\s*y", " " * 1990 + "zy"),
        (r" \s+$\s+$\s+i", " " * 1990 + "zi"),
        ("\\s+\u0301\\s+\u0301\\s+y", " " * 1990 + "zy"),
        (r"a\S*a\s*\s*b", "a" * 996 + " " * 996 + "zb"),
        (r" \s+y", " " * 1990 + "zy"),
        (r"a\S+b", "a" * 1990 + " b"),
    ],
)
def test_no_key_keeps_an_outline_busy(pattern: str, text: str) -> None:
    query = read_regex(pattern)
    began = time.process_time()
    with contextlib.suppress(PatternTimeoutError):
        query.may_match(stored_key(text))
    assert time.process_time() - began < 0.15


def test_gaps_are_patterns_of_keys() -> None:
    for gap in Gap:
        assert regex.fullmatch(gap.value, {Gap.BLANK: " ", Gap.BLANKS: " ", Gap.LIKE_I: "i"}.get(gap, ""))
