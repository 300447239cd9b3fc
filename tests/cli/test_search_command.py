"""``asx search`` as a process: what it prints, on a pipe, in JSON and on a terminal, and what it never prints."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import OnATerminal, Run
from tests.conftest import REPOSITORY

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


def write_store(home: Path) -> Path:
    folder = home / "sessions" / "alpha"
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


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A store and its index, made once for the tests that only read: the data home and the index."""
    home = tmp_path_factory.mktemp("store")
    write_store(home)
    variables = {**os.environ, "HOME": str(home), "ASTER_HOME": str(home), "ASTER_INDEX": str(home / "index.sqlite")}
    done = subprocess.run(
        [sys.executable, "-m", "cli", "ingest", "--json"],
        env=variables,
        cwd=REPOSITORY,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["sessions"] == 1
    return home, home / "index.sqlite"


@pytest.fixture
def index(made: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The index made once, with the environment that finds it and its store."""
    monkeypatch.setenv("ASTER_HOME", str(made[0]))
    monkeypatch.setenv("ASTER_INDEX", str(made[1]))
    return made[1]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of this test alone, without an index: the transcript."""
    monkeypatch.setenv("ASTER_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("ASTER_INDEX", str(tmp_path / "cache" / "index.sqlite"))
    return write_store(tmp_path / "data")


def test_json_has_every_field_of_the_contract(index: Path, run: Run) -> None:
    store = index.parent / "sessions" / "alpha" / f"{SESSION}.jsonl"
    found = run("search", "Tuesday", "--json")
    told = found.json()
    assert (found.code, found.stderr) == (0, "")
    assert {"schema_version", "query", "case", "mode", "searched", "filters", "total", "total_is_exact"} <= set(told)
    assert {"returned", "truncated", "index", "hits", "elsewhere", "sort", "offset", "next_offset", "misses"} <= set(
        told
    )
    assert not {"explain", "context"} & (set(told) | set(told["hits"][0]))
    assert (told["case"], told["total"], told["returned"], told["truncated"]) == ("sensitive", 1, 1, False)
    hit = told["hits"][0]
    text = PROMPTS[-1]
    assert hit["text"] == text
    assert text.encode()[hit["match_start"] : hit["match_end"]].decode() == "Tuesday"
    assert hit["spans"] == [[hit["match_start"], hit["match_end"]]]
    assert (hit["text_offset"], hit["text_length"], hit["score"], hit["name"]) == (0, len(text), None, None)
    assert (hit["field"], hit["in"]) == ("text", "prompts")
    assert hit["source"]["path"] == str(store)
    line = store.read_bytes().splitlines(keepends=True)[hit["source"]["line"] - 1]
    assert store.read_bytes()[hit["source"]["offset"] :].startswith(line)


def test_plain_output_names_the_command_that_shows_the_hit(index: Path, run: Run) -> None:
    found = run("search", "deploy", "on", "tuesday")
    assert found.code == 0
    head, facts, excerpt, command = found.stdout.splitlines()
    assert re.fullmatch(r"evil \\x1b\]0;t\\a title  /w/al\\x1b\[1mpha  2026-03-02 \(\d+[wy] ago\)  aster", head)
    assert (facts, excerpt) == ("  turn 7  2026-03-02 00:08", "    …Deploy on Tuesday…")
    assert re.fullmatch(rf"    asx show {SESSION}:\d+", command)


def test_nothing_found_says_what_was_searched_and_where_else_it_stands(index: Path, run: Run) -> None:
    found = run("search", "answer", "alone")
    assert (found.code, found.stdout) == (1, "")
    assert f"nothing found for 'answer alone' in prompts ({len(PROMPTS)} texts)" in found.stderr
    assert "0 in prompts, 1 in answers: asx search --in answers 'answer alone'\n" in found.stderr
    told = run("search", "answer", "alone", "--json")
    assert told.code == 1
    assert (told.json()["hits"], told.json()["elsewhere"]) == ([], {"answers": 1})
    assert run("search", "--in", "answers", "answer", "alone").code == 0


@pytest.mark.parametrize("words", [["--force"], ["use", "--force", "now"]], ids=" ".join)
def test_a_query_with_a_dash_is_a_query_after_two_dashes(words: list[str], index: Path, run: Run) -> None:
    assert run("search", *words).code == 2
    assert run("search", "--count", "--", *words).stdout == "1\n"


@pytest.mark.parametrize("query", ["", " ", "\t"], ids=["empty", "blank", "tab"])
def test_a_query_of_nothing_is_a_usage_error(query: str, index: Path, run: Run) -> None:
    found = run("search", query, "--json")
    assert (found.code, found.json()["error"]["kind"]) == (2, "usage")


@pytest.mark.parametrize("width", [1, 2, 5, 9, 40])
def test_a_snippet_is_cut_at_characters(width: int, index: Path, run: Run) -> None:
    hit = run("search", "needle", "--json", "--snippet", str(width)).json()["hits"][0]
    assert len(hit["text"]) == width
    assert PROMPTS[6].encode()[hit["text_offset"] :].startswith(hit["text"].encode())
    assert (hit["match_start"], hit["match_end"]) == (900, 906)
    assert hit["text_length"] == len(PROMPTS[6])


def test_recent_has_aethers_shape(index: Path, run: Run) -> None:
    found = run("search", "--recent", "Tuesday", "--json")
    assert set(found.json()) == {"schema_version", "query", "results", "truncated"}
    keys = {"sessionId", "cwd", "sessionCreatedAt", "prompt", "matchStart", "matchEnd"}
    assert [set(one) for one in found.json()["results"]] == [keys]
    assert run("search", "--recent", "nowhere", "--json").code == 1


@pytest.mark.parametrize("limit", [1, 3])
def test_the_limit_is_told(limit: int, index: Path, run: Run) -> None:
    told = run("search", "plainword", "--limit", str(limit), "--json").json()
    assert (told["total"], told["returned"], told["truncated"]) == (5, limit, True)
    next_page = f"asx search --limit {limit} --offset {limit} plainword"
    assert (
        f"{5 - limit} more; --all shows them, or: {next_page}\n" == run("search", "plainword", "--limit", limit).stderr
    )
    assert run("search", "plainword", "--all", "--limit", str(limit), "--json").json()["returned"] == 5


def test_a_pipe_gets_no_control_characters(index: Path, run: Run) -> None:
    found = run("search", "plainword")
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
    told = run("search", "plainword", "--json")
    assert not FORBIDDEN.search(told.stdout)
    assert {hit["text"] for hit in told.json()["hits"]} == set(PROMPTS[:5])


@pytest.mark.parametrize("columns", ["24", "80", "200"])
def test_no_line_is_wider_than_the_columns(
    columns: str, index: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    found = run("search", "plainword")
    texts = [line for line in found.stdout.splitlines() if "asx show" not in line]
    assert max(map(len, texts)) <= int(columns)


def test_a_terminal_gets_our_colours_only(index: Path, on_a_terminal: OnATerminal) -> None:
    code, shown = on_a_terminal("search", "plainword")
    assert code == 0
    assert "\x1b[1;31mplainword\x1b[0m" in shown
    assert not FORBIDDEN.search(OUR_STYLES.sub("", shown.replace("\r\n", "\n")))
    _code, plain = on_a_terminal("search", "plainword", no_color="1")
    assert "\x1b" not in plain


def test_on_a_terminal_a_missing_index_is_made_first(store: Path, run: Run, on_a_terminal: OnATerminal) -> None:
    assert run("search", "plainword").code == 3
    code, shown = on_a_terminal("search", "--no-refresh", "plainword")
    assert code == 3
    code, shown = on_a_terminal("search", "plainword", "--limit", "1")
    assert code == 0
    assert "there is no index yet" in shown
    assert f"asx show {SESSION}:" in shown
    assert run("search", "plainword").code == 0


def test_a_reading_command_changes_not_one_byte(index: Path, run: Run) -> None:
    def state() -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in index.parent.glob("index.sqlite*")}

    run("search", "plainword", "--no-refresh")  # the first reader may note itself in the shared memory beside it
    before = state()
    run("search", "plainword", "--no-refresh")
    assert state() == before


def test_damaged_lines_alone_are_no_failure_unless_strict(store: Path, run: Run) -> None:
    with store.open("a", encoding="utf-8") as file:
        file.write('{"type":"message","content":"sk-test-000\n')
    done = run("ingest")
    assert done.code == 0
    assert f"{store}:12: " in done.stderr
    assert "sk-test-000" not in done.stdout + done.stderr
    assert run("rebuild", "--strict").code == 6
    told = run("rebuild", "--json")
    assert (told.code, told.stderr) == (0, "")
    lines = told.json()["lines"]
    assert lines["seen"] == lines["indexed"] + lines["skipped"] + lines["damaged"]
    assert (lines["damaged"], told.json()["problems"][0]["kind"]) == (1, "damaged_line")


def test_a_root_that_was_asked_for_and_is_missing_is_6(store: Path, run: Run, tmp_path: Path) -> None:
    done = run("ingest", "--root", f"claude-code={tmp_path}/nowhere", "--json")
    assert done.code == 6
    assert f"{tmp_path}/nowhere" in done.json()["agents"]["claude-code"]["missing_roots"]


def test_verify_says_that_the_index_equals_a_rebuild(index: Path, run: Run) -> None:
    told = run("verify", "--json")
    assert (told.code, told.json()["ok"], told.json()["differences"]) == (0, True, [])
    assert run("verify").stdout.startswith("the index equals a rebuild: ")


def test_a_session_is_listed_and_shown(index: Path, run: Run) -> None:
    told = run("sessions", "list", "--all", "--json").json()
    assert (told["total"], [one["id"] for one in told["sessions"]]) == (1, [SESSION])
    assert set(told["sessions"][0]) == {
        *("id", "agent", "project", "cwd", "title", "created_at", "updated_at", "model", "turns", "events"),
        *("parent_id", "forked_from", "paths", "size_bytes", "imported_from", "counts_are_exact"),
    }
    plain = run("sessions", "--all")
    assert (plain.code, plain.stderr) == (0, "")
    assert SESSION in plain.stdout
    assert "evil \\x1b]0;t\\a title" in plain.stdout
    whole = run("sessions", "show", SESSION[:6], "--json").json()
    assert [event["text"] for event in whole["events"] if event["kind"] == "user"] == PROMPTS
    assert set(whole["events"][0]) >= {
        *("index", "line", "offset", "turn", "ts", "kind", "event_type", "outcome", "text", "text_length"),
        *("tool_call_id", "tool_name", "tool_arguments", "model", "message_id", "canonical"),
    }
    shown = run("sessions", "show", SESSION)
    assert not FORBIDDEN.search(shown.stdout)
    assert "Deploy on Tuesday\nlast line" in shown.stdout


def test_sessions_are_of_this_project_unless_all_are_asked_for(index: Path, run: Run) -> None:
    alone = run("sessions", "list")
    assert (alone.code, alone.stdout) == (1, "")
    assert "--all lists 1 session of all projects" in alone.stderr
    assert run("sessions", "list", "--project", "/w/al\x1b[1mpha").code == 0
    assert run("sessions", "list", "--all", "--project", "/w").code == 2
    assert run("sessions", "list", "--all", "--agent", "aether", "--json").json()["total"] == 0


def test_show_prints_an_event_whole_or_a_head(index: Path, run: Run) -> None:
    hit = run("search", "needle", "--json").json()["hits"][0]
    told = run("show", f"{SESSION}:{hit['event_index']}", "--json").json()
    assert set(told) == {"schema_version", "event", "block", "session"}
    assert (told["event"]["text"], told["block"], told["session"]) == (PROMPTS[6], None, None)
    assert PROMPTS[6] in run("show", f"aster:{SESSION}:{hit['event_index']}").stdout
    head = run("show", SESSION[:5], "--json").json()
    assert (head["session"]["id"], head["event"]) == (SESSION, None)
    assert run("show", SESSION).stdout.startswith(f"session   {SESSION}\n")


@pytest.mark.parametrize(
    "words",
    [["show", "01kb:99"], ["show", "nobody"], ["show", "01"], ["sessions", "show", "nobody"], ["show", "--block", "x"]],
    ids=" ".join,
)
def test_what_is_not_there_is_not_found(words: list[str], index: Path, run: Run) -> None:
    found = run(*words, "--json")
    assert (found.code, found.json()["error"]["kind"]) == (1, "not_found")


def test_status_tells_what_the_index_holds(index: Path, run: Run) -> None:
    told = run("status", "--json").json()
    assert (told["index"]["path"], told["index"]["exists"], told["index"]["usable"]) == (str(index), True, True)
    assert told["agents"]["aster"]["sessions"] == 1
    assert {"stale", "last_ingest_at", "memory", "prompt_history"} <= set(told)
    plain = run("status")
    assert plain.code == 0
    assert plain.stdout.splitlines()[1].split()[:4] == ["agent", "sources", "sessions", "events"]


@pytest.mark.parametrize(
    "words", [["search", "plainword"], ["search", "--recent", "plainword", "--json"]], ids=" ".join
)
def test_an_answer_imports_nothing_heavy(words: list[str], index: Path) -> None:
    heavy = ("pydantic", "sqlalchemy", "alembic", "rich", "ulid", "filelock", "asyncio", "yaml")
    probe = f"import sys; from cli.app import main; print(main({words!r}), *({heavy!r} & sys.modules.keys()))"
    probe = probe.replace(repr(heavy), f"set({heavy!r})")
    done = subprocess.run([sys.executable, "-c", probe], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0"
