"""What a person typed, read once: case mode, form, key, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from unicodedata import normalize

import pytest

from index.errors import AsterIndexError, EmptyQueryError
from index.match import is_exact, read_query
from tests.index.match.definition import is_uppercase


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u3000\u00a0"], ids=ascii)
def test_a_query_of_nothing_is_refused(text: str) -> None:
    with pytest.raises(EmptyQueryError, match="only blanks") as raised:
        read_query(text)
    assert isinstance(raised.value, AsterIndexError)


def test_blanks_are_literal_at_the_ends_too() -> None:
    query = read_query("  if x: ")
    assert query.text == query.form == query.key == "  if x: "
    assert query.verifier().spans("\n  if x: y\n if x: y") == [(1, 9)]


def test_a_query_is_read_once_for_all() -> None:
    query = read_query("Éa\ud83d")
    assert (query.text, query.exact, query.form, query.key) == ("Éa\ufffd", True, "Éa\ufffd", "ea\ufffd")
    assert read_query("éa").form == read_query("e\u0301a").form == "éa"


@pytest.mark.parametrize(
    ("query", "exact"),
    [
        ("error", False),
        ("Error", True),
        ("eRROR", True),
        ("été", False),
        ("ÉTÉ", True),
        ("E\u0301", True),
        ("漢字", False),
        ("404", False),
        ("ǅ", False),
        ("ᾼ", False),
        ("Α\u0345", False),
        ("Ǆ", True),
        ("Ⅷ", True),
        ("ⅷ", False),
        ("Ⓐ", True),
        ("🄰", True),
        ("𝐀", True),
        ("ª ß ʰ", False),
    ],
)
def test_smart_case(query: str, exact: bool) -> None:
    assert is_exact(query) is exact


def test_uppercase_is_the_unicode_property_in_every_normal_form() -> None:
    for letter in map(chr, range(sys.maxunicode + 1)):
        expected = is_uppercase(letter)
        assert is_exact(letter) is expected, ascii(letter)
        decomposed = normalize("NFD", letter)
        if decomposed != letter:
            assert is_exact(decomposed) is expected, ascii(letter)


def test_searching_loads_only_the_standard_library() -> None:
    script = (
        "import sys; before = set(sys.modules); from index.match import read_query; read_query('café').key;"
        "print(sorted({name.split('.')[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)))"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "['index']"
