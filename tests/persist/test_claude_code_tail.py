"""Reading on from a saved state gives what one pass gives, whatever the records and wherever the cuts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from persist.agents.claude_code import AGENT
from persist.errors import ShapeError
from persist.events import Parsed
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

junk: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
ids = st.sampled_from(["t1", "t2", "x" * 300, "ö", ""]) | junk
texts = st.sampled_from(
    ["yes", "<system-reminder>r</system-reminder>", "[Request interrupted by user]", "<command-name>"]
)
blocks = st.one_of(
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["text", "thinking", "tool_use", "tool_result", "image", "web_search_tool_result"])
            | junk
        },
        optional={
            "text": texts | junk,
            "thinking": texts | junk,
            "id": ids,
            "tool_use_id": ids,
            "name": st.sampled_from(["Bash", "n" * 200]) | junk,
            "input": junk,
            "content": texts
            | junk
            | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": texts}), max_size=2),
            "is_error": st.booleans() | junk,
        },
    ),
    junk,
)
messages = st.fixed_dictionaries(
    {"content": st.lists(blocks, max_size=3) | texts | junk},
    optional={
        "id": ids,
        "model": st.sampled_from(["m-one", "m-two", "<synthetic>"]) | junk,
        "usage": st.dictionaries(
            st.sampled_from(["input_tokens", "output_tokens", "output_tokens_details"]), junk, max_size=3
        )
        | junk,
    },
)
kinds = ["user", "assistant", "system", "attachment", "progress", "summary", "ai-title", "custom-title", "mode", "new"]
flags = st.sampled_from([True, False]) | junk
values = st.fixed_dictionaries(
    {"type": st.sampled_from(kinds) | junk},
    optional={
        "message": messages | junk,
        "sessionId": st.sampled_from(["s1", "s2", "y" * 300]) | junk,
        "agentId": st.sampled_from(["a1", "a2"]) | junk,
        "uuid": ids,
        "timestamp": st.sampled_from(["2026-03-02T00:00:00Z", 1772409600000]) | junk,
        "cwd": st.sampled_from(["/w/a", "/w/b", "/" + "c" * 500, "/" + "d" * 500]) | junk,
        "gitBranch": st.sampled_from(["main", ""]) | junk,
        "isMeta": flags,
        "isSidechain": flags,
        "isCompactSummary": flags,
        "isApiErrorMessage": flags,
        "origin": st.fixed_dictionaries({"kind": st.sampled_from(["human", "peer"]) | junk}) | junk,
        "promptSource": st.sampled_from(["typed", "system"]) | junk,
        "forkedFrom": st.fixed_dictionaries({"sessionId": st.sampled_from(["s1", "s3"]) | junk}) | junk,
        "toolDenialKind": st.sampled_from(["user-rejected", "interrupted"]) | junk,
        "subtype": st.sampled_from(["api_error", "compact_boundary", "local_command", "other"]) | junk,
        "content": texts | junk,
        "error": junk | st.fixed_dictionaries({"error": st.fixed_dictionaries({"message": texts | junk})}),
        "attachment": st.fixed_dictionaries({"type": st.just("queued_command"), "prompt": texts | junk}) | junk,
        "data": junk,
        "summary": texts | junk,
        "leafUuid": ids,
        "aiTitle": texts | junk,
        "customTitle": texts | junk,
        "costUSD": junk,
    },
)
records = st.lists(values | junk, max_size=12)
places = st.sampled_from(["/h/projects/-w/s.jsonl", "/h/projects/-w/p/subagents/agent-a9.jsonl"])


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


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lines=records, path=places, cuts=st.sets(st.integers(0, 12), max_size=4))
def test_any_records_cut_anywhere_give_what_one_pass_gives(lines: list[Any], path: str, cuts: set[int]):
    whole = AGENT.open_parser(source(path), None)
    once = [feed(whole, record, number) for number, record in enumerate(lines)]
    parser = AGENT.open_parser(source(path), None)
    pieces: list[Parsed | str] = []
    for number, record in enumerate(lines):
        if number in cuts:
            parser = AGENT.open_parser(source(path), json.loads(json.dumps(parser.save())))
        pieces.append(feed(parser, record, number))
    assert repr(pieces) == repr(once)  # not ==: a NaN in a tool's input is not equal to itself
    assert json.dumps(parser.save()) == json.dumps(whole.save())


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lines=records, path=places)
def test_what_is_known_of_the_session_does_not_change(lines: list[Any], path: str):
    parser = AGENT.open_parser(source(path), None)
    known: str | None = None
    for number, record in enumerate(lines):
        feed(parser, record, number)
        assert known is None or parser.session_id == known
        known = parser.session_id


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lines=records)
def test_every_record_is_indexed_or_skipped_by_a_registered_name(lines: list[Any]):
    parser = AGENT.open_parser(source("/h/projects/-w/s.jsonl"), None)
    for number, record in enumerate(lines):
        parsed = feed(parser, record, number)
        if isinstance(parsed, str):
            continue
        assert bool(parsed.events) != bool(parsed.skipped)
        assert not parsed.usage or parsed.events
        if parsed.skipped:
            name = parsed.skipped
            assert name in AGENT.skips or f"{name.partition(':')[0]}:*" in AGENT.skips


def read(path: Path, start: Checkpoint | None = None) -> tuple[list[ReadLine], SourceReader]:
    with path.open("rb") as file:
        reader = SourceReader(AGENT, source(str(path)), file, start)
        return list(reader), reader


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[:24])
def test_every_byte_cut_of_a_file_equals_one_pass(path: Path, tmp_path: Path):
    content = path.read_bytes()
    growing = tmp_path / path.name
    growing.write_bytes(content)
    whole, _ = read(growing)
    step = max(1, len(content) // 150)
    ends = {at + 1 for at, byte in enumerate(content) if byte == 10}
    for cut in sorted({*range(0, len(content), step), *ends, *(end - 1 for end in ends)}):
        growing.write_bytes(content[:cut])
        first, reader = read(growing)
        growing.write_bytes(content)
        saved = json.loads(json.dumps(reader.checkpoint.save()))
        rest, _ = read(growing, Checkpoint.load(saved))
        kept = [line for line in first if line.offset_bytes < reader.checkpoint.offset_bytes]
        assert [*kept, *rest] == whole, cut


def test_the_state_stays_small():
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


def test_a_state_of_another_version_is_refused():
    parser = AGENT.open_parser(source("/h/projects/-w/s.jsonl"), None)
    with pytest.raises(ValueError, match="read the file anew"):
        AGENT.open_parser(source("/h/projects/-w/s.jsonl"), {**parser.save(), "v": 0})
