"""Every report on a store whose numbers are known (``report_world``): its rows are counted by hand here."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from index.ingest import ingest
from index.query.run import run_query
from index.reports.named import Asked, ReportParametersError, asked_of, get_report, run_report
from index.reports.parts import columns_of, first_line
from index.reports.statements import REPORTS
from index.results import Report, Rows
from tests import builders as make
from tests.builders import HomeBuilder
from tests.index.filled import never
from tests.index.report_world import AETHER, ASTER, MAIN, SUB_AGENT, build_index

Row = tuple[Any, ...]
MONDAY, TUESDAY, WEDNESDAY = "2026-05-04", "2026-05-05", "2026-05-06"
AETHER_UNKNOWN = (
    "cache_read_tokens: 1 of 2 calls; cache_write_tokens: 1 of 2 calls; reasoning_tokens: 1 of 2 calls; "
    "cost_usd: 1 of 2 calls"
)
AETHER_CALLS = (2, 500, 130, 600, 200, 50, 0.5)
"""1,000 and 300 of Aether's input, 800 of which were read from the cache or written to it."""
ASTER_CALLS = (3, 350, 100, None, None, None, None, "output_tokens: 1 of 3 calls")
CLAUDE_CALLS = (4, 12, 65, 28, None, None, None, None)
"""m1 (10), m2 (20, told twice), m3 (30) and the sub-agent's m4 (5); the fork brought m1 along."""


NOTHING = Asked()


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_index(tmp_path_factory.mktemp("reports"))


def rows(index: Path, name: str, asked: Asked = NOTHING) -> tuple[Row, ...]:
    return found(index, get_report(name), asked).rows


def found(index: Path, report: Report, asked: Asked) -> Rows:
    return run_report(index, report, {}, asked, timeout_s=20, on_overrun=never, heap_limit_bytes=None)


def path_of(index: Path, session_id: str) -> str:
    with closing(sqlite3.connect(index)) as connection:
        (path,) = connection.execute(
            "SELECT source_path FROM session_files WHERE session_id = ?", (session_id,)
        ).fetchone()
    return str(path)


# --- Activity -------------------------------------------------------------------------------------------------------


def test_activity_by_day(index: Path) -> None:
    assert rows(index, "activity-by-day") == (
        (WEDNESDAY, 2, 1, 0, 1, 1, 1430, "day: 6 of 6 times"),
        (TUESDAY, 2, 1, 3, 0, 0, 400, "tokens: 1 of 3 calls"),
        (MONDAY, 4, 3, 5, 5, 3, 105, None),
    )


def test_prompts_by_day(index: Path) -> None:
    assert rows(index, "prompts-by-day") == (
        (WEDNESDAY, "aether", 2, 1, "day: 2 of 2 times"),
        (TUESDAY, "aster", 2, 1, None),
        (MONDAY, "claude-code", 4, 2, None),
    )


def test_busiest_hours_show_the_whole_day(index: Path) -> None:
    hours = rows(index, "busiest-hours")
    assert [hour for hour, *_ in hours] == list(range(24))
    assert hours[8] == (8, 4, 1, 2, 0, 0, 0, 0, 7, "hour: 2 of 7 times")
    assert hours[9] == (9, 0, 1, 0, 0, 0, 0, 0, 1, None)
    assert {row[1:] for row in hours[:8] + hours[10:]} == {(0,) * 8 + (None,)}


def test_sessions_by_project_count_copied_prompts_once(index: Path) -> None:
    beta, alpha, gamma = rows(index, "sessions-by-project")
    assert beta[:6] == ("/w/beta", 1, 0, 1, 2, "2026-05-06T08:00:00.000Z")
    assert alpha == (
        "/w/alpha", 1, 0, 1, 2, "2026-05-05T08:00:00.000Z", "2026-05-05T09:01:00.000Z", 1, None,
    )  # fmt: skip
    assert gamma == (
        "/w/gamma", 2, 1, 1, 4, "2026-05-04T08:00:00.000Z", "2026-05-04T08:30:00.000Z", 1, None,
    )  # fmt: skip


def test_an_import_counts_for_itself_only_without_its_original(isolated: Path) -> None:
    home = HomeBuilder(isolated)
    original = home.claude("c1", make.claude_prompt("heron", "c1", "u1", 1, cwd="/w/alpha"))
    header = make.aster_header("imported", 0) | {
        "cwd": "/w/alpha",
        "imported_from": {"agent": "claude-code", "id": "c1"},
    }
    home.aster("imported", header, make.aster_prompt("heron", 1))
    settings = home.settings()
    ingest(settings)
    assert [row[:5] for row in rows(settings.index_path, "sessions-by-project")] == [("/w/alpha", 1, 0, 1, 1)]
    original.unlink()
    ingest(settings, prune=True)
    assert [row[:5] for row in rows(settings.index_path, "sessions-by-project")] == [("/w/alpha", 1, 0, 1, 1)]


def test_longest_turns_have_both_times_of_their_own(index: Path) -> None:
    main, aster = path_of(index, MAIN), path_of(index, ASTER)
    assert rows(index, "longest-turns") == (
        (540.0, "claude-code", "2026-05-04T08:00:00.000Z", "Fix the lamp", f"{MAIN}:0", main),
        (240.0, "claude-code", "2026-05-04T08:10:00.000Z", "Again, please", f"{MAIN}:8", main),
        (120.0, "aster", "2026-05-05T08:01:00.000Z", "Yes", f"{ASTER}:0", aster),
        (60.0, "aster", "2026-05-05T09:00:00.000Z", "yes", f"{ASTER}:3", aster),
        (30.0, "claude-code", "2026-05-04T08:20:00.000Z", "yes", f"{MAIN}:14", main),
    )


def test_a_turn_ends_before_the_next_prompt_though_its_copied_answers_have_a_later_time(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "home")
    prompts = [make.claude_prompt("Go on", MAIN, f"p{minute}", minute) for minute in (0, 5, 300)]
    answers = [
        make.claude_answer("Done", MAIN, f"a{n}", minute, message_id=f"m{n}")
        for n, minute in enumerate((290, 290, 302))
    ]
    home.claude(MAIN, *(record for pair in zip(prompts, answers, strict=True) for record in pair))
    index = tmp_path / "index" / "index.sqlite"
    ingest(home.settings(index))
    assert [row[0] for row in rows(index, "longest-turns")] == [285 * 60.0, 300.0, 120.0]


def test_repeated_prompts_are_folded(index: Path) -> None:
    assert rows(index, "repeated-prompts") == ((3, 2, "2026-05-05T09:00:00.000Z", "Yes"),)


# --- Tokens and cost ------------------------------------------------------------------------------------------------


def test_usage_by_session(index: Path) -> None:
    assert rows(index, "usage") == (
        ("aether", AETHER, "totals", 1, 2, 0.5, 1, 1300, 130, 600, 200, 50, "cost_usd: 1 of 2 calls"),
        ("aster", ASTER, "calls", 1, 3, None, 3, 350, 100, None, None, None, None),
        ("claude-code", MAIN, "calls", 1, 3, None, 3, 9, 60, 21, None, None, None),
        ("claude-code", SUB_AGENT, "calls", 1, 1, None, 1, 3, 5, 7, None, None, None),
    )


def test_usage_with_children_counts_them_to_the_session_they_work_for(index: Path) -> None:
    assert rows(index, "usage", Asked(with_children=True, agents=("claude-code",))) == (
        ("claude-code", MAIN, "calls", 2, 4, None, 4, 12, 65, 28, None, None, None),
    )


def test_running_totals_and_calls_agree(index: Path) -> None:
    """Aether's input holds cached tokens, ``llm_calls`` has them apart; a span of time is always counted from calls."""
    total = rows(index, "usage", Asked(agents=("aether",)))[0]
    summed = rows(index, "usage", Asked(agents=("aether",), since="2026-05-06T00:00:00.000Z"))[0]
    assert (total[2], summed[2]) == ("totals", "calls")
    assert total[7] == summed[7] + summed[9] + summed[10] == 1300
    assert total[8:12] == summed[8:12]
    assert total[4:7] == summed[4:7] == (2, 0.5, 1)


def test_usage_by_day_model_project_agent_and_branch(index: Path) -> None:
    assert rows(index, "usage-by-day") == (
        (WEDNESDAY, *AETHER_CALLS, f"day: 2 of 2 times; {AETHER_UNKNOWN}"),
        (TUESDAY, *ASTER_CALLS),
        (MONDAY, *CLAUDE_CALLS),
    )
    of_aether = (*AETHER_CALLS, AETHER_UNKNOWN)
    for name, keys in {
        "usage-by-model": (("acme", "m-1"), (None, "m-9"), ("anthropic", "m-2")),
        "usage-by-project": (("/w/beta",), ("/w/alpha",), ("/w/gamma",)),
        "usage-by-agent": (("aether",), ("aster",), ("claude-code",)),
        "usage-by-branch": (("/w/beta", None), ("/w/alpha", None), ("/w/gamma", "lamps")),
    }.items():
        expected = zip(keys, (of_aether, ASTER_CALLS, CLAUDE_CALLS), strict=True)
        assert rows(index, name) == tuple((*key, *calls) for key, calls in expected), name


def test_cost_by_agent(index: Path) -> None:
    assert rows(index, "cost-by-agent") == (
        ("aether", "Planner", "chat", 1, 0.5, 0, 1000, 100, None),
        ("aster", None, None, 3, None, 3, 350, 100, "output_tokens: 1 of 3 calls"),
        ("claude-code", None, None, 4, None, 4, 12, 65, None),
        ("aether", "Helper", "chat", 1, None, 1, 300, 30, None),
    )


# --- Tools ----------------------------------------------------------------------------------------------------------


def test_tools_and_failing_tools(index: Path) -> None:
    assert rows(index, "tools") == (
        ("Bash", 3, 1, "2026-05-04T08:12:00.000Z"),
        ("Read", 2, 2, "2026-05-04T08:13:30.000Z"),
        ("shell", 1, 1, None),
    )
    assert rows(index, "failing-tools") == (
        ("Bash", 2, 1, "2026-05-04T08:13:00.000Z"),
        ("Read", 1, 1, "2026-05-04T08:14:00.000Z"),
        ("shell", 1, 1, None),
    )


def test_tool_error_rates_and_errors(index: Path) -> None:
    assert rows(index, "tool-error-rate") == (
        ("shell", 1, 1, 1, 1.0, "exit status 2"),
        ("Bash", 3, 3, 2, 0.6667, "Exit code 1"),
        ("Read", 2, 2, 1, 0.5, "No such file"),
    )
    assert rows(index, "tool-errors") == (
        ("Bash", 2, 1, "2026-05-04T08:13:00.000Z", "Exit code 1", f"{MAIN}:11"),
        ("Read", 1, 1, "2026-05-04T08:14:00.000Z", "No such file", f"{MAIN}:13"),
        ("shell", 1, 1, None, "exit status 2", f"{AETHER}:5"),
    )


def test_the_first_line_of_an_error_is_the_first_that_says_something() -> None:
    framed = "\n\t╭─────╮\n│ no bulb │\r\n╰─────╯"
    with closing(sqlite3.connect(":memory:")) as connection:
        for text, expected in (
            ("Exit code 1\nmore", "Exit code 1"), ("one line", "one line"), (framed, "no bulb"), ("", ""),
            ("─\n", ""), (None, None), ("x" * 300, "x" * 200), ("é\n" * 3, "é"),
        ):  # fmt: skip
            assert connection.execute(f"SELECT {first_line('?1', 200)}", (text,)).fetchone() == (expected,), text


def test_failing_turns_cost_what_all_their_calls_cost(index: Path) -> None:
    """Bash failed in turns 0 (m1, m2) and 1 (m3), Read in turn 1 as well, which counts for both."""
    assert rows(index, "failing-turns") == (
        ("Bash", 2, 2, 3, 9, 60, 21, None, None, None, None),
        ("Read", 1, 1, 1, 3, 30, 7, None, None, None, None),
        ("shell", 1, 1, *AETHER_CALLS, AETHER_UNKNOWN),
    )


# --- What went badly ------------------------------------------------------------------------------------------------


def test_retries_and_cancellations(index: Path) -> None:
    expected = ("aether", AETHER, "/w/beta", 1, 1, 1, 0, 0, "2026-05-06T08:00:00.000Z", "last_at: 3 of 3 times")
    assert rows(index, "retries") == (expected,)


def test_context_pressure(index: Path) -> None:
    assert rows(index, "context-pressure") == ((AETHER, "aether", 0.85, 1000, 1, None),)


def test_damaged_lines(index: Path) -> None:
    (row,) = rows(index, "damaged-lines")
    assert (row[0], row[1], row[2], row[3], row[6]) == ("aster", path_of(index, ASTER), ASTER, 7, '{"broken')
    assert rows(index, "damaged-lines", Asked(project="/w/alpha")) == (row,)
    assert rows(index, "damaged-lines", Asked(project="/w/gamma")) == ()


# --- Memory ---------------------------------------------------------------------------------------------------------


def test_memory_by_day_and_by_block(index: Path) -> None:
    assert rows(index, "memory-by-day") == ((TUESDAY, 1, 2, 2, 0, 1), (MONDAY, 2, 1, 0, 0, 0))
    assert [row[:9] for row in rows(index, "memory-by-block")] == [
        ("lamp-rule", "aster", None, None, 0, 1, 2, 0, "2026-05-05T08:01:00.000Z"),
        ("old-rule", "aster", None, None, 1, 1, 0, 1, None),
    ]


def test_what_was_recalled_most_and_what_was_archived_and_why(index: Path) -> None:
    assert rows(index, "memory-recalled") == (
        (2, "lamp-rule", "2026-05-05T08:01:00.000Z", "before touching lamps", "kept"),
        (1, "gone-rule", "2026-05-05T08:02:00.000Z", None, "gone"),
    )
    assert rows(index, "memory-archived") == (
        ("2026-05-05T08:04:00.000Z", "forget", "gone-rule", None, None, None, None, "gone"),
        (
            "2026-05-05T08:03:00.000Z", "archive", "Old rule", "it was wrong", None, ASTER, "what was once true",
            "archived",
        ),
    )  # fmt: skip


# --- What is asked --------------------------------------------------------------------------------------------------

TUESDAY_ON = Asked(since="2026-05-05T00:00:00.000Z", until="2026-05-06T00:00:00.000Z")
ASKED = {
    "nothing": Asked(),
    "a day": TUESDAY_ON,
    "a project": Asked(project="/w/gamma"),
    "a path with a quote": Asked(project="/w/o'brien; --"),
    "below": Asked(project="/w", below=True),
    "two agents": Asked(agents=("aster", "aether")),
    "children": Asked(with_children=True),
}


def test_a_span_is_from_its_beginning_to_before_its_end(index: Path) -> None:
    assert [row[0] for row in rows(index, "activity-by-day", TUESDAY_ON)] == [TUESDAY]
    edge = "2026-05-05T08:01:00.000Z"
    assert rows(index, "prompts-by-day", Asked(since=edge, until="2026-05-05T08:01:00.001Z"))[0][2] == 1
    assert rows(index, "prompts-by-day", Asked(since="2026-05-05T08:00:00.000Z", until=edge)) == ()


def test_a_project_is_exact_and_below_takes_paths_beneath_it(index: Path) -> None:
    assert rows(index, "usage-by-project", Asked(project="/w/gam")) == ()
    assert rows(index, "usage-by-project", Asked(project="/w/gam", below=True)) == ()
    assert rows(index, "usage-by-project", Asked(project="/w")) == ()
    assert len(rows(index, "usage-by-project", Asked(project="/w", below=True))) == 3
    assert len(rows(index, "usage-by-project", Asked(project="/", below=True))) == 3
    assert [row[0] for row in rows(index, "usage-by-project", Asked(project="/w/gamma", below=True))] == ["/w/gamma"]


def test_agents_are_whole_names(index: Path) -> None:
    assert [row[0] for row in rows(index, "usage-by-agent", Asked(agents=("aster", "aether")))] == ["aether", "aster"]
    assert rows(index, "usage-by-agent", Asked(agents=("aste",))) == ()


def takes(report: Report, asked: Asked) -> bool:
    return set(asked.values) - {"below"} <= set(report.parameters)


PAIRS = [pytest.param(one, asked, id=f"{one.name}, {told}") for one in REPORTS for told, asked in ASKED.items()]


@pytest.mark.parametrize(("report", "asked"), PAIRS)
def test_the_printed_statement_gives_the_same_rows_anywhere(index: Path, report: Report, asked: Asked) -> None:
    if not takes(report, asked):
        with pytest.raises(ReportParametersError, match=f"the report {report.name} takes --.*; leave out --"):
            asked_of(report, asked)
        return
    printed = asked_of(report, asked).sql
    told = found(index, report, asked)
    queried = run_query(index, printed, timeout_s=20, on_overrun=never, heap_limit_bytes=None)
    with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as connection:
        plain = connection.execute(printed)
        assert tuple(column[0] for column in plain.description) == told.columns
        assert tuple(plain.fetchall()) == queried.rows == told.rows


def test_each_report_reads_what_is_asked_of_it() -> None:
    """An option that is taken and then not looked at would narrow nothing in silence."""
    for report in REPORTS:
        for name in columns_of(report.parameters):
            assert f"q.{name}" in report.sql, (report.name, name)


def test_what_a_report_does_not_take_is_refused_with_what_it_takes() -> None:
    report = get_report("memory-by-day")
    with pytest.raises(ReportParametersError) as refused:
        asked_of(report, Asked(project="/w", below=True, since="2026-05-05T00:00:00.000Z"))
    assert str(refused.value) == "the report memory-by-day takes --since and --until; leave out --project and --below"


def test_ones_own_report_is_bound_to_what_is_asked(index: Path, tmp_path: Path) -> None:
    own = tmp_path / "mine.sql"
    own.write_text(
        "SELECT count(*) AS prompts, :agent AS agent FROM prompts WHERE (:since IS NULL OR sort_ts >= :since)\n"
        "AND (:agent IS NULL OR agent = :agent) AND text_len >= :least",
        encoding="utf-8",
    )
    report = get_report("mine", tmp_path)

    def run(asked: Asked, **given: object) -> tuple[Row, ...]:
        return run_report(index, report, given, asked, on_overrun=never, timeout_s=20, heap_limit_bytes=None).rows

    assert run(Asked(), least=0) == ((8, None),)
    assert run(Asked(since="2026-05-05T00:00:00.000Z"), least=0) == ((4, None),)
    assert run(Asked(agents=("aster",)), least=0) == ((2, "aster"),)
    assert run(Asked(), least=0, agent="aster") == ((2, "aster"),)
    with pytest.raises(ReportParametersError, match="takes --since and --agent; leave out --project"):
        run(Asked(project="/w"), least=0)
    with pytest.raises(ReportParametersError, match="agent is given by an option and by -p"):
        run(Asked(agents=("aster",)), least=0, agent="aster")
    with pytest.raises(ReportParametersError, match="needs -p least=VALUE"):
        run(Asked())


def test_a_value_for_an_option_of_a_built_in_report_is_sent_to_the_option(index: Path) -> None:
    with pytest.raises(ReportParametersError, match="has no parameter since; give --since"):
        run_report(index, get_report("tools"), {"since": "7d"}, on_overrun=never, heap_limit_bytes=None)
