"""``asx search`` as a process: what it prints, on a pipe, in JSON and on a terminal, and what it never prints."""

import json
import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Asx

FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
OUR_STYLES = re.compile("\x1b\\[(?:0|1|2|33|1;31)m")
SESSION = "01kbvgbankeeeeeeeeeeeeeeee"
PROMPTS = [
    "colour \x1b[31mred\x1b[0m plainword",
    "title \x1b]0;pwned\x07 plainword",
    "c1 \x9b31m red plainword",
    "over\rwritten plainword",
    "bidi \u202efdp.exe\u202c plainword",
    "use --force now",
    "漢" * 300 + "needle" + "漢" * 300,
    "first line\nDeploy on Tuesday\nlast line",
]


@pytest.fixture
def store(isolated: Path) -> Path:
    folder = isolated / ".local" / "share" / "aster" / "sessions" / "alpha"
    folder.mkdir(parents=True)
    header = {"type": "session", "id": SESSION, "v": 1, "created_at": "2026-03-02T00:00:00Z", "cwd": "/w/al\x1b[1mpha"}
    lines: list[dict[str, Any]] = [header | {"repo_root": "/w/al\x1b[1mpha", "model": "m-one"}]
    for minute, text in enumerate(PROMPTS, start=1):
        lines.append({"type": "message", "role": "user", "content": text, "ts": f"2026-03-02T00:{minute:02}:00Z"})
    lines.append({"type": "message", "role": "assistant", "content": "An answer alone", "ts": "2026-03-02T01:00:00Z"})
    lines.append({"type": "title", "title": "evil \x1b]0;t\x07 title", "ts": "2026-03-02T01:20:00Z"})
    file = folder / f"{SESSION}.jsonl"
    file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return file


@pytest.fixture
def index(store: Path, asx: Asx) -> Path:
    done = asx("ingest", "--json")
    assert (done.code, done.stderr) == (0, "")
    return Path(done.json()["index"])


def test_json_has_every_field_of_the_contract(index: Path, store: Path, asx: Asx) -> None:
    found = asx("search", "Tuesday", "--json")
    told = found.json()
    assert (found.code, found.stderr) == (0, "")
    assert {"schema_version", "query", "case", "mode", "searched", "filters", "total", "total_is_exact"} <= set(told)
    assert {"returned", "truncated", "index", "hits", "elsewhere"} <= set(told)
    assert (told["case"], told["total"], told["returned"], told["truncated"]) == ("sensitive", 1, 1, False)
    hit = told["hits"][0]
    text = PROMPTS[-1]
    assert hit["text"] == text
    assert text.encode()[hit["match_start"] : hit["match_end"]].decode() == "Tuesday"
    assert hit["spans"] == [[hit["match_start"], hit["match_end"]]]
    assert (hit["text_offset"], hit["text_length"], hit["score"], hit["name"]) == (0, len(text), None, None)
    assert hit["source"]["path"] == str(store)
    line = store.read_bytes().splitlines(keepends=True)[hit["source"]["line"] - 1]
    assert store.read_bytes()[hit["source"]["offset"] :].startswith(line)


def test_plain_output_names_the_command_that_shows_the_hit(index: Path, asx: Asx) -> None:
    found = asx("search", "deploy", "on", "tuesday")
    assert found.code == 0
    assert "  …Deploy on Tuesday…" in found.stdout.splitlines()
    assert re.search(rf"^  asx show {SESSION}:\d+$", found.stdout, re.MULTILINE)
    assert found.stdout.startswith("2026-03-02 00:08  aster  /w/al\\x1b[1mpha  turn ")


def test_nothing_found_says_what_was_searched_and_where_else_it_stands(index: Path, asx: Asx) -> None:
    found = asx("search", "answer", "alone")
    assert (found.code, found.stdout) == (1, "")
    assert f"nothing found for 'answer alone' in {len(PROMPTS)} texts of prompts" in found.stderr
    assert "1 in answers; asx search --in answers" in found.stderr
    told = asx("search", "answer", "alone", "--json")
    assert told.code == 1
    assert (told.json()["hits"], told.json()["elsewhere"]) == ([], {"answers": 1})
    assert asx("search", "--in", "answers", "answer", "alone").code == 0


@pytest.mark.parametrize("words", [["--force"], ["use", "--force", "now"]], ids=" ".join)
def test_a_query_with_a_dash_is_a_query_after_two_dashes(words: list[str], index: Path, asx: Asx) -> None:
    assert asx("search", *words).code == 2
    assert asx("search", "--count", "--", *words).stdout == "1\n"


@pytest.mark.parametrize("query", ["", " ", "\t"], ids=["empty", "blank", "tab"])
def test_a_query_of_nothing_is_a_usage_error(query: str, index: Path, asx: Asx) -> None:
    found = asx("search", query, "--json")
    assert (found.code, found.json()["error"]["kind"]) == (2, "usage")


@pytest.mark.parametrize("width", [1, 2, 5, 9, 40])
def test_a_snippet_is_cut_at_characters(width: int, index: Path, asx: Asx) -> None:
    hit = asx("search", "needle", "--json", "--snippet", str(width)).json()["hits"][0]
    assert len(hit["text"]) == width
    assert PROMPTS[6].encode()[hit["text_offset"] :].startswith(hit["text"].encode())
    assert (hit["match_start"], hit["match_end"]) == (900, 906)
    assert hit["text_length"] == len(PROMPTS[6])


def test_recent_has_aethers_shape(index: Path, asx: Asx) -> None:
    found = asx("search", "--recent", "Tuesday", "--json")
    assert set(found.json()) == {"schema_version", "query", "results", "truncated"}
    keys = {"sessionId", "cwd", "sessionCreatedAt", "prompt", "matchStart", "matchEnd"}
    assert [set(one) for one in found.json()["results"]] == [keys]
    assert asx("search", "--recent", "nowhere", "--json").code == 1


@pytest.mark.parametrize("limit", [1, 3])
def test_the_limit_is_told(limit: int, index: Path, asx: Asx) -> None:
    told = asx("search", "plainword", "--limit", str(limit), "--json").json()
    assert (told["total"], told["returned"], told["truncated"]) == (5, limit, True)
    assert f"{5 - limit} more; --limit or --all shows them" in asx("search", "plainword", "--limit", str(limit)).stderr
    assert asx("search", "plainword", "--all", "--limit", str(limit), "--json").json()["returned"] == 5


def test_a_pipe_gets_no_control_characters(index: Path, asx: Asx) -> None:
    found = asx("search", "plainword")
    assert not FORBIDDEN.search(found.stdout + found.stderr)
    for shown in (
        "\\x1b[31mred",
        "\\x1b]0;pwned\\a",
        "\\x9b31m",
        "over\\rwritten",
        "\\u202efdp.exe",
        "evil \\x1b]0;t\\a",
    ):
        assert shown in found.stdout
    told = asx("search", "plainword", "--json")
    assert not FORBIDDEN.search(told.stdout)
    assert {hit["text"] for hit in told.json()["hits"]} == set(PROMPTS[:5])


@pytest.mark.parametrize("columns", ["24", "80", "200"])
def test_no_line_is_wider_than_the_columns(columns: str, index: Path, asx: Asx) -> None:
    found = asx("search", "plainword", env={"COLUMNS": columns})
    texts = [line for line in found.stdout.splitlines() if "asx show" not in line]
    assert max(map(len, texts)) <= int(columns)


def test_a_terminal_gets_our_colours_only(index: Path) -> None:
    code, shown = _on_a_terminal(["search", "plainword"], {"NO_COLOR": None})
    assert code == 0
    assert "\x1b[1;31mplainword\x1b[0m" in shown
    assert not FORBIDDEN.search(OUR_STYLES.sub("", shown.replace("\r\n", "\n")))
    _code, plain = _on_a_terminal(["search", "plainword"], {"NO_COLOR": "1"})
    assert "\x1b" not in plain


def test_on_a_terminal_a_missing_index_is_made_first(store: Path, asx: Asx, isolated: Path) -> None:
    assert asx("search", "plainword").code == 3
    code, shown = _on_a_terminal(["search", "--no-refresh", "plainword"], {})
    assert code == 3
    code, shown = _on_a_terminal(["search", "plainword", "--limit", "1"], {})
    assert code == 0
    assert "there is no index yet" in shown
    assert f"asx show {SESSION}:" in shown
    assert asx("search", "plainword").code == 0


def test_a_reading_command_changes_not_one_byte(index: Path, asx: Asx) -> None:
    def state() -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in index.parent.iterdir()}

    before = state()
    asx("search", "plainword", "--no-refresh")
    assert state() == before


def test_damaged_lines_alone_are_no_failure_unless_strict(store: Path, asx: Asx) -> None:
    with store.open("a", encoding="utf-8") as file:
        file.write('{"type":"message","content":"sk-test-000\n')
    done = asx("ingest")
    assert done.code == 0
    assert f"{store}:12: " in done.stderr
    assert "sk-test-000" not in done.stdout + done.stderr
    assert asx("rebuild", "--strict").code == 6
    told = asx("rebuild", "--json")
    assert (told.code, told.stderr) == (0, "")
    lines = told.json()["lines"]
    assert lines["seen"] == lines["indexed"] + lines["skipped"] + lines["damaged"]
    assert (lines["damaged"], told.json()["problems"][0]["kind"]) == (1, "damaged_line")


def test_a_root_that_was_asked_for_and_is_missing_is_6(store: Path, asx: Asx, tmp_path: Path) -> None:
    done = asx("ingest", "--root", f"claude-code={tmp_path}/nowhere", "--json")
    assert done.code == 6
    assert f"{tmp_path}/nowhere" in done.json()["agents"]["claude-code"]["missing_roots"]


def test_verify_says_that_the_index_equals_a_rebuild(index: Path, asx: Asx) -> None:
    told = asx("verify", "--json")
    assert (told.code, told.json()["ok"], told.json()["differences"]) == (0, True, [])
    assert asx("verify").stdout.startswith("the index equals a rebuild: ")


def _on_a_terminal(words: list[str], env: dict[str, str | None]) -> tuple[int, str]:
    ours, theirs = pty.openpty()
    variables = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    variables.update({name: value for name, value in env.items() if value is not None})
    for name in [name for name, value in env.items() if value is None]:
        variables.pop(name, None)
    running = subprocess.Popen(
        [sys.executable, "-m", "cli", *words], stdin=theirs, stdout=theirs, stderr=theirs, env=variables
    )
    os.close(theirs)
    shown = b""
    while select.select([ours], [], [], 30)[0]:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux's way of saying that the other side is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    return running.wait(30), shown.decode("utf-8")
