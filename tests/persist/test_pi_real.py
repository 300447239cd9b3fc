"""The real files of pi, where they are there: two sessions of 2025, each sum made a second way from the raw JSON."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from persist.agents.pi.agent import AGENT
from persist.events import EVENT_TYPES, Event
from persist.reading import ReadLine, SourceReader
from persist.sources import Source
from tests.persist import tails
from tests.persist.real_home import WHERE_IT_IS, sources_of

pytestmark = WHERE_IT_IS

SESSIONS = {
    "before-compaction": "ffae836b-9420-4060-ac13-7745215f90ff",
    "large-session": "d703a1a9-1b7b-4fb1-b512-c9738b1fe617",
}
PROMPTS = {"before-compaction": 55, "large-session": 88}
"""Prompts per file, counted by reading every user message: each of them was typed, none is a tool's answer."""


def found() -> dict[str, Source]:
    return {Path(source.path).stem: source for source in sources_of(AGENT)}


def read(source: Source) -> tuple[list[ReadLine], SourceReader]:
    return tails.read(AGENT, source)


def events_of(name: str) -> list[Event]:
    return [n.event for line in read(found()[name])[0] for n in line.events]


def messages(name: str, role: str) -> list[dict[str, Any]]:
    records = (json.loads(line) for line in Path(found()[name].path).read_bytes().splitlines())
    return [r["message"] for r in records if r["type"] == "message" and r["message"]["role"] == role]


def test_these_files_are_found() -> None:
    assert found().keys() == SESSIONS.keys()


@pytest.mark.parametrize("name", SESSIONS)
class TestEachFile:
    def test_every_line_is_read_or_skipped_by_name(self, name: str) -> None:
        source = found()[name]
        lines, reader = read(source)
        counts = reader.final.counts
        assert (counts.damaged, counts.bad_times, reader.bytes_pending) == (0, 0, 0)
        assert counts.seen == len(Path(source.path).read_bytes().splitlines()) == counts.indexed + counts.skipped
        assert set(counts.skipped_types) == {"thinking_level_change"}
        assert {n.event.event_type for line in lines for n in line.events} <= EVENT_TYPES.keys()
        assert (reader.final.recognised, reader.final.session_id) == (True, SESSIONS[name])
        assert all(n.ts_source == "record" for line in lines for n in line.events)

    def test_prompts(self, name: str) -> None:
        prompts = [event.text for event in events_of(name) if event.is_prompt]
        assert len(prompts) == PROMPTS[name]
        written = ["\n".join(block["text"] for block in m["content"]) for m in messages(name, "user")]
        assert prompts == written

    def test_tokens_and_cost_equal_a_sum_made_another_way(self, name: str) -> None:
        sums = [0.0] * 5
        calls = 0
        for message in messages(name, "assistant"):
            used = message["usage"]
            row = [used["input"], used["output"], used["cacheRead"], used["cacheWrite"], used["cost"]["total"]]
            sums = [a + b for a, b in zip(sums, row, strict=True)]
            calls += any(row)
        ours = [used for line in read(found()[name])[0] for used in line.usage]
        assert len(ours) == calls
        assert [
            sum(u.input_tokens or 0 for u in ours), sum(u.output_tokens or 0 for u in ours),
            sum(u.cache_read_tokens or 0 for u in ours), sum(u.cache_write_tokens or 0 for u in ours),
        ] == sums[:4]  # fmt: skip
        assert sum(u.cost_usd or 0 for u in ours) == pytest.approx(sums[4])
        assert {(u.provider, u.model_name) for u in ours} == {
            (m["provider"], m["model"]) for m in messages(name, "assistant") if m["usage"]["output"]
        }

    def test_tools_and_their_errors_equal_a_count_made_another_way(self, name: str) -> None:
        events = [event for event in events_of(name) if event.kind == "agent"]
        blocks = [block for m in messages(name, "assistant") for block in m["content"] if block["type"] == "toolCall"]
        assert [(e.tool_call_id, e.tool_name) for e in events if e.event_type == "tool_call"] == [
            (block["id"], block["name"]) for block in blocks
        ]
        results = messages(name, "toolResult")
        assert [(e.tool_call_id, e.event_type) for e in events if e.event_type in ("tool_result", "tool_error")] == [
            (m["toolCallId"], "tool_error" if m["isError"] else "tool_result") for m in results
        ]

    def test_the_words_of_every_block_are_kept(self, name: str) -> None:
        blocks = [block for m in messages(name, "assistant") for block in m["content"]]
        written = Counter(block["text"] for block in blocks if block["type"] == "text")
        assert Counter(e.text for e in events_of(name) if e.event_type == "message_text" and e.text) == written

    def test_answers_that_ended_badly(self, name: str) -> None:
        stops = Counter(message["stopReason"] for message in messages(name, "assistant"))
        counts = Counter((event.event_type, event.outcome) for event in events_of(name))
        assert counts["turn_ended", "cancelled"] == stops["aborted"]
        assert counts["llm_call_ended", "failed"] == stops["error"] == 1


def test_three_commands_of_a_person_and_two_summaries() -> None:
    counts = Counter((event.kind, event.event_type) for event in events_of("before-compaction"))
    assert (counts["user", "tool_call"], counts["user", "tool_result"]) == (3, 3)
    assert counts["agent", "context_compaction_result"] == 2


def test_one_is_a_fork_that_names_its_origin() -> None:
    lines, reader = read(found()["before-compaction"])
    told = {trait.name: trait.value for line in lines for trait in line.traits}
    assert told["forked_from"] == "d97339c6-6c10-4827-846b-9ff1d9c3dc37"
    assert reader.final.names_parent
    assert not read(found()["large-session"])[1].final.names_parent
