"""Reading on from a saved state gives what one pass gives, whatever the records and wherever the cuts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persist.agents import AGENTS
from persist.events import EVENT_TYPES, Parsed
from persist.sources import Agent, Source
from tests.persist import claude_code_records, codex_records, pi_records
from tests.persist.tails import assert_a_cut_changes_nothing, feed, line_ends, read, saved_and_opened, source_of

DATA = Path(__file__).parent.parent / "data"
ALWAYS = frozenset({
    "user_message", "user_notice", "turn_ended", "message_text", "message_thought", "tool_call", "tool_result",
    "tool_error", "llm_call_ended", "context_compaction_result", "system_message", "session_title",
})  # fmt: skip


class Drawn(NamedTuple):
    """How an agent's records are drawn: into which sources, and which types of events must come of it beside ALWAYS.

    ``skips_may_tell`` says that a record which is skipped may tell traits all the same.
    """

    record: Callable[[Random], Any]
    sources: list[Source]
    event_types: frozenset[str]
    skips_may_tell: bool = False

    @property
    def agent(self) -> Agent:
        return AGENTS[self.sources[0].agent]


def drawn_of_pi(agent: str) -> Drawn:
    sources = [source_of(agent, "/h/s/t_s.jsonl", parent) for parent in ("", "p")]
    types = frozenset({"retry_scheduled", "session_usage", "model_switched", "clear_context"})
    return Drawn(pi_records.record, sources, types)


ALL = [
    Drawn(
        claude_code_records.record,
        [
            source_of("claude-code", "/h/projects/-w/s.jsonl"),
            source_of("claude-code", "/h/projects/-w/p/subagents/agent-a9.jsonl", "p"),
        ],
        frozenset({"tool_refused", "context_compaction_ended"}),
        skips_may_tell=True,
    ),
    Drawn(
        codex_records.record,
        [
            source_of("codex", "/h/sessions/rollout-a-019df000-0000-7000-8000-000000000001.jsonl"),
            source_of("codex", "/h/sessions/rollout-a.jsonl"),
        ],
        frozenset({"tool_refused", "retry_scheduled", "context_compaction_ended", "context_usage"}),
    ),
    drawn_of_pi("omp"),
    drawn_of_pi("pi"),
]
EACH = pytest.mark.parametrize("drawn", ALL, ids=lambda drawn: drawn.agent.name)
FILES = [
    *(("claude-code", path) for path in sorted(DATA.glob("claude_code/*.jsonl"))),
    *(("claude-code", path) for path in sorted(DATA.glob("faults/B17/claude/projects/*/*.jsonl"))),
    *(("claude-code", path) for path in sorted(DATA.glob("faults/B26/claude/projects/*/*.jsonl"))),
    *(("codex", path) for path in sorted(DATA.glob("codex/**/*.jsonl")) if path.name != "history.jsonl"),
    *(("omp", path) for path in sorted(DATA.glob("omp/*.jsonl"))),
    *(("pi", path) for path in sorted(DATA.glob("pi/*.jsonl"))),
]


@EACH
@settings(max_examples=300, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_any_records_cut_anywhere_give_what_one_pass_gives(drawn: Drawn, seed: int) -> None:
    random = Random(seed)  # noqa: S311
    agent, of = drawn.agent, random.choice(drawn.sources)
    whole, parser = agent.open_parser(of, None), agent.open_parser(of, None)
    known: str | None = None
    for number in range(random.randrange(20)):
        value = drawn.record(random)
        once = feed(whole, value, number)
        if random.random() < 0.4:
            parser = saved_and_opened(agent, of, parser)
        assert repr(feed(parser, value, number)) == repr(once)  # not ==: a NaN is not equal to itself
        assert json.dumps(parser.save()) == json.dumps(whole.save())
        assert (parser.session_id, parser.names_parent, parser.recognised) == (
            whole.session_id, whole.names_parent, whole.recognised,
        )  # fmt: skip
        assert known is None or whole.session_id == known
        known = whole.session_id
        if not isinstance(once, str):
            assert_is_accounted_for(once, drawn)


def assert_is_accounted_for(parsed: Parsed, drawn: Drawn) -> None:
    told = bool(parsed.events) if drawn.skips_may_tell else bool(parsed.events or parsed.traits)
    assert told != bool(parsed.skipped)
    assert parsed.events or not parsed.usage
    assert {event.event_type for event in parsed.events} <= EVENT_TYPES.keys()
    parts = [event.part for event in parsed.events if event.event_type != "session_title"]
    assert parts == sorted(parts)
    if parsed.skipped:
        skips = drawn.agent.skips
        assert parsed.skipped in skips or f"{parsed.skipped.partition(':')[0]}:*" in skips


@EACH
def test_what_is_drawn_is_of_every_kind(drawn: Drawn) -> None:
    random = Random(1)  # noqa: S311
    parsed: list[Parsed | str] = []
    for length in (*[20] * 300, 4000):  # what stands at the beginning often, and answers to what came long before
        parser = drawn.agent.open_parser(drawn.sources[0], None)
        parsed += [feed(parser, drawn.record(random), number) for number in range(length)]
    told = [one for one in parsed if not isinstance(one, str)]
    events = [event for one in told for event in one.events]
    assert {event.event_type for event in events} >= ALWAYS | drawn.event_types
    assert len(told) < len(parsed)
    assert any(event.tool_name for event in events if event.event_type in ("tool_result", "tool_error", "tool_refused"))
    assert any(one.usage for one in told)


@pytest.mark.parametrize(
    ("name", "path"), FILES, ids=lambda value: value.stem[:24] if isinstance(value, Path) else value
)
def test_every_byte_cut_of_a_file_equals_one_pass(name: str, path: Path, tmp_path: Path) -> None:
    content = path.read_bytes()
    of = source_of(name, tmp_path / path.name)
    Path(of.path).write_bytes(content)
    whole, _ = read(AGENTS[name], of)
    ends = line_ends(content)
    step = max(1, len(content) // 60)
    for cut in sorted({*range(0, len(content), step), *ends, *(end - 1 for end in ends)}):
        assert_a_cut_changes_nothing(AGENTS[name], of, whole, cut)


@EACH
def test_a_state_of_another_version_is_refused(drawn: Drawn) -> None:
    state = drawn.agent.open_parser(drawn.sources[0], None).save()
    with pytest.raises(ValueError, match="read the file anew"):
        drawn.agent.open_parser(drawn.sources[0], {**state, "v": 0})
