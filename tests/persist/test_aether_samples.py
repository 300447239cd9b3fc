"""The sample logs against what Aether's own index makes of them, and what we find beyond it."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from persist.agents.aether import agent as aether
from persist.events import EVENT_TYPES, Event, Measures, Usage
from persist.reading import ReadLine, SourceReader
from persist.sources import HISTORY, TRANSCRIPT, Source, Stat

DATA = Path(__file__).parent.parent / "data" / "aether"
EXPECTED = json.loads((DATA / "expected-current-aether.json").read_bytes())
CURRENT = "5b0c7f1e-2d34-4c1b-9a57-0e6f4d2a91c3.jsonl"
OLDEST = "07f4d1b3-8c25-4e69-9a0b-2d3c4e5f6a71.jsonl"
MIDDLE = "92e6a5d4-1f70-4b8c-a3d9-64b5c7d8e9f0.jsonl"
BROKEN = "c41d88a7-0b9e-4f35-8d21-96f0a7b3e5d2.jsonl"
CUT = "e9b2f6c0-5d47-4a1e-b3c8-7f0d1a2b3c4d.jsonl"


def read(name: str, kind: str = TRANSCRIPT) -> tuple[SourceReader, list[ReadLine]]:
    path = DATA / name
    source = Source("aether", kind, str(path), str(DATA), Stat(0, 0, 0, 0))
    with path.open("rb") as file:
        reader = SourceReader(aether.AGENT, source, file)
        return reader, list(reader)


def events(name: str) -> list[Event]:
    return [numbered.event for line in read(name)[1] for numbered in line.events]


def rows(name: str) -> list[dict[str, Any]]:
    """Rows as Aether's index has them, turn by turn as ``persist.reading`` counts."""
    return [
        {
            "event_index": numbered.event_index,
            "line_number": line.number,
            "turn_index": numbered.turn_index,
            "kind": numbered.event.kind,
            "event_type": numbered.event.event_type,
            "outcome": numbered.event.outcome,
            "content_len": len(numbered.event.text or ""),
        }
        for line in read(name)[1]
        for numbered in line.events
    ]


def without(row: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in keys}


def test_current_format_gives_exactly_the_rows_of_aether() -> None:
    assert rows(CURRENT) == EXPECTED[CURRENT]["rows"]


@pytest.mark.parametrize("name", [CURRENT, BROKEN])
def test_every_row_of_aether_comes_out_in_its_order_with_its_turn(name: str) -> None:
    found = [without(row, "event_index") for row in rows(name)]
    wanted = [without(row, "event_index") for row in EXPECTED[name]["rows"]]
    assert [row for row in found if row in wanted] == wanted


@pytest.mark.parametrize("name", [OLDEST, MIDDLE])
def test_older_logs_keep_every_row_of_aether_and_number_more_turns(name: str) -> None:
    """Aether loses the prompts of old logs, so its turns are null; all else is the same."""
    found = [without(row, "event_index", "turn_index") for row in rows(name)]
    wanted = [without(row, "event_index", "turn_index") for row in EXPECTED[name]["rows"]]
    assert [row for row in found if row in wanted] == wanted
    assert len(found) > len(wanted)


def test_oldest_log_gives_everything_it_tells() -> None:
    found = events(OLDEST)
    assert Counter(event.event_type for event in found) == {
        "user_message": 3, "tool_call": 2, "tool_result": 1, "tool_error": 1, "message_text": 1,
        "message_thought": 1, "retry_scheduled": 1, "auto_continue": 1, "context_usage": 2,
        "context_compaction_started": 1, "context_compaction_result": 1, "model_switched": 1,
        "turn_ended": 3, "clear_context": 1, "context_cleared": 1,
    }  # fmt: skip
    assert [event.outcome for event in found if event.event_type == "turn_ended"] == [
        "completed", "failed", "cancelled",
    ]  # fmt: skip
    assert [event.text for event in found if event.is_prompt] == [
        "Why does the kiln controller drift?\nIt is off by 4 degrees.", "Fix it", "Try again",
    ]  # fmt: skip
    assert found[0].record_id is None
    result = next(event for event in found if event.event_type == "tool_result")
    assert result.tool_arguments == '{"pattern":"thermocouple"}'
    assert result.model_name == "anthropic:claude-opus-4-6"


def test_oldest_log_loses_no_line() -> None:
    counts = read(OLDEST)[0].final.counts
    assert (counts.seen, counts.indexed, counts.skipped, counts.damaged) == (26, 22, 4, 0)
    assert counts.skipped_types == {
        "transient:tool/call_update": 2, "transient:tool/progress": 1, "repeated:turn/ended": 1,
    }  # fmt: skip


def test_old_context_usage_fills_the_columns_it_has() -> None:
    first, second = (event.measures for event in events(OLDEST) if event.event_type == "context_usage")
    assert first == Measures(usage_ratio=0.1, context_limit=200000, input_tokens=20000)
    assert second is not None
    assert (second.input_tokens, second.cache_read_tokens, second.total_output_tokens) == (31000, 28000, 800)
    assert (second.usage_ratio, second.reasoning_tokens, second.total_reasoning_tokens) == (None, None, 0)


def test_middle_log_gives_the_whole_turn() -> None:
    found = events(MIDDLE)
    assert [event.event_type for event in found] == [
        "agent_switched", "user_message", "tool_call", "tool_result", "context_usage", "message_text",
        "auto_continue", "context_compaction_started", "context_compaction_result", "context_compaction_ended",
        "session_usage", "turn_ended",
    ]  # fmt: skip
    assert found[9].outcome == "cancelled"
    usage = found[10].measures
    assert usage is not None
    assert (usage.total_estimated_cost_usd, usage.unpriced_calls, usage.estimated_cost_usd) == (0.0, 1, None)
    assert read(MIDDLE)[0].final.counts.damaged == 0


def test_damaged_log_gives_up_only_what_cannot_be_read() -> None:
    reader, lines = read(BROKEN)
    assert [line.number for line in lines if line.outcome == "damaged"] == [6, 7, 12, 13, 14, 18]
    assert [row["line_number"] for row in rows(BROKEN)] == [5, 10, 11, 15, 18, 19, 20]
    assert reader.final.counts.skipped_types == {
        "blank": 4, "unknown:system": 1, "unknown:tool/teleported": 1, "transient:message/text": 1,
    }  # fmt: skip
    assert reader.bytes_pending == len((DATA / BROKEN).read_bytes().rpartition(b"\n")[2])


def test_log_cut_inside_a_character_keeps_the_prompt() -> None:
    reader, _ = read(CUT)
    assert [event.text for event in events(CUT)] == ["Translate the menu"]
    assert reader.final.counts.damaged == 0
    assert reader.bytes_pending > 0


@pytest.mark.parametrize("name", [CURRENT, OLDEST, MIDDLE, BROKEN, CUT])
def test_metadata_tells_the_session(name: str) -> None:
    reader, lines = read(name)
    assert reader.final.session_id == name.removesuffix(".jsonl")
    assert reader.final.recognised
    assert not reader.final.names_parent
    traits = {trait.name for line in lines for trait in line.traits}
    assert traits >= {"cwd", "model", "created_at"}
    assert ("mode" in traits) == (name in (CURRENT, MIDDLE, BROKEN))


def test_creation_time_is_in_the_form_of_the_index() -> None:
    assert read(CURRENT)[0].final.created_at == "2026-09-29T07:41:12.482Z"


def test_usage_sample_fills_the_columns_of_aether_and_one_usage() -> None:
    sample = next(event for event in events(CURRENT) if event.event_type == "session_usage")
    assert sample.model_name == "claude-sonnet-4-5"
    assert sample.measures == Measures(
        input_tokens=5120, output_tokens=210, cache_read_tokens=4096, cache_creation_tokens=512, reasoning_tokens=64,
        total_input_tokens=5120, total_output_tokens=210, total_cache_read_tokens=4096,
        total_cache_creation_tokens=512, total_reasoning_tokens=64, usage_sequence=1,
        agent_id="0d0f8c0a-71c5-4a8e-8a55-6f2f4f6f9b10", agent_name="Planner", call_purpose="chat",
        provider="anthropic", estimated_cost_usd=0.0078348, total_estimated_cost_usd=0.0078348, unpriced_calls=0,
    )  # fmt: skip
    usages = [usage for line in read(CURRENT)[1] for usage in line.usage]
    assert usages == [
        Usage(
            provider="anthropic", model_name="claude-sonnet-4-5", input_tokens=512, output_tokens=210,
            cache_read_tokens=4096, cache_write_tokens=512, reasoning_tokens=64, cost_usd=0.0078348,
        ),
        Usage(input_tokens=900, output_tokens=40),
    ]  # fmt: skip


def test_uncached_tokens_are_those_that_aether_priced_as_input() -> None:
    """The sample's own cost components say which tokens ``input_tokens`` holds."""
    for line in (DATA / CURRENT).read_bytes().splitlines():
        event = json.loads(line).get("data", {}).get("event", {})
        if event.get("estimated_cost"):
            per_token = event["model"]["pricing"]["input_per_million"] / 1e6
            assert event["estimated_cost"]["input_usd"] == pytest.approx(512 * per_token)
            return
    pytest.fail("the sample has no priced call")


def test_prompt_of_media_only_is_a_prompt_without_text() -> None:
    media = [event for event in events(CURRENT) if event.is_prompt and event.text is None]
    assert [event.message_id for event in media] == ["2c9d7a55-0f6b-4e35-8b0a-7d1f2c3b4a02"]
    assert media[0].record_id == media[0].message_id


def test_display_form_is_the_text_and_blocks_are_joined_by_a_newline() -> None:
    prompts = [event.text for event in events(CURRENT) if event.is_prompt]
    assert prompts[0] == "/plan Importer fails on station 0417 — why?"
    assert prompts[2] == "Guard both callers.\nUse STATIONS.get everywhere."


def test_task_events_keep_call_name_and_arguments() -> None:
    tasks = {event.event_type: event for event in events(CURRENT) if "task" in event.event_type}
    assert tasks["tool_task_cancelled"].text == "task_2: cancelled"
    assert tasks["tool_task_completed"].tool_arguments is not None
    assert "Find every caller" in tasks["tool_task_completed"].tool_arguments
    assert (tasks["tool_task_failed"].tool_call_id, tasks["tool_task_failed"].tool_name) == (
        "call_spawn_2", "agents__spawn",
    )  # fmt: skip


@pytest.mark.parametrize("name", [CURRENT, OLDEST, MIDDLE, BROKEN])
def test_only_known_event_types_and_declared_skips_are_given(name: str) -> None:
    assert {event.event_type for event in events(name)} <= set(EVENT_TYPES)
    skipped = set(read(name)[0].final.counts.skipped_types) - {"blank"}
    assert {kind for kind in skipped if not kind.startswith("unknown:")} <= set(aether.AGENT.skips)


def test_prompt_history_gives_its_whole_entries() -> None:
    reader, lines = read("prompt-history.jsonl", HISTORY)
    prompts = [prompt for line in lines for prompt in line.prompts]
    assert [prompt.text for prompt in prompts] == [
        "Why does the kiln controller drift?\nIt is off by 4 degrees.",
        "/plan Importer fails on station 0417 — why?",
        "Translate İSTANBUL and ΟΔΟΣ for the GROẞE map",
        "Reconcile the March ledger",
    ]
    assert prompts[3].session_id == "c41d88a7-0b9e-4f35-8d21-96f0a7b3e5d2"
    assert (prompts[3].project, prompts[3].ts) == ("/home/ines/work/ledger", None)
    assert [line.number for line in lines if line.outcome == "damaged"] == [4]
    assert reader.bytes_pending == len('{"sessionId":"c41d')
    assert reader.final.recognised
    assert reader.final.session_id is None
