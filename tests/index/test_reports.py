"""Reports give known answers on the samples; one's own files are reports too."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from index.errors import UnknownReportError
from index.reports.named import ReportParametersError, get_report, list_reports, run_report
from index.reports.parts import OPTIONS
from index.reports.statements import REPORTS
from index.results import Rows
from persist.errors import StoreIOError
from tests.index.filled import never, sample_index

AETHER_EXAMPLES = {
    "failing tools": "SELECT tool_name, COUNT(*) AS errors FROM tool_errors GROUP BY tool_name ORDER BY errors DESC",
    "used tools": "SELECT tool_name, COUNT(*) AS calls FROM tool_calls GROUP BY tool_name ORDER BY calls DESC",
    "error rate": "SELECT c.tool_name, (SELECT COUNT(*) FROM tool_errors e WHERE e.tool_name = c.tool_name) * 1.0 "
    "/ COUNT(*) FROM tool_calls c GROUP BY c.tool_name",
    "full context": "SELECT session_id, MAX(usage_ratio) FROM context_usage WHERE usage_ratio > 0.8 "
    "GROUP BY session_id",
    "usage": "SELECT session_id, MAX(total_estimated_cost_usd), MAX(unpriced_calls), MAX(total_input_tokens), "
    "MAX(total_output_tokens), MAX(total_cache_read_tokens), MAX(total_cache_creation_tokens), "
    "MAX(total_reasoning_tokens) FROM session_usage GROUP BY session_id",
    "cost by agent": "SELECT agent_name, call_purpose, SUM(estimated_cost_usd), COUNT(*) FROM session_usage "
    "GROUP BY agent_name, call_purpose",
    "malformed": "SELECT source_path, line_number, error, line_excerpt FROM parse_errors ORDER BY id DESC LIMIT 20",
}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    return sample_index(tmp_path_factory.mktemp("filled"), data)


def run(index: Path, name: str, folder: Path | None = None, **parameters: object) -> Rows:
    report = get_report(name, folder)
    return run_report(index, report, parameters, timeout_s=20, on_overrun=never, heap_limit_bytes=None)


def column(rows: Rows, *names: str) -> list[tuple[object, ...]]:
    at = [rows.columns.index(name) for name in names]
    return [tuple(row[position] for position in at) for row in rows.rows]


AETHERS_SEVEN = (
    "failing-tools", "tools", "tool-error-rate", "context-pressure", "usage", "cost-by-agent", "damaged-lines",
)  # fmt: skip


def test_the_seven_kinds_are_there_and_each_report_is_told_once() -> None:
    names = [report.name for report in REPORTS]
    assert set(AETHERS_SEVEN) <= set(names)
    assert len(set(names)) == len(names)
    assert all(report.about.endswith(".") and set(report.parameters) <= set(OPTIONS) for report in REPORTS)


def test_failing_tools(filled: Path) -> None:
    assert column(run(filled, "failing-tools"), "tool_name", "errors", "sessions") == [("coding__bash", 3, 2)]


def test_tools_count_calls(filled: Path) -> None:
    rows = column(run(filled, "tools"), "tool_name", "calls")
    assert rows[0] == ("read_file", 3)
    assert ("coding__bash", 2) in rows
    assert [calls for _, calls in rows] == sorted((calls for _, calls in rows), key=lambda n: -int(str(n)))


def test_the_error_rate_is_of_answers_and_never_over_one(filled: Path) -> None:
    rates = {row[0]: row[1:] for row in column(run(filled, "tool-error-rate"), "tool_name", "errors", "error_rate")}
    assert rates["read_file"] == (0, 0.0)
    assert rates["coding__bash"][0] == 3
    assert all(rate is None or 0 <= float(str(rate)) <= 1 for _, rate in rates.values())


def test_context_pressure_lists_sessions_above_four_fifths(filled: Path, tmp_path: Path) -> None:
    assert run(filled, "context-pressure").rows == ()
    changed = tmp_path / "index.sqlite"
    changed.write_bytes(filled.read_bytes())
    connection = sqlite3.connect(changed)
    connection.execute("PRAGMA journal_mode = delete")
    with connection:
        connection.execute("UPDATE measures SET usage_ratio = 0.9 WHERE usage_ratio IS NOT NULL")
    expected = connection.execute("SELECT count(DISTINCT session_id) FROM context_usage").fetchone()[0]
    connection.close()
    rows = run(changed, "context-pressure")
    assert len(rows.rows) == expected > 0
    assert {ratio for (ratio,) in column(rows, "highest_usage_ratio")} == {0.9}


def test_usage_takes_running_totals_where_they_are_and_sums_elsewhere(filled: Path) -> None:
    rows = run(filled, "usage")
    names = ("agent", "session_id", "counted_from", "cost_usd", "unpriced_calls", "input_tokens", "output_tokens")
    found = column(rows, *names)
    assert found[0] == ("aether", "5b0c7f1e-2d34-4c1b-9a57-0e6f4d2a91c3", "totals", 0.0078348, 1, 6020, 250)
    assert ("aether", "92e6a5d4-1f70-4b8c-a3d9-64b5c7d8e9f0", "totals", 0.0, 1, 124000, 900) in found
    assert ("aster", "01M0CDSRD0M5N6FKF181V7JAJ0", "calls", None, 7, 48320, 361) in found
    assert len({row[:2] for row in found}) == len(found)


def test_cost_by_agent_and_purpose(filled: Path) -> None:
    names = ("agent", "agent_name", "call_purpose", "calls", "cost_usd", "unpriced_calls")
    found = column(run(filled, "cost-by-agent"), *names)
    assert found[0] == ("aether", "Planner", "chat", 1, 0.0078348, 0)
    assert ("aether", "Coder", "chat", 1, None, 1) in found
    assert [row[:3] for row in found].count(("aster", None, None)) == 1


def test_damaged_lines_come_latest_first(filled: Path) -> None:
    rows = run(filled, "damaged-lines")
    assert len(rows.rows) == 9
    assert {path.rsplit("/", 1)[1] for (path,) in column(rows, "source_path") if isinstance(path, str)} == {
        "01M0G0PCR0RQEBWX2GCGSXXCQM.jsonl",
        "c41d88a7-0b9e-4f35-8d21-96f0a7b3e5d2.jsonl",
        "journal.jsonl",
        "prompt-history.jsonl",
    }


def test_prompts_by_day_count_every_prompt_once(filled: Path) -> None:
    rows = run(filled, "prompts-by-day")
    connection = sqlite3.connect(filled)
    (typed,) = connection.execute("SELECT count(*) FROM prompts").fetchone()
    connection.close()
    assert sum(int(str(count)) for (count,) in column(rows, "prompts")) == typed
    assert column(rows, "day") == sorted(column(rows, "day"), reverse=True)


@pytest.mark.parametrize("sql", AETHER_EXAMPLES.values(), ids=list(AETHER_EXAMPLES))
def test_aethers_own_questions_run_with_its_names(filled: Path, sql: str) -> None:
    connection = sqlite3.connect(filled)
    rows = connection.execute(sql).fetchall()
    connection.close()
    assert rows or "usage_ratio" in sql


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "long-prompts.sql").write_text(
        "-- Prompts of at least so many characters\n"
        "SELECT agent, text_len FROM prompts WHERE text_len >= :least AND agent = :agent -- :not\n"
        "AND text <> ':nor' ORDER BY text_len DESC",
        encoding="utf-8",
    )
    (folder / "tools.sql").write_text("/* Mine */ SELECT 1 AS one", encoding="utf-8-sig")
    (folder / "notes.txt").write_text("no report", encoding="utf-8")
    (folder / "broken.sql").write_bytes(b"-- \xff\nSELECT 1")
    return folder


def test_ones_own_reports_are_listed_and_take_the_place_of_built_in_ones(own: Path) -> None:
    found = list_reports(own)
    listed = {report.name: report for report in found.reports}
    assert listed["long-prompts"].about == "Prompts of at least so many characters"
    assert listed["long-prompts"].parameters == ("least", "agent")
    assert listed["tools"].about == "Mine"
    assert len([report for report in found.reports if report.name == "tools"]) == 1
    assert "usage" in listed
    assert [(unreadable.name, unreadable.reason) for unreadable in found.unreadable] == [("broken", "it is not UTF-8")]


def test_ones_own_report_runs_with_its_parameters(filled: Path, own: Path) -> None:
    rows = run(filled, "long-prompts", own, least=20, agent="aster")
    assert rows.rows
    assert all(agent == "aster" and int(length) >= 20 for agent, length in rows.rows)
    assert run(filled, "tools", own).rows == ((1,),)


def test_missing_and_unknown_parameters_are_named(filled: Path, own: Path) -> None:
    with pytest.raises(ReportParametersError, match="needs -p least=VALUE") as missing:
        run(filled, "long-prompts", own, agent="aster")
    assert missing.value.names == ("least",)
    with pytest.raises(ReportParametersError) as unknown:
        run(filled, "usage", own, agnet="aster")
    assert unknown.value.names == ("agnet",)


def test_a_report_that_is_not_there_names_those_that_are(own: Path) -> None:
    with pytest.raises(UnknownReportError) as refused:
        get_report("../tools", own)
    assert refused.value.known[:2] == ("activity-by-day", "prompts-by-day")
    assert "long-prompts" in refused.value.known


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("usge", ("usage",)),
        ("Usage", ("usage",)),
        ("tool", ("tools", "tool-error-rate")),
        ("token", ("usage", "usage-by-day")),
        ("cost", ("cost-by-agent",)),
        ("errors", ("tool-errors",)),
        ("model", ("usage-by-model",)),
        ("long-prompt", ("long-prompts",)),
    ],
)
def test_the_reports_that_may_be_meant_are_named_the_likeliest_first(
    name: str, near: tuple[str, ...], own: Path
) -> None:
    with pytest.raises(UnknownReportError) as refused:
        get_report(name, own)
    assert refused.value.near[: len(near)] == near
    assert len(refused.value.near) <= 3
    assert str(refused.value) == f"no report {name!r}; the nearest: {', '.join(refused.value.near)}"


@pytest.mark.parametrize("name", ["zzz", "", "by", "-", "/"])
def test_where_no_report_is_near_none_is_named(name: str, own: Path) -> None:
    with pytest.raises(UnknownReportError) as refused:
        get_report(name, own)
    assert refused.value.near == ()


def test_a_report_that_cannot_be_read_says_so(own: Path) -> None:
    with pytest.raises(StoreIOError, match="not UTF-8"):
        get_report("broken", own)


def test_without_a_folder_only_the_built_in_ones_are_there(tmp_path: Path) -> None:
    assert list_reports(tmp_path / "missing").reports == list_reports().reports == REPORTS


TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")


@pytest.mark.parametrize("by", ["day", "model", "project", "agent", "branch"])
def test_the_parts_of_a_report_add_up_to_the_view(filled: Path, by: str) -> None:
    """However calls are grouped, none is lost or counted twice."""
    columns = ("calls", *TOKENS, "cost_usd")
    found = column(run(filled, f"usage-by-{by}"), *columns)
    connection = sqlite3.connect(filled)
    sums = ", ".join(f"sum({name})" for name in (*TOKENS, "cost_usd"))
    (whole,) = connection.execute(f"SELECT count(*), {sums} FROM llm_calls").fetchall()
    connection.close()
    for at, total in enumerate(whole):
        parts = [row[at] for row in found if row[at] is not None]
        assert sum(map(float, map(str, parts))) == pytest.approx(total), columns[at]


def test_the_days_of_activity_add_up_to_the_views(filled: Path) -> None:
    counted = {"prompts": "prompts", "answers": "answers", "tool_calls": "tool_calls", "tool_errors": "tool_errors"}
    found = column(run(filled, "activity-by-day"), *counted)
    connection = sqlite3.connect(filled)
    for at, view in enumerate(counted.values()):
        (whole,) = connection.execute(f"SELECT count(*) FROM {view}").fetchone()
        assert sum(int(str(row[at])) for row in found) == whole > 0
    connection.close()
