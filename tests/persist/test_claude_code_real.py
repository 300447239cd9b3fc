"""The real files, where they are there: counts made by reading the files by eye, sums made a second way."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from persist.agents.claude_code.agent import AGENT
from persist.events import EVENT_TYPES, Usage
from persist.reading import ReadLine, SourceReader
from persist.sources import Source
from tests.persist import tails
from tests.persist.real_home import WHERE_IT_IS, sources_of

pytestmark = WHERE_IT_IS

PROMPTS = {
    "39d9d869-b2a5-4ff8-8100-056a5a611497": 1,
    "66ba3521-ec12-4373-a32d-6ee6406cb603": 1,
    "c937a377-6242-452b-8773-139e549027b4": 1,
    "large-conversation": 21,
    "long-conversation": 15,
    "medium-conversation": 0,
    "short-conversation": 1,
    "tiny-conversation": 2,
}
"""Prompts per file, counted by reading every user record that is no tool result.

In ``large-conversation`` 28 records are left then; seven are not a person's: the caveat (line 229), ``/context``
(230) and its output (231), and four interruptions (303, 312, 370, 406). In ``long-conversation`` 16, of which
one holds a document that the program attached (14).
"""


def found() -> dict[str, Source]:
    return {Path(source.path).stem: source for source in sources_of(AGENT)}


def read(source: Source) -> tuple[list[ReadLine], SourceReader]:
    return tails.read(AGENT, source)


def records(source: Source) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(source.path).read_bytes().splitlines()]


def test_these_files_are_found() -> None:
    assert found().keys() == PROMPTS.keys()


@pytest.mark.parametrize("name", PROMPTS)
class TestEachFile:
    def test_every_line_is_read_or_skipped_by_name(self, name: str) -> None:
        lines, reader = read(found()[name])
        counts = reader.final.counts
        assert (counts.damaged, counts.bad_times, reader.bytes_pending) == (0, 0, 0)
        assert counts.seen == len(records(found()[name])) == counts.indexed + counts.skipped
        assert not [kind for kind in counts.skipped_types if kind.startswith("unknown")]
        assert {n.event.event_type for line in lines for n in line.events} <= EVENT_TYPES.keys()
        assert reader.final.recognised

    def test_prompts(self, name: str) -> None:
        lines, _ = read(found()[name])
        prompts = [n.event for line in lines for n in line.events if n.event.is_prompt]
        assert len(prompts) == PROMPTS[name]
        assert all(prompt.text for prompt in prompts)

    def test_tokens_equal_a_sum_made_another_way(self, name: str) -> None:
        source = found()[name]
        best: dict[tuple[Any, Any], tuple[int, ...]] = {}
        for record in records(source):
            usage = record.get("message", {}).get("usage") if record["type"] == "assistant" else None
            if usage:
                key = (record["message"].get("id"), record.get("requestId"))
                row = (
                    usage["output_tokens"],
                    usage["input_tokens"],
                    usage["cache_read_input_tokens"],
                    usage["cache_creation_input_tokens"],
                )
                best[key] = max(best.get(key, row), row)
        ours: dict[tuple[Any, Any], Usage] = {}
        for usage in (u for line in read(source)[0] for u in line.usage):
            key = (usage.message_id, usage.request_id)
            if key not in ours or (usage.output_tokens or 0) >= (ours[key].output_tokens or 0):
                ours[key] = usage
        assert {
            key: (u.output_tokens, u.input_tokens, u.cache_read_tokens, u.cache_write_tokens) for key, u in ours.items()
        } == best

    def test_each_tool_result_names_its_tool(self, name: str) -> None:
        source = found()[name]
        names = {
            block["id"]: block["name"]
            for record in records(source)
            if record["type"] == "assistant"
            for block in record["message"]["content"]
            if block["type"] == "tool_use"
        }
        results = [n.event for line in read(source)[0] for n in line.events if n.event.event_type.startswith("tool_")]
        assert [e.tool_name for e in results] == [names.get(e.tool_call_id or "") for e in results]

    def test_the_words_of_every_block_are_kept(self, name: str) -> None:
        source = found()[name]
        written: Counter[str] = Counter()
        for record in records(source):
            content = record.get("message", {}).get("content") if record["type"] == "assistant" else None
            written.update(block["text"] for block in content or [] if block["type"] == "text")
        lines, _ = read(source)
        kept = Counter(
            n.event.text for line in lines for n in line.events if n.event.event_type == "message_text" and n.event.text
        )
        assert kept == written


def test_sessions_are_named_by_their_records_not_their_files() -> None:
    names = {name: read(source)[1].final.session_id for name, source in found().items()}
    assert names["large-conversation"] == "0fae0449-64d3-4788-8622-d3a47d82c14b"
    assert names["medium-conversation"] is None  # titles and snapshots only
    assert all(names[name] == name for name in names if "-conversation" not in name)


def test_four_interruptions_and_five_retries() -> None:
    events = [n.event for source in found().values() for line in read(source)[0] for n in line.events]
    counts = Counter((e.event_type, e.outcome) for e in events)
    assert counts["turn_ended", "cancelled"] == 4
    assert counts["retry_scheduled", None] == 5
    assert sum(counts[kind, "failed"] for kind in ("tool_error",)) == 28
