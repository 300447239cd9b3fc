"""Each kind of record of Codex, in files of every version, against what was written down for it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from persist.agents.codex.agent import AGENT
from persist.events import Event, Measures, Trait, Usage
from persist.reading import ReadLine, SourceReader
from persist.sources import TRANSCRIPT, Source, Stat

DATA = Path(__file__).parent.parent / "data" / "codex"
SESSION = "019df000-0000-7000-8000-000000000001"
TURN = "019df000-0100-7000-8000-00000000000a"
TURN_2 = "019df000-9100-7000-8000-00000000000b"
Told = tuple[int, str, str | None, str | None]


def source(path: str = "/h/sessions/rollout-x.jsonl") -> Source:
    return Source("codex", TRANSCRIPT, path, "/h", Stat(0, 0, 0, 0))


def read(name: str) -> tuple[list[ReadLine], SourceReader]:
    return read_bytes((DATA / name).read_bytes())


def read_bytes(data: bytes, path: str = "/h/sessions/rollout-x.jsonl") -> tuple[list[ReadLine], SourceReader]:
    reader = SourceReader(AGENT, source(path), io.BytesIO(data))
    return list(reader), reader


def read_records(*records: object) -> tuple[list[Event], SourceReader]:
    lines, reader = read_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in records))
    return events(lines), reader


def events(lines: list[ReadLine]) -> list[Event]:
    return [numbered.event for line in lines for numbered in line.events]


def told(lines: list[ReadLine]) -> list[Told]:
    return [
        (line.number, numbered.event.event_type, numbered.event.outcome, numbered.event.text)
        for line in lines
        for numbered in line.events
    ]


class TestEveryKindOfRecord:
    def test_events(self) -> None:
        lines, _ = read("every-kind-of-record.jsonl")
        instructions = "# AGENTS.md instructions for /w/orchard\n\n<INSTRUCTIONS>\nWater first.\n</INSTRUCTIONS>"
        environment = "<environment_context>\n  <cwd>/w/orchard</cwd>\n</environment_context>"
        gone = (
            "Chunk ID: 7f\nWall time: 0.0521 seconds\nProcess exited with code 1\n"
            "Original token count: 9\nOutput:\nno such file\n"
        )
        assert told(lines) == [
            (3, "system_message", None, "Prefer short answers."),
            (4, "user_notice", None, f"{instructions}\n{environment}"),
            (7, "user_message", None, "graft the <b>pear</b>"),
            (9, "message_thought", None, "**Choosing a stock**"),
            (12, "message_text", None, "I look at the trees."),
            (14, "tool_call", None, None),
            (15, "tool_result", None, "Exit code: 0\nWall time: 0.1 seconds\nOutput:\npear quince\n"),
            (16, "tool_call", None, None),
            (17, "tool_error", "failed", gone),
            (18, "context_usage", None, None),
            (20, "tool_call", None, None),
            (21, "tool_error", "failed", "Script failed\nWall time 0.2 seconds\nOutput:\n\nno scion"),
            (22, "tool_call", None, None),
            (23, "tool_refused", "refused", "patch rejected by user"),
            (24, "tool_call", None, None),
            (25, "tool_refused", "cancelled", "aborted by user after 1.5s"),
            (26, "tool_call", None, None),
            (28, "tool_call", None, None),
            (29, "tool_error", "failed", "shed is locked"),
            (31, "tool_call", None, None),
            (33, "tool_result", None, "two knives"),
            (34, "tool_error", "failed", "no saws"),
            (34, "tool_call", None, None),
            (35, "tool_call", None, None),
            (36, "tool_error", "failed", "bad plan"),
            (38, "user_notice", None, "prune the plum"),
            (41, "retry_scheduled", None, "Reconnecting... 1/5"),
            (42, "llm_call_ended", "failed", "the provider is busy"),
            (44, "turn_ended", "cancelled", "interrupted"),
            (47, "user_message", None, "yes"),
            (48, "user_notice", None, "<environment_context>x</environment_context>"),
            (49, "context_compaction_result", None, "The pear was grafted."),
            (50, "context_compaction_ended", "completed", None),
            (52, "message_text", None, "Grafted."),
            (54, "context_usage", None, None),
            (55, "session_title", None, "Grafting pears"),
            (56, "message_text", None, "One finding.\nA dull knife\nIt tears the bark."),
            (57, "message_text", None, "1. sharpen"),
            (62, "turn_ended", "completed", None),
        ]

    def test_what_is_left_out_has_a_name(self) -> None:
        _, reader = read("every-kind-of-record.jsonl")
        counts = reader.final.counts
        assert (counts.seen, counts.damaged, counts.bad_times) == (62, 0, 1)
        assert counts.skipped_types == {
            "encrypted agent_message": 1,
            "encrypted reasoning": 1,
            "event_msg:agent_reasoning": 1,
            "event_msg:task_started": 2,
            "event_msg:thread_settings_applied": 1,
            "event_msg:web_search_end": 1,
            "inter_agent_communication_metadata": 1,
            "repeated assistant message": 2,
            "repeated mcp_tool_call_end": 1,
            "repeated output": 1,
            "repeated token_count": 1,
            "repeated user_message": 1,
            "response_item:compaction": 1,
            "response_item:ghost_snapshot": 1,
            "token_count without usage": 1,
            "unknown:event_msg/hover_bloom": 1,
            "unknown:response_item/telepathy": 1,
            "unknown:season": 1,
            "world_state": 1,
        }

    def test_tools_are_named_and_joined_by_their_ids(self) -> None:
        tools = [e for e in events(read("every-kind-of-record.jsonl")[0]) if e.event_type.startswith("tool_")]
        assert [(e.event_type, e.tool_call_id, e.tool_name, e.tool_arguments) for e in tools] == [
            ("tool_call", "call_1", "shell_command", '{"command":"ls trees"}'),
            ("tool_result", "call_1", "shell_command", None),
            ("tool_call", "call_2", "exec_command", '{"cmd":"cat rootstock"}'),
            ("tool_error", "call_2", "exec_command", None),
            ("tool_call", "call_3", "exec", "await tools.graft()"),
            ("tool_error", "call_3", "exec", None),
            ("tool_call", "call_4", "apply_patch", "*** Begin Patch\n*** End Patch"),
            ("tool_refused", "call_4", "apply_patch", None),
            ("tool_call", "call_5", "local_shell", '{"type":"exec","command":["ls","-a"]}'),
            ("tool_refused", "call_5", "local_shell", None),
            ("tool_call", "ws_1", "web_search", '{"type":"search","query":"quince rootstock"}'),
            ("tool_call", "call_6", "mcp__shed__find", '{"tool":"knife"}'),
            ("tool_error", "call_6", "mcp__shed__find", None),
            ("tool_call", "call_7", "mcp__shed__find", "{}"),
            ("tool_result", "call_7", "mcp__shed__find", None),
            ("tool_error", "exec-1", "shed.count", None),
            ("tool_call", "exec-1", "shed.count", '{"of":"saws"}'),
            ("tool_call", "call_8", "plan", "{}"),
            ("tool_error", "call_8", "plan", None),
        ]

    def test_each_call_is_counted_once_with_cached_tokens_apart(self) -> None:
        lines, _ = read("every-kind-of-record.jsonl")
        first = Usage(f"{TURN}:1050", None, "openai", "gpt-pear", "2026-05-04T09:00:08.100Z", 800, 50, 200, 0, 10, None)
        second = Usage(
            f"{TURN_2}:3090", None, "openai", "gpt-quince", "2026-05-04T09:01:03.500Z", 1000, 40, 1000, 0, 15, None
        )
        assert [usage for line in lines for usage in line.usage] == [first, second]
        full = [event.measures for event in events(lines) if event.event_type == "context_usage"]
        assert full == [
            Measures(usage_ratio=1050 / 200000, context_limit=200000),
            Measures(usage_ratio=2040 / 200000, context_limit=200000),
        ]

    def test_only_what_was_typed_is_a_prompt(self) -> None:
        prompts = [event.text for event in events(read("every-kind-of-record.jsonl")[0]) if event.is_prompt]
        assert prompts == ["graft the <b>pear</b>", "yes"]

    def test_the_session(self) -> None:
        lines, reader = read("every-kind-of-record.jsonl")
        assert reader.final.session_id == SESSION
        assert not reader.final.names_parent
        assert [(line.number, trait) for line in lines for trait in line.traits] == [
            (1, Trait("created_at", "2026-05-04T09:00:00.000Z")),
            (1, Trait("cwd", "/w/orchard")),
            (1, Trait("git_branch", "pears")),
            (1, Trait("version", "0.147.0")),
            (6, Trait("model", "gpt-pear")),
            (46, Trait("model", "gpt-quince")),
            (55, Trait("title", "Grafting pears")),
        ]


def test_outputs_that_are_json_text_and_totals_without_a_last_call() -> None:
    lines, reader = read("outputs-as-json-text.jsonl")
    assert told(lines) == [
        (2, "user_notice", None, "<environment_context>\n<cwd>/w/well</cwd>\n</environment_context>"),
        (3, "user_message", None, "dig deeper"),
        (6, "tool_call", None, None),
        (7, "tool_error", "failed", "rock\n"),
        (8, "tool_call", None, None),
        (9, "tool_result", None, "water\n"),
        (10, "tool_call", None, None),
        (11, "tool_result", None, '{"output":"a tool\'s own words"}'),
        (12, "context_usage", None, None),
        (13, "message_text", None, "Water at nine metres."),
        (15, "context_usage", None, None),
    ]
    usage = [usage for line in lines for usage in line.usage]
    assert [(u.input_tokens, u.cache_read_tokens, u.output_tokens, u.reasoning_tokens) for u in usage] == [
        (400, 100, 40, 5),
        (400, 400, 20, 0),
    ]
    assert {u.cache_write_tokens for u in usage} == {None}
    assert reader.final.counts.skipped_types == {"repeated user_message": 1, "repeated agent_message": 1}


def test_the_oldest_files_have_bare_records_and_no_times() -> None:
    lines, reader = read("bare-records.jsonl")
    assert told(lines) == [
        (3, "user_message", None, "plant a hedge"),
        (4, "message_thought", None, "Hawthorn or beech"),
        (5, "tool_call", None, None),
        (6, "tool_result", None, "hawthorn"),
        (8, "message_text", None, "Hawthorn it is."),
        (9, "user_message", None, "yes"),
        (10, "user_message", None, "yes"),
    ]
    assert sum(event.is_prompt for event in events(lines)) == 3
    assert reader.final.session_id == "5973b6c0-94b8-487b-a530-2aeb6098ae0e"
    assert reader.final.created_at == "2025-06-01T08:00:00.000Z"
    assert {n.ts_source for line in lines for n in line.events} == {"session"}
    assert reader.final.counts.skipped_types == {"state": 2}


def test_each_text_is_told_once_in_the_form_that_comes_first() -> None:
    lines, reader = read("no-version-events-late.jsonl")
    assert told(lines) == [
        (2, "user_message", None, "first"),
        (4, "message_text", None, "one"),
        (7, "user_message", None, "first"),
    ]
    assert reader.final.counts.skipped_types == {
        "repeated user_message": 1,
        "repeated agent_message": 1,
        "repeated user message": 1,
    }


def test_a_version_in_the_header_does_not_promise_events() -> None:
    lines, reader = read("version-few-events.jsonl")
    assert told(lines) == [
        (2, "user_notice", None, "<environment_context>cwd</environment_context>"),
        (3, "user_message", None, "why is the pond green"),
        (4, "message_text", None, "Too much sun."),
        (6, "user_message", None, "shade it"),
        (7, "message_text", None, "Shaded."),
        (8, "user_message", None, None),
        (9, "user_message", None, "like this\nor this"),
    ]
    assert [event.is_prompt for event in events(lines) if event.event_type == "user_message"] == [True] * 4
    assert reader.final.counts.skipped_types == {"repeated assistant message": 1, "repeated user_message": 1}


def test_from_the_first_prompt_that_is_an_event_on_an_item_alone_is_the_programs() -> None:
    lines, reader = read("items-of-the-program.jsonl")
    assert told(lines) == [
        (2, "user_message", None, "count the fish"),
        (4, "message_text", None, "Nine."),
        (6, "user_message", None, "again"),
    ]
    assert reader.final.counts.skipped_types == {"repeated user_message": 1, "repeated user message": 2}


def test_damage_and_a_torn_tail_hide_nothing() -> None:
    lines, reader = read("damaged-and-torn.jsonl")
    assert [(line.number, line.error) for line in lines if line.error] == [
        (2, "not JSON at character 77 of the line: string without an end"),
        (4, "the payload of a turn_context record must be an object, not list"),
        (5, "a rollout record must be an object, not list"),
    ]
    assert told(lines) == [(3, "user_message", None, "whole")]
    assert reader.bytes_pending > 0
    counts = reader.final.counts
    assert (counts.seen, counts.indexed, counts.skipped, counts.damaged) == (5, 2, 0, 3)


def test_contents_of_every_shape() -> None:
    lines, reader = read("contents-of-every-shape.jsonl")
    assert told(lines) == [
        (2, "user_message", None, "a string"),
        (3, "user_message", None, None),
        (4, "message_text", None, None),
        (5, "message_text", None, "bare\npart"),
        (6, "user_message", None, None),
        (7, "tool_call", None, None),
        (8, "tool_result", None, None),
        (9, "tool_result", None, None),
    ]
    assert [event.is_prompt for event in events(lines)[:5]] == [True, False, False, False, True]
    assert events(lines)[5].tool_arguments == '{"a":[1]}'
    assert reader.final.counts.damaged == 0


@pytest.mark.parametrize(
    ("output", "event_type", "outcome"),
    [
        ("Process exited with code 1", "tool_result", None),
        ("the log says\nExit code: 1\nand goes on", "tool_result", None),
        ("Exit code: 1\nWall time: 2 seconds\nOutput:\n", "tool_error", "failed"),
        ("Exit code: 0\nWall time: 2 seconds\nOutput:\nExit code: 1\n", "tool_result", None),
        ("Script completed\nWall time 1 seconds\nOutput:\nScript failed\n", "tool_result", None),
        ('{"output":"x","metadata":{"exit_code":"1"}}', "tool_result", None),
        ('{"output":"x","metadata":{"exit_code":124}}', "tool_error", "failed"),
        ('{"output":', "tool_result", None),
        ("he aborted by user", "tool_result", None),
        ("aborted", "tool_refused", "cancelled"),
        ("Wall time: 3.2 seconds\naborted by user", "tool_refused", "cancelled"),
        ("exec command rejected by user", "tool_refused", "refused"),
        ("exec command rejected by user interface tests", "tool_result", None),
        ({"content": [{"type": "input_text", "text": "Exit code: 3\nOutput:\n"}]}, "tool_error", "failed"),
    ],
)
def test_failure_is_told_by_structure(output: object, event_type: str, outcome: str | None) -> None:
    record = {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c", "output": output}}
    ((event,), _) = read_records(record)
    assert (event.event_type, event.outcome) == (event_type, outcome)


def test_a_file_without_a_header_has_the_id_in_its_name() -> None:
    record = {"timestamp": "2026-01-01T00:00:00Z", "type": "event_msg", "payload": {"type": "user_message"}}
    path = f"/h/sessions/2026/01/01/rollout-2026-01-01T01-00-00-{SESSION}.jsonl"
    _, reader = read_bytes(json.dumps(record).encode() + b"\n", path)
    assert reader.final.session_id == SESSION


def test_a_later_header_of_the_session_itself_tells_only_what_changed() -> None:
    def head(branch: str) -> dict[str, object]:
        payload = {"id": "s", "cwd": "/w", "cli_version": "0.147.0", "git": {"branch": branch}}
        return {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": payload}

    lines, reader = read_bytes(b"".join(json.dumps(head(b)).encode() + b"\n" for b in ("one", "one", "two")))
    assert [(line.number, trait.name, trait.value) for line in lines for trait in line.traits] == [
        (1, "cwd", "/w"), (1, "git_branch", "one"), (1, "version", "0.147.0"), (3, "git_branch", "two"),
    ]  # fmt: skip
    assert reader.final.counts.skipped_types == {"session_meta": 1}


def test_a_title_of_another_session_is_ignored() -> None:
    payload = {"type": "thread_name_updated", "thread_id": "other", "thread_name": "Not mine"}
    told_events, reader = read_records(
        {"type": "session_meta", "payload": {"id": "s", "cli_version": "1"}}, {"type": "event_msg", "payload": payload}
    )
    assert told_events == []
    assert reader.final.counts.skipped_types == {"event_msg:thread_name_updated": 1}


@pytest.mark.parametrize("count", [2**63, -1, 1.5, "9", None, True, 10**400])
def test_absurd_counts_are_unknown(count: object) -> None:
    last = {"input_tokens": count, "output_tokens": 3}
    payload = {"type": "token_count", "info": {"last_token_usage": last}}
    lines, _ = read_bytes(json.dumps({"type": "event_msg", "payload": payload}).encode() + b"\n")
    (usage,) = lines[0].usage
    assert (usage.input_tokens, usage.output_tokens, usage.message_id) == (None, 3, None)


def test_counts_that_began_anew_are_one_call() -> None:
    def count(total: int) -> dict[str, object]:
        info = {"total_token_usage": {"input_tokens": total, "output_tokens": 1, "total_tokens": total + 1}}
        return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}

    lines, _ = read_bytes(b"".join(json.dumps(count(total)).encode() + b"\n" for total in (100, 250, 40)))
    assert [usage.input_tokens for line in lines for usage in line.usage] == [100, 150, 40]


def test_resuming_is_by_id_from_any_folder() -> None:
    assert AGENT.resume is not None
    assert AGENT.resume(SESSION, None) == AGENT.resume(SESSION, "/w") == ("codex", "resume", SESSION)
