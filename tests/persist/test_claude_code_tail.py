"""What Claude Code's parser keeps from line to line: calls that wait for their answers, and little else."""

from __future__ import annotations

import json

from persist.agents.claude_code.agent import AGENT
from persist.sources import Line
from tests.persist.tails import source_of

SOURCE = source_of("claude-code", "/h/projects/-w/s.jsonl")


def test_the_state_stays_small() -> None:
    parser = AGENT.open_parser(SOURCE, None)
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
    parser = AGENT.open_parser(SOURCE, None)
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    parser.feed({"type": "assistant", "message": {"content": [call]}}, Line(1, 0))
    assert parser.save()["calls"] == {"t1": "Bash"}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": "done"}
    parser.feed({"type": "user", "message": {"content": [answer]}}, Line(2, 0))
    assert parser.save()["calls"] == {}
