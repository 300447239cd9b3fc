"""Aether's own index, asked through ours: behaviours 77 to 102 of ``spec/aether.md`` 5.

Which test holds each of them, or why none does, is the table of ``tests/test_behaviours.py``; here stand those that no
other test covers. Where our answer differs on purpose the test says so and holds what is done instead.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from index.ingest import ingest
from index.settings import Settings
from index.verify import verify
from tests import builders as make
from tests.builders import HomeBuilder
from tests.index.conftest import rows

pytestmark = pytest.mark.usefixtures("quick_schema")

CURRENT = "5b0c7f1e-2d34-4c1b-9a57-0e6f4d2a91c3"


@pytest.fixture
def places(home: HomeBuilder, tmp_path: Path) -> Settings:
    return home.settings(tmp_path / "i" / "index.sqlite")


@pytest.fixture
def current(home: HomeBuilder, data: Path, places: Settings) -> Settings:
    """An index of the log that has every variant once, and of nothing else."""
    folder = home.home / ".aether" / "sessions"
    folder.mkdir(parents=True)
    shutil.copy(data / "aether" / f"{CURRENT}.jsonl", folder)
    ingest(places)
    return places


def log(home: HomeBuilder, name: str, text: str) -> Path:
    return home.aether(name, make.aether_metadata(name, 0), make.aether_prompt(text))


VIEWS = [
    ("user_messages", {"user_message"}),
    ("agent_messages", {"message_text", "message_thought"}),
    ("tool_calls", {"tool_call"}),
    ("tool_results", {"tool_result"}),
    ("tool_errors", {"tool_error"}),
    ("context_usage", {"context_usage"}),
    ("session_usage", {"session_usage"}),
    ("retries", {"retry_scheduled"}),
]


@pytest.mark.parametrize(("view", "types"), VIEWS, ids=[view for view, _ in VIEWS])
def test_b78_each_view_is_filled_by_its_event_types_alone(view: str, types: set[str], current: Settings) -> None:
    found = rows(current, f"SELECT event_type, count(*) FROM {view} GROUP BY 1")
    assert {event_type for event_type, _ in found} == types
    marks = ", ".join("?" * len(types))
    (wanted,) = rows(current, f"SELECT count(*) FROM events WHERE event_type IN ({marks})", *types)
    assert (sum(count for _, count in found),) == wanted


def test_b78_cancellations_are_whatever_was_cancelled_and_sessions_are_those_indexed(current: Settings) -> None:
    found = rows(current, "SELECT DISTINCT outcome, event_type FROM cancellations ORDER BY 2")
    assert found == [("cancelled", "tool_task_cancelled"), ("cancelled", "turn_ended")]
    assert rows(current, "SELECT session_id FROM sessions") == [(CURRENT,)]


def test_b78_a_model_switch_tells_the_new_model(current: Settings) -> None:
    assert rows(current, "SELECT model_name FROM events WHERE event_type = 'model_switched'") == [("ollama:qwen3",)]


def test_b79_two_logs_of_one_session_are_both_indexed(home: HomeBuilder, places: Settings) -> None:
    """Aether gives up the second file; here one session is told by both."""
    log(home, "one", "told by the first")
    home.aether("two", make.aether_metadata("one", 0), make.aether_prompt("told by the second"))
    home.aether("zed", make.aether_metadata("zed", 0), make.aether_prompt("another"))
    assert ingest(places).agents["aether"].sources.failed == 0
    assert rows(places, "SELECT session_id, turns FROM sessions ORDER BY 1") == [("one", 2), ("zed", 1)]
    found = rows(places, "SELECT text FROM prompts WHERE session_id = 'one' ORDER BY source_path")
    assert found == [("told by the first",), ("told by the second",)]
    assert {status for (status,) in rows(places, "SELECT status FROM session_files")} == {"indexed"}


def test_b80_counts_from_one_end_to_the_other(home: HomeBuilder, data: Path, places: Settings) -> None:
    folder = home.home / ".aether" / "sessions"
    folder.mkdir(parents=True)
    shutil.copy(data / "aether" / f"{CURRENT}.jsonl", folder)
    log(home, "small", "hello")
    report = ingest(places)
    sources = report.agents["aether"].sources
    assert (sources.seen, sources.new, report.events) == (2, 2, 44 + 1)
    by_tool = rows(places, "SELECT tool_name, count(*) FROM tool_errors GROUP BY 1")
    assert by_tool == [("coding__bash", 2)]


def test_b81_how_full_the_context_was_and_calls_name_no_model(current: Settings) -> None:
    usage = rows(current, "SELECT usage_ratio, context_limit, input_tokens, output_tokens FROM context_usage")
    assert usage[0] == (0.0256, 200_000, 5120, None)
    assert {model for (model,) in rows(current, "SELECT model_name FROM tool_calls")} == {None}


def test_b82_usage_of_a_root_and_of_a_sub_agent(current: Settings) -> None:
    columns = (
        "usage_sequence", "agent_name", "parent_agent_id IS NULL", "task_id IS NULL", "call_purpose", "provider",
        "model_name", "input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens", "reasoning_tokens",
        "estimated_cost_usd", "total_estimated_cost_usd", "total_input_tokens", "total_output_tokens", "unpriced_calls",
    )  # fmt: skip
    found = rows(current, f"SELECT {', '.join(columns)} FROM session_usage ORDER BY usage_sequence")
    root, below = found
    assert root[:12] == (
        1, "Planner", 1, 1, "chat", "anthropic", "claude-sonnet-4-5", 5120, 210, 4096, 512, 64,
    )  # fmt: skip
    assert root[12] == root[13] == 0.0078348
    assert root[16] == 0
    assert below[:4] == (2, "explorer", 0, 0)
    assert (below[6], below[12], below[16]) == (None, None, 1)
    assert below[13] == root[13]
    assert below[14:16] == (6020, 250)


@pytest.mark.parametrize("view", ["tool_calls", "tool_results", "tool_errors"])
def test_b83_tool_columns_are_text(view: str, current: Settings) -> None:
    found = rows(
        current,
        f"""SELECT typeof(tool_call_id), typeof(tool_name), typeof(tool_arguments) FROM {view}
        WHERE tool_arguments IS NOT NULL""",
    )
    assert set(found) == {("text", "text", "text")}


def test_b84_several_changed_logs_are_all_read_again(home: HomeBuilder, places: Settings) -> None:
    for number in range(6):
        log(home, f"s{number}", f"before {number}")
    ingest(places)
    for number in (4, 1, 3):
        log(home, f"s{number}", f"after, and longer {number}")
    assert ingest(places).agents["aether"].sources.replaced == 3
    found = [text for (text,) in rows(places, "SELECT text FROM prompts ORDER BY source_path")]
    assert found == [f"{'after, and longer' if n in (1, 3, 4) else 'before'} {n}" for n in range(6)]


def test_b87_a_deleted_log_leaves_with_its_events(home: HomeBuilder, places: Settings) -> None:
    kept, gone = log(home, "kept", "stays"), log(home, "gone", "leaves")
    log(home, "third", "stays too")
    ingest(places)
    gone.unlink()
    assert ingest(places).agents["aether"].sources.removed == 1
    assert rows(places, "SELECT path FROM sources WHERE path IN (?, ?)", str(kept), str(gone)) == [(str(kept),)]
    assert rows(places, "SELECT text FROM events ORDER BY text") == [("stays",), ("stays too",)]


def test_b88_a_malformed_line_is_one_error_and_hides_nothing(home: HomeBuilder, places: Settings) -> None:
    home.aether("s", make.aether_metadata("s", 0), make.aether_prompt("a"), b'{"kind":"user"', make.aether_prompt("b"))
    ingest(places)
    assert rows(places, "SELECT session_id, line_number FROM parse_errors") == [("s", 3)]
    assert rows(places, "SELECT text FROM prompts ORDER BY line_number") == [("a",), ("b",)]


def test_b89_bad_metadata_is_one_damaged_line_and_the_events_are_kept(home: HomeBuilder, places: Settings) -> None:
    """Aether gives up the file; here the file's name stands for the id that cannot be read."""
    home.aether("named", b"not the metadata", make.aether_prompt("still found"))
    report = ingest(places)
    assert [(problem.kind, problem.line_number) for problem in report.problems] == [("damaged_line", 1)]
    assert rows(places, "SELECT session_id, text FROM prompts") == [("named", "still found")]


def test_b90_and_b91_a_log_that_fails_again_has_one_row_until_it_is_repaired(
    home: HomeBuilder, places: Settings
) -> None:
    state = "SELECT status, session_id, count(*) OVER () FROM sources"
    for content in (b"{torn", b"torn otherwise, and longer"):
        home.aether("s", content)
        ingest(places)
        assert rows(places, state) == [("ignored", None, 1)]
        assert rows(places, "SELECT count(*) FROM sessions") == [(0,)]
    log(home, "s", "repaired")
    ingest(places)
    assert rows(places, state) == [("indexed", "s", 1)]
    assert rows(places, "SELECT error FROM sources UNION ALL SELECT error FROM parse_errors") == [(None,)]
    assert verify(places).ok


OUTCOMES: list[tuple[str, dict[str, Any]]] = [
    ("retry_scheduled", {"outcome": None}),
    ("model_switched", {"outcome": None, "model_name": "ollama:qwen3"}),
    ("context_usage", {"outcome": None, "usage_ratio": 0.0256, "input_tokens": 5120}),
]


@pytest.mark.parametrize(("event_type", "wanted"), OUTCOMES, ids=[name for name, _ in OUTCOMES])
def test_b94_types_and_their_columns(event_type: str, wanted: dict[str, Any], current: Settings) -> None:
    (first, *_) = rows(
        current, f"SELECT {', '.join(wanted)} FROM events WHERE event_type = ? ORDER BY event_index", event_type
    )
    assert first == tuple(wanted.values())


def test_b94_ends_have_their_outcomes(current: Settings) -> None:
    found = rows(
        current,
        """SELECT event_type, group_concat(DISTINCT outcome) FROM
        (SELECT event_type, outcome FROM events WHERE event_type IN ('turn_ended', 'context_compaction_ended')
        ORDER BY outcome) GROUP BY 1 ORDER BY 1""",
    )
    assert found == [("context_compaction_ended", "completed,failed"), ("turn_ended", "cancelled,completed,failed")]
