"""Older shapes become the current one, and only they."""

import json
from pathlib import Path
from typing import Any

import pytest

from persist.agents.aether.calls import best_arguments
from persist.agents.aether.eras import normalise
from persist.agents.aether.records import AetherParser
from persist.sources import Line

DATA = Path(__file__).parent.parent / "data" / "aether"
CURRENT = (DATA / "5b0c7f1e-2d34-4c1b-9a57-0e6f4d2a91c3.jsonl").read_text("utf-8").splitlines()[1:]
HERE = Line(1, 0)


def old(variant: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "agent", "data": {variant: fields}}


@pytest.mark.parametrize("line", CURRENT, ids=[f"line {number}" for number in range(2, len(CURRENT) + 2)])
def test_current_lines_pass_through_untouched(line: str) -> None:
    record = json.loads(line)
    assert normalise(record).record is record


@pytest.mark.parametrize(
    ("record", "category", "event"),
    [
        (old("Text", message_id="m", chunk="c", is_complete=True), "message", {"type": "text", "chunk": "c"}),
        (old("Thought", message_id="m", chunk="c", is_complete=True), "message", {"type": "thought"}),
        (old("ToolCall", request={"id": "c"}), "tool", {"type": "call", "request": {"id": "c"}}),
        (old("ToolCallUpdate", tool_call_id="c", chunk="{"), "tool", {"type": "call_update", "chunk": "{"}),
        (old("ToolProgress", request={}, progress=1.0), "tool", {"type": "progress"}),
        (old("ToolResult", result={"id": "c"}), "tool", {"type": "result", "result": {"id": "c"}}),
        (old("ToolError", error={"id": "c"}), "tool", {"type": "error", "error": {"id": "c"}}),
        (old("Error", message="m"), "turn", {"type": "ended", "outcome": {"status": "failed", "error": "m"}}),
        (old("Cancelled", message="m"), "turn", {"type": "ended", "outcome": {"status": "cancelled"}}),
        (old("Retrying", attempt=1, error="e"), "turn", {"type": "retry_scheduled", "purpose": "chat", "attempt": 1}),
        (old("AutoContinue", attempt=1, max_attempts=3), "turn", {"type": "auto_continue", "attempt": 1}),
        (old("ContextCompactionStarted", message_count=6), "context", {"type": "compaction_started"}),
        (old("ContextCompactionResult", summary="s"), "context", {"type": "compaction_result", "summary": "s"}),
        (old("ModelSwitched", previous="a", new="b"), "model", {"type": "switched", "previous": "a", "new": "b"}),
        ({"kind": "agent", "data": "Done"}, "turn", {"type": "ended", "outcome": {"status": "completed"}}),
        ({"kind": "agent", "data": "ContextCleared"}, "context", {"type": "cleared"}),
    ],
    ids=lambda value: next(iter(value["data"])) if isinstance(value, dict) and "data" in value else "",
)
def test_every_old_variant_has_a_namesake(record: Any, category: str, event: Any) -> None:
    before = json.dumps(record)
    current, old_name = normalise(record)
    assert json.dumps(record) == before, "the record given is not changed"
    assert current["data"]["category"] == category
    assert event.items() <= current["data"]["event"].items()
    assert old_name is not None


def test_tokens_used_are_the_input_tokens_unless_both_are_there() -> None:
    assert normalise(old("ContextUsageUpdate", tokens_used=5)).record["data"]["event"]["usage"] == {"input_tokens": 5}
    both = normalise(old("ContextUsageUpdate", tokens_used=5, input_tokens=7)).record
    assert both["data"]["event"]["usage"] == {"input_tokens": 7}


def test_text_content_becomes_a_block() -> None:
    record = {"kind": "user", "data": {"type": "message", "content": "hi"}}
    assert normalise(record).record["data"] == {"type": "message", "content": [{"type": "text", "text": "hi"}]}


def test_model_of_a_started_call_becomes_an_object() -> None:
    event = {"type": "llm_call_started", "provider": "openai", "model": "gpt-5"}
    current = normalise({"kind": "agent", "data": {"category": "turn", "event": event}}).record
    assert current["data"]["event"]["model"] == {"provider": "openai", "model_id": "gpt-5", "pricing": None}


def test_outcome_as_bare_text_becomes_an_object() -> None:
    record = {"kind": "agent", "data": {"category": "turn", "event": {"type": "ended", "outcome": "cancelled"}}}
    assert normalise(record).record["data"]["event"]["outcome"] == {"status": "cancelled"}


@pytest.mark.parametrize("data", [None, [], 3, {}, {"Text": 3}, {"Text": None}, {"a": 1, "b": 2}, {"category": []}])
@pytest.mark.parametrize("kind", ["agent", "user", None, 3, []])
def test_what_is_not_known_comes_back_as_it_was(kind: Any, data: Any) -> None:
    record = {"kind": kind, "data": data}
    assert normalise(record).record is record


def ends(*records: Any) -> list[Any]:
    parser = AetherParser()
    parsed = [parser.feed(record, HERE) for record in records]
    return [one.events[0].outcome if one.events else one.skipped for one in parsed]


DONE = {"kind": "agent", "data": "Done"}
CANCELLED = old("Cancelled", message="stopped")
PROMPT = {"kind": "user", "data": {"type": "message", "content": "go on"}}


def test_done_after_a_cancellation_ends_no_second_turn() -> None:
    assert ends(CANCELLED, DONE) == ["cancelled", "repeated:turn/ended"]


def test_done_of_the_next_turn_counts() -> None:
    assert ends(CANCELLED, PROMPT, DONE) == ["cancelled", None, "completed"]
    assert ends(CANCELLED, DONE, PROMPT, DONE) == ["cancelled", "repeated:turn/ended", None, "completed"]


def test_other_lines_between_do_not_make_done_count() -> None:
    usage = old("ContextUsageUpdate", tokens_used=5)
    assert ends(CANCELLED, usage, DONE) == ["cancelled", None, "repeated:turn/ended"]


@pytest.mark.parametrize(
    ("initial", "pieces", "wanted"),
    [
        ("", '{"a":1}', '{"a":1}'),
        ('{"a":', "1}", '{"a":1}'),
        ('{"path":"x"}', "{}", '{"path":"x"}'),
        ("{}", '{"path":"x"}', '{"path":"x"}'),
        ('{"a":1}', "", '{"a":1}'),
        ("", '{"a":', '{"a":'),
        ("", "", ""),
    ],
)
def test_arguments_are_put_together_from_what_makes_sense(initial: str, pieces: str, wanted: Any) -> None:
    assert best_arguments(initial, pieces) == wanted


def call(call_id: str, arguments: str) -> dict[str, Any]:
    return old("ToolCall", request={"id": call_id, "name": "t", "arguments": arguments})


def update(call_id: str, piece: str) -> dict[str, Any]:
    return old("ToolCallUpdate", tool_call_id=call_id, chunk=piece)


def result(call_id: str, arguments: str | None) -> dict[str, Any]:
    return old("ToolResult", result={"id": call_id, "name": "t", "arguments": arguments, "result": "r"})


def answered_arguments(*records: Any) -> list[str | None]:
    parser = AetherParser()
    parsed = [parser.feed(record, HERE) for record in records]
    return [e.tool_arguments for one in parsed for e in one.events if e.event_type == "tool_result"]


def test_assembled_arguments_stand_on_the_answer() -> None:
    lines = [call("c", ""), update("c", '{"a":'), update("c", "1}"), result("c", "")]
    assert answered_arguments(*lines) == ['{"a":1}']


def test_the_answers_own_copy_wins() -> None:
    assert answered_arguments(call("c", ""), update("c", '{"a":1}'), result("c", '{"b":2}')) == ['{"b":2}']


def test_a_reused_id_begins_anew() -> None:
    lines = [call("c", '{"a":1}'), result("c", None), call("c", ""), update("c", '{"b":2}'), result("c", None)]
    assert answered_arguments(*lines) == ['{"a":1}', '{"b":2}']


def test_pieces_after_the_answer_or_without_a_call_change_nothing() -> None:
    lines = [update("c", "x"), call("c", ""), update("c", "{}"), result("c", ""), update("c", "x"), result("c", "")]
    assert answered_arguments(*lines) == ["{}", ""]


def test_a_deferred_call_shows_its_arguments_and_stays_open() -> None:
    request = {"id": "c", "name": "t", "arguments": ""}
    created = {"type": "task_created", "request": request, "task_id": "t1"}
    cancelled = {"type": "task_cancelled", "request": request, "task_id": "t1"}
    parser = AetherParser()
    for record in (call("c", ""), update("c", '{"a":1}')):
        parser.feed(record, HERE)
    for event in (created, cancelled):
        parsed = parser.feed({"kind": "agent", "data": {"category": "tool", "event": event}}, HERE)
        assert parsed.events[0].tool_arguments == '{"a":1}'
    assert parser.save()["calls"] == []
