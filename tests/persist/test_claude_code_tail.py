"""Reading on from a saved state gives what one pass gives, whatever the records and wherever the cuts."""

from __future__ import annotations

import json
import math
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persist.agents.claude_code.agent import AGENT
from persist.errors import ShapeError
from persist.events import EVENT_TYPES, Parsed
from persist.reading import Checkpoint, ReadLine, SourceReader
from persist.sources import TRANSCRIPT, Line, Parser, Source, Stat

DATA = Path(__file__).parent.parent / "data"
FILES = sorted(
    [
        *DATA.glob("claude_code/*.jsonl"),
        *DATA.glob("faults/B17/claude/projects/*/*.jsonl"),
        *DATA.glob("faults/B26/claude/projects/*/*.jsonl"),
    ]
)

TEXTS = ["yes", "", "<system-reminder>r</system-reminder>", "[Request interrupted by user]", "<command-name>"]
IDS = ["t1", "t2", "t1", "t2", "x" * 300, "ö", ""]
KEYS: dict[str, list[Any]] = {
    "sessionId": ["s1", "s1", "s2", "y" * 300],
    "agentId": ["a1", "a2"],
    "uuid": ["u1", "u2"],
    "timestamp": ["2026-03-02T00:00:00Z", 1772409600000],
    "cwd": ["/w/a", "/w/b", "/" + "c" * 500, "/" + "d" * 500],
    "gitBranch": ["main", ""],
    "version": ["2.1.0", "2.1.1"],
    "isMeta": [True, False],
    "isSidechain": [True, False],
    "isCompactSummary": [True, False],
    "isApiErrorMessage": [True, False],
    "origin": [{"kind": "human"}, {"kind": "peer"}, {"kind": []}],
    "promptSource": ["typed", "system"],
    "forkedFrom": [{"sessionId": "s1"}, {"sessionId": "s3"}, {"sessionId": 3}],
    "toolDenialKind": ["user-rejected", "interrupted"],
    "subtype": ["api_error", "compact_boundary", "local_command", "other"],
    "content": TEXTS,
    "error": [{"error": {"message": "m"}}, {"cause": {"cause": {"cause": {"cause": {"code": "deep"}}}}}],
    "attachment": [{"type": "queued_command", "prompt": "p"}, {"type": "queued_command", "prompt": [1]}],
    "data": [{"type": "bash_progress"}],
    "summary": TEXTS,
    "leafUuid": IDS,
    "aiTitle": TEXTS,
    "customTitle": TEXTS,
    "costUSD": [0.5],
}
KINDS = ["user", "assistant", "system", "attachment", "progress", "summary", "ai-title", "custom-title", "mode", "new"]
BLOCKS = ["text", "thinking", "image", "web_search_tool_result", "redacted_thinking", *["tool_use", "tool_result"] * 4]


def junk(random: Random, depth: int = 0) -> Any:
    """Return any JSON value, odd numbers among them."""
    plain = [None, True, False, 0, -1, 2**70, 1.5, math.inf, math.nan, "", "word", "\x00", "�"]
    if depth > 2 or random.random() < 0.7:
        return random.choice(plain)
    if random.random() < 0.5:
        return [junk(random, depth + 1) for _ in range(random.randrange(3))]
    return {random.choice(["type", "text", "content", "id", "k"]): junk(random, depth + 1) for _ in range(2)}


def mostly(random: Random, choices: list[Any]) -> Any:
    return random.choice(choices) if random.random() < 0.85 else junk(random)


def block(random: Random) -> Any:
    keys: dict[str, list[Any]] = {
        "type": BLOCKS,
        "text": TEXTS,
        "thinking": TEXTS,
        "id": IDS,
        "tool_use_id": IDS,
        "name": ["Bash", "Read", "n" * 200],
        "input": [{"a": 1}, {}],
        "content": [*TEXTS, [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]],
        "is_error": [True, False],
    }
    return {key: mostly(random, choices) for key, choices in keys.items() if random.random() < 0.8}


def message(random: Random) -> Any:
    content = [mostly(random, [block(random)]) for _ in range(random.randrange(4))]
    usage = {key: mostly(random, [0, 7, 900]) for key in ("input_tokens", "output_tokens")}
    return {
        "content": mostly(random, [content, content, *TEXTS]),
        "id": mostly(random, IDS),
        "model": mostly(random, ["m-one", "m-two", "<synthetic>"]),
        "usage": mostly(random, [usage]),
    }


def record(random: Random) -> Any:
    if random.random() < 0.05:
        return junk(random)
    found = {key: mostly(random, choices) for key, choices in KEYS.items() if random.random() < 0.4}
    return {**found, "type": mostly(random, KINDS), "message": mostly(random, [message(random)])}


PLACES = ["/h/projects/-w/s.jsonl", "/h/projects/-w/p/subagents/agent-a9.jsonl"]


def source(path: str) -> Source:
    return Source("claude-code", TRANSCRIPT, path, "/h", Stat(0, 0, 0, 0), "p" if "subagents" in path else "")


def feed(parser: Parser, record: Any, number: int) -> Parsed | str:
    """Feed one record; a shape error, the only one allowed, must leave the state as it was."""
    before = json.dumps(parser.save())
    try:
        return parser.feed(record, Line(number, 0))
    except ShapeError as error:
        assert json.dumps(parser.save()) == before
        return str(error)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32), path=st.sampled_from(PLACES))
def test_any_records_cut_anywhere_give_what_one_pass_gives(seed: int, path: str) -> None:
    random = Random(seed)  # noqa: S311
    lines = [record(random) for _ in range(random.randrange(14))]
    whole, parser = AGENT.open_parser(source(path), None), AGENT.open_parser(source(path), None)
    known: str | None = None
    for number, value in enumerate(lines):
        once = feed(whole, value, number)
        if random.random() < 0.4:
            parser = AGENT.open_parser(source(path), json.loads(json.dumps(parser.save())))
        assert repr(feed(parser, value, number)) == repr(once)  # not ==: a NaN is not equal to itself
        assert json.dumps(parser.save()) == json.dumps(whole.save())
        assert told(parser) == told(whole)
        assert known is None or whole.session_id == known
        known = whole.session_id
        if not isinstance(once, str):
            assert_is_accounted_for(once)


def told(parser: Parser) -> tuple[str | None, bool, bool]:
    return parser.session_id, parser.names_parent, parser.recognised


def assert_is_accounted_for(parsed: Parsed) -> None:
    assert bool(parsed.events) != bool(parsed.skipped)
    assert parsed.events or not parsed.usage
    assert {event.event_type for event in parsed.events} <= EVENT_TYPES.keys()
    assert [event.part for event in parsed.events] == sorted(event.part for event in parsed.events)
    if parsed.skipped:
        assert parsed.skipped in AGENT.skips or f"{parsed.skipped.partition(':')[0]}:*" in AGENT.skips


def test_the_generator_makes_what_it_should() -> None:
    parser = AGENT.open_parser(source(PLACES[0]), None)
    random = Random(1)  # noqa: S311
    parsed = [feed(parser, record(random), number) for number in range(6000)]
    assert {e.event_type for p in parsed if not isinstance(p, str) for e in p.events} >= {
        "user_message", "user_notice", "turn_ended", "message_text", "message_thought", "tool_call", "tool_result",
        "tool_error", "tool_refused", "llm_call_ended", "context_compaction_result",
        "context_compaction_ended", "system_message", "session_title",
    }  # fmt: skip
    assert any(isinstance(p, str) for p in parsed)
    events = [event for p in parsed if not isinstance(p, str) for event in p.events]
    assert any(event.tool_name for event in events if event.event_type in ("tool_result", "tool_error", "tool_refused"))


def read(path: Path, start: Checkpoint | None = None) -> tuple[list[ReadLine], SourceReader]:
    with path.open("rb") as file:
        reader = SourceReader(AGENT, source(str(path)), file, start)
        return list(reader), reader


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[:24])
def test_every_byte_cut_of_a_file_equals_one_pass(path: Path, tmp_path: Path) -> None:
    content = path.read_bytes()
    growing = tmp_path / path.name
    growing.write_bytes(content)
    whole, _ = read(growing)
    step = max(1, len(content) // 60)
    ends = {at + 1 for at, byte in enumerate(content) if byte == 10}
    for cut in sorted({*range(0, len(content), step), *ends, *(end - 1 for end in ends)}):
        growing.write_bytes(content[:cut])
        first, reader = read(growing)
        growing.write_bytes(content)
        saved = json.loads(json.dumps(reader.checkpoint.save()))
        rest, _ = read(growing, Checkpoint.load(saved))
        kept = [line for line in first if line.offset_bytes < reader.checkpoint.offset_bytes]
        assert [*kept, *rest] == whole, cut


def test_the_state_stays_small() -> None:
    parser = AGENT.open_parser(source("/h/projects/-w/s.jsonl"), None)
    for number in range(2000):
        call = {"type": "tool_use", "id": f"{number:0>80}", "name": "n" * 80, "input": {}}
        record = {
            "type": "assistant",
            "message": {"content": [call], "model": f"m{number}" * 500},
            "cwd": f"/{number}" * 900,
            "gitBranch": "é" * 5000 + str(number),
        }
        parser.feed(record, Line(number, 0))
        parser.feed({"type": "ai-title", "aiTitle": f"{number}" * 3000}, Line(number, 0))
    state = parser.save()
    assert len(state["calls"]) == 256
    assert list(state["calls"])[-1].endswith("1999")
    assert len(json.dumps(state)) < 64 * 1024


def test_a_call_that_was_answered_is_forgotten() -> None:
    parser = AGENT.open_parser(source(PLACES[0]), None)
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    parser.feed({"type": "assistant", "message": {"content": [call]}}, Line(1, 0))
    assert parser.save()["calls"] == {"t1": "Bash"}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": "done"}
    parser.feed({"type": "user", "message": {"content": [answer]}}, Line(2, 0))
    assert parser.save()["calls"] == {}


def test_a_state_of_another_version_is_refused() -> None:
    parser = AGENT.open_parser(source("/h/projects/-w/s.jsonl"), None)
    with pytest.raises(ValueError, match="read the file anew"):
        AGENT.open_parser(source("/h/projects/-w/s.jsonl"), {**parser.save(), "v": 0})
