"""The real files, where they are there: what Codex's say, derived a second way from their raw JSON."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from persist.agents.codex.agent import AGENT
from persist.events import EVENT_TYPES, Event
from persist.reading import ReadLine, SourceReader
from persist.sources import Source
from tests.persist import tails
from tests.persist.real_home import WHERE_IT_IS, sources_of

pytestmark = WHERE_IT_IS

SESSIONS = {
    "01a0022d-3960-7020-8db6-5f3f53a58918": (17, []),
    "01a00ae4-9db1-76a2-b793-7f4e6f1abd08": (64, [31, 41]),
    "01a01080-7c66-7630-96e8-5bd7472dccee": (69, [45, 60]),
}
"""Lines of each session's file, and those that are no JSON: replacing names left escapes there that JSON has not."""


def found() -> dict[str, Source]:
    return {source.path.removesuffix(".jsonl")[-36:]: source for source in sources_of(AGENT)}


def read(source: Source) -> tuple[list[ReadLine], SourceReader]:
    return tails.read(AGENT, source)


def events(source: Source) -> list[Event]:
    return [numbered.event for line in read(source)[0] for numbered in line.events]


def payloads(source: Source, kind: str, *inner: str) -> list[dict[str, Any]]:
    """Return the payloads of a kind, by the standard library alone; damaged lines left out."""
    records = []
    for line in Path(source.path).read_bytes().split(b"\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if record["type"] == kind and (not inner or record["payload"].get("type") in inner):
            records.append(record["payload"])
    return records


def test_these_files_are_found() -> None:
    assert found().keys() == SESSIONS.keys()


@pytest.mark.parametrize("name", SESSIONS)
class TestEachFile:
    def test_every_line_is_in_one_class(self, name: str) -> None:
        seen, broken = SESSIONS[name]
        lines, reader = read(found()[name])
        counts = reader.final.counts
        assert [line.number for line in lines if line.error] == broken
        assert (counts.seen, counts.damaged) == (seen, len(broken))
        assert counts.seen == counts.indexed + counts.skipped + counts.damaged
        assert (counts.bad_times, reader.bytes_pending) == (0, 0)
        assert not [kind for kind in counts.skipped_types if kind.startswith("unknown")]
        assert {n.event.event_type for line in lines for n in line.events} <= EVENT_TYPES.keys()
        assert reader.final.session_id == name

    def test_prompts(self, name: str) -> None:
        source = found()[name]
        typed = [payload["message"] for payload in payloads(source, "event_msg", "user_message")]
        assert len(typed) == 1
        assert [event.text for event in events(source) if event.is_prompt] == typed

    def test_answers_stand_in_both_forms_and_are_told_once(self, name: str) -> None:
        source = found()[name]
        items = payloads(source, "response_item", "message")
        written = [item["content"][0]["text"] for item in items if item["role"] == "assistant"]
        assert [event.text for event in events(source) if event.event_type == "message_text"] == written

    def test_what_the_program_wrote_is_no_prompt(self, name: str) -> None:
        source = found()[name]
        prompt = payloads(source, "event_msg", "user_message")[0]["message"]
        items = [item for item in payloads(source, "response_item", "message") if item["role"] == "user"]
        texts = ["\n".join(part["text"] for part in item["content"]) for item in items]
        notices = [event.text for event in events(source) if event.event_type == "user_notice"]
        assert notices == [text for text in texts if text != prompt]
        assert len(notices) == 1

    def test_tool_calls_and_their_results(self, name: str) -> None:
        source = found()[name]
        told = events(source)
        calls = payloads(source, "response_item", "custom_tool_call", "function_call")
        outputs = payloads(source, "response_item", "custom_tool_call_output", "function_call_output")
        names = {call["call_id"]: call["name"] for call in calls}
        assert Counter(
            (e.tool_call_id, e.tool_name, e.tool_arguments) for e in told if e.event_type == "tool_call"
        ) == (Counter((call["call_id"], call["name"], call["input"]) for call in calls))
        results = [event for event in told if event.event_type in ("tool_result", "tool_error", "tool_refused")]
        assert [(event.tool_call_id, event.tool_name) for event in results] == [
            (output["call_id"], names[output["call_id"]]) for output in outputs
        ]
        failed = sum(output["output"][0]["text"].startswith("Script failed") for output in outputs)
        assert sum(event.event_type != "tool_result" for event in results) == failed

    def test_tokens_equal_the_last_running_total(self, name: str) -> None:
        source = found()[name]
        total = payloads(source, "event_msg", "token_count")[-1]["info"]["total_token_usage"]
        usage = [usage for line in read(source)[0] for usage in line.usage]
        assert len({one.message_id for one in usage}) == len(usage) == len(payloads(source, "event_msg", "token_count"))
        assert sum(one.output_tokens or 0 for one in usage) == total["output_tokens"]
        assert sum(one.reasoning_tokens or 0 for one in usage) == total["reasoning_output_tokens"]
        assert sum(one.cache_read_tokens or 0 for one in usage) == total["cached_input_tokens"]
        assert sum((one.input_tokens or 0) + (one.cache_read_tokens or 0) for one in usage) == total["input_tokens"]
        (model,) = {payload["model"] for payload in payloads(source, "turn_context")}
        assert {(one.provider, one.model_name) for one in usage} == {("cliproxyapi", model)}

    def test_the_header_tells_the_session(self, name: str) -> None:
        source = found()[name]
        (head,) = payloads(source, "session_meta")
        traits = {trait.name: trait.value for line in read(source)[0] for trait in line.traits}
        assert traits == {
            "created_at": head["timestamp"],
            "cwd": head["cwd"],
            "git_branch": head["git"]["branch"],
            "version": head["cli_version"],
            "model": payloads(source, "turn_context")[0]["model"],
        }


def test_all_together() -> None:
    told = [event for source in found().values() for event in events(source)]
    counts = Counter(event.event_type for event in told)
    assert (counts["tool_call"], counts["tool_result"], counts["tool_error"]) == (18, 14, 0)
    assert counts["message_text"] == 9
    usage = [u for source in found().values() for line in read(source)[0] for u in line.usage]
    assert len(usage) == 21
    assert sum(u.input_tokens or 0 for u in usage) == 46040 + 67799 + 106084
    assert sum(u.output_tokens or 0 for u in usage) == 249 + 6732 + 7962
