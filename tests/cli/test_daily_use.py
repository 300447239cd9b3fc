"""What a person meets day by day: lists that fit, hits that say where they stand, problems told once a file."""

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli import cells, formats
from cli.session_text import short_ids
from index.results import Rows
from tests.cli.conftest import OnATerminal, Run

FIRST, SECOND = "01kbvgbankaaaaaaaaaaaaaaaa", "01kbvgbankaabbbbbbbbbbbbbb"
PROJECT = "/w/a-rather-long-name-of-a-folder/and-another-one-below-it/the-project-itself"


def write_session(home: Path, session_id: str, *texts: str) -> Path:
    folder = home / "sessions" / "alpha"
    folder.mkdir(parents=True, exist_ok=True)
    header = {"type": "session", "id": session_id, "v": 1, "created_at": "2026-03-02T00:00:00Z", "repo_root": PROJECT}
    lines: list[dict[str, object]] = [header]
    for minute, text in enumerate(texts):
        role = "assistant" if minute % 2 else "user"
        lines.append({"type": "message", "role": role, "content": text, "ts": f"2026-03-02T00:{minute:02}:00Z"})
    file = folder / f"{session_id}.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data home with two sessions, and an environment that finds it; no index yet."""
    for name in ("HOME", "ASTER_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("ASTER_INDEX", str(tmp_path / "index.sqlite"))
    monkeypatch.delenv("COLUMNS", raising=False)
    write_session(tmp_path, FIRST, "rotate the keys", "They are rotated", "thanks", "You are welcome", "and now?")
    write_session(tmp_path, SECOND, "something else")
    return tmp_path


@given(st.lists(st.text("ab/1", min_size=1, max_size=14), unique=True, max_size=8))
def test_a_short_id_fits_one_of_those_listed(ids: list[str]) -> None:
    for id_, short in short_ids(ids).items():
        assert "/" in id_ or id_.startswith(short)
        assert "/" in id_ or short == id_ or [one for one in ids if "/" not in one and one.startswith(short)] == [id_]


def test_a_sub_agent_is_shown_below_its_parent() -> None:
    parent = "6b1f0c52-7d3e-4a86-8f15-2c9e4d7a1b30"
    assert short_ids([f"{parent}/a7c41e9", parent]) == {parent: "6b1f0c52", f"{parent}/a7c41e9": "6b1f0c52…/a7c41e9"}


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30), st.integers(1, 20))
def test_a_path_is_cut_at_its_beginning(text: str, room: int) -> None:
    shown = cells.cut_front(text, room)
    assert cells.width(shown) <= room
    assert text.endswith(shown.removeprefix(cells.ELLIPSIS))


def test_more_columns_than_have_room_become_lines() -> None:
    names = tuple(f"column_{at}" for at in range(9))
    rows = Rows(names, ((*range(8), None), tuple("wide" * 30 for _ in names)), False, False)
    lines = list(formats.lines_of(rows, formats.TABLE, cells=40, for_terminal=True))
    assert lines[:2] == ["column_0  0", "column_1  1"]
    assert lines[8] == ""
    assert len(lines) == 8 + 1 + 9 * 4
    assert lines[9:12] == [f"column_0  {'wide' * 7}wi", f"{' ' * 10}{'dewi' * 7}de", f"{' ' * 10}{'wide' * 7}wi"]
    assert max(map(len, lines)) <= 40
    assert len(list(formats.lines_of(rows, formats.TABLE, cells=None, for_terminal=False))) == 3


def test_sessions_are_short_for_a_person_and_whole_in_a_pipe(
    store: Path, run: Run, on_a_terminal: OnATerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped = run("sessions", "list", "--all")
    assert FIRST in piped.stdout
    assert PROJECT in piped.stdout
    monkeypatch.setenv("COLUMNS", "80")
    _code, shown = on_a_terminal("sessions", "list", "--all", no_color="1")
    assert re.findall(r"01kb\w+", shown) == [FIRST[:13], SECOND[:13]] or re.findall(r"01kb\w+", shown) == [
        SECOND[:13],
        FIRST[:13],
    ]
    assert "…" in shown
    assert "the-project-itself" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert run("sessions", "list", "--agent", "nobody").code == 2


@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_a_head_fits_and_keeps_the_end_of_its_project(
    columns: int, store: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("ingest").code == 0
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = run("search", "--in", "answers", "rotated").stdout.splitlines()
    heads = shown[: shown.index("  turn 0  answers  2026-03-02 00:01")]
    assert max(map(len, heads)) <= columns
    assert "rotate the keys" in heads[0]
    assert re.search(r"2026-03-02 \(\d+[wy] ago\)  aster$", heads[-1])
    assert columns == 40 or re.search(r"(…|/)[^ ]*itself  2026", heads[-1])


def test_a_first_prompt_is_not_shown_twice(store: Path, run: Run, on_a_terminal: OnATerminal) -> None:
    assert run("ingest").code == 0
    assert run("search", "rotate the").stdout.count("rotate the keys") == 1
    _code, shown = on_a_terminal("search", "rotate the")
    assert shown.replace("\x1b[1;31m", "").replace("\x1b[0m", "").count("rotate the keys") == 1


def test_nothing_found_names_the_next_step(store: Path, run: Run) -> None:
    assert run("ingest").code == 0
    told = run("search", "nowhere").stderr.splitlines()
    assert told == [
        "nothing found for 'nowhere' in prompts (4 texts)",
        "nor in answers, thinking, notices, memory or titles",
        "texts of tools were not searched: asx search --in tools nowhere",
    ]
    assert "1 in another case: asx search rotate" in run("search", "ROTATE").stderr


def test_show_around_an_event(store: Path, run: Run) -> None:
    assert run("ingest").code == 0
    told = run("show", f"{FIRST}:2", "--around", "1", "--json").json()
    assert [[one["index"] for one in told[key]] for key in ("before", "after")] == [[1], [3]]
    shown = run("show", f"{FIRST}:2", "--around", "9").stdout
    assert re.findall(r"^(> +)?(\d)  2026", shown, re.MULTILINE) == [
        *(("", "0"), ("", "1"), (">  ", "2"), ("", "3"), ("", "4"))
    ]
    assert run("show", FIRST, "--around", "1").code == 2
    assert "before" not in run("show", f"{FIRST}:2", "--json").json()


def test_damaged_lines_are_told_once_a_file_and_found_again_later(store: Path, run: Run) -> None:
    with write_session(store, FIRST, "rotate the keys").open("a", encoding="utf-8") as file:
        file.write('{"broken": \n' * 30)
    told = run("ingest").stderr.splitlines()
    assert len(told) == 2
    assert told[0].endswith(
        f"{FIRST}.jsonl:3: not JSON at character 11 of the line: cut off (and 29 more in this file)"
    )
    assert told[1].startswith("asx report damaged-lines")
    assert "30 lines are damaged; asx report damaged-lines lists them" in run("status").stderr


def test_a_root_without_a_file_of_its_agent_is_named(store: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "sessions").mkdir(parents=True)
    (tmp_path / "elsewhere" / "notes.txt").write_text("no transcript")
    told = f"no files of Codex are below {tmp_path}/elsewhere; nothing was read there\n"
    for words in ((), ("--quiet",), ("--check",)):
        done = run("ingest", "--root", f"codex={tmp_path}/elsewhere", *words)
        assert done.code == 0
        assert told in done.stderr
    shape = run("ingest", "--root", f"codex={tmp_path}/elsewhere", "--json").json()["agents"]
    assert shape["codex"]["empty_roots"] == [f"{tmp_path}/elsewhere"]
    assert shape["aster"]["empty_roots"] == []
    assert "no files of" not in run("ingest").stderr


def test_a_root_whose_files_are_all_left_out_is_not_empty(store: Path, run: Run, isolated: Path) -> None:
    assert run("ingest").code == 0
    config = isolated / ".config" / "aster-index" / "config.yaml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f"excludes: ['{store}/*']\nroots:\n  aster: ['{store}']\n")
    assert run("ingest", "--json").json()["agents"]["aster"]["empty_roots"] == []


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs Linux's /proc, where no file can be made")
@pytest.mark.parametrize("command", ["ingest", "rebuild"])
def test_a_place_where_no_file_can_be_made_is_told_at_once(command: str, store: Path, run: Run) -> None:
    before = time.monotonic()
    done = run(command, "--index", "/proc/x.sqlite")
    assert (done.code, done.stdout) == (6, "")
    assert "asx: cannot lock /proc/x.sqlite.lock: no file can be made in its folder" in done.stderr
    assert time.monotonic() - before < 5


def test_one_changed_source_is_one(store: Path, run: Run) -> None:
    assert run("ingest").code == 0
    write_session(store, SECOND, "one more")
    told = run("verify")
    assert "1 source changed since the last ingest" in told.stdout + told.stderr
    write_session(store, FIRST, "and another")
    told = run("verify")
    assert "2 sources changed since the last ingest" in told.stdout + told.stderr


def test_a_view_that_is_misspelt_is_a_view(store: Path, run: Run) -> None:
    assert run("ingest").code == 0
    told = run("query", "SELECT * FROM promts")
    assert "no such table: promts, the nearest: prompts" in told.stderr
    assert "prompt_keys" not in told.stderr


def test_a_root_that_is_missing_is_named(store: Path, run: Run) -> None:
    done = run("ingest", "--root", f"claude-code={store}/nowhere")
    assert (done.code, done.stderr) == (6, f"{store}/nowhere does not exist; nothing was read there\n")


def test_an_empty_machine_is_told_where_to_look(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "ASTER_HOME", "AETHER_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "nothing"))
    monkeypatch.setenv("ASTER_INDEX", str(tmp_path / "index.sqlite"))
    assert run("status").stdout == f"no index at {tmp_path}/index.sqlite; run: asx ingest\n"
    assert "no agent's folder was found; looked at " in run("ingest").stderr
    assert "the index is empty" in run("status").stderr


def test_reports_and_views_are_listed_within_the_width(
    store: Path, run: Run, on_a_terminal: OnATerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("report").stdout.startswith("name\tabout\tparameters\n")
    assert run("report", "--format", "csv").stdout.startswith("name,about,parameters\n")
    names = {line.split()[0] for line in run("schema", "--list").stdout.splitlines()}
    assert {"events", "prompts", "sources"} <= names
    assert all(table["columns"] == [] for table in run("schema", "--list", "--json").json()["tables"])
    monkeypatch.setenv("COLUMNS", "60")
    for words in (("report",), ("schema", "--list")):
        _code, shown = on_a_terminal(*words, no_color="1")
        assert max(map(len, shown.splitlines())) <= 60
        assert "…" not in shown
