"""The definition of a hit, written a second time and slowly: what the product's search must equal.

Shares no code with ``index.match``. Quadratic, straight from the sentences of ``docs/search.md``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from unicodedata import category, combining, normalize

from hypothesis import strategies as st

FAULTS = Path(__file__).parents[2] / "data" / "faults"

OTHER_UPPERCASE = frozenset(
    point
    for first, last in (
        (0x2160, 0x216F),
        (0x24B6, 0x24CF),
        (0x1F130, 0x1F149),
        (0x1F150, 0x1F169),
        (0x1F170, 0x1F189),
    )
    for point in range(first, last + 1)
)


def is_uppercase(letter: str) -> bool:
    return category(letter) == "Lu" or ord(letter) in OTHER_UPPERCASE


def defined_form(text: str, exact: bool) -> str:
    normal = normalize("NFC", text)
    if exact:
        return normal
    return "".join("i" if letter == "\u0130" else letter.casefold() for letter in normal)


def defined_key(text: str) -> str:
    decomposed = normalize("NFD", normalize("NFD", text).casefold())
    return "".join(letter for letter in decomposed if not combining(letter)).replace("\0", "\1")


def defined_spans(text: str, query: str) -> list[tuple[int, int]]:
    """Every occurrence of the query's form, the shortest run between clean cuts that gives it, left to right."""
    exact = any(is_uppercase(letter) for letter in normalize("NFC", query))
    wanted = defined_form(query, exact)
    whole = defined_form(text, exact)
    normal = normalize("NFC", text)
    cuts = [
        place
        for place in range(len(text) + 1)
        if normalize("NFC", text[:place]) + normalize("NFC", text[place:]) == normal
    ]
    form_place = {place: len(defined_form(text[:place], exact)) for place in cuts}
    spans: list[tuple[int, int]] = []
    free_from = 0
    for found in range(len(whole) - len(wanted) + 1):
        if not whole.startswith(wanted, found):
            continue
        start = max(place for place in cuts if form_place[place] <= found)
        end = min(place for place in cuts if form_place[place] >= found + len(wanted))
        if start >= free_from:
            spans.append((len(text[:start].encode()), len(text[:end].encode())))
            free_from = end
    return spans


def messages(fault: str) -> dict[int, str]:
    """Return the messages of a fault's one session, by line, lone surrogates replaced as the store does."""
    (path,) = (FAULTS / fault / "sessions" / "alpha").glob("*.jsonl")
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    return {
        number: "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in record["content"])
        for number, record in enumerate(records, start=1)
        if record["type"] == "message"
    }


@lru_cache(maxsize=1)
def code_points() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return every assigned character, and every code point that is private or has no character yet."""
    groups: dict[bool, list[str]] = {True: [], False: []}
    for letter in map(chr, range(sys.maxunicode + 1)):
        kind = category(letter)
        if kind != "Cs":
            groups[kind not in ("Cn", "Co")].append(letter)
    return tuple(groups[True]), tuple(groups[False])


PIECES = (
    "a", "i", "I", "k", "K", "s", "S", "ss", "x", " ", "\n", "\0", "\x01", '"', "*", "-", "AND", "Straße", "file",
    "ß", "ẞ", "ﬁ", "ﬃ", "ŉ", "ǰ", "J\u030c", "j\u030c", "և", "ẖ", "ΐ", "Ϊ\u0301", "ᾳ", "ᾼ", "Α\u0345", "α\u0345",
    "\u0345",
    "İ", "I\u0307", "i\u0307", "ı", "\u0307", "ė", "Ė", "σ", "ς", "Σ", "ΟΔΟΣ", "Ω", "\u2126", "\u212a", "\u212b", "Å",
    "é", "É", "e\u0301", "E\u0301", "ế", "e\u0302\u0301", "e\u0301\u0302", "ạ\u0306", "a\u0306\u0323", "a\u0301\u0323",
    "a\u0301\u0316", "a\u0316\u0301", "\u0301", "\u0323", "\u0316", "\u0315", "\u0344", "\u0340", "\u0305\u0301",
    "Ⱥ", "ⱥ", "Ⱦ", "ǆ", "ǅ", "Ǆ", "Ⅷ", "ⅷ", "Ⓐ", "ⓐ", "🄰", "Ꭰ", "ꭰ", "ა", "Ა", "𐐀", "𐐨",
    "한", "글", "\u1112\u1161\u11ab", "\u1112", "\u1161", "\u11ab", "하\u11ab", "\u1161\u11ab",
    "क", "\u093c", "\u0958", "न\u092e\u0938\u094d\u0924\u0947", "\u09c7", "\u09be", "\u09cb", "\u0dd9\u0dcf\u0dca",
    "\u0e17\u0e35", "\u0e48", "\u0f71", "\u0f72", "\u0f73", "\u0f81", "\u0fb2\u0f71\u0f80", "\u1025\u102e",
    "数", "据", "\uf900", "\ufa0e", "豈", "\U0002f800", "丽", "が", "か\u3099", "か", "\u309a",
    "𝐀", "\U0001d15e", "\U0001d158\U0001d165", "\U0001d165", "\U0001d16e", "\U00011935\U00011930",
    "\U000110a5\U000110ba",
    "🚀", "👩\u200d💻", "\u200d", "\ufe0f", "\u034f", "\u0338", "<\u0338", "≮", "\ufeff", "\ufffe", "\uffff", "\ufffd",
    "\U000e0100", "\U000f0000", "\U0010ffff", "\u2000", "\u2028", "\u0085", "\x1c", "\U0001fbff", "\u0378",
)  # fmt: skip
"""Letters at which one or another way of folding, normalising, cutting or indexing goes wrong."""

TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.characters(exclude_categories=["Cs"])), max_size=14).map("".join)

SPELLINGS: tuple[Callable[[str], str], ...] = (
    str,
    str.lower,
    str.upper,
    str.swapcase,
    str.casefold,
    lambda text: normalize("NFC", text),
    lambda text: normalize("NFD", text),
    lambda text: normalize("NFD", text.lower()),
)


@st.composite
def texts_and_queries(draw: st.DrawFn) -> tuple[str, str]:
    """Draw a text and a query that is mostly a respelt part of it, cut anywhere, so that most of them hit."""
    text = draw(TEXTS.filter(bool))
    source = draw(st.sampled_from((text, normalize("NFD", text), normalize("NFC", text), defined_form(text, False))))
    start = draw(st.integers(0, len(source) - 1))
    end = draw(st.integers(start + 1, min(len(source), start + 8)))
    query = draw(st.sampled_from(SPELLINGS))(source[start:end])
    if draw(st.integers(0, 9)) == 0:
        query += draw(st.sampled_from(PIECES))
    return text, query if query.strip() else query + "i"
