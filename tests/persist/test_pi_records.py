"""Transcripts of pi and omp: what each kind of entry becomes, and what is left out by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from persist.agents.pi import agent as pi
from persist.agents.pi import omp
from persist.errors import ShapeError
from persist.events import EVENT_TYPES, Event, Measures, Parsed, Trait, Usage
from persist.sources import TRANSCRIPT, Agent, Line, Parser, Source, Stat

DATA = Path(__file__).parent.parent / "data"
FIRST_VERSION = DATA / "pi" / "first-version.jsonl"
EVERY_KIND = DATA / "pi" / "every-kind-of-entry.jsonl"
EVERY_KIND_OF_OMP = DATA / "omp" / "every-kind-of-entry.jsonl"
SUB_AGENT = DATA / "omp" / "sub-agent.jsonl"


def source(agent: str = "pi", path: str = "/h/sessions/--w--/one.jsonl", parent: str = "") -> Source:
    return Source(agent, TRANSCRIPT, path, "/h", Stat(0, 0, 0, 0), parent)


def read(path: Path, agent: Agent = pi.AGENT, parent: str = "") -> tuple[list[Parsed], Parser]:
    parser = agent.open_parser(source(agent.name, str(path), parent), None)
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [parser.feed(record, Line(number, 0)) for number, record in enumerate(records, 1)], parser


def one(record: Any, agent: Agent = pi.AGENT) -> Parsed:
    return agent.open_parser(source(agent.name), None).feed(record, Line(1, 0))


def message(role: str, **keys: Any) -> dict[str, Any]:
    return {"type": "message", "id": "e1", "timestamp": "2026-05-04T08:00:00.000Z", "message": {"role": role, **keys}}


def outline(parsed: list[Parsed]) -> list[tuple[str, str, str | None, str | None, bool]]:
    return [(e.kind, e.event_type, e.text, e.outcome, e.is_prompt) for p in parsed for e in p.events]


def skipped(parsed: list[Parsed]) -> list[str]:
    return [p.skipped for p in parsed if p.skipped]


def traits(parsed: list[Parsed]) -> list[Trait]:
    return [trait for p in parsed for trait in p.traits]


def usage(parsed: list[Parsed]) -> list[Usage]:
    return [used for p in parsed for used in p.usage]


class TestFirstVersion:
    def test_each_record_becomes_these_events(self) -> None:
        parsed, parser = read(FIRST_VERSION)
        assert outline(parsed) == [
            ("user", "user_message", "graft the pear tree", None, True),
            ("agent", "tool_call", None, None, False),
            ("agent", "tool_result", "one pear", None, False),
            ("agent", "message_text", "The pear is grafted.", None, False),
            ("control", "model_switched", "acme/m-2", None, False),
            ("user", "tool_call", None, None, False),
            ("user", "tool_result", "pear.md\n", None, False),
            ("agent", "context_compaction_result", "A pear was grafted.", None, False),
            ("user", "user_message", "yes", None, True),
            ("control", "turn_ended", "Request was aborted.", "cancelled", False),
            ("user", "user_message", "yes", None, True),
            ("agent", "llm_call_ended", "529 overloaded", "failed", False),
        ]
        assert skipped(parsed) == ["thinking_level_change"]
        assert parser.session_id == "11111111-aaaa-4aaa-8aaa-000000000001"
        assert (parser.recognised, parser.names_parent) == (True, False)

    def test_records_have_no_id_and_the_time_of_the_entry_not_of_the_message(self) -> None:
        parsed, _ = read(FIRST_VERSION)
        events = [event for p in parsed for event in p.events]
        assert {event.record_id for event in events} == {None}
        assert events[0].ts == "2026-05-04T08:01:00.000Z"  # the message was begun 200 ms earlier

    def test_traits(self) -> None:
        assert traits(read(FIRST_VERSION)[0]) == [
            Trait("cwd", "/w/orchard"),
            Trait("created_at", "2026-05-04T08:00:00.000Z"),
            Trait("model", "m-1"),
            Trait("model", "m-2"),
        ]

    def test_cached_tokens_are_apart_and_calls_that_gave_nothing_are_none(self) -> None:
        assert usage(read(FIRST_VERSION)[0]) == [
            Usage(None, None, "acme", "m-1", "2026-05-04T08:02:00.000Z", 10, 20, 300, 40, None, 0.01),
            Usage(None, None, "acme", "m-1", "2026-05-04T08:04:00.000Z", 5, 6, 340, 7, None, 0.02),
        ]


SKILL = (
    '<skill name="prune" location="/s/prune/SKILL.md">\nReferences are relative to /s/prune.\n\nCut gently.\n</skill>'
)

EVERY_EVENT = [
    ("control", "model_switched", "acme/m-1", None, False),
    ("user", "user_message", "graft the pear tree", None, True),
    ("agent", "message_thought", "Where is it?", None, False),
    ("agent", "message_text", "I look first.", None, False),
    ("agent", "tool_call", None, None, False),
    ("agent", "tool_call", None, None, False),
    ("agent", "tool_result", "one pear\ntwo pears", None, False),
    ("agent", "tool_error", "prune: not found\n\nCommand exited with code 127", "failed", False),
    ("agent", "message_text", "The pear is grafted.", None, False),
    ("control", "session_title", "Orchard", None, False),
    ("user", "tool_call", None, None, False),
    ("user", "tool_error", "fatal: not a repository", "failed", False),
    ("user", "tool_call", None, None, False),
    ("user", "tool_error", "", "cancelled", False),
    ("user", "user_notice", "Two notes are open.", None, False),
    ("agent", "context_compaction_result", "A pear was grafted.", None, False),
    ("user", "user_message", None, None, True),
    ("agent", "message_text", "A picture of", None, False),
    ("control", "turn_ended", "Request was aborted.", "cancelled", False),
    ("agent", "llm_call_ended", "529 overloaded", "failed", False),
    ("agent", "context_compaction_result", "A picture was looked at.", None, False),
    ("user", "user_message", "/skill:prune the cherry", None, True),
    ("user", "user_notice", SKILL, None, False),
    ("agent", "message_text", "No counts were told.", None, False),
]


class TestEveryKindOfEntry:
    def test_each_entry_becomes_these_events(self) -> None:
        parsed, _ = read(EVERY_KIND)
        assert outline(parsed) == EVERY_EVENT
        assert {event.event_type for p in parsed for event in p.events} <= EVENT_TYPES.keys()

    def test_an_entry_gives_something_or_the_name_it_is_skipped_under(self) -> None:
        parsed, _ = read(EVERY_KIND)
        assert skipped(parsed) == [
            "thinking_level_change", "session_info", "label", "custom:notes.state", "unknown:moonphase",
            "unknown:message:weather", "session:again",
        ]  # fmt: skip
        assert all(bool(p.events or p.traits) != bool(p.skipped) for p in parsed)

    def test_tools_have_their_call_and_a_command_of_a_person_that_of_its_entry(self) -> None:
        events = [event for p in read(EVERY_KIND)[0] for event in p.events if event.tool_name]
        assert [(e.event_type, e.tool_call_id, e.tool_name, e.tool_arguments) for e in events] == [
            ("tool_call", "c1", "read", '{"path":"pear.md"}'),
            ("tool_call", "c2", "bash", '{"command":"prune"}'),
            ("tool_result", "c1", "read", None),
            ("tool_error", "c2", "bash", None),
            ("tool_call", "a0000011", "bash", '{"command":"git status"}'),
            ("tool_error", "a0000011", "bash", None),
            ("tool_call", "a0000012", "bash", '{"command":"sleep 9"}'),
            ("tool_error", "a0000012", "bash", None),
        ]

    def test_events_of_one_entry_have_its_id_and_parts_of_their_own(self) -> None:
        entry = read(EVERY_KIND)[0][4]
        assert [(e.record_id, e.part, e.message_id, e.model_name) for e in entry.events] == [
            ("a0000004", part, "resp-1", "m-1") for part in range(4)
        ]

    def test_usage_of_answers_summaries_and_of_a_server_that_tells_none(self) -> None:
        assert usage(read(EVERY_KIND)[0]) == [
            Usage("resp-1", "a0000004", "acme", "m-1", "2026-05-04T08:03:00.000Z", 10, 20, 300, 40, 8, 0.01),
            Usage("resp-2", "a0000007", "acme", "m-1", "2026-05-04T08:06:00.000Z", 5, 6, 340, 7, None, 0.02),
            Usage(None, None, None, None, "2026-05-04T08:10:00.000Z", 100, 30, 0, 0, None, 0.03),
            Usage(None, None, "acme", "m-1", "2026-05-04T08:12:00.000Z", 3, 1, 0, 0, None, 0.001),
            Usage(None, None, "acme", "m-local", "2026-05-04T08:16:00.000Z"),
        ]

    def test_a_name_is_a_persons_title(self) -> None:
        assert [trait for trait in traits(read(EVERY_KIND)[0]) if trait.name == "title"] == [Trait("title", "Orchard")]


OMP_EVENTS = [
    ("control", "session_title", "Grafting", None, False),
    ("control", "model_switched", "acme/m-1", None, False),
    ("control", "model_switched", "acme/m-small", None, False),
    ("control", "system_message", "Be brief.", None, False),
    ("user", "user_message", "graft the pear tree", None, True),
    ("control", "session_title", "Pears", None, False),
    ("agent", "session_usage", None, None, False),
    ("agent", "message_thought", None, None, False),
    ("agent", "tool_call", None, None, False),
    ("agent", "tool_result", "pear.md", None, False),
    ("agent", "retry_scheduled", "529 overloaded", None, False),
    ("agent", "message_text", "The pear is grafted.", None, False),
    ("user", "user_notice", "Continue.", None, False),
    ("agent", "message_text", None, None, False),
    ("user", "user_message", "/skill:prune the cherry", None, True),
    ("user", "user_notice", "Cut gently.", None, False),
    ("user", "user_message", "and the plum", None, True),
    ("user", "user_notice", "Mind the bark.", None, False),
    ("user", "tool_call", None, None, False),
    ("user", "tool_error", "ZeroDivisionError", "failed", False),
    ("user", "clear_context", None, None, False),
]


class TestOmp:
    def test_its_first_line_is_256_bytes(self) -> None:
        assert EVERY_KIND_OF_OMP.read_bytes().index(b"\n") == 255

    def test_each_entry_becomes_these_events(self) -> None:
        parsed, parser = read(EVERY_KIND_OF_OMP, omp.AGENT)
        assert outline(parsed) == OMP_EVENTS
        assert parser.session_id == "6a6a6a6a6a6a6a6a"

    def test_what_is_left_out_has_a_name(self) -> None:
        parsed, _ = read(EVERY_KIND_OF_OMP, omp.AGENT)
        assert skipped(parsed) == [
            "credential_pin", "service_tier_change", "custom:tool_execution_start", "message:fileMention",
            "mode_change", "ttsr_injection", "archive", "title_change",
        ]  # fmt: skip

    def test_a_credential_pin_leaves_nothing(self) -> None:
        parsed, parser = read(EVERY_KIND_OF_OMP, omp.AGENT)
        assert "0123456789abcdef" not in f"{parsed} {parser.save()}"

    def test_the_title_of_the_first_line_beats_those_of_the_header_and_of_older_changes(self) -> None:
        parsed, _ = read(EVERY_KIND_OF_OMP, omp.AGENT)
        assert [trait for trait in traits(parsed) if trait.name == "title"] == [Trait("title", "Grafting")]

    def test_without_a_first_line_the_header_and_the_changes_tell_it(self) -> None:
        parser = omp.AGENT.open_parser(source("omp"), None)
        header = {"type": "session", "id": "s", "title": "One", "titleSource": "auto"}
        changes = [
            {"type": "title_change", "id": str(number), "title": title, "source": by}
            for number, (title, by) in enumerate([("One", "auto"), ("Two", "user"), ("Three", "auto"), (" ", "user")])
        ]
        parsed = [parser.feed(record, Line(1, 0)) for record in (header, *changes)]
        assert [trait for trait in traits(parsed) if trait.name == "title"] == [
            Trait("title", "One", 1), Trait("title", "Two", 0), Trait("title", "Three", 1),
        ]  # fmt: skip
        assert skipped(parsed) == ["title_change", "title_change"]

    def test_the_models_of_other_roles_are_not_the_sessions(self) -> None:
        parsed, _ = read(EVERY_KIND_OF_OMP, omp.AGENT)
        assert [trait.value for trait in traits(parsed) if trait.name == "model"] == ["m-1"]

    def test_calls_beside_the_conversation_are_calls(self) -> None:
        parsed, _ = read(EVERY_KIND_OF_OMP, omp.AGENT)
        beside = next(p for p in parsed if p.events and p.events[0].event_type == "session_usage")
        assert beside.events[0].measures == Measures(call_purpose="title", provider="acme")
        assert [(used.model_name, used.input_tokens, used.reasoning_tokens) for used in usage(parsed)] == [
            ("m-small", 50, None), ("m-1", 10, 8), ("m-1", 5, None),
        ]  # fmt: skip

    def test_a_sub_agent_is_a_session_with_a_parent_and_no_prompts(self) -> None:
        parsed, parser = read(SUB_AGENT, omp.AGENT, parent="6a6a6a6a6a6a6a6a")
        assert outline(parsed) == [
            ("user", "user_notice", "find the pear", None, False),
            ("agent", "message_text", "It stands by the wall.", None, False),
        ]
        assert skipped(parsed) == ["title", "session_init"]
        assert (parser.session_id, parser.names_parent) == ("7b7b7b7b7b7b7b7b", True)
        assert Trait("parent", "6a6a6a6a6a6a6a6a") in traits(parsed)

    def test_a_task_without_a_flag_is_no_prompt_either(self) -> None:
        parser = omp.AGENT.open_parser(source("omp", parent="p"), None)
        (event,) = parser.feed(message("user", content="find it"), Line(1, 0)).events
        assert (event.event_type, event.is_prompt) == ("user_message", False)

    def test_a_sub_agent_with_its_parents_id_has_one_of_its_own(self) -> None:
        parser = omp.AGENT.open_parser(source("omp", "/h/sessions/-w/t_p/Scout.jsonl", "p"), None)
        parser.feed({"type": "session", "id": "p"}, Line(1, 0))
        assert parser.session_id == "p/Scout"


@pytest.mark.parametrize("agent", [pi.AGENT, omp.AGENT], ids=lambda agent: agent.name)
def test_every_name_it_is_skipped_under_is_in_the_registry(agent: Agent) -> None:
    parsed, _ = read(EVERY_KIND if agent is pi.AGENT else EVERY_KIND_OF_OMP, agent)
    for name in skipped(parsed):
        assert name in agent.skips or f"{name.partition(':')[0]}:*" in agent.skips
    assert list(agent.skips) == sorted(agent.skips)


class TestOrigin:
    @pytest.mark.parametrize(
        ("named", "origin"),
        [
            ("/h/--w--/2026-05-04T08-00-00-000Z_4444-aaaa.jsonl", "4444-aaaa"),
            (r"C:\h\--w--\2026-05-04T08-00-00-000Z_4444_aa.jsonl", "4444_aa"),
            ("2026-05-04T08-00-00-000Z_4444.jsonl", "4444"),
            ("/h/mine.jsonl", "mine"),
            ("4444-aaaa", "4444-aaaa"),
            ("one_two", "one_two"),
        ],
    )
    @pytest.mark.parametrize("key", ["parentSession", "branchedFrom"])
    def test_a_fork_names_its_origin_by_file_or_id(self, named: str, origin: str, key: str) -> None:
        parser = pi.AGENT.open_parser(source(), None)
        parsed = parser.feed({"type": "session", "id": "s", key: named}, Line(1, 0))
        assert parsed.traits == [Trait("forked_from", origin)]
        assert parser.names_parent

    @pytest.mark.parametrize("named", ["", None, 7, [], "/", "s", "/h/t_s.jsonl", "x" * 300])
    def test_what_names_no_other_session_is_no_origin(self, named: Any) -> None:
        parser = pi.AGENT.open_parser(source(), None)
        parser.feed({"type": "session", "id": "s", "cwd": "/w", "parentSession": named}, Line(1, 0))
        assert not parser.names_parent


class TestWhoSaidIt:
    def test_a_quoted_element_is_a_prompt(self) -> None:
        text = f"why does this not work?\n\n{SKILL}"
        (event,) = one(message("user", content=text)).events
        assert (event.text, event.is_prompt) == (text, True)

    def test_a_skill_alone_is_what_was_typed(self) -> None:
        typed, added = one(message("user", content=SKILL)).events
        assert (typed.text, typed.is_prompt, added.text) == ("/skill:prune", True, SKILL)

    @pytest.mark.parametrize("content", ["", " \n", None, 3, [], [{"type": "toolCall"}], {"text": 3}])
    def test_nothing_typed_is_no_prompt(self, content: Any) -> None:
        (event,) = one(message("user", content=content)).events
        assert (event.event_type, event.is_prompt) == ("user_message", False)

    @pytest.mark.parametrize("role", ["custom", "hookMessage"])
    def test_messages_of_extensions_are_notices(self, role: str) -> None:
        (event,) = one(message(role, customType="x", content="mind the bark", attribution="agent")).events
        assert (event.event_type, event.text, event.is_prompt) == ("user_notice", "mind the bark", False)


class TestShapes:
    @pytest.mark.parametrize(
        ("content", "text"),
        [
            ("word", "word"),
            (["word", {"type": "text", "text": "two"}, {"text": "three"}, 4, None], "word\ntwo\nthree"),
            ({"type": "text", "text": "word"}, "word"),
            ([{"type": [], "text": "no"}, {"type": "text", "text": None}], None),
            ([[{"type": "text", "text": "nested"}]], None),
            (None, None),
            (1.5, None),
        ],
    )
    @pytest.mark.parametrize("role", ["user", "toolResult", "developer", "custom"])
    def test_b17_contents_of_every_shape(self, content: Any, text: str | None, role: str) -> None:
        (event,) = one(message(role, content=content)).events
        assert event.text == text

    @pytest.mark.parametrize("content", [None, 3, "", [], {}, [None], [{"type": "toolCall"}]])
    def test_an_answer_of_any_shape_is_an_answer(self, content: Any) -> None:
        assert len(one(message("assistant", content=content)).events) == 1

    @pytest.mark.parametrize(
        ("record", "reason"),
        [
            ([], "an object, not list"),
            (None, "an object, not NoneType"),
            ({"type": "session", "id": 3}, "text of 1 to 200"),
            ({"type": "session"}, "text of 1 to 200"),
            ({"type": "message"}, "an object, not NoneType"),
            ({"type": "message", "message": "secret"}, "an object, not str"),
            ({"type": "message", "message": {"role": None}}, "text, not NoneType"),
        ],
    )
    def test_what_is_no_record_is_told_without_its_values(self, record: Any, reason: str) -> None:
        with pytest.raises(ShapeError, match=reason) as raised:
            one(record)
        assert "secret" not in str(raised.value)

    def test_b20_arguments_beyond_every_limit(self) -> None:
        call = {"type": "toolCall", "id": "c", "name": "t", "arguments": {"n": 2**70}}
        (event,) = one(message("assistant", content=[call])).events
        assert event.tool_arguments == f'{{"n":{2**70}}}'
        deep: Any = []
        for _ in range(100_000):
            deep = [deep]
        with pytest.raises(ShapeError, match="arguments of a toolCall"):
            one(message("assistant", content=[{**call, "arguments": deep}]))

    @pytest.mark.parametrize("count", [2**63, -1, 1.5, True, "7", None, float("inf")])
    def test_b20_absurd_counts_are_unknown(self, count: Any) -> None:
        used = {"input": count, "output": 5, "cost": {"total": count if count != 1.5 else -1}}
        assert usage([one(message("assistant", content=[], usage=used))])[0][5:] == (None, 5, None, None, None, None)

    @pytest.mark.parametrize("used", [None, 3, [], {}, {"input": None}, {"totalTokens": 4}])
    def test_usage_without_a_count_is_none(self, used: Any) -> None:
        assert one(message("assistant", content="a", usage=used)).usage == ()

    @pytest.mark.parametrize(
        ("written", "ts", "bad_times"),
        [
            ("2026-03-29T06:00:00+05:30", "2026-03-29T00:30:00.000Z", 0),
            ("2026-03-29 00:30:00.123456789", "2026-03-29T00:30:00.123Z", 0),
            (1774744200, "2026-03-29T00:30:00.000Z", 0),
            (1774744200000, "2026-03-29T00:30:00.000Z", 0),
            (None, "2026-05-04T08:00:00.000Z", 0),
            ("", "2026-05-04T08:00:00.000Z", 1),
            (0, "2026-05-04T08:00:00.000Z", 1),
            ("10000-01-01T00:00:00Z", "2026-05-04T08:00:00.000Z", 1),
        ],
    )
    def test_b19_two_clocks(self, written: Any, ts: str, bad_times: int) -> None:
        record = message("user", content="a", timestamp=1777881600000)
        parsed = one({**record, "timestamp": written})
        assert (parsed.events[0].ts, parsed.bad_times) == (ts, bad_times)

    def test_b19_no_clock_at_all(self) -> None:
        parsed = one({**message("user", content="a", timestamp=-1), "timestamp": None})
        assert (parsed.events[0].ts, parsed.bad_times) == (None, 1)

    def test_names_of_unknown_types_hold_no_free_text(self) -> None:
        assert one({"type": "x y"}).skipped == "unknown:?"
        assert one({"type": ["x"]}).skipped == "unknown:?"
        assert one({}).skipped == "unknown:?"
        assert one({"type": "custom", "customType": "a b"}).skipped == "custom:?"
        assert one(message("x\x1b")).skipped == "unknown:message:?"
        assert one({"type": "mode_change", "mode": "m"}).skipped == "unknown:mode_change"

    def test_b18_unknown_keys_and_a_newer_version_are_read_all_the_same(self) -> None:
        parser = pi.AGENT.open_parser(source(), None)
        parser.feed({"type": "session", "version": 99, "id": "s", "cwd": "/w", "new": 1}, Line(1, 0))
        parsed = parser.feed({**message("user", content="a", new={}), "new": []}, Line(2, 0))
        assert [event.text for event in parsed.events] == ["a"]


def test_a_providers_own_search_is_a_call_and_a_result() -> None:
    blocks = [
        {"type": "anthropicServerTool", "block": {"type": "server_tool_use", "id": "w1", "name": "web_search",
                                                  "input": {"query": "pears"}}},
        {"type": "anthropicServerTool", "block": {"type": "web_search_tool_result", "tool_use_id": "w1",
                                                  "content": [{"title": "Pears", "url": "https://p.example"}]}},
        {"type": "anthropicServerTool", "block": {"type": "web_search_tool_result", "tool_use_id": "w2",
                                                  "content": {"error_code": "unavailable"}}},
        {"type": "anthropicServerTool", "block": 3},
    ]  # fmt: skip
    events = one(message("assistant", content=blocks), omp.AGENT).events
    assert [(e.event_type, e.tool_call_id, e.tool_arguments, e.text, e.outcome) for e in events] == [
        ("tool_call", "w1", '{"query":"pears"}', None, None),
        ("tool_result", "w1", None, "Pears\nhttps://p.example", None),
        ("tool_error", "w2", None, "unavailable", "failed"),
    ]


def test_a_call_of_a_tool_counts_what_the_tool_spent() -> None:
    used = {"input": 4, "output": 5, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0.5}}
    parsed = one(message("toolResult", toolCallId="c", toolName="t", content="done", usage=used))
    assert parsed.usage == (Usage(None, None, None, None, "2026-05-04T08:00:00.000Z", 4, 5, 0, 0, None, 0.5),)


def test_the_commands_that_go_on_with_a_session() -> None:
    assert pi.AGENT.resume is not None
    assert omp.AGENT.resume is not None
    assert pi.AGENT.resume("s", "/w") == ("pi", "--session", "s")
    assert omp.AGENT.resume("s", "/w") == ("omp", "--resume", "s")
    assert pi.AGENT.resume("s", None) == omp.AGENT.resume("s", None) == ()


def test_an_event_without_words_has_no_text() -> None:
    parsed = one({"type": "compaction", "summary": None})
    assert parsed.events == [Event("agent", "context_compaction_result")]
