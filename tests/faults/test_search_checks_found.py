"""Public faults of search at the command line: which texts are found, at which bytes, in which order.

The command is run as its user runs it, in the default mode and with ``--words``; the inputs are those of
``tests/data/faults``.
"""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from index.errors import EmptyQueryError
from index.search import Mode, SearchRequest, search
from tests import builders as make
from tests.builders import HomeBuilder
from tests.conftest import Asx

Spans = dict[int, list[list[int]]]


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    return HomeBuilder(isolated)


@pytest.fixture
def fault(home: HomeBuilder, data: Path, asx: Asx, request: pytest.FixtureRequest) -> Path:
    """The folder of the fault that the test is parametrized with, its sessions indexed."""
    folder = data / "faults" / str(request.param)
    shutil.copytree(folder, home.aster_home, dirs_exist_ok=True)
    assert asx("ingest").code == 0
    return folder


def type_in(home: HomeBuilder, *texts: str, session: str = "s", **header: Any) -> Path:
    prompts = (make.aster_prompt(text, minute) for minute, text in enumerate(texts, start=1))
    return home.aster(session, make.aster_header(session, 0, **header), *prompts)


def rows(folder: Path) -> list[str]:
    return [row for row in (folder / "expected.txt").read_text("utf-8").splitlines() if row.startswith("  ")]


def found(asx: Asx, *words: str) -> dict[str, Any]:
    told = asx("search", "--json", "--all", *words)
    assert told.code in {0, 1}, told.stderr
    answer: dict[str, Any] = told.json()
    assert told.code == (0 if answer["total"] else 1)
    assert answer["total"] == answer["returned"] == len(answer["hits"])
    return answer


def spans(answer: dict[str, Any]) -> Spans:
    """Return the spans by line of the source; every one is whole characters, and the first is the match."""
    for hit in answer["hits"]:
        stored = hit["text"].encode()
        assert [hit["match_start"], hit["match_end"]] == hit["spans"][0]
        assert all(stored[start:end].decode() for start, end in hit["spans"])
    return {hit["source"]["line"]: hit["spans"] for hit in answer["hits"]}


def texts(answer: dict[str, Any]) -> list[str]:
    return [hit["text"] for hit in answer["hits"]]


@pytest.mark.parametrize("fault", ["B37"], indirect=True)
def test_b37_each_query_and_its_twin_give_the_same_bytes(fault: Path, asx: Asx) -> None:
    listed = {json.loads(query): spans_in(hits) for query, hits in (row.strip().split("\t") for row in rows(fault))}
    assert listed.keys() == set(json.loads((fault / "queries.json").read_text("utf-8")))
    assert len(listed) == 8
    for query, expected in listed.items():
        assert spans(found(asx, query)) == expected, query
    assert list(spans(found(asx, "resume"))) == [6]
    assert {2, 3, 6} <= set(spans(found(asx, "--words", "resume"))), "words fold accents, in either form"
    assert spans(found(asx, "\u0938\u0924\u0947")) == {}, "no match inside a cluster whose marks were dropped"


def spans_in(listed: str) -> Spans:
    """Read ``line 2: 9-17; line 3: 11-21``."""
    told: Spans = {}
    for entry in listed.split("; "):
        line, _, span = entry.removeprefix("line ").partition(": ")
        told[int(line)] = [[int(place) for place in span.split("-")]]
    return told


UUID = "5b0c7f1e-2d34-4c1b-9a57-0e6f4d2a91c3"
HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"


@pytest.mark.parametrize(
    ("query", "exact"),
    [
        ("pane_pid", "set pane_pid here"),
        ("v1.2.3", "tag v1.2.3 today"),
        (UUID, f"request {UUID} failed"),
        (HASH, f"commit {HASH} broke it"),
    ],
)
def test_b45_an_identifier_as_typed_comes_first(query: str, exact: str, home: HomeBuilder, asx: Asx) -> None:
    identifiers(home)
    assert asx("ingest").code == 0
    assert texts(found(asx, "--words", query))[0] == exact
    assert exact in texts(found(asx, query))
    assert "tag v1.2.30 v1.2.30" not in texts(found(asx, "--words", query))


@pytest.mark.parametrize("length", [8, 12])
def test_b45_the_beginning_of_a_hash_finds_the_hash(length: int, home: HomeBuilder, asx: Asx) -> None:
    identifiers(home)
    assert asx("ingest").code == 0
    for words in ((HASH[:length],), ("--words", f"{HASH[:length]}*")):
        answer = found(asx, *words)
        assert texts(answer) == [f"commit {HASH} broke it"]
        ((start, end),) = answer["hits"][0]["spans"]
        assert HASH.startswith(answer["hits"][0]["text"][start:end])
        assert end - start >= length


def identifiers(home: HomeBuilder) -> None:
    """Newer texts hold the parts of each identifier, so that time alone puts none of the exact ones first."""
    exact = ("set pane_pid here", "tag v1.2.3 today", f"request {UUID} failed", f"commit {HASH} broke it")
    near = ("pane pid pane pid", "tag v1.2.30 v1.2.30", "v1 2 3", f"request {UUID[:-1]}8 failed",
            UUID.replace("-", " "), f"commit {HASH[:7]} short", HASH[1:])  # fmt: skip
    type_in(home, *exact, *near)


@pytest.mark.parametrize("mode", list(Mode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("query", ["", "   ", '""', "!!!", "—", "\u200b", "\x00"], ids=ascii)
def test_b46_the_library_never_gives_every_text(query: str, mode: Mode, home: HomeBuilder, asx: Asx) -> None:
    """Through the library, since no argument of a process holds U+0000: refused, or found literally."""
    type_in(home, "plain words", f"with {query or 'nothing'} inside", "other words")
    assert asx("ingest").code == 0
    request = SearchRequest(query, mode=mode)
    if mode is Mode.WORDS or not query.strip():
        with pytest.raises(EmptyQueryError) as refused:
            search(home.settings(), request)
        assert "\n" not in str(refused.value)
        return
    result = search(home.settings(), request)
    assert [hit.text for hit in result.hits] == [f"with {query} inside"]
    (span,) = result.hits[0].spans
    assert result.hits[0].text.encode()[slice(*span)] == query.encode()


def test_b46_json_says_why_there_is_nothing(home: HomeBuilder, asx: Asx) -> None:
    type_in(home, "plain words", "other words")
    assert asx("ingest").code == 0
    told = asx("search", "--json", "!!!")
    answer = told.json()
    assert (told.code, answer["hits"], answer["searched"], answer["texts"]) == (1, [], ["prompts"], 2)
    for words in (("",), ("--words", "!!!")):
        refused = asx("search", "--json", *words)
        assert (refused.code, refused.json()["error"]["kind"]) == (2, "usage")
        assert refused.json()["error"]["message"]


def test_b48_phrases_and_unclosed_quotes(home: HomeBuilder, asx: Asx) -> None:
    type_in(home, "disk image is malformed", "malformed image on disk", 'say "hi" there')
    assert asx("ingest").code == 0
    assert texts(found(asx, "--words", '"disk image"')) == ["disk image is malformed"]
    assert texts(found(asx, "--words", '"disk image')) == ["disk image is malformed"]
    for query in ('""disk', '5" disk', '"', '""'):
        told = asx("search", "--words", query)
        assert told.code in {0, 1, 2}, query
        assert "fts5" not in told.stderr.lower()
    assert texts(found(asx, "--words", '"say ""hi"""')) == ['say "hi" there']


def test_b50_what_counts_as_upper_case(home: HomeBuilder, asx: Asx) -> None:
    type_in(home, "Error", "error", "ERROR", "ÉTÉ", "été", "漢字A", "404 Not Found")
    assert asx("ingest").code == 0
    hits = {"error": 3, "Error": 1, "ERROR": 1, "été": 2, "ÉTÉ": 1, "漢字": 1, "404": 1, "404 not": 1}
    assert {query: found(asx, query)["total"] for query in hits} == hits
    assert {query: found(asx, "--regex", query)["total"] for query in hits} == hits
    assert found(asx, "--regex", r"\S*rror")["total"] == 3
    assert found(asx, "--regex", r"error\P{Lu}?")["total"] == 3
    assert [found(asx, query)["case"] for query in ("404", "漢字", "É")] == ["insensitive"] * 2 + ["sensitive"]


@pytest.mark.parametrize("fault", ["B52"], indirect=True)
def test_b52_offsets_are_bytes(fault: Path, asx: Asx) -> None:
    listed = [row.split() for row in rows(fault)]
    matches = [row for row in listed if len(row) > 2]
    answer = found(asx, "needle")
    assert len(matches) == answer["total"] == 12
    told = spans(answer)
    hits = {hit["source"]["line"]: hit for hit in answer["hits"]}
    for line, first, second, *_, size in matches:
        assert ["-".join(map(str, span)) for span in told[int(line)]] == [first, second]
        stored = hits[int(line)]["text"].encode()
        assert [stored[start:end] for start, end in told[int(line)]] == [b"needle"] * 2
        assert len(stored) == int(size)
    offsets = {int(line): int(offset) for line, offset in (row for row in listed if len(row) == 2)}
    assert {line: hit["source"]["offset"] for line, hit in hits.items()} == offsets
    for hit in found(asx, "--snippet", "20", "needle")["hits"]:
        start, end = (place - hit["text_offset"] for place in hit["spans"][0])
        assert hit["text"].encode()[start:end] == b"needle"
        assert hit["spans"] == told[hit["source"]["line"]]


def test_b55_search_and_query_give_the_same_place(home: HomeBuilder, asx: Asx) -> None:
    line = rb'{"type":"message","role":"user","ts":"2026-05-04T08:01:00Z","content":["a\u00e9\n","needle"]}'
    home.aster("s", make.aster_header("s", 0), b"", line)
    assert asx("ingest").code == 0
    (hit,) = found(asx, "needle")["hits"]
    assert hit["spans"] == [[5, 11]]
    source = hit["source"]
    told = asx("query", "--json", "SELECT source_path, line_number, byte_offset, text FROM prompts").json()
    assert told["rows"] == [[source["path"], source["line"], source["offset"], hit["text"]]]
    raw = Path(source["path"]).read_bytes()[source["offset"] :]
    assert "\n".join(json.loads(raw.split(b"\n", 1)[0])["content"]).encode()[5:11] == b"needle"


@pytest.mark.parametrize("fault", ["B59"], indirect=True)
def test_b59_short_words_are_a_plain_substring(fault: Path, asx: Asx) -> None:
    queries = json.loads((fault / "queries.json").read_text("utf-8"))
    for asked in queries["cjk"]:
        told = found(asx, asked["q"])
        assert sorted(spans(told)) == asked["lines"], asked["q"]
        for hit in told["hits"]:
            stored = hit["text"].encode()
            assert {stored[start:end].decode() for start, end in hit["spans"]} == {asked["q"]}
            assert len(hit["spans"]) == hit["text"].count(asked["q"])
        within = found(asx, "--since", "2000-01-01", "--agent", "aster", asked["q"])
        assert spans(within) == spans(told), "another filter changes nothing"
    for asked in queries["latin"]:
        lines = set(spans(found(asx, asked["q"])))
        assert set(asked["must"]) <= lines <= {*asked["must"], *asked["may"]}, asked["q"]


def test_b61_the_best_hit_is_first_and_its_score_the_highest(home: HomeBuilder, asx: Asx) -> None:
    dense = "heron a heron b heron c heron d heron e"
    sparse = "heron " + " ".join(f"filler{number}" for number in range(399))
    prompts = (dense, *(f"unrelated {number}" for number in range(60)), sparse)
    home.aster("s", make.aster_header("s", 0), *(make.aster_prompt(text, n) for n, text in enumerate(prompts)),
               make.aster_title("heron notes", 3))  # fmt: skip
    assert asx("ingest").code == 0
    for how in (("--words",), ("--sort", "relevance")):
        hits = found(asx, *how, "--in", "prompts,titles", "heron")["hits"]
        assert [hit["text"] for hit in hits][2:] == [sparse]
        assert {hit["text"] for hit in hits[:2]} == {dense, "heron notes"}
        assert all(first > second > 0 for first, second in pairwise(hit["score"] for hit in hits))
    by_time = found(asx, "--words", "--sort", "time", "--in", "prompts,titles", "heron")["hits"]
    assert by_time[0]["text"] == sparse
    assert {hit["score"] for hit in by_time} == {None}


def test_b101_the_old_exact_answer_comes_before_the_new(home: HomeBuilder, asx: Asx) -> None:
    best = "rotate the staging database password"
    near = [f"{best.split()[number % 5]} {number} in passing" for number in range(50)]
    type_in(home, best, *near)
    home.block("old-note", "rotate the staging database password by hand", description="staging")
    assert asx("ingest").code == 0
    query = ("--words", "staging database password rotate")
    assert texts(found(asx, *query)) == [best], "all words must match"
    assert found(asx, "--in", "prompts,memory", *query)["sort"] == "relevance"
    type_in(home, *(f"{best} and {' '.join(f'w{n}-{k}' for k in range(200))}" for n in range(50)), session="new",
            created_at=make.at(500))  # fmt: skip
    assert asx("ingest").code == 0
    answers = [texts(found(asx, *query)) for _ in range(3)]
    assert len(answers[0]) == 51
    assert answers[0][0] == best
    assert answers[0] == answers[1] == answers[2], "equal scores have one order"
    assert texts(found(asx, "--sort", "time", *query)).index(best) > 0
