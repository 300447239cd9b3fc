"""What is read leniently, what is skipped by name, and what is refused."""

import json
import math
from typing import Any, ClassVar

import pytest

from persist.agents.aether.records import MAX_ID_CHARACTERS, AetherParser
from persist.agents.prompt_history_records import PromptHistoryParser
from persist.errors import ShapeError
from persist.events import Event, Parsed, Trait
from persist.sources import Line

HERE = Line(2, 100)


def feed(record: Any) -> Parsed:
    return AetherParser().feed(record, HERE)


def one(record: Any) -> Event:
    parsed = feed(record)
    assert len(parsed.events) == 1
    assert parsed.skipped is None
    return parsed.events[0]


def agent(category: str, event: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "agent", "data": {"category": category, "event": event}}


def user(**fields: Any) -> dict[str, Any]:
    return {"kind": "user", "data": {"type": "message", **fields}}


REQUEST = {"id": "c1", "name": "bash", "arguments": "{}"}


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ([], None),
        (None, None),
        ("plain", "plain"),
        (["a", "b"], "a\nb"),
        ([{"type": "text", "text": ""}], None),
        ([{"type": "hologram", "data": "x"}, {"type": "text", "text": "seen"}], "seen"),
        ([{"type": "text", "text": "a\n"}, {"type": "text", "text": "b"}], "a\n\nb"),
    ],
)
def test_content_in_every_form_gives_its_text(content: Any, wanted: Any) -> None:
    event = one(user(content=content))
    assert (event.text, event.is_prompt, event.record_id) == (wanted, True, None)


@pytest.mark.parametrize(
    ("display", "wanted"),
    [
        ([], None),
        (None, "expanded"),
        ([{"type": "text", "text": "/plan"}], "/plan"),
        ([{"type": "image", "data": ""}], None),
        ("/plan as text", "/plan as text"),
    ],
)
def test_display_form_replaces_the_content_even_when_empty(display: Any, wanted: Any) -> None:
    content = [{"type": "text", "text": "expanded"}]
    assert one(user(message_id="m", content=content, display_content=display)).text == wanted


def test_display_form_alone_is_enough() -> None:
    assert one(user(display_content=[{"type": "text", "text": "/x"}])).text == "/x"


def test_a_text_without_the_flag_is_complete_because_logs_hold_no_others() -> None:
    assert one(agent("message", {"type": "text", "message_id": "m1", "chunk": "no flag"})).text == "no flag"


def test_an_empty_text_is_an_event_with_an_empty_text() -> None:
    assert one(agent("message", {"type": "text", "message_id": "m", "chunk": "", "is_complete": True})).text == ""


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ('{"a":1}', '{"a":1}'),
        ({"a": [1, "é"]}, '{"a":[1,"é"]}'),
        (["x"], '["x"]'),
        (None, None),
        ("", ""),
    ],
)
def test_arguments_are_kept_as_text_whatever_their_type(arguments: Any, wanted: Any) -> None:
    assert one(agent("tool", {"type": "call", "request": {**REQUEST, "arguments": arguments}})).tool_arguments == wanted


def test_a_result_that_is_not_text_is_kept_as_json() -> None:
    event = {"type": "result", "result": {**REQUEST, "result": {"rows": [1, 2]}}, "result_meta": None}
    assert one(agent("tool", event)).text == '{"rows":[1,2]}'


def test_whole_numbers_may_be_written_with_a_point() -> None:
    event = {"type": "usage_updated", "usage": {"usage_ratio": 1, "context_limit": 1000.0, "input_tokens": 3}}
    measures = one(agent("context", event)).measures
    assert measures is not None
    assert (measures.usage_ratio, measures.context_limit, measures.input_tokens) == (1.0, 1000, 3)
    assert isinstance(measures.context_limit, int)


@pytest.mark.parametrize("given", [2**63, 2**64 - 1, 1e300])
def test_counts_beyond_signed_64_bits_are_capped(given: Any) -> None:
    measures = one(agent("context", {"type": "usage_updated", "usage": {"input_tokens": given}})).measures
    assert measures is not None
    assert measures.input_tokens == 2**63 - 1


def test_numbers_that_are_none_are_unknown() -> None:
    usage = {"usage_ratio": math.nan, "context_limit": math.inf, "input_tokens": None}
    measures = one(agent("context", {"type": "usage_updated", "usage": usage})).measures
    assert measures is not None
    assert (measures.usage_ratio, measures.context_limit, measures.input_tokens) == (None, None, None)


def test_usage_sample_with_the_least_it_can_say_is_read() -> None:
    parsed = feed(agent("session_usage", {"tokens": {"input_tokens": 7}}))
    assert parsed.usage[0].input_tokens == 7
    assert parsed.usage[0].output_tokens is None


def test_cached_tokens_beyond_the_input_were_counted_apart() -> None:
    tokens = {"input_tokens": 100, "output_tokens": 1, "cache_read_tokens": 4000}
    assert feed(agent("session_usage", {"tokens": tokens})).usage[0].input_tokens == 100


def test_unpriced_sample_has_no_cost() -> None:
    assert feed(agent("session_usage", {"tokens": {}, "estimated_cost": None})).usage[0].cost_usd is None


@pytest.mark.parametrize(
    ("record", "name"),
    [
        ({"kind": "system", "data": {}}, "unknown:system"),
        ({"kind": "a kind of its own", "data": {}}, "unknown:?"),
        ({"kind": "user", "data": {"type": "rated"}}, "unknown:user/rated"),
        ({"kind": "control", "data": {"type": "paused"}}, "unknown:control/paused"),
        (agent("tool", {"type": "teleported"}), "unknown:tool/teleported"),
        (agent("dream", {"type": "began"}), "unknown:dream/began"),
        ({"kind": "agent", "data": {"Levitate": {}}}, "unknown:agent/Levitate"),
        ({"kind": "agent", "data": "Paused"}, "unknown:agent/Paused"),
        (agent("turn", {"type": "llm_call_ended", "outcome": {"status": "lost"}}), "unknown:turn/llm_call_ended"),
        (
            agent("turn", {"type": "llm_call_ended", "outcome": {"status": "cancelled"}}),
            "transient:turn/llm_call_ended",
        ),
        (agent("turn", {"type": "llm_call_started", "model": "gpt-5"}), "transient:turn/llm_call_started"),
        (agent("tool", {"type": "execution_started", "tool_id": "c"}), "transient:tool/execution_started"),
        (agent("message", {"type": "thought", "chunk": "x", "is_complete": False}), "transient:message/thought"),
    ],
)
def test_what_is_left_out_is_left_out_by_name(record: Any, name: Any) -> None:
    assert feed(record) == Parsed(skipped=name)


def test_unknown_records_alone_are_not_recognised() -> None:
    parser = AetherParser()
    parser.feed({"kind": "system", "data": {}}, HERE)
    assert not parser.recognised
    parser.feed(agent("turn", {"type": "started"}), HERE)
    assert parser.recognised


@pytest.mark.parametrize(
    "record",
    [
        [], None, 42, "text", True, {}, {"cwd": "/x"},
        {"kind": None}, {"kind": 3, "data": {}}, {"kind": "user"}, {"kind": "user", "data": []},
        {"kind": "user", "data": {}},
        user(), user(content=7), user(content=[7]), user(content=[{"type": "text", "text": 7}]),
        user(content=[{"type": "text"}]), user(content=[], message_id=[]), user(content=[], message_id=True),
        {"kind": "control", "data": {"type": "agentSwitched", "from": {}, "to": None}},
        {"kind": "agent", "data": None}, {"kind": "agent", "data": {}}, {"kind": "agent", "data": {"a": 1, "b": 2}},
        {"kind": "agent", "data": {"category": 1, "event": {}}}, {"kind": "agent", "data": {"category": "tool"}},
        agent("tool", {}), agent("tool", {"type": 1}), agent("tool", {"type": "call"}),
        agent("tool", {"type": "call", "request": "c1"}),
        agent("tool", {"type": "call", "request": {**REQUEST, "name": {}}}),
        agent("tool", {"type": "result", "result": REQUEST}), agent("tool", {"type": "error", "error": "x"}),
        agent("tool", {"type": "task_created", "request": REQUEST, "task_id": {}}),
        agent("tool", {"type": "call_update", "tool_call_id": None, "chunk": "x"}),
        agent("tool", {"type": "call_update", "tool_call_id": "c1", "chunk": {}}),
        agent("message", {"type": "text", "message_id": "m", "is_complete": True}),
        agent("message", {"type": "text", "message_id": "m", "chunk": "x", "is_complete": 1}),
        agent("turn", {"type": "ended"}), agent("turn", {"type": "ended", "outcome": {"status": 1}}),
        agent("context", {"type": "usage_updated"}),
        agent("context", {"type": "usage_updated", "usage": {"input_tokens": -5}}),
        agent("context", {"type": "usage_updated", "usage": {"input_tokens": True}}),
        agent("context", {"type": "usage_updated", "usage": {"input_tokens": 5.5}}),
        agent("context", {"type": "usage_updated", "usage": {"usage_ratio": "0.5"}}),
        agent("context", {"type": "compaction_result", "messages_removed": 2}),
        agent("model", {"type": "switched", "previous": "a"}),
        agent("session_usage", {"tokens": []}), agent("session_usage", {}),
        {"sessionId": 7}, {"sessionId": "  "}, {"sessionId": None}, {"sessionId": "a", "cwd": []},
        {"sessionId": "a", "createdAt": {}}, {"sessionId": "x" * (MAX_ID_CHARACTERS + 1)},
    ],
    ids=lambda record: json.dumps(record)[:70],
)  # fmt: skip
def test_wrong_shapes_are_refused_and_leave_the_state_alone(record: Any) -> None:
    parser = AetherParser()
    parser.feed(agent("tool", {"type": "call", "request": {**REQUEST, "arguments": ""}}), HERE)
    before = parser.save()
    with pytest.raises(ShapeError):
        parser.feed(record, HERE)
    assert parser.save() == before


def test_reasons_never_quote_what_was_written() -> None:
    private = "walrus-7"
    for record in (
        user(content=[{"type": "text", "text": [private]}]),
        {"kind": {private: 1}},
        {"sessionId": [private]},
    ):
        with pytest.raises(ShapeError) as raised:
            feed(record)
        assert private not in str(raised.value)


def test_a_value_nested_too_deeply_to_be_written_is_refused() -> None:
    value: list[Any] = []
    for _ in range(200_000):
        value = [value]
    with pytest.raises(ShapeError, match="nested"):
        feed(agent("tool", {"type": "call", "request": {**REQUEST, "arguments": value}}))


def test_fork_refusal_is_an_event_with_its_reason() -> None:
    event = one(agent("tool", {"type": "refused", "request": REQUEST, "reason": "not allowed here"}))
    assert (event.event_type, event.outcome, event.text) == ("tool_refused", "refused", "not allowed here")


def test_fork_outcome_keeps_its_name() -> None:
    outcome = {"status": "max_turns_reached", "max_turns": 40}
    assert one(agent("turn", {"type": "ended", "outcome": outcome})).outcome == "max_turns_reached"


def test_fork_failure_may_carry_a_kind() -> None:
    outcome = {"status": "failed", "kind": "overload", "error": "x", "will_retry": True}
    assert one(agent("turn", {"type": "llm_call_ended", "outcome": outcome})).outcome == "failed"


class TestMetadata:
    WHOLE: ClassVar[dict[str, Any]] = {
        "sessionId": "s1",
        "cwd": "/w",
        "model": "a:b",
        "selectedMode": "Coder",
        "createdAt": "2026-01-02T03:04:05Z",
    }
    TRAITS = (
        Trait("cwd", "/w"), Trait("model", "a:b"), Trait("mode", "Coder"),
        Trait("created_at", "2026-01-02T03:04:05.000Z"),
    )  # fmt: skip

    def test_tells_its_facts(self) -> None:
        parser = AetherParser()
        assert parser.feed(self.WHOLE, HERE) == Parsed(traits=self.TRAITS)
        assert (parser.session_id, parser.recognised) == ("s1", True)

    def test_needs_only_the_id(self) -> None:
        parser = AetherParser()
        assert parser.feed({"sessionId": "s1"}, HERE) == Parsed(skipped="metadata")
        assert parser.session_id == "s1"

    def test_unreadable_creation_time_is_no_fact(self) -> None:
        names = [trait.name for trait in feed({**self.WHOLE, "createdAt": "yesterday"}).traits]
        assert names == ["cwd", "model", "mode"]

    def test_events_before_it_are_indexed(self) -> None:
        parser = AetherParser()
        assert len(parser.feed(user(content="early"), HERE).events) == 1
        assert parser.session_id is None
        parser.feed(self.WHOLE, HERE)
        assert parser.session_id == "s1"

    def test_a_second_one_of_the_same_session_tells_its_traits_again(self) -> None:
        parser = AetherParser()
        parser.feed(self.WHOLE, HERE)
        moved = parser.feed({**self.WHOLE, "cwd": "/moved"}, HERE)
        assert moved.traits[0] == Trait("cwd", "/moved")

    def test_a_second_one_of_another_session_is_damage(self) -> None:
        parser = AetherParser()
        parser.feed(self.WHOLE, HERE)
        with pytest.raises(ShapeError, match="another session"):
            parser.feed({**self.WHOLE, "sessionId": "s2"}, HERE)
        assert parser.session_id == "s1"


class TestPromptHistory:
    ENTRY: ClassVar[dict[str, Any]] = {
        "sessionId": "s",
        "cwd": "/w",
        "sessionCreatedAt": "2026-01-02T03:04:05Z",
        "prompt": "p",
    }

    @pytest.mark.parametrize("key", sorted(ENTRY))
    @pytest.mark.parametrize("value", [None, 7, ["p"]])
    def test_a_key_of_another_type_is_refused(self, key: Any, value: Any) -> None:
        parser = PromptHistoryParser()
        with pytest.raises(ShapeError, match=key):
            parser.feed({**self.ENTRY, key: value}, HERE)
        assert not parser.recognised

    @pytest.mark.parametrize("key", sorted(ENTRY))
    def test_a_missing_key_is_refused(self, key: Any) -> None:
        with pytest.raises(ShapeError, match=key):
            PromptHistoryParser().feed({name: v for name, v in self.ENTRY.items() if name != key}, HERE)

    @pytest.mark.parametrize("record", [[], None, "p", 3])
    def test_what_is_no_object_is_refused(self, record: Any) -> None:
        with pytest.raises(ShapeError, match="not an object"):
            PromptHistoryParser().feed(record, HERE)

    def test_further_keys_are_passed_over_and_the_state_goes_on(self) -> None:
        parser = PromptHistoryParser()
        (prompt,) = parser.feed({**self.ENTRY, "extra": 1}, HERE).prompts
        assert (prompt.text, prompt.session_id, prompt.project, prompt.ts) == ("p", "s", "/w", None)
        assert PromptHistoryParser(json.loads(json.dumps(parser.save()))).recognised
