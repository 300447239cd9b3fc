"""Public faults of search (tests/data/faults), through a real ingest: what must be found, and at which bytes."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from index.ingest import ingest
from index.search import Hit, SearchRequest, SearchResult, search
from index.settings import Settings
from tests import builders as make
from tests.builders import HomeBuilder

pytestmark = pytest.mark.usefixtures("quick_schema")

EVERYWHERE = ("prompts", "answers", "thinking", "notices", "memory", "titles")
Lines = dict[int, list[tuple[int, int]]]


def ingested(home: HomeBuilder, data: Path, fault: str) -> Settings:
    shutil.copytree(data / "faults" / fault, home.aster_home, dirs_exist_ok=True)
    settings = home.settings()
    assert ingest(settings).problems_total == 0
    return settings


def find(settings: Settings, query: str, searched: tuple[str, ...] = ("prompts", "answers")) -> SearchResult:
    return search(settings, SearchRequest(query, searched, limit=None))


def by_line(result: SearchResult) -> Lines:
    return {hit.place.line_number or 0: list(hit.spans) for hit in result.hits}


def matched(hit: Hit) -> list[str]:
    return [hit.text.encode()[start:end].decode() for start, end in hit.spans]


def test_b22_words_of_a_paste_are_found_in_the_history(home: HomeBuilder, data: Path) -> None:
    folder = home.claude_home
    shutil.copytree(data / "faults" / "B22" / "claude", folder)
    settings = home.settings()
    ingest(settings)
    found = {"quokkafish": [1], "narwhalmoss": [2], "axolotlfern": [2], "tamarinleaf": [4], "okapistem": [5],
             "iVBORw0KGgo": []}  # fmt: skip
    for word, lines in found.items():
        result = find(settings, word)
        assert list(by_line(result)) == lines, word
        assert all(matched(hit) == [word] for hit in result.hits)


def test_b35_lone_surrogates_are_stored_as_one_replacement(home: HomeBuilder, data: Path) -> None:
    settings = ingested(home, data, "B35")
    rows = (data / "faults" / "B35" / "expected.txt").read_text("utf-8").splitlines()
    listed = [tuple(map(int, row.split())) for row in rows if row.startswith("  ") and len(row.split()) == 4]
    result = find(settings, "heron", EVERYWHERE)
    assert {line: spans for line, spans in by_line(result).items() if line in {row[0] for row in listed}} == {
        line: [(start, end)] for line, start, end, _ in listed
    }
    assert find(settings, "\ufffd", EVERYWHERE).total == find(settings, "\ud83d", EVERYWHERE).total > 0


def test_b37_either_normal_form_finds_both(home: HomeBuilder, data: Path) -> None:
    settings = ingested(home, data, "B37")
    rows = (data / "faults" / "B37" / "expected.txt").read_text("utf-8").splitlines()
    listed = [row.strip().split("\t") for row in rows if row.startswith('  "')]
    assert len(listed) == 8
    for query, expected in listed:
        spans: Lines = {}
        for entry in expected.split(";"):
            line, span = entry.strip().removeprefix("line ").split(": ")
            start, end = span.split("-")
            spans[int(line)] = [(int(start), int(end))]
        assert by_line(find(settings, json.loads(query))) == spans, query


def test_b43_ordinary_text_is_never_syntax(home: HomeBuilder, data: Path) -> None:
    settings = ingested(home, data, "B43")
    queries = json.loads((data / "faults" / "B43" / "queries.json").read_text("utf-8"))
    assert len(queries) == 30
    for asked in queries:
        assert sorted(by_line(find(settings, asked["q"]))) == asked["must"], asked["q"]


def test_b50_what_counts_as_upper_case(home: HomeBuilder) -> None:
    texts = ["Error", "error", "ERROR", "ÉTÉ", "été", "漢字A", "404 Not Found"]
    home.aster("s", make.aster_header("s", 0), *(make.aster_prompt(text, n) for n, text in enumerate(texts)))
    settings = home.settings()
    ingest(settings)
    hits = {"error": 3, "Error": 1, "ERROR": 1, "été": 2, "ÉTÉ": 1, "漢字": 1, "404": 1, "404 not": 1}
    assert {query: find(settings, query).total for query in hits} == hits
    assert find(settings, "Error").exact_case
    assert not find(settings, "404").exact_case


def test_b52_offsets_are_bytes(home: HomeBuilder, data: Path) -> None:
    settings = ingested(home, data, "B52")
    rows = (data / "faults" / "B52" / "expected.txt").read_text("utf-8").splitlines()
    listed = [row.split() for row in rows if row.startswith("  ") and "-" in row]
    result = find(settings, "needle")
    assert len(listed) == result.total == 12
    told = {hit.place.line_number: hit for hit in result.hits}
    for line, first, second, *_, size in listed:
        hit = told[int(line)]
        assert [f"{start}-{end}" for start, end in hit.spans] == [first, second]
        assert matched(hit) == ["needle", "needle"]
        assert len(hit.text.encode()) == int(size)


def test_b54_marks_in_a_text_are_text(home: HomeBuilder) -> None:
    text = "use <mark>x</mark> and [needle] \x02needle\x03"
    home.aster("s", make.aster_header("s", 0), make.aster_prompt(text, 1))
    settings = home.settings()
    ingest(settings)
    (hit,) = find(settings, "needle").hits
    assert (hit.text, matched(hit)) == (text, ["needle", "needle"])


def test_b55_a_script_can_open_the_file_and_slice_the_hit(home: HomeBuilder) -> None:
    line = rb'{"type":"message","role":"user","ts":"2026-05-04T08:01:00Z","content":["a\u00e9\n","needle"]}'
    escapes = rb'{"type":"message","role":"user","ts":"2026-05-04T08:02:00Z","content":"\u00e9\n\t\"needle"}'
    home.aster("s", make.aster_header("s", 0), "{}é".encode(), b"", line, escapes)
    settings = home.settings()
    ingest(settings)
    hits = find(settings, "needle").hits
    assert [hit.spans for hit in hits] == [((5, 11),), ((5, 11),)]
    for hit in hits:
        data = Path(hit.place.path).read_bytes()
        stored: Any = json.loads(data[hit.place.offset_bytes : data.index(b"\n", hit.place.offset_bytes)])["content"]
        assert data.splitlines()[(hit.place.line_number or 0) - 1] in (line, escapes)
        text = stored if isinstance(stored, str) else "\n".join(stored)
        assert text.encode()[slice(*hit.spans[0])] == b"needle"
    with closing(sqlite3.connect(settings.index_path)) as connection:
        rows = connection.execute("SELECT line_number, byte_offset, text FROM prompts ORDER BY line_number DESC")
        assert rows.fetchall() == [(hit.place.line_number, hit.place.offset_bytes, hit.text) for hit in hits]


def test_b59_short_words_of_every_script(home: HomeBuilder, data: Path) -> None:
    settings = ingested(home, data, "B59")
    queries = json.loads((data / "faults" / "B59" / "queries.json").read_text("utf-8"))
    for asked in queries["cjk"]:
        assert sorted(by_line(find(settings, asked["q"]))) == asked["lines"], asked["q"]
    for asked in queries["latin"]:
        found = set(by_line(find(settings, asked["q"])))
        assert set(asked["must"]) <= found <= {*asked["must"], *asked["may"]}, asked["q"]


def test_b58_and_b63_ingests_without_change_change_nothing_and_news_are_found_at_once(home: HomeBuilder) -> None:
    path = home.aster("s", make.aster_header("s", 0), make.aster_prompt("the first reed", 1))
    settings = home.settings()
    ingest(settings)
    before = settings.index_path.read_bytes()
    assert not any(ingest(settings).wrote for _ in range(20))
    assert settings.index_path.read_bytes() == before
    with path.open("ab") as file:
        file.write(make.lines(make.aster_prompt("the second reed", 2), make.aster_title("reeds and rushes", 3)))
    home.block("reed-note", "cut it in spring")
    ingest(settings)
    assert [hit.text for hit in find(settings, "reed").hits] == ["the second reed", "the first reed"]
    assert find(settings, "rushes", ("titles",)).hits[0].session_title == "reeds and rushes"
    assert find(settings, "spring", ("memory",)).hits[0].name == "reed-note"


def test_b122_control_codes_are_given_as_they_are_stored(home: HomeBuilder, data: Path) -> None:
    """The same texts as a person's words: the texts of tools are not in the full-text table."""
    (transcript,) = (data / "faults" / "B122" / "sessions" / "alpha").glob("*.jsonl")
    typed = transcript.read_bytes().replace(b'"role":"tool"', b'"role":"user"')
    home.aster(transcript.stem, *typed.splitlines())
    settings = home.settings()
    ingest(settings)
    rows = (data / "faults" / "B122" / "expected.txt").read_text("utf-8").splitlines()
    listed = {int(line): span for line, span in (row.split() for row in rows if row.startswith("  "))}
    assert len(listed) == 11
    result = find(settings, "plainword")
    assert {line: "-".join(map(str, *spans)) for line, spans in by_line(result).items()} == listed
    stored = [json.loads(line) for line in typed.splitlines()]
    assert all(hit.text == stored[(hit.place.line_number or 0) - 1]["content"] for hit in result.hits)
    (title,) = find(settings, "plainword", ("titles",)).hits
    assert matched(title) == ["plainword"]
