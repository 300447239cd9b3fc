"""What Codex's parser keeps from line to line, and what a line tells without it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from persist.agents.codex.agent import AGENT
from persist.reading import Checkpoint, SourceReader
from persist.sources import Line
from tests.persist.tails import read, source_of

DATA = Path(__file__).parent.parent / "data" / "codex"
FILES = sorted(path for path in DATA.rglob("*.jsonl") if path.name != "history.jsonl")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem[:24])
def test_an_event_that_is_read_again_by_itself_is_the_same(path: Path) -> None:
    """What ``show`` and the search of whole texts do: one line, without what came before it."""
    lines, _ = read(AGENT, source_of("codex", path))
    with path.open("rb") as file:
        for line in lines:
            if not line.events:
                continue
            start = Checkpoint(offset_bytes=line.offset_bytes, line_number=line.number)
            again = next(iter(SourceReader(AGENT, source_of("codex", path), file, start)))
            for numbered, alone in zip(line.events, again.events, strict=False):
                assert (alone.event.event_type, alone.event.text) == (numbered.event.event_type, numbered.event.text)
            assert len(again.events) >= len(line.events)


def test_the_state_stays_small() -> None:
    parser = AGENT.open_parser(source_of("codex", "/h/sessions/rollout-a.jsonl"), None)
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
