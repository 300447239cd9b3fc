"""Reading on from a saved state gives what one pass gives, whatever the records and wherever the cuts (pi and omp)."""

from __future__ import annotations

import json
import math
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persist.agents.pi import agent as pi
from persist.agents.pi import omp
from persist.errors import ShapeError
from persist.events import EVENT_TYPES, Parsed
from persist.reading import Checkpoint, ReadLine, SourceReader
from persist.sources import TRANSCRIPT, Agent, Line, Parser, Source, Stat

DATA = Path(__file__).parent.parent / "data"
AGENTS = {"pi": pi.AGENT, "omp": omp.AGENT}
FILES = sorted([*DATA.glob("pi/*.jsonl"), *DATA.glob("omp/*.jsonl")])

TEXTS = ["yes", "", '<skill name="s" location="l">\nb\n</skill>', "word"]
IDS = ["e1", "e2", "p", "x" * 300, "ö", ""]
KEYS: dict[str, list[Any]] = {
    "id": IDS,
    "parentId": [None, "e1"],
    "timestamp": ["2026-03-02T00:00:00Z", 1772409600000],
    "cwd": ["/w/a"],
    "parentSession": ["/h/t_q.jsonl", "q"],
    "modelId": ["m-one", "m-two"],
    "model": ["acme/m-one", "m"],
    "provider": ["acme"],
    "role": ["default", "smol"],
    "name": TEXTS,
    "title": TEXTS,
    "titleSource": ["auto", "user"],
    "source": ["auto", "user"],
    "updatedAt": ["2026-03-02T00:00:00Z"],
    "summary": TEXTS,
    "content": TEXTS,
    "customType": ["skill-prompt", "collab-prompt", "notes"],
    "attribution": ["user", "agent"],
    "details": [{"name": "s", "args": "a"}, {"prompt": "typed"}, {"name": 3}],
    "usage": [{"input": 1, "output": 2, "cost": {"total": 0.1}}, {"input": 0}],
    "purpose": ["title"],
}
KINDS = ["session", "title", "model_change", "model_usage", "compaction", "branch_summary", "session_info", "custom",
         "title_change", "custom_message", "reset_boundary", "label", "new", *["message"] * 14]  # fmt: skip
ROLES = ["user", "assistant", "assistant", "toolResult", "bashExecution", "pythonExecution", "developer", "custom",
         "hookMessage", "compactionSummary", "new"]  # fmt: skip
BLOCKS = ["text", "thinking", "redactedThinking", "image", "toolCall", "anthropicServerTool"]


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


def some(random: Random, keys: dict[str, list[Any]]) -> dict[str, Any]:
    return {key: mostly(random, choices) for key, choices in keys.items() if random.random() < 0.7}


def block(random: Random) -> Any:
    inner: dict[str, list[Any]] = {
        "type": ["server_tool_use", "web_search_tool_result"],
        "id": IDS,
        "tool_use_id": IDS,
        "input": [{}],
        "content": [[{"title": "t"}], {"error_code": "e"}],
    }
    return some(random, {"type": BLOCKS, "text": TEXTS, "thinking": TEXTS, "id": IDS, "name": ["bash", "read"],
                         "arguments": [{"a": 1}, "raw", {}], "block": [some(random, inner)]})  # fmt: skip


def message(random: Random) -> Any:
    content = [mostly(random, [block(random)]) for _ in range(random.randrange(4))]
    return some(random, {
        "role": ROLES, "content": [content, content, *TEXTS], "timestamp": [1772409600000], "usage": KEYS["usage"],
        "model": ["m-one", "m-two"], "provider": ["acme"], "responseId": IDS, "errorMessage": TEXTS,
        "stopReason": ["stop", "error", "aborted"], "retryRecovery": [{"status": "recovered"}],
        "isError": [True, False], "toolCallId": IDS, "toolName": ["bash"], "command": TEXTS, "code": TEXTS,
        "output": TEXTS, "exitCode": [0, 1], "cancelled": [True, False],
        "summary": TEXTS, "synthetic": [True], "attribution": ["user", "agent"],
        "customType": KEYS["customType"], "details": KEYS["details"],
    })  # fmt: skip


def record(random: Random) -> Any:
    if random.random() < 0.05:
        return junk(random)
    found = {key: mostly(random, choices) for key, choices in KEYS.items() if random.random() < 0.4}
    return {**found, "type": mostly(random, KINDS), "message": mostly(random, [message(random)])}


def source(agent: str, path: str, parent: str = "") -> Source:
    return Source(agent, TRANSCRIPT, path, "/h", Stat(0, 0, 0, 0), parent)


def feed(parser: Parser, value: Any, number: int) -> Parsed | str:
    """Feed one record; a shape error, the only one allowed, must leave the state as it was."""
    before = json.dumps(parser.save())
    try:
        return parser.feed(value, Line(number, 0))
    except ShapeError as error:
        assert json.dumps(parser.save()) == before
        return str(error)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32), name=st.sampled_from(sorted(AGENTS)), parent=st.sampled_from(["", "p"]))
def test_any_records_cut_anywhere_give_what_one_pass_gives(seed: int, name: str, parent: str) -> None:
    random = Random(seed)  # noqa: S311
    agent, of = AGENTS[name], source(name, "/h/s/t_s.jsonl", parent)
    values = [record(random) for _ in range(random.randrange(14))]
    whole, parser = agent.open_parser(of, None), agent.open_parser(of, None)
    known: str | None = None
    for number, value in enumerate(values):
        once = feed(whole, value, number)
        if random.random() < 0.4:
            parser = agent.open_parser(of, json.loads(json.dumps(parser.save())))
        assert repr(feed(parser, value, number)) == repr(once)  # not ==: a NaN is not equal to itself
        assert json.dumps(parser.save()) == json.dumps(whole.save())
        assert (parser.session_id, parser.names_parent, parser.recognised) == (
            whole.session_id, whole.names_parent, whole.recognised,
        )  # fmt: skip
        assert known is None or whole.session_id == known
        known = whole.session_id
        if not isinstance(once, str):
            assert_is_accounted_for(once, agent)


def assert_is_accounted_for(parsed: Parsed, agent: Agent) -> None:
    assert bool(parsed.events or parsed.traits) != bool(parsed.skipped)
    assert parsed.events or not parsed.usage
    assert {event.event_type for event in parsed.events} <= EVENT_TYPES.keys()
    parts = [event.part for event in parsed.events if event.event_type != "session_title"]
    assert parts == sorted(set(parts))
    if parsed.skipped:
        assert parsed.skipped in agent.skips or f"{parsed.skipped.partition(':')[0]}:*" in agent.skips


def test_the_generator_makes_what_it_should() -> None:
    parser = omp.AGENT.open_parser(source("omp", "/h/s/t_s.jsonl"), None)
    random = Random(1)  # noqa: S311
    parsed = [feed(parser, record(random), number) for number in range(6000)]
    told = [p for p in parsed if not isinstance(p, str)]
    assert {event.event_type for p in told for event in p.events} == {
        "user_message", "user_notice", "turn_ended", "message_text", "message_thought", "tool_call", "tool_result",
        "tool_error", "llm_call_ended", "retry_scheduled", "context_compaction_result", "system_message",
        "session_title", "session_usage", "model_switched", "clear_context",
    }  # fmt: skip
    assert len(told) < len(parsed)
    assert any(p.usage for p in told)


def read(path: Path, start: Checkpoint | None = None) -> tuple[list[ReadLine], SourceReader]:
    name = "omp" if b'"title"' in path.read_bytes()[:20] else "pi"
    with path.open("rb") as file:
        reader = SourceReader(AGENTS[name], source(name, str(path)), file, start)
        return list(reader), reader


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_byte_cut_of_a_file_equals_one_pass(path: Path, tmp_path: Path) -> None:
    content = path.read_bytes()
    growing = tmp_path / path.name
    growing.write_bytes(content)
    whole, _ = read(growing)
    step = max(1, len(content) // 60)
    ends = {at + 1 for at, byte in enumerate(content) if byte == 10}
    for cut in sorted({*range(30, len(content), step), *ends, *(end - 1 for end in ends)}):
        growing.write_bytes(content[:cut])
        first, reader = read(growing)
        growing.write_bytes(content)
        rest, _ = read(growing, Checkpoint.load(json.loads(json.dumps(reader.checkpoint.save()))))
        kept = [line for line in first if line.offset_bytes < reader.checkpoint.offset_bytes]
        assert [*kept, *rest] == whole, cut


def test_the_turns_of_a_tree_are_counted_in_file_order_on_every_branch() -> None:
    lines, reader = read(DATA / "pi" / "branches.jsonl")
    numbered = [n for line in lines for n in line.events]
    assert [(n.event.text, n.turn_index) for n in numbered] == [
        ("plant a tree", 0), ("Which one?", 0), ("an apple", 1), ("An apple is planted.", 1), ("a plum", 2),
        ("A plum is planted.", 2),
    ]  # fmt: skip
    assert reader.final.turn_index == 2


def test_a_torn_last_line_waits_and_a_damaged_one_hides_no_other(tmp_path: Path) -> None:
    torn = (DATA / "pi" / "torn-and-damaged-lines.jsonl").read_bytes()
    path = tmp_path / "torn.jsonl"
    path.write_bytes(torn)
    lines, reader = read(path)
    counts = reader.final.counts
    assert (counts.seen, counts.indexed, counts.damaged) == (7, 6, 1)
    assert reader.bytes_pending == 40
    assert [line.number for line in lines if line.error] == [4]
    path.write_bytes(torn[:-40] + (DATA / "pi" / "branches.jsonl").read_bytes().splitlines(keepends=True)[6])
    rest, _ = read(path, reader.checkpoint)
    assert [n.event.text for line in rest for n in line.events] == ["A plum is planted."]


def test_the_state_stays_small() -> None:
    parser = omp.AGENT.open_parser(source("omp", "/h/s/t_s.jsonl"), None)
    for number in range(500):
        parser.feed({"type": "title_change", "title": f"{number}" * 3000, "source": "auto"}, Line(number, 0))
        parser.feed({"type": "model_change", "modelId": f"{number}" * 50}, Line(number, 0))
        parser.feed(
            {"type": "session", "id": f"{number:0>200}", "cwd": "/w" * 900}, Line(number, 0)
        ) if number else None
    assert len(json.dumps(parser.save())) < 1024


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS.keys())
def test_a_state_of_another_version_is_refused(agent: Agent) -> None:
    of = source(agent.name, "/h/s/t_s.jsonl")
    parser = agent.open_parser(of, None)
    with pytest.raises(ValueError, match="read the file anew"):
        agent.open_parser(of, {**parser.save(), "v": 0})
