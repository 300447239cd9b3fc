"""Public faults of search at the command line: what a person types, what a pipe reads, what reaches a terminal.

The same faults inside the library stand in ``tests/index/search`` and ``tests/index/match``.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import builders as make
from tests.builders import HomeBuilder
from tests.cli.conftest import Run
from tests.cli.conftest import run as run
from tests.conftest import REPOSITORY, Asx, Result

RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
EVERYWHERE = "prompts,answers,thinking,notices,tools,memory,titles"


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    return HomeBuilder(isolated)


def put(home: HomeBuilder, data: Path, fault: str) -> None:
    shutil.copytree(data / "faults" / fault, home.aster_home, dirs_exist_ok=True)


def type_in(home: HomeBuilder, *texts: str, session: str = "s", **header: Any) -> Path:
    prompts = (make.aster_prompt(text, minute) for minute, text in enumerate(texts, start=1))
    return home.aster(session, make.aster_header(session, 0, **header), *prompts)


def texts(result: Result) -> list[str]:
    return sorted(hit["text"] for hit in result.json()["hits"])


def lines(result: Result) -> list[int]:
    return sorted(hit["source"]["line"] for hit in result.json()["hits"])


def test_b35_lone_surrogates_reach_every_output_as_the_replacement(home: HomeBuilder, data: Path, asx: Asx) -> None:
    put(home, data, "B35")
    assert asx("ingest").code == 0
    told = asx("search", "--in", "prompts,answers,titles", "heron", "--json")
    assert told.code == 0
    hits = {hit["source"]["line"]: hit for hit in told.json()["hits"] if hit["in"] != "titles"}
    assert sorted(hits) == [2, 3, 4, 5, 6]
    assert len(told.json()["hits"]) == 6
    assert "\U0001f680" in hits[5]["text"]
    assert all("\ufffd" in hits[line]["text"] for line in (2, 3, 4, 6))
    session = hits[2]["session_id"]
    for words in (("search", "heron"), ("sessions", "show", session), ("query", "SELECT text, content FROM events")):
        plain = asx(*words)  # its streams are decoded strictly
        assert (plain.code, "heron" in plain.stdout, "\ufffd" in plain.stdout) == (0, True, True), words
        plain.stdout.encode()
    stored = asx("query", "SELECT text FROM events WHERE text LIKE '%heron%' ORDER BY line_number", "--json")
    assert [row["text"] if isinstance(row, dict) else row[0] for row in stored.json()["rows"]][:5] == [
        hits[line]["text"] for line in sorted(hits)
    ]


@pytest.mark.parametrize("query", ["naïve", "café", "łódź", "ærø", "Łódź Ærø", "naïve café"])
def test_b38_the_word_as_typed_is_found(query: str, home: HomeBuilder, run: Run) -> None:
    type_in(home, "naïve café Łódź Ærø", "nai\u0308ve cafe\u0301 \u0141o\u0301dz\u0301 Ærø")
    assert run("ingest").code == 0
    assert len(run("search", query, "--json").json()["hits"]) == 2
    assert len(run("search", "--words", query, "--json").json()["hits"]) == 2


@pytest.mark.parametrize("query", ["naive", "cafe", "lodz"])
def test_b38_without_its_accents_a_word_is_found_by_words_only(query: str, home: HomeBuilder, run: Run) -> None:
    type_in(home, "naïve café Lódź")
    assert run("ingest").code == 0
    assert run("search", query, "--json").json()["hits"] == []
    assert run("search", "--regex", query, "--json").json()["hits"] == []
    assert texts(run("search", "--words", query, "--json")) == ["naïve café Lódź"]


def test_b40_texts_do_not_depend_on_the_machines_encoding(home: HomeBuilder, asx: Asx) -> None:
    text = "ğ “quoted” 漢"
    type_in(home, text, cwd="/w/ğ漢")
    home.block("note", f"{text} in a note")
    ascii_machine = {
        "PYTHONUTF8": "0", "LC_ALL": "C", "LANG": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONWARNDEFAULTENCODING": "1",
        "PYTHONIOENCODING": None,
    }  # fmt: skip
    asked = (
        ("ingest",), ("search", "“quoted”", "--json"), ("search", "--in", "memory", "漢", "--json"), ("show", "s:0"),
        ("memory", "show", "note"), ("search", "“quoted”"), ("sessions", "show", "s"),
    )  # fmt: skip
    for words in asked:
        told = asx(*words, env=ascii_machine)
        assert (told.code, "Warning" in told.stderr) == (0, False), (words, told.stderr)
        if words[0] != "ingest":
            assert text in (json.dumps(told.json(), ensure_ascii=False) if "--json" in words else told.stdout).replace(
                '\\"', '"'
            ), words


def test_b40_what_an_ascii_machine_cannot_name_stays_indexed(home: HomeBuilder, asx: Asx) -> None:
    home.block("note-漢", "the kingfisher note")
    home.block("other", "the kingfisher again")
    assert asx("ingest").code == 0
    ascii_machine = {"PYTHONUTF8": "0", "LC_ALL": "C", "LANG": "C", "PYTHONCOERCECLOCALE": "0"}
    told = asx("ingest", env=ascii_machine)
    assert "UTF-8 locale" in told.stderr + told.stdout
    found = asx("search", "--in", "memory", "kingfisher", "--json", env=ascii_machine).json()
    assert found["total"] == 2
    assert asx("verify", env=ascii_machine).code == 0
    assert asx("ingest").code == 0
    assert asx("status", "--json").json()["agents"]["aster"]["held"] == []


FAMILY = "👨‍👩‍👧‍👦"
STACKED = "e" + "\u0301\u0323" * 100


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("漢" * 10_000, "漢漢漢"),
        (FAMILY * 50, "👧\u200d👦"),
        (f"before {STACKED} after", STACKED),
        ("x" * 50 + "é😀", "é😀"),
    ],
    ids=["han", "family", "marks", "end"],
)
def test_b42_a_snippet_is_never_cut_inside_a_character(text: str, query: str, home: HomeBuilder, run: Run) -> None:
    type_in(home, text)
    assert run("ingest").code == 0
    stored = text.encode()
    for width in range(1, 41):
        (hit,) = run("search", query, "--json", "--snippet", str(width)).json()["hits"]
        assert 1 <= len(hit["text"]) <= width
        piece = hit["text"].encode()
        assert stored[hit["text_offset"] : hit["text_offset"] + len(piece)] == piece
        assert stored[hit["match_start"] : hit["match_end"]].decode()
        assert hit["text_offset"] <= hit["match_start"]


def test_b43_what_is_typed_is_never_syntax(home: HomeBuilder, data: Path, run: Run) -> None:
    put(home, data, "B43")
    assert run("ingest").code == 0
    queries = json.loads((data / "faults" / "B43" / "queries.json").read_text("utf-8"))
    assert len(queries) == 30
    for asked in queries:
        for mode in ((), ("--words",)):
            found = run("search", *mode, "--in", "prompts,answers", "--all", "--json", "--", asked["q"])
            if mode and found.code == 2:  # a query of signs alone has no word, and says so
                assert not re.search(r"\w", asked["q"]) or found.json()["error"]["kind"] == "usage"
                continue
            hits = set(lines(found))
            must, may = set(asked["must"]), set(asked["must"]) | set(asked["may"])
            assert (must if not mode else set()) <= hits, (mode, asked["q"])
            assert len(hits) < 14, (mode, asked["q"])
            assert mode or hits <= may, asked["q"]
            assert found.code == (0 if hits else 1)
            assert not re.search(r"fts5|sqlite|syntax error|no such column", found.stdout + found.stderr, re.IGNORECASE)


@pytest.mark.parametrize("query", ["", " ", "\u3000", "\t\n"])
def test_b46_a_query_of_nothing_is_refused_in_every_mode(query: str, home: HomeBuilder, run: Run) -> None:
    type_in(home, "one", "two")
    assert run("ingest").code == 0
    for mode in ((), ("--words",), ("--regex",)):
        told = run("search", *mode, "--json", query)
        assert (told.code, told.json()["error"]["kind"]) == (2, "usage"), mode


@pytest.mark.parametrize("query", ['""', "!!!", "—", "\u200b", "...", "'"])
def test_b46_signs_alone_are_found_literally_and_never_everywhere(query: str, home: HomeBuilder, run: Run) -> None:
    type_in(home, "plain words", "other words")
    assert run("ingest").code == 0
    none = run("search", "--json", "--", query)
    assert (none.code, none.json()["total"], none.json()["hits"]) == (1, 0, [])
    assert "in prompts (2 texts)" in run("search", "--", query).stderr
    type_in(home, f"with {query} inside", session="t")
    assert run("ingest").code == 0
    assert texts(run("search", "--json", "--", query)) == [f"with {query} inside"]


def test_b60_a_sqlite_without_full_text_is_told_in_one_line(home: HomeBuilder, tmp_path: Path) -> None:
    """A library without the trigram tokenizer: the table's creation fails as it does there."""
    type_in(home, "one")
    code = (
        "import sqlite3, sys\n"
        "real = sqlite3.connect\n"
        "class Old(sqlite3.Connection):\n"
        "    def execute(self, sql, *values):\n"
        "        if 'trigram' in sql: raise sqlite3.OperationalError('no such tokenizer: trigram')\n"
        "        return super().execute(sql, *values)\n"
        "    def cursor(self, factory=None):\n"
        "        connection = self\n"
        "        class Cursor(sqlite3.Cursor):\n"
        "            def execute(self, sql, *values):\n"
        "                if 'trigram' in sql: raise sqlite3.OperationalError('no such tokenizer: trigram')\n"
        "                return super().execute(sql, *values)\n"
        "        return super().cursor(Cursor)\n"
        "sqlite3.connect = sqlite3.dbapi2.connect = lambda *a, **k: real(*a, **{**k, 'factory': Old})\n"
        "from cli.app import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    index = tmp_path / "cache" / "index.sqlite"
    done = subprocess.run(
        [sys.executable, "-c", code, "ingest", "--index", str(index)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode not in {0, 1}
    assert "Traceback" not in done.stderr
    assert "trigram" in done.stderr
    assert done.stderr.count("\n") <= 2
    assert not index.exists()


PROJECTS = ("/w/a/b", "/w/a/bc", "/w/a/b/sub", "/w/a/b%", "/w/a/B", "/w/a/b_")


@pytest.mark.parametrize("project", PROJECTS)
def test_b97_a_project_is_a_whole_path(project: str, home: HomeBuilder, run: Run) -> None:
    for number, path in enumerate(PROJECTS):
        type_in(home, f"lantern of {path}", session=f"session-{number}", cwd=path, repo_root=path)
    assert run("ingest").code == 0
    assert texts(run("search", "lantern", "--project", project, "--json")) == [f"lantern of {project}"]
    below = texts(run("search", "lantern", "--project", project, "--below", "--json"))
    assert below == [
        f"lantern of {path}" for path in sorted(PROJECTS) if path == project or path.startswith(f"{project}/")
    ]


def test_b99_equal_prompts_are_one_hit_with_a_count(home: HomeBuilder, run: Run) -> None:
    for number in range(40):
        session = f"session-{number:02}"
        prompt = make.aster_prompt("the quarry opens at seven", number + 1)
        home.aster(session, make.aster_header(session, number), prompt)
    type_in(home, "why the quarry is closed", session="other")
    assert run("ingest").code == 0
    told = run("search", "quarry", "--limit", "5", "--json").json()
    assert {hit["text"]: hit["count"] for hit in told["hits"]} == {
        "the quarry opens at seven": 40,
        "why the quarry is closed": 1,
    }
    assert (told["total"], told["total_is_exact"]) == (2, True)


def test_b99_one_huge_session_does_not_fill_the_list(home: HomeBuilder, run: Run) -> None:
    huge = type_in(home, *(f"quarry number {number}" for number in range(2000)), session="huge")
    type_in(home, "the other quarry", session="other")
    assert huge.stat().st_size > 100_000
    assert run("ingest").code == 0
    told = run("search", "quarry", "--per-session", "5", "--json").json()
    sessions = [hit["session_id"] for hit in told["hits"]]
    assert (sessions.count("huge"), sessions.count("other")) == (5, 1)
    assert max(hit["more_in_session"] for hit in told["hits"] if hit["session_id"] == "huge") == 1995


@pytest.mark.parametrize("reader", ["head -n 1", "true", "head -c 1"])
@pytest.mark.parametrize(
    "words",
    [
        "search reed --all", "search reed --all --json", "search reed --all --jsonl", "search reed --all --lines",
        "sessions show big", "sessions show big --json", "query 'SELECT a.text FROM events a, events b' --limit 9999",
    ],
)  # fmt: skip
def test_b107_a_reader_that_leaves_early_is_no_failure(words: str, reader: str, home: HomeBuilder, run: Run) -> None:
    type_in(home, *(f"reed number {number} " + "x" * 200 for number in range(2000)), session="big")
    assert run("ingest").code == 0
    script = f"set -o pipefail; {sys.executable} -m cli {words} | {reader} >/dev/null"
    done = subprocess.run(["bash", "-c", script], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 141}
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("query", ["--force", "-1", "-v", "-x now", "--", "-"])
def test_b108_text_that_begins_with_a_dash(query: str, home: HomeBuilder, run: Run) -> None:
    type_in(home, f"use {query} here", "nothing else")
    assert run("ingest").code == 0
    assert texts(run("search", "--json", "--", query)) == [f"use {query} here"]
    assert run("recall", "--", query).code == 1  # taken as a name, and there is no such block
    if query not in {"--", "-"}:
        refused = run("search", query)
        assert refused.code == 2
        assert "asx search -- " in refused.stderr or " -- " in refused.stderr


def test_b122_control_codes_never_reach_an_output_raw(home: HomeBuilder, data: Path, run: Run) -> None:
    put(home, data, "B122")
    assert run("ingest").code == 0
    (transcript,) = (home.aster_home / "sessions" / "alpha").glob("*.jsonl")
    session = transcript.stem.lower()
    (block,) = (home.aster_home / "memory").glob("*.md")
    asked = [
        ("search", "--in", EVERYWHERE, "plainword"),
        ("search", "--in", EVERYWHERE, "--lines", "plainword"),
        ("search", "--in", EVERYWHERE, "--regex", r"plain\w+"),
        ("search", "--words", "--in", "titles,memory", "plainword"),
        ("search", "--in", EVERYWHERE, "--explain", "\x1b]0;x\x07plainword"),
        ("sessions", "list"),
        ("sessions", "show", session),
        ("memory", "list"),
        ("memory", "show", block.stem),
        ("recall", block.stem),
        ("query", "SELECT text, content FROM events"),
    ]
    for words in asked:
        told = run(*words)
        assert told.code in {0, 1}, words
        assert not RAW.search(told.stdout), words
        assert not RAW.search(told.stderr), words
    stored = [json.loads(line) for line in transcript.read_bytes().splitlines()]
    found = run("search", "--in", EVERYWHERE, "--all", "plainword", "--json")
    assert not RAW.search(found.stdout)
    rows = (data / "faults" / "B122" / "expected.txt").read_text("utf-8").splitlines()
    listed = {int(line): span for line, span in (row.split() for row in rows if row.startswith("  "))}
    of_tools = {hit["source"]["line"]: hit for hit in found.json()["hits"] if hit["in"] == "tools"}
    assert len(listed) == 11
    for line, hit in of_tools.items():
        assert hit["text"] == stored[line - 1]["content"]
        assert f"{hit['match_start']}-{hit['match_end']}" == listed[line]
    assert sorted(of_tools) == sorted(listed)
