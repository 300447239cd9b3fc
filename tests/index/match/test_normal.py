"""Normalising with provenance: which stored characters gave which of the normal form."""

from __future__ import annotations

from unicodedata import normalize

from hypothesis import example, given, settings

from index.match.normal import LONG_RUN, nfc, units
from tests.index.match.definition import TEXTS, code_points


@settings(max_examples=400, deadline=None)
@given(TEXTS)
@example("α\u0305\u0301")
@example("\u1112\u1161\u11ab\u11ab")
@example("\u0f73\u0f73a\u0f74")
def test_units_are_the_clean_cuts_of_nfc(text: str) -> None:
    pieces = list(units(text))
    assert "".join(piece.nfc for piece in pieces) == normalize("NFC", text)
    cuts = {0}
    for piece in pieces:
        cuts.add(max(cuts) + piece.length)
    assert cuts == {
        place
        for place in range(len(text) + 1)
        if normalize("NFC", text[:place]) + normalize("NFC", text[place:]) == normalize("NFC", text)
    }


def test_units_of_every_character_that_decomposes() -> None:
    letters, _ = code_points()
    for letter in letters:
        decomposed = normalize("NFD", letter)
        if decomposed != letter:
            assert "".join(piece.nfc for piece in units(decomposed)) == normalize("NFC", letter), ascii(letter)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_nfc_of_long_runs_is_that_of_the_library(text: str) -> None:
    long = "".join(letter for letter in text if not letter.isascii()) * (LONG_RUN // 4)
    assert nfc(long) == normalize("NFC", long)
