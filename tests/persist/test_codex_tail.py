"""Reading on from a saved state gives what one pass gives, whatever Codex's records are and wherever the cuts."""

from __future__ import annotations

import json
import math
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persist.agents.codex.agent import AGENT
from persist.agents.codex.skips import SKIPS
from persist.errors import ShapeError
from persist.events import EVENT_TYPES, Parsed
from persist.reading import Checkpoint, ReadLine, SourceReader
from persist.sources import TRANSCRIPT, Line, Parser, Source, Stat

DATA = Path(__file__).parent.parent / "data" / "codex"
FILES = sorted(path for path in DATA.rglob("*.jsonl") if path.name != "history.jsonl")
PATHS = ["/h/sessions/rollout-a-019df000-0000-7000-8000-000000000001.jsonl", "/h/sessions/rollout-a.jsonl"]

TEXTS: list[Any] = ["yes", "", "<environment_context>e</environment_context>", "aborted", "Exit code: 1\nOutput:\n"]
IDS: list[Any] = ["c1", "c2", "c1", "c2", "x" * 300, "ö", ""]
TURNS: list[Any] = ["019df000-0100-7000-8000-00000000000a", "019defff-0100-7000-8000-00000000000a", "3", "é" * 200]
TIMES: list[Any] = ["2026-05-04T09:00:00Z", "2026-05-04T09:00:00.500Z", "2026-05-04T09:00:09Z", 1777885200, "soon"]
COUNTS: list[Any] = [0, 7, 900, 2**70]
EVENTS = [
    "user_message", "agent_message", "token_count", "task_started", "task_complete", "turn_aborted", "error",
    "stream_error", "warning", "context_compacted", "exited_review_mode", "item_completed", "mcp_tool_call_end",
    "thread_name_updated", "agent_reasoning", "exec_command_end", "newest",
]  # fmt: skip
ITEMS = [
    "message", "message", "reasoning", "agent_message", "function_call", "function_call_output", "custom_tool_call",
    "custom_tool_call_output", "local_shell_call", "web_search_call", "tool_search_call", "tool_search_output",
    "image_generation_call", "ghost_snapshot", "newest",
]  # fmt: skip
KINDS = [
    *["event_msg"] * 6, *["response_item"] * 6, "session_meta", "turn_context", "compacted", "world_state",
    "inter_agent_communication", "newest",
]  # fmt: skip


def junk(random: Random, depth: int = 0) -> Any:
    """Return any JSON value, odd numbers among them."""
    plain = [None, True, False, 0, -1, 2**70, 1.5, math.inf, math.nan, "", "word", "\x00", "\ufffd"]
    if depth > 2 or random.random() < 0.7:
        return random.choice(plain)
    if random.random() < 0.5:
        return [junk(random, depth + 1) for _ in range(random.randrange(3))]
    return {random.choice(["type", "text", "content", "id", "k"]): junk(random, depth + 1) for _ in range(2)}


def mostly(random: Random, choices: list[Any]) -> Any:
    return random.choice(choices) if random.random() < 0.85 else junk(random)


def some(random: Random, keys: dict[str, list[Any]], share: float) -> dict[str, Any]:
    return {key: mostly(random, choices) for key, choices in keys.items() if random.random() < share}


def usage(random: Random) -> Any:
    keys = ["input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens"]
    return some(random, dict.fromkeys(keys, COUNTS), 0.8)


def payload(random: Random) -> dict[str, Any]:
    part = {"type": mostly(random, ["input_text", "output_text", "input_image"]), "text": mostly(random, TEXTS)}
    parts = [[part], [part, part], [], *TEXTS]
    keys: dict[str, list[Any]] = {
        "id": [*IDS, *TURNS],
        "role": ["user", "assistant", "developer"],
        "content": parts,
        "summary": parts,
        "message": TEXTS,
        "text": TEXTS,
        "kind": ["plain", "user_instructions"],
        "images": [["i"], []],
        "call_id": IDS,
        "name": ["exec", "shell", "n" * 200],
        "namespace": ["mcp"],
        "arguments": ["{}", {"a": 1}, {"a": 2**70}],
        "action": [{"type": "search"}],
        "output": [*parts, {"content": "c", "success": False}, '{"output":"o","metadata":{"exit_code":1}}'],
        "turn_id": TURNS,
        "model": ["m-one", "m-two", "m" * 300],
        "cwd": ["/w/a", "/w/b", "/" + "c" * 500],
        "timestamp": TIMES,
        "cli_version": ["0.55.0", "0.147.0"],
        "model_provider": ["openai"],
        "forked_from_id": TURNS,
        "parent_thread_id": TURNS,
        "history_base": [{"thread_id": "t"}],
        "source": ["cli", {"subagent": {"thread_spawn": {"parent_thread_id": "p"}}}, {"subagent": "review"}],
        "git": [{"branch": "main"}, {"branch": "b" * 300}],
        "info": [{"total_token_usage": usage(random), "last_token_usage": usage(random), "model_context_window": 9}],
        "reason": ["interrupted"],
        "thread_name": TEXTS,
        "item": [{"type": "Plan", "text": "p"}],
        "invocation": [{"server": "s", "tool": "t", "arguments": {"q": 1}}],
        "result": [{"Ok": {"content": [part], "isError": True}}, {"Ok": {"content": []}}, {"Err": "e"}],
        "review_output": [{"findings": [{"title": "t", "body": "b"}], "overall_explanation": "o"}],
    }
    return some(random, keys, 0.5)


def record(random: Random) -> Any:
    if random.random() < 0.04:
        return junk(random)
    kind = random.choice(KINDS)
    inner = payload(random)
    if kind == "event_msg":
        inner["type"] = mostly(random, EVENTS)
    elif kind == "response_item":
        inner["type"] = mostly(random, ITEMS)
    if random.random() < 0.1:  # the oldest files
        return random.choice([{"record_type": "state"}, {**inner, "type": random.choice(ITEMS)}, {"id": "old"}])
    return {"timestamp": mostly(random, TIMES), "type": mostly(random, [kind]), "payload": mostly(random, [inner])}


def source(path: str) -> Source:
    return Source("codex", TRANSCRIPT, path, "/h", Stat(0, 0, 0, 0))


def feed(parser: Parser, value: Any, number: int) -> Parsed | str:
    """Feed one record; a shape error, the only one allowed, must leave the state as it was."""
    before = json.dumps(parser.save())
    try:
        return parser.feed(value, Line(number, 0))
    except ShapeError as error:
        assert json.dumps(parser.save()) == before
        return str(error)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32), path=st.sampled_from(PATHS))
def test_any_records_cut_anywhere_give_what_one_pass_gives(seed: int, path: str) -> None:
    random = Random(seed)  # noqa: S311
    whole, parser = AGENT.open_parser(source(path), None), AGENT.open_parser(source(path), None)
    known: str | None = None
    for number in range(random.randrange(20)):
        value = record(random)
        once = feed(whole, value, number)
        if random.random() < 0.4:
            parser = AGENT.open_parser(source(path), json.loads(json.dumps(parser.save())))
        assert repr(feed(parser, value, number)) == repr(once)  # not ==: a NaN is not equal to itself
        assert json.dumps(parser.save()) == json.dumps(whole.save())
        assert known is None or whole.session_id == known
        known = whole.session_id
        if not isinstance(once, str):
            assert_is_accounted_for(once)


def assert_is_accounted_for(parsed: Parsed) -> None:
    assert bool(parsed.events or parsed.traits) != bool(parsed.skipped)
    assert parsed.events or not parsed.usage
    assert {event.event_type for event in parsed.events} <= EVENT_TYPES.keys()
    assert [event.part for event in parsed.events] == sorted(event.part for event in parsed.events)
    if parsed.skipped:
        assert parsed.skipped in SKIPS or f"{parsed.skipped.partition(':')[0]}:*" in SKIPS


def test_the_generator_makes_what_it_should() -> None:
    random = Random(1)  # noqa: S311
    parsed = []
    for _ in range(400):
        parser = AGENT.open_parser(source(PATHS[0]), None)
        parsed += [feed(parser, record(random), number) for number in range(20)]
    told = [event for p in parsed if not isinstance(p, str) for event in p.events]
    assert {event.event_type for event in told} >= {
        "user_message", "user_notice", "turn_ended", "message_text", "message_thought", "tool_call", "tool_result",
        "tool_error", "tool_refused", "llm_call_ended", "retry_scheduled", "context_compaction_result",
        "context_compaction_ended", "context_usage", "system_message", "session_title",
    }  # fmt: skip
    assert any(isinstance(p, str) for p in parsed)
    assert any(event.tool_name for event in told if event.event_type in ("tool_result", "tool_error", "tool_refused"))
    assert any(p.usage for p in parsed if not isinstance(p, str))


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


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[:24])
def test_an_event_that_is_read_again_by_itself_is_the_same(path: Path) -> None:
    """What ``show`` and the search of whole texts do: one line, without what came before it."""
    lines, _ = read(path)
    with path.open("rb") as file:
        for line in lines:
            if not line.events:
                continue
            start = Checkpoint(offset_bytes=line.offset_bytes, line_number=line.number)
            again = next(iter(SourceReader(AGENT, source(str(path)), file, start)))
            for numbered, alone in zip(line.events, again.events, strict=False):
                assert (alone.event.event_type, alone.event.text) == (numbered.event.event_type, numbered.event.text)
            assert len(again.events) >= len(line.events)


def test_the_state_stays_small() -> None:
    parser = AGENT.open_parser(source(PATHS[0]), None)
    name = "é" * 200
    parser.feed(
        {"type": "session_meta", "payload": {"id": name, "forked_from_id": name, "cwd": "/" * 4000}}, Line(1, 0)
    )
    for number in range(2000):
        call = {"type": "function_call", "call_id": f"{number:0>80}", "name": "n" * 80, "arguments": "{}"}
        parser.feed({"type": "response_item", "payload": call}, Line(number, 0))
        turn = {"turn_id": name, "model": "é" * 200, "cwd": f"/{number}" * 900}
        parser.feed({"type": "turn_context", "payload": turn}, Line(number, 0))
        said = {"type": "message", "role": "user", "content": "é" * 200}
        parser.feed({"type": "response_item", "payload": said}, Line(number, 0))
    state = parser.save()
    assert len(state["calls"]) == 256
    assert len(json.dumps(state)) < 64 * 1024


def test_a_state_of_another_version_is_refused() -> None:
    parser = AGENT.open_parser(source(PATHS[0]), None)
    with pytest.raises(ValueError, match="read the file anew"):
        AGENT.open_parser(source(PATHS[0]), {**parser.save(), "v": 0})
