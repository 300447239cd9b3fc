"""``asx report``: what it is asked for, how it is refused, its list, and what a terminal shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.bars import bars
from cli.formats import table_lines
from cli.report_table import MOST_NOTES, for_the_eye
from index.reports.statements import REPORTS
from index.results import Rows
from tests.cli.conftest import OnATerminal, Run
from tests.conftest import Asx
from tests.index.report_world import AETHER, MAIN, build_index

BLOCKS = "▏▎▍▌▋▊▉█"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_index(tmp_path_factory.mktemp("reports"))


def told(asx: Asx, *words: str | Path) -> Any:
    done = asx(*words, "--json")
    assert (done.code, done.stderr) == (0, "")
    return json.loads(done.stdout)


def days(asx: Asx, index: Path, *words: str | Path, **more: Any) -> list[str]:
    done = asx("report", "activity-by-day", "--format", "jsonl", "--index", index, *words, **more)
    assert done.code == 0, done.stderr
    return [json.loads(line)["day"] for line in done.stdout.splitlines()]


# --- What is asked for ----------------------------------------------------------------------------------------------


def test_since_and_until_are_local_days_of_the_time_zone(asx: Asx, index: Path) -> None:
    tuesday = ("--since", "2026-05-05", "--until", "2026-05-05")
    assert days(asx, index) == ["2026-05-06", "2026-05-05", "2026-05-04"]
    assert days(asx, index, *tuesday) == ["2026-05-05"]
    assert days(asx, index, *tuesday, "--timezone", "Pacific/Kiritimati") == ["2026-05-05"]
    sql = ("report", "tools", "--sql", *tuesday)
    assert "'2026-05-04T22:00:00.000Z' AS since, '2026-05-05T22:00:00.000Z' AS until" in asx(
        *sql, "--timezone", "Europe/Berlin"
    ).stdout  # fmt: skip
    assert "'2026-05-05T04:00:00.000Z' AS since" in asx(*sql, "--timezone", "America/New_York").stdout


def test_project_here_and_below(asx: Asx, index: Path, tmp_path: Path) -> None:
    def projects(*words: str) -> list[str]:
        found = told(asx, "report", "usage-by-project", "--index", index, *words)
        return [row[0] for row in found["rows"]]

    assert projects("--project", "/w/alpha/") == ["/w/alpha"]
    assert projects("--project", "/w") == []
    assert projects("--project", "/w", "--below") == ["/w/beta", "/w/alpha", "/w/gamma"]
    here = asx("report", "usage-by-project", "--here", "--sql", cwd=tmp_path)
    assert f"'{tmp_path.resolve()}' AS project" in here.stdout


def test_agents_may_be_several(asx: Asx, index: Path) -> None:
    found = told(asx, "report", "usage-by-agent", "--index", index, "--agent", "aster,aether", "--agent", "aster")
    assert [row[0] for row in found["rows"]] == ["aether", "aster"]
    assert "'aster,aether' AS agent" in found["sql"]


def test_with_children_counts_sub_agents_to_their_session(asx: Asx, index: Path) -> None:
    found = told(asx, "report", "usage", "--index", index, "--with-children", "--agent", "claude-code")
    assert [row[1] for row in found["rows"]] == [MAIN]


@pytest.mark.parametrize(
    "words",
    [
        ("usage", "--with-children", "--since", "2026-05-04"),
        ("failing-turns", "--project", "/w", "--below"),
        ("damaged-lines", "--agent", "aster"),
        ("busiest-hours", "--timezone", "Asia/Tokyo"),
    ],
    ids=lambda words: words[0],
)
def test_what_sql_prints_runs_in_query_and_gives_the_same(asx: Asx, index: Path, words: tuple[str, ...]) -> None:
    zone = words[-2:] if "--timezone" in words else ()
    report = told(asx, "report", *words, "--index", index)
    printed = asx("report", *words, "--sql").stdout
    assert printed == report["sql"] + "\n"
    queried = told(asx, "query", "--index", index, *zone, printed)
    assert (queried["columns"], queried["rows"]) == (report["columns"], report["rows"])
    assert report["rows"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("damaged-lines", "--since", "7d"), "the report damaged-lines takes --project and --agent; leave out --since"),
        (("tools", "--with-children"), "takes --since, --until, --project and --agent; leave out --with-children"),
        (("memory-by-day", "--project", "/w"), "memory-by-day takes --since and --until; leave out --project"),
        (("tools", "--since", "soon"), "'soon' is not a time like"),
        (("tools", "--since", "2026-05-05", "--until", "2026-05-04"), "nothing lies between"),
        (("tools", "--agent", "nobody"), "'nobody' is none of"),
        (("tools", "--below"), "--below needs --here or --project PATH"),
        (("tools", "--here", "--project", "/w"), "--here and --project both name a project"),
        (("tools", "--project", " "), "is empty"),
        (("tools", "-p", "since=7d"), "has no parameter since; give --since"),
        (("--since", "7d"), "--since narrows one report; give its NAME too"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_in_one_sentence(
    asx: Asx, index: Path, words: tuple[str, ...], message: str
) -> None:
    done = asx("report", "--index", index, *words)
    assert (done.code, done.stdout) == (2, "")
    assert message in done.stderr
    assert [line.startswith("asx: ") for line in done.stderr.splitlines()].count(True) == 1


def test_a_refused_option_is_refused_before_an_index_is_looked_for(asx: Asx, tmp_path: Path) -> None:
    done = asx("report", "damaged-lines", "--since", "7d", "--index", tmp_path / "none.sqlite")
    assert done.code == 2


def test_ones_own_report_takes_the_options_it_binds(asx: Asx, index: Path, isolated: Path) -> None:
    folder = isolated / ".config" / "aster-index" / "reports"
    folder.mkdir(parents=True)
    (folder / "mine.sql").write_text(
        "-- Mine\nSELECT :agent, :since, count(*) FROM prompts WHERE agent = :agent", encoding="utf-8"
    )
    env = {"XDG_CONFIG_HOME": str(isolated / ".config")}
    done = asx("report", "mine", "--agent", "aster", "--since", "2026-05-05", "--index", index, "--json", env=env)
    assert done.json()["rows"] == [["aster", "2026-05-05T00:00:00.000Z", 2]]
    refused = asx("report", "mine", "--project", "/w", "--index", index, env=env)
    assert (refused.code, "takes --since and --agent; leave out --project" in refused.stderr) == (2, True)
    assert "hint: a report of your own takes an option where its SQL has :project" in refused.stderr
    misspelt = asx("report", "failing-tool", "--index", index, env=env)
    assert (misspelt.code, "the nearest: failing-tools" in misspelt.stderr) == (1, True)


# --- The list -------------------------------------------------------------------------------------------------------


def test_the_list_is_grouped_and_fits_80_columns(
    on_a_terminal: OnATerminal, monkeypatch: pytest.MonkeyPatch, isolated: Path
) -> None:
    folder = isolated / ".config" / "aster-index" / "reports"
    folder.mkdir(parents=True)
    (folder / "mine.sql").write_text("-- What is mine\nSELECT :x", encoding="utf-8")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(isolated / ".config"))
    monkeypatch.setenv("COLUMNS", "80")
    code, shown = on_a_terminal("report", no_color="1")
    lines = shown.replace("\r\n", "\n").splitlines()
    assert code == 0
    assert max(map(len, lines[:-1])) <= 80
    subjects = [line for line in lines[:-1] if line and not line.startswith(" ")]
    assert subjects == ["activity", "tokens and cost", "tools", "what went badly", "memory", "your own"]
    assert [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "] == [
        *(report.name for report in REPORTS),
        "mine",
    ]
    assert any("damaged-lines" in line for line in lines)
    assert "No --since, --until." in shown
    assert "What is mine :x" in shown


def test_the_list_for_machines_names_what_each_takes(run: Run) -> None:
    found = {one["name"]: one["parameters"] for one in run("report", "--json").json()["reports"]}
    assert found["usage"] == ["since", "until", "project", "agent", "with_children"]
    assert found["damaged-lines"] == ["project", "agent"]


# --- On a terminal --------------------------------------------------------------------------------------------------


def test_bars_stand_beside_the_table_on_a_terminal_only(
    asx: Asx, on_a_terminal: OnATerminal, monkeypatch: pytest.MonkeyPatch, index: Path
) -> None:
    words = ("report", "tools", "--index", str(index))
    monkeypatch.setenv("COLUMNS", "60")
    _, shown = on_a_terminal(*words, no_color="1")
    lines = shown.replace("\r\n", "\n").splitlines()
    assert lines[0].split() == ["tool_name", "calls", "sessions", "last_at"]
    assert [line.count("█") for line in lines[1:4]] == [14, 9, 4]
    assert max(map(len, lines)) <= 60
    assert lines[1].startswith("Bash           3         1  2026-05-04 08:12")
    for form in ("table", "tsv", "json", "csv"):
        piped = asx(*words, "--format", form)
        assert not set(BLOCKS) & set(piped.stdout)
        assert "2026-05-04T08:12:00.000Z" in piped.stdout
    _, on_request = on_a_terminal(*words, "--json", no_color="1")
    assert not set(BLOCKS) & set(on_request)


def test_a_narrow_terminal_has_no_bars_and_nothing_wider_than_itself(
    on_a_terminal: OnATerminal, monkeypatch: pytest.MonkeyPatch, index: Path
) -> None:
    for cells in (20, 30, 40, 47):
        monkeypatch.setenv("COLUMNS", str(cells))
        _, shown = on_a_terminal("report", "tools", "--index", str(index), no_color="1")
        lines = shown.replace("\r\n", "\n").splitlines()
        assert not set(BLOCKS) & set(shown)
        assert max(map(len, lines)) <= max(cells, 26), shown


def test_where_the_locale_has_no_blocks_bars_are_plain(
    on_a_terminal: OnATerminal, monkeypatch: pytest.MonkeyPatch, index: Path
) -> None:
    for name, value in (("LC_ALL", "C"), ("PYTHONCOERCECLOCALE", "0"), ("PYTHONUTF8", "0")):
        monkeypatch.setenv(name, value)
    _, shown = on_a_terminal("report", "tools", "--index", str(index), no_color="1")
    assert "  ##" in shown
    assert not set(BLOCKS) & set(shown)


def test_what_is_unknown_is_a_mark_and_a_note_on_a_terminal(
    on_a_terminal: OnATerminal, monkeypatch: pytest.MonkeyPatch, index: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _, shown = on_a_terminal("report", "activity-by-day", "--index", str(index), no_color="1")
    lines = shown.replace("\r\n", "\n").splitlines()
    assert lines[0].split() == ["day", "prompts", "sessions", "answers", "tool_calls", "tool_errors", "tokens"]
    assert lines[1].split()[:8] == ["2026-05-06", "2", "1", "0", "1", "1", "1430", "*"]
    assert lines[4:] == ["* 2026-05-06: not known: day: 6 of 6 times", "* 2026-05-05: not known: tokens: 1 of 3 calls"]


def test_every_report_fits_a_wide_terminal_and_names_no_transcripts_control_characters(
    run: Run, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for report in REPORTS:
        done = run("report", report.name, "--index", index, "--format", "table")
        assert done.code == 0
        assert "\x1b" not in done.stdout


# --- Pure -----------------------------------------------------------------------------------------------------------


def test_bars_are_as_long_as_their_numbers() -> None:
    assert bars([8, 4, 1, 0, None, -3, "x"], 8, ascii_only=False) == ["█" * 8, "█" * 4, "█", "", "", "", ""]
    assert bars([16, 15, 1], 2, ascii_only=False) == ["██", "█▉", "▏"]
    assert bars([1000, 1], 4, ascii_only=False) == ["████", "▏"]
    assert bars([10, 5, 1], 4, ascii_only=True) == ["####", "##", "#"]
    assert bars([], 4, ascii_only=True) == []
    assert bars([0, None], 4, ascii_only=False) == ["", ""]
    assert bars([2**70, 1.5], 3, ascii_only=False) == ["███", "▏"]


def test_columns_without_values_are_left_out_and_told() -> None:
    rows = Rows(("day", "calls", "cost_usd", "unknown"), (("2026-05-04", 2, None, None),), False, False)
    shown = for_the_eye(rows, 80)
    assert shown.rows.columns == ("day", "calls")
    assert shown.notes == ("nothing is known of any row's cost_usd",)


def test_notes_have_an_end() -> None:
    rows = Rows(
        ("day", "calls", "unknown"), tuple((f"d{n}", n, "cost_usd: 1 of 2 calls") for n in range(30)), False, False
    )
    shown = for_the_eye(rows, 80)
    assert len(shown.notes) == MOST_NOTES + 1
    assert shown.notes[-1] == "* and 20 more; --format tsv tells all"


def test_ids_are_cut_only_where_there_is_no_room() -> None:
    rows = Rows(("error", "show"), (("x" * 20, f"{AETHER}:5"), ("y", f"{MAIN}/h1:2")), False, False)
    assert for_the_eye(rows, 80).rows.rows[0][1] == f"{AETHER}:5"
    assert [row[1] for row in for_the_eye(rows, 40).rows.rows] == ["5b0c7f1e:5", f"{MAIN}/h1:2"]


def test_a_file_gives_way_to_what_shows_the_turn_and_times_and_ends_of_paths_stay() -> None:
    turn = (9.5, "2026-05-04T08:00:00.000Z", "Mend the lamp of the tower " * 3, f"{AETHER}:5", "/w/a/file.jsonl" * 3)
    rows = Rows(("seconds", "started_at", "prompt", "show", "source_path"), (turn,), False, False)
    assert for_the_eye(rows, 300).rows.columns[-1] == "source_path"
    shown = for_the_eye(rows, 60).rows
    assert shown.columns == ("seconds", "started_at", "prompt", "show")
    assert "2026-05-04 08:00" in list(table_lines(shown, 60))[1]
    projects = Rows(("project", "calls"), (("/home/mira/src/tidewatch", 1),), False, False)
    assert list(table_lines(projects, 20))[1] == "…rc/tidewatch      1"


def test_numbers_move_closer_before_a_table_falls_apart() -> None:
    rows = Rows(("hour", "mon", "tue"), ((0, 10, 2),), False, False)
    assert list(table_lines(rows, 14)) == ["hour  mon  tue", "   0   10    2"]
    assert list(table_lines(rows, 12)) == ["hour mon tue", "   0  10   2"]
    assert list(table_lines(rows, 11)) == ["hour  0", "mon   10", "tue   2"]


def test_bars_are_drawn_of_columns_that_the_reports_have() -> None:
    drawn = {report: report.main_number for report in REPORTS if report.main_number is not None}
    assert drawn
    assert [report.name for report, column in drawn.items() if f" AS {column}" not in report.sql] == []
