"""Claude Code transcripts: what each kind of record becomes, and what is left out by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from persist.agents.claude_code.agent import AGENT
from persist.errors import ShapeError
from persist.events import EVENT_TYPES, Event, Parsed, Trait, Usage
from persist.sources import TRANSCRIPT, Line, Parser, Source, Stat

DATA = Path(__file__).parent.parent / "data"
EVERY_KIND = DATA / "claude_code" / "every-kind-of-record.jsonl"


def source(path: str | Path = "/h/projects/-w/one.jsonl", hint: str = "") -> Source:
    return Source("claude-code", TRANSCRIPT, str(path), "/h", Stat(0, 0, 0, 0), hint)


def records(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def feed_all(parser: Parser, values: list[Any]) -> list[Parsed]:
    return [parser.feed(value, Line(number, 0)) for number, value in enumerate(values, 1)]


def one(record: Any) -> Parsed:
    return AGENT.open_parser(source(), None).feed(record, Line(1, 0))


def user(content: Any, **keys: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}, "sessionId": "s", **keys}


def assistant(content: Any, **keys: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"id": "m", "model": "m-one", "content": content}, **keys}


def outline(parsed: list[Parsed]) -> list[tuple[str, str, str | None, str | None, bool]]:
    return [(e.kind, e.event_type, e.text, e.outcome, e.is_prompt) for p in parsed for e in p.events]


EVERY_EVENT = [
    ("user", "user_message", "graft the pear tree", None, True),
    ("agent", "message_thought", "", None, False),
    ("agent", "message_text", "I look at the tree first.", None, False),
    ("agent", "tool_call", None, None, False),
    ("user", "user_message", "and water it", None, True),
    ("agent", "tool_result", "one pear\ntwo pears", None, False),
    ("agent", "tool_call", None, None, False),
    ("agent", "tool_refused", "The tool use was rejected.", "refused", False),
    ("control", "turn_ended", "[Request interrupted by user for tool use]", "cancelled", False),
    (
        "user",
        "user_notice",
        "<task-notification>\n<task-id>b1</task-id>\n</task-notification>",
        None,
        False,
    ),
    ("user", "user_notice", "<local-command-caveat>Caveat: local commands</local-command-caveat>", None, False),
    ("user", "user_notice", "/context", None, False),
    ("user", "user_notice", "<local-command-stdout>42 % full</local-command-stdout>", None, False),
    ("user", "user_message", "/prune the cherry, <b>gently</b>", None, True),
    ("user", "user_notice", "Base directory for this skill: /s/prune", None, False),
    (
        "user",
        "user_notice",
        "<task-notification>\n<task-id>b2</task-id>\n<status>completed</status>\n</task-notification>\n"
        "Read the output file to retrieve the result: /tmp/t/b2.output",
        None,
        False,
    ),
    ("agent", "retry_scheduled", "Overloaded", None, False),
    ("agent", "llm_call_ended", "API Error: 529 Overloaded", "failed", False),
    ("control", "system_message", "The pear is grafted; next, the cherry.", None, False),
    ("user", "user_notice", "/model m-three", None, False),
    ("agent", "context_compaction_ended", "Conversation compacted", "completed", False),
    (
        "agent",
        "context_compaction_result",
        "This session is being continued. The pear was grafted.",
        None,
        False,
    ),
    ("control", "session_title", "Graft a pear", None, False),
    ("control", "session_title", "Orchard", None, False),
    ("user", "user_message", "why does <command-name>/context</command-name> show nothing?", None, True),
    ("user", "user_notice", "Continue the task.", None, False),
    ("user", "user_message", None, None, True),
    ("user", "user_notice", "<ide_opened_file>pear.md</ide_opened_file>", None, False),
    ("user", "user_message", "shorten it\nand keep the title", None, True),
]


class TestEveryKindOfRecord:
    def test_each_record_becomes_these_events(self) -> None:
        parser = AGENT.open_parser(source(EVERY_KIND), None)
        parsed = feed_all(parser, records(EVERY_KIND))
        assert outline(parsed) == EVERY_EVENT
        assert {event.event_type for p in parsed for event in p.events} <= EVENT_TYPES.keys()

    def test_a_record_gives_events_or_the_name_it_is_skipped_under(self) -> None:
        parsed = feed_all(AGENT.open_parser(source(EVERY_KIND), None), records(EVERY_KIND))
        assert [p.skipped for p in parsed if p.skipped] == [
            "file-history-snapshot",
            "mode",
            "queue-operation",
            "attachment:hook_success",
            "progress:bash_progress",
            "system:turn_duration",
            "ai-title",
            "agent-name",
            "last-prompt",
            "unknown:moonphase",
        ]
        assert all(bool(p.events) != bool(p.skipped) for p in parsed)

    def test_every_name_it_is_skipped_under_is_in_the_registry(self) -> None:
        parsed = feed_all(AGENT.open_parser(source(EVERY_KIND), None), records(EVERY_KIND))
        names = {p.skipped for p in parsed if p.skipped}
        assert {name if name in AGENT.skips else f"{name.partition(':')[0]}:*" for name in names} <= AGENT.skips.keys()
        assert list(AGENT.skips) == sorted(AGENT.skips)

    def test_traits_are_told_once_and_when_they_change(self) -> None:
        parsed = feed_all(AGENT.open_parser(source(EVERY_KIND), None), records(EVERY_KIND))
        assert [trait for p in parsed for trait in p.traits] == [
            Trait("cwd", "/w/orchard"),
            Trait("git_branch", "main"),
            Trait("version", "2.1.240"),
            Trait("model", "m-two"),
            Trait("title", "Graft a pear", 1),
            Trait("title", "Orchard", 0),
            Trait("cwd", "/w/orchard/shed"),
            Trait("cwd", "/w/orchard"),
        ]

    def test_results_name_the_tool_of_their_call(self) -> None:
        parsed = feed_all(AGENT.open_parser(source(EVERY_KIND), None), records(EVERY_KIND))
        tools = [(e.event_type, e.tool_call_id, e.tool_name) for p in parsed for e in p.events if e.tool_call_id]
        assert tools == [
            ("tool_call", "toolu_1", "Read"),
            ("tool_result", "toolu_1", "Read"),
            ("tool_call", "toolu_2", "Bash"),
            ("tool_refused", "toolu_2", "Bash"),
        ]

    def test_arguments_are_compact_json_with_characters_as_they_are(self) -> None:
        parsed = feed_all(AGENT.open_parser(source(EVERY_KIND), None), records(EVERY_KIND))
        call = next(e for p in parsed for e in p.events if e.event_type == "tool_call")
        assert call.tool_arguments == '{"file_path":"/w/orchard/pear.md","größe":"ü"}'

    def test_nothing_of_pictures_reaches_a_text(self) -> None:
        parsed = feed_all(AGENT.open_parser(source(EVERY_KIND), None), records(EVERY_KIND))
        assert "UElDVFVSRQ" not in repr(parsed)

    def test_the_session_is_named_by_session_id_with_a_capital_i(self) -> None:
        parser = AGENT.open_parser(source(EVERY_KIND), None)
        feed_all(parser, records(EVERY_KIND))
        assert parser.session_id == "7a7a7a7a-0000-4000-8000-000000000001"
        assert parser.recognised
        assert not parser.names_parent


class TestTitles:
    def test_a_summary_names_the_record_it_is_about(self) -> None:
        parsed = one({"type": "summary", "summary": "Old title", "leafUuid": "u-9"})
        assert parsed.traits == [Trait("title", "Old title", 2, "u-9")]

    def test_one_title_about_two_records_is_two_titles(self) -> None:
        parser = AGENT.open_parser(source(), None)
        for leaf in ("u-1", "u-2"):
            assert parser.feed({"type": "summary", "summary": "Same", "leafUuid": leaf}, Line(1, 0)).events

    def test_a_title_that_comes_back_is_told_again(self) -> None:
        parser = AGENT.open_parser(source(), None)
        parsed = feed_all(parser, [{"type": "ai-title", "aiTitle": title} for title in ("A", "B", "B", "A")])
        assert [bool(p.events) for p in parsed] == [True, True, False, True]

    @pytest.mark.parametrize("title", [None, "", "  ", 7, ["x"]])
    def test_no_title_is_skipped_as_its_type(self, title: Any) -> None:
        assert one({"type": "custom-title", "customTitle": title}).skipped == "custom-title"


class TestUsage:
    def test_counts_of_one_call(self) -> None:
        parsed = feed_all(AGENT.open_parser(source(EVERY_KIND), None), records(EVERY_KIND))
        usage = [u for p in parsed for u in p.usage]
        assert usage[0] == Usage(
            "m1", "req-m1", "anthropic", "m-two", "2026-04-02T09:02:00.000Z", 4, 9, 100, 50, 3, None
        )
        assert [u.output_tokens for u in usage] == [9, 21, 30]  # text the program wrote itself is no call

    @pytest.mark.parametrize(
        ("written", "read"),
        [(0, 0), (2**53, 2**53), (2**53 + 1, None), (2**63, None), (-1, None), (1.5, None), (True, None), ("7", None)],
    )
    def test_only_counts_are_counted(self, written: Any, read: int | None) -> None:
        record = assistant([{"type": "text", "text": "x"}])
        record["message"]["usage"] = {"input_tokens": 1, "output_tokens": written}
        (usage,) = one(record).usage
        assert usage.output_tokens == read

    @pytest.mark.parametrize("usage", [None, [], "x", {}, {"input_tokens": None}])
    def test_a_usage_that_says_nothing_is_none(self, usage: Any) -> None:
        record = assistant("x")
        record["message"]["usage"] = usage
        assert one(record).usage == ()

    def test_a_call_of_zero_tokens_of_a_real_model_is_kept(self) -> None:
        record = assistant("x")
        record["message"]["usage"] = {"input_tokens": 0, "output_tokens": 0}
        (usage,) = one(record).usage
        assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (0, 0, None)

    def test_the_cost_that_old_versions_wrote_is_kept(self) -> None:
        record = assistant("x", costUSD=0.25)
        record["message"]["usage"] = {"input_tokens": 1, "output_tokens": 1}
        assert one(record).usage[0].cost_usd == 0.25

    def test_a_record_with_usage_and_no_words_still_has_an_event(self) -> None:
        record = assistant([])
        record["message"]["usage"] = {"input_tokens": 1, "output_tokens": 1}
        assert [e.event_type for e in one(record).events] == ["message_text"]


class TestStreamedCopiesB26:
    PATH = DATA / "faults" / "B26" / "claude" / "projects" / "-w-lab" / "66666666-aaaa-4aaa-8aaa-000000000006.jsonl"

    @pytest.mark.parametrize("order", ["as written", "copies reversed"])
    def test_totals_by_message(self, order: str) -> None:
        values = records(self.PATH)
        if order == "copies reversed":
            values[1:4] = reversed(values[1:4])
        parsed = feed_all(AGENT.open_parser(source(), None), values)
        best: dict[Any, Usage] = {}
        for number, usage in enumerate(u for p in parsed for u in p.usage):
            key = usage.message_id or number
            if key not in best or (usage.output_tokens or 0) > (best[key].output_tokens or 0):
                best[key] = usage
        totals = [
            sum(getattr(u, name) for u in best.values())
            for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
        ]
        assert totals == [1140, 205, 800, 100]

    def test_the_copies_are_marked_as_growing(self) -> None:
        parsed = feed_all(AGENT.open_parser(source(), None), records(self.PATH))
        growing = [e for p in parsed for e in p.events if e.message_id == "msgA"]
        assert [e.text for e in growing] == ["Shall", "Shall I compare", "Shall I compare thee sonnetfinal"]
        assert all(e.may_grow for e in growing)


class TestEveryShapeB17:
    PATH = DATA / "faults" / "B17" / "claude" / "projects" / "-w-lab" / "22222222-aaaa-4aaa-8aaa-000000000002.jsonl"

    def read(self) -> tuple[list[Event], list[int]]:
        parser = AGENT.open_parser(source(self.PATH), None)
        events: list[Event] = []
        refused: list[int] = []
        for number, value in enumerate(records(self.PATH), 1):
            state = parser.save()
            try:
                events += parser.feed(value, Line(number, 0)).events
            except ShapeError:
                refused.append(number)
                assert parser.save() == state
        return events, refused

    def test_words_of_every_shape_are_there_once(self) -> None:
        texts = "\n".join(e.text or "" for e in self.read()[0])
        for word in (
            "walnut",
            "hazelnut",
            "almond",
            "pistachio",
            "macadamia",
            "pecan",
            "brazilnut",
            "chestnut",
            "acorn",
        ):
            assert texts.count(word) == 1, word
        assert "QUJDRA" not in texts
        assert "tool_use_id" not in texts

    def test_values_that_are_no_objects_are_refused(self) -> None:
        assert self.read()[1] == [14, 15, 16, 17, 18]

    def test_content_of_no_use_gives_an_answer_without_text(self) -> None:
        events = [e for e in self.read()[0] if e.event_type == "message_text"]
        assert [e.text for e in events] == ["shape text almond", None, None, "object acorn", None, None, None, None]

    def test_an_error_without_text_is_an_error(self) -> None:
        (error,) = [e for e in self.read()[0] if e.event_type == "tool_error"]
        assert (error.text, error.outcome, error.tool_call_id) == (None, "failed", "t1")


class TestBlocks:
    def test_web_search_and_advisor_blocks_of_an_answer(self) -> None:
        content = [
            {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "plum"}},
            {
                "type": "web_search_tool_result",
                "tool_use_id": "srv_1",
                "content": [
                    {
                        "type": "web_search_result",
                        "title": "Plums",
                        "url": "https://p.example",
                        "encrypted_content": "x",
                    }
                ],
            },
            {"type": "server_tool_use", "id": "srv_2", "name": "advisor", "input": {}},
            {
                "type": "advisor_tool_result",
                "tool_use_id": "srv_2",
                "content": {"type": "advisor_result", "text": "Dig."},
            },
            {"type": "web_search_tool_result", "tool_use_id": "srv_9", "content": {"error_code": "too_many_requests"}},
        ]
        events = one(assistant(content)).events
        assert [(e.event_type, e.tool_name, e.text, e.part) for e in events] == [
            ("tool_call", "web_search", None, 0),
            ("tool_result", "web_search", "Plums\nhttps://p.example", 1),
            ("tool_call", "advisor", None, 2),
            ("tool_result", "advisor", "Dig.", 3),
            ("tool_error", None, "too_many_requests", 4),
        ]

    def test_calls_and_empty_thoughts_never_count_as_copies_that_grow(self) -> None:
        content = [
            {"type": "thinking", "thinking": ""},
            {"type": "tool_use", "id": "a", "name": "Bash", "input": {}},
            {"type": "text", "text": "x"},
        ]
        assert [e.may_grow for e in one(assistant(content)).events] == [False, False, True]

    @pytest.mark.parametrize(
        ("denial", "event_type", "outcome"),
        [
            (None, "tool_error", "failed"),
            ("user-rejected", "tool_refused", "refused"),
            ("permission-rule", "tool_refused", "refused"),
            ("interrupted", "tool_refused", "cancelled"),
            (["odd"], "tool_error", "failed"),
        ],
    )
    def test_a_refusal_is_told_by_its_own_key(self, denial: Any, event_type: str, outcome: str) -> None:
        record = user(
            [{"type": "tool_result", "tool_use_id": "t", "content": "no", "is_error": True}], toolDenialKind=denial
        )
        (event,) = one(record).events
        assert (event.event_type, event.outcome) == (event_type, outcome)

    def test_numbers_beyond_64_bits_in_a_tools_input_are_kept(self) -> None:
        event = one(assistant([{"type": "tool_use", "id": "a", "name": "n", "input": {"n": 2**70}}])).events[0]
        assert event.tool_arguments == '{"n":1180591620717411303424}'

    def test_a_tools_input_too_deep_to_write_is_a_shape_error(self) -> None:
        deep: Any = []
        for _ in range(200_000):
            deep = [deep]
        with pytest.raises(ShapeError):
            one(assistant([{"type": "tool_use", "id": "a", "name": "n", "input": deep}]))


class TestSystemRecords:
    @pytest.mark.parametrize(
        ("error", "text"),
        [
            ({}, None),
            ({"cause": {"code": "ECONNRESET"}}, "ECONNRESET"),
            ({"message": "outer", "error": {"message": "inner"}}, "inner"),
            ("plain", "plain"),
            ([1], None),
        ],
    )
    def test_the_reason_of_a_failed_call(self, error: Any, text: str | None) -> None:
        (event,) = one({"type": "system", "subtype": "api_error", "error": error, "sessionId": "s"}).events
        assert (event.event_type, event.outcome, event.text) == ("llm_call_ended", "failed", text)

    def test_a_small_compaction_is_an_eviction(self) -> None:
        (event,) = one(
            {"type": "system", "subtype": "microcompact_boundary", "content": "Context microcompacted"}
        ).events
        assert event.event_type == "context_eviction"


class TestUnknownTypesB18:
    def test_they_are_counted_by_name_and_never_fatal(self) -> None:
        values = [{"type": kind, "v": 99, "sessionId": "s"} for kind in ("new-a", "new-b", "new-c")]
        parsed = feed_all(AGENT.open_parser(source(), None), [*values, user("hello", fresh={"field": [1]})])
        assert [p.skipped for p in parsed] == ["unknown:new-a", "unknown:new-b", "unknown:new-c", None]

    @pytest.mark.parametrize("kind", [None, 5, [], {}, "", "a b", "x" * 61, "geheim\nnis"])
    def test_a_name_never_holds_free_text(self, kind: Any) -> None:
        assert one({"type": kind}).skipped == "unknown:?"
        assert one({"type": "system", "subtype": kind}).skipped == "system:?"


class TestTimesB19:
    @pytest.mark.parametrize(
        "written", [1772409600, 1772409600000, "2026-03-02T00:00:00Z", "2026-03-02 05:30:00+05:30"]
    )
    def test_one_instant_in_many_spellings(self, written: Any) -> None:
        parsed = one(user("x", timestamp=written))
        assert (parsed.events[0].ts, parsed.bad_times) == ("2026-03-02T00:00:00.000Z", 0)

    @pytest.mark.parametrize("written", ["", 0, -1, "10000-01-01T00:00:00Z", [], True])
    def test_what_is_no_time_is_null_and_counted(self, written: Any) -> None:
        parsed = one(user("x", timestamp=written))
        assert (parsed.events[0].ts, parsed.bad_times) == (None, 1)

    def test_no_time_is_null_and_not_bad(self) -> None:
        parsed = one(user("x"))
        assert (parsed.events[0].ts, parsed.bad_times) == (None, 0)


class TestWhoseSessionItIs:
    def test_the_file_of_a_sub_agent_is_a_session_below_its_parent(self) -> None:
        parser = AGENT.open_parser(source("/h/projects/-w/p/subagents/agent-a1.jsonl", "p"), None)
        parsed = parser.feed(user("look around", sessionId="parent", agentId="a1", isSidechain=True), Line(1, 0))
        assert parser.session_id == "parent/a1"
        assert parser.names_parent
        assert Trait("parent", "parent") in parsed.traits
        assert [e.is_prompt for e in parsed.events] == [False]

    def test_without_ids_the_folder_and_the_file_name_tell(self) -> None:
        parser = AGENT.open_parser(source("/h/projects/-w/p/subagents/agent-a1.jsonl", "p"), None)
        record = {"type": "user", "message": {"content": "x"}}
        parser.feed(record, Line(1, 0))
        assert parser.session_id == "p/a1"
        parser.feed({**record, "sessionId": "other", "agentId": "zz"}, Line(2, 0))
        assert parser.session_id == "p/a1"

    def test_side_talk_inside_a_main_file_stays_there_and_is_no_prompt(self) -> None:
        parser = AGENT.open_parser(source(), None)
        parsed = feed_all(parser, [user("mine"), user("the agent's", isSidechain=True, cwd="/elsewhere")])
        assert parser.session_id == "s"
        assert [e.is_prompt for p in parsed for e in p.events] == [True, False]
        assert not any(trait.value == "/elsewhere" for p in parsed for trait in p.traits)

    def test_records_without_an_id_leave_it_open(self) -> None:
        parser = AGENT.open_parser(source(), None)
        parser.feed({"type": "user", "message": {"content": "x"}}, Line(1, 0))
        assert (parser.session_id, parser.recognised) == (None, True)

    def test_the_first_id_in_file_order_stays(self) -> None:
        parser = AGENT.open_parser(source(), None)
        feed_all(parser, [{"type": "mode", "session_id": "wrong"}, user("x"), user("y", sessionId="later")])
        assert parser.session_id == "s"

    def test_a_fork_names_the_session_it_came_from_in_its_head_only(self) -> None:
        path = DATA / "claude_code" / "fork-with-pointer.jsonl"
        parser = AGENT.open_parser(source(path), None)
        parsed = feed_all(parser, records(path))
        assert parser.names_parent
        assert [f for p in parsed for f in p.traits if f.name in ("parent", "forked_from")] == [
            Trait("forked_from", "7a7a7a7a-0000-4000-8000-000000000001")
        ]

    def test_a_pointer_after_the_head_makes_no_fork(self) -> None:
        parser = AGENT.open_parser(source(), None)
        parsed = feed_all(parser, [user("x"), user("y", forkedFrom={"sessionId": "old"})])
        assert not parser.names_parent
        assert not any(trait.name == "forked_from" for p in parsed for trait in p.traits)

    @pytest.mark.parametrize("origin", ["s", "", None, 7, {"sessionId": "s"}, {"sessionId": ""}, {"sessionId": None}])
    def test_a_pointer_to_itself_or_to_nothing_makes_no_fork(self, origin: object) -> None:
        parser = AGENT.open_parser(source(), None)
        (parsed,) = feed_all(parser, [user("x", forkedFrom=origin)])
        assert not parser.names_parent
        assert not any(trait.name == "forked_from" for trait in parsed.traits)

    def test_a_sub_agent_of_a_fork_has_a_parent_and_no_origin(self) -> None:
        parser = AGENT.open_parser(source("/h/projects/-w/fork/subagents/agent-a1.jsonl", "fork"), None)
        record = user("look", sessionId="fork", agentId="a1", isSidechain=True, forkedFrom={"sessionId": "old"})
        parsed = parser.feed(record, Line(1, 0))
        links = [trait for trait in parsed.traits if trait.name in ("parent", "forked_from")]
        assert links == [Trait("parent", "fork")]


class TestForeignLinesB10:
    @pytest.mark.parametrize(
        "record",
        [
            {"event": "click"},
            {"type": "session", "id": "01K", "cwd": "/w"},
            {"type": "message", "message": {"role": "user", "content": "pi"}},
            {"type": "summary", "replaces_through": 4, "content": "aster"},
            {"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": {}},
            {"sessionId": "s", "cwd": "/w", "createdAt": "2026-01-01"},
            {"type": "user"},
        ],
        ids=lambda record: ",".join(record),
    )
    def test_they_are_not_recognised(self, record: dict[str, Any]) -> None:
        parser = AGENT.open_parser(source(), None)
        parser.feed(record, Line(1, 0))
        assert not parser.recognised

    @pytest.mark.parametrize("value", [1, "some words", None, True, ["some words"], 1.5])
    def test_values_that_are_no_objects_say_so_without_their_words(self, value: Any) -> None:
        with pytest.raises(ShapeError, match="must be an object, not") as caught:
            one(value)
        assert "some words" not in str(caught.value)


class TestIndependentTurns:
    def test_b28_equal_words_at_two_times_are_two_events_with_two_ids(self) -> None:
        parsed = feed_all(AGENT.open_parser(source(), None), [user("yes", uuid="u1"), user("yes", uuid="u2")])
        assert [(e.text, e.record_id) for p in parsed for e in p.events] == [("yes", "u1"), ("yes", "u2")]

    def test_b34_a_compaction_summary_is_the_agents_and_no_prompt(self) -> None:
        parsed = one(user("a summary of it all", isCompactSummary=True, isVisibleInTranscriptOnly=True))
        (event,) = parsed.events
        assert (event.kind, event.event_type, event.is_prompt) == ("agent", "context_compaction_result", False)
