"""How events become Aster's messages: replies told in pieces, results, compactions, what is cut and what is made up."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest

from persist.aster.importing.injected import content_text, is_injected
from persist.aster.importing.records import RESULT_BYTES, message_record, result_text, wire_time
from persist.aster.importing.rounds import Rounds
from persist.aster.importing.seen import Seen
from persist.events import AGENT, CONTROL, USER, Event

TS = "2026-05-04T08:00:00.000Z"
LATER = "2026-05-04T08:00:01.500Z"
FALLBACK = "2026-01-01T00:00:00.000Z"


def rounds(*groups: Iterable[Event]) -> list[dict[str, Any]]:
    maker = Rounds(lambda: FALLBACK)
    records = [record for group in groups for record in maker.feed(tuple(group))]
    return records + list(maker.end())


def text(words: str, message_id: str | None = None, ts: str | None = TS, *, grows: bool = True) -> Event:
    return Event(AGENT, "message_text", words, ts, message_id=message_id, may_grow=grows)


def thought(words: str | None, message_id: str | None = None) -> Event:
    return Event(AGENT, "message_thought", words, TS, message_id=message_id, may_grow=True)


def call(call_id: str | None, message_id: str | None = None, arguments: str | None = "{}") -> Event:
    return Event(
        AGENT, "tool_call", None, TS, tool_call_id=call_id, tool_name="Bash", tool_arguments=arguments,
        message_id=message_id,
    )  # fmt: skip


def result(call_id: str | None, words: str | None, event_type: str = "tool_result") -> Event:
    return Event(AGENT, event_type, words, LATER, tool_call_id=call_id)


def prompt(words: str | None, *, is_prompt: bool = True) -> Event:
    return Event(USER, "user_message", words, TS, is_prompt=is_prompt)


def told(records: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [
        (record["role"], record.get("content"), [one["id"] for one in record.get("tool_calls", [])])
        for record in records
    ]


class TestReplies:
    def test_one_reply_in_several_records_is_one_message(self) -> None:
        records = rounds([thought("hm", "m1")], [text("Look.", "m1")], [call("a", "m1")], [call("b", "m1")])
        assert told(records) == [("assistant", "Look.", ["a", "b"])]
        assert records[0]["reasoning"] == {"text": "hm", "tokens": 1}

    def test_a_text_that_streams_is_told_once_in_its_longest_form(self) -> None:
        records = rounds([text("It", "m1")], [text("It wor", "m1")], [text("It works", "m1")], [text("It", "m1")])
        assert told(records) == [("assistant", "It works", [])]

    def test_a_text_told_again_behind_the_results_is_not_told_twice(self) -> None:
        records = rounds([text("Look.", "m1")], [call("a", "m1")], [result("a", "ok")], [text("Look.", "m1")])
        assert told(records) == [("assistant", "Look.", ["a"]), ("tool", "ok", [])]

    def test_another_reply_with_the_same_words_stays(self) -> None:
        assert told(rounds([text("ok", "m1")], [text("ok", "m2")])) == [("assistant", "ok", [])] * 2
        assert told(rounds([text("ok")], [text("ok")])) == [("assistant", "ok", [])] * 2

    def test_two_texts_of_one_reply_are_joined(self) -> None:
        assert told(rounds([text("One.", "m1"), text("Two.", "m1")])) == [("assistant", "One.\n\nTwo.", [])]

    def test_a_call_that_is_told_again_is_one_call(self) -> None:
        assert told(rounds([call("a", "m1")], [call("a", "m1")])) == [("assistant", None, ["a"])]

    def test_without_ids_words_and_the_calls_behind_them_are_one_reply(self) -> None:
        records = rounds([text("Look.")], [call("a")], [call("b")], [text("And?")], [thought("hm")], [call("c")])
        assert told(records) == [
            ("assistant", "Look.", ["a", "b"]),
            ("assistant", "And?", []),
            ("assistant", None, ["c"]),
        ]

    def test_a_prompt_ends_a_reply(self) -> None:
        records = rounds([call("a", "m1")], [prompt("stop")], [text("Stopped.", "m1")])
        assert [record["role"] for record in records] == ["assistant", "user", "assistant"]

    @pytest.mark.parametrize("nothing", [text(" \n", "m1"), thought(None, "m1"), thought("  ", "m1"), text("")])
    def test_a_reply_without_words_and_calls_is_none(self, nothing: Event) -> None:
        assert rounds([nothing]) == []


class TestResults:
    def test_they_follow_the_message_with_their_call(self) -> None:
        records = rounds([call("a", "m1"), call("b", "m1")], [result("b", "2")], [result("a", "1")])
        assert told(records) == [("assistant", None, ["a", "b"]), ("tool", "2", []), ("tool", "1", [])]
        assert [record.get("tool_call_id") for record in records] == [None, "b", "a"]

    def test_a_call_told_behind_its_result_comes_first(self) -> None:
        records = rounds([result("a", "1"), call("a")])
        assert told(records) == [("assistant", None, ["a"]), ("tool", "1", [])]

    @pytest.mark.parametrize(
        ("event_type", "words", "content"),
        [
            ("tool_result", None, ""),
            ("tool_error", "no such file", "error: no such file"),
            ("tool_error", "error: no such file", "error: no such file"),
            ("tool_refused", None, "error: "),
        ],
    )
    def test_failures_say_so(self, event_type: str, words: str | None, content: str) -> None:
        assert rounds([result("a", words, event_type)])[0]["content"] == content

    @pytest.mark.parametrize("letter", ["x", "é", "漢", "🧾"])
    def test_24000_bytes_are_kept_and_no_half_character(self, letter: str) -> None:
        whole = letter * (RESULT_BYTES // len(letter.encode()))
        assert result_text(whole, failed=False) == whole
        cut = result_text(f"ab{whole}c", failed=False)
        kept, _, marker = cut.rpartition("\n")
        assert len(kept.encode()) <= RESULT_BYTES < len(kept.encode()) + 4
        assert f"ab{whole}".startswith(kept)
        assert marker == f"[cut: 24000 of {len(whole.encode()) + 3} bytes]"
        assert len(result_text(whole, failed=True).rpartition("\n")[0].encode()) <= RESULT_BYTES

    def test_lone_surrogates_do_not_stop_a_cut(self) -> None:
        assert result_text("\ud800" * 10_000, failed=False).startswith("\ufffd")


class TestWhatIsMadeUp:
    def test_a_call_without_an_id_gets_one(self) -> None:
        records = rounds([call(None)], [call("")])
        assert told(records) == [("assistant", None, ["call_1", "call_2"])]

    @pytest.mark.parametrize(
        ("given", "written"),
        [
            (None, {}),
            ('{"a": 1}', {"a": 1}),
            ("*** Begin Patch", {"input": "*** Begin Patch"}),
            ("[1]", {"input": "[1]"}),
            ("", {"input": ""}),
            ('{"a":', {"input": '{"a":'}),
        ],
    )
    def test_arguments_are_always_the_text_of_an_object(self, given: str | None, written: dict[str, Any]) -> None:
        arguments = rounds([call("a", arguments=given)])[0]["tool_calls"][0]["function"]["arguments"]
        assert json.loads(arguments) == written

    def test_a_missing_time_is_that_of_the_message_before(self) -> None:
        records = rounds([text("early", "m0", None)], [prompt("hello")], [text("late", "m1", None)])
        assert [record["ts"] for record in records] == ["2026-01-01T00:00:00Z", *["2026-05-04T08:00:00Z"] * 2]
        assert wire_time(LATER) == "2026-05-04T08:00:01.500Z"

    def test_a_picture_without_words_leaves_its_mark(self) -> None:
        assert told(rounds([prompt(None)])) == [("user", "[image]", [])]
        assert rounds([prompt(None, is_prompt=False)]) == []
        assert rounds([prompt(" ", is_prompt=False)]) == []


class TestTheRest:
    def test_machine_text_is_recorded_and_is_no_turn(self) -> None:
        events = [
            Event(USER, "user_notice", "<task-notification>x</task-notification>", TS),
            Event(CONTROL, "system_message", "be brief", TS),
            Event(AGENT, "llm_call_ended", "overloaded", TS),
            Event(CONTROL, "turn_ended", "[Request interrupted by user]", TS),
            Event(CONTROL, "turn_ended", None, TS),
            Event(AGENT, "retry_scheduled", "again", TS),
            Event(CONTROL, "context_usage", None, TS),
            Event(CONTROL, "session_title", "A title", TS),
        ]
        maker = Rounds(lambda: FALLBACK)
        records = [record for event in events for record in maker.feed((event,))]
        assert [record["role"] for record in records] == ["system"] * 4
        assert not maker.holds_talk
        assert maker.first_ts is None

    def test_a_compaction_is_a_summary_of_all_before_it(self) -> None:
        compaction = Event(AGENT, "context_compaction_result", "We fixed it.", TS)
        records = rounds(
            [prompt("one")], [text("two", "m1")], [call("a", "m2")], [result("a", "3")], [compaction], [prompt("four")]
        )
        summary = records[4]
        assert list(summary) == ["type", "content", "replaces_through", "ts", "keeps_from_line"]
        assert (summary["content"], summary["replaces_through"], summary["keeps_from_line"]) == ("We fixed it.", 2, 6)
        assert rounds([compaction._replace(text=" ")]) == []

    def test_the_key_order_is_asters(self) -> None:
        record = message_record("assistant", TS, content="c", calls=[], tool_call_id="t", reasoning="abcde")
        assert list(record) == ["type", "role", "content", "tool_call_id", "ts", "reasoning"]
        assert record["reasoning"] == {"text": "abcde", "tokens": 2}


class TestAstersTextRules:
    """What Aster asserts of a content's text (``spec/aster.md`` 7, behaviour 32)."""

    def test_32_injected_parts_and_tool_parts_go_plain_strings_and_input_text_stay(self) -> None:
        parts = [
            {"type": "text", "text": "<ide_selection>x</ide_selection>"},
            {"type": "input_text", "text": "one"},
            {"type": "tool_use", "text": "no"},
            {"type": ["text"], "text": "no"},
            {"type": "text", "text": 5},
            {"type": "text", "text": "  "},
            {"text": "two"},
            "three",
        ]
        assert content_text(parts) == "one\n\ntwo"
        assert content_text("plain") == "plain"
        assert content_text(" <system-reminder>x</system-reminder>") is None
        assert content_text([]) is None
        assert content_text(None) is None
        assert content_text({"text": "x"}) is None

    def test_a_quoted_element_is_not_injected(self) -> None:
        assert not is_injected("what is <system-reminder>?")
        assert is_injected("\n <environment_context>x")


def test_what_was_seen_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Seen, "_MAX", 3)
    seen = Seen()
    assert [seen.is_new(name) for name in ("a", "b", "a", "c", "d", "d")] == [True, True, False, True, True, False]
    assert "d" in seen
    assert "a" not in seen
