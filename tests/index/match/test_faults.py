"""Public faults of search, as tables (tests/data/faults): what must be found, and at which bytes."""

from __future__ import annotations

import json

import pytest

from index.match import read_query, search_key
from tests.index.match.definition import FAULTS, messages


def hits(texts: dict[int, str], query: str) -> dict[int, list[tuple[int, int]]]:
    """Return the spans by line, and check on the way that the key lets every one of them through."""
    asked = read_query(query)
    verifier = asked.verifier()
    found = {number: spans for number, text in texts.items() if (spans := verifier.spans(text))}
    assert all(asked.key in search_key(texts[number]) for number in found)
    return found


def spans_in(listed: str) -> dict[int, list[tuple[int, int]]]:
    """Read ``line 2: 9-17; line 3: 11-21``."""
    found: dict[int, list[tuple[int, int]]] = {}
    for entry in listed.split(";"):
        line, span = entry.strip().removeprefix("line ").split(": ")
        start, end = span.split("-")
        found[int(line)] = [(int(start), int(end))]
    return found


def test_b35_lone_surrogates() -> None:
    rows = (FAULTS / "B35" / "expected.txt").read_text("utf-8").splitlines()
    listed = [tuple(map(int, row.split())) for row in rows if row.startswith("  ") and len(row.split()) == 4]
    texts = messages("B35")
    assert len(listed) == 5
    for line, start, end, size in listed:
        assert hits(texts, "heron")[line] == [(start, end)]
        assert len(texts[line].encode()) == size


def test_b37_two_normal_forms() -> None:
    texts = messages("B37")
    rows = (FAULTS / "B37" / "expected.txt").read_text("utf-8").splitlines()
    listed = [row.strip().split("\t") for row in rows if row.startswith('  "')]
    assert len(listed) == len(json.loads((FAULTS / "B37" / "queries.json").read_text("utf-8"))) == 8
    for query, expected in listed:
        assert hits(texts, json.loads(query)) == spans_in(expected), query


def test_b37_accents_and_clusters() -> None:
    texts = messages("B37")
    assert list(hits(texts, "resume")) == [6]
    # A part of a cluster is found where the whole characters are: marks that NFC does not join are characters.
    assert hits(texts, "\u0928\u092e\u0938") == {7: [(0, 9)]}
    # What dropped marks would make of it is not.
    assert hits(texts, "\u0938\u0924\u0947") == {}


def test_b43_ordinary_text_that_is_fts5_syntax() -> None:
    texts = messages("B43")
    queries = json.loads((FAULTS / "B43" / "queries.json").read_text("utf-8"))
    assert len(queries) == 30
    for asked in queries:
        assert sorted(hits(texts, asked["q"])) == asked["must"], asked["q"]


def test_b50_what_counts_as_upper_case() -> None:
    texts = dict(enumerate(["Error", "error", "ERROR", "ÉTÉ", "été", "漢字A", "404 Not Found"]))
    expected = {
        "error": [0, 1, 2],
        "Error": [0],
        "ERROR": [2],
        "été": [3, 4],
        "ÉTÉ": [3],
        "漢字": [5],
        "404": [6],
        "404 not": [6],
    }
    assert {query: list(hits(texts, query)) for query in expected} == expected


def test_b52_bytes_not_characters() -> None:
    texts = messages("B52")
    found = hits(texts, "needle")
    rows = (FAULTS / "B52" / "expected.txt").read_text("utf-8").splitlines()
    listed = [row.split() for row in rows if row.startswith("  ") and "-" in row]
    assert len(listed) == len(found) == 12
    for line, first, second, *_, size in listed:
        stored = texts[int(line)].encode()
        assert [f"{start}-{end}" for start, end in found[int(line)]] == [first, second]
        assert [stored[start:end] for start, end in found[int(line)]] == [b"needle", b"needle"]
        assert len(stored) == int(size)


def test_b59_short_words() -> None:
    texts = messages("B59")
    queries = json.loads((FAULTS / "B59" / "queries.json").read_text("utf-8"))
    assert len(queries["cjk"]) == 16
    for asked in queries["cjk"]:
        assert sorted(hits(texts, asked["q"])) == asked["lines"], asked["q"]
    for asked in queries["latin"]:
        assert set(asked["must"]) <= set(hits(texts, asked["q"])) <= {*asked["must"], *asked["may"]}, asked["q"]


@pytest.mark.parametrize("fault", ["B35", "B37", "B43", "B52", "B59"])
def test_the_inputs_are_there(fault: str) -> None:
    assert len(messages(fault)) >= 5
