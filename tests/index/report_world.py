"""A small store of three agents whose every number is known, for the tests of reports.

Minute 0 is Monday 2026-05-04 08:00 UTC; Aster writes on the Tuesday (1440), Aether's session begins on the Wednesday
(2880) and has no other time. What stands twice, in a fork and in a reply that grew, counts once.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

from index.ingest import ingest
from tests import builders as make
from tests.builders import HomeBuilder, Record

MAIN: Final = "main-0001"
FORK: Final = "nfork-0001"
SUB_AGENT: Final = f"{MAIN}/h1"
ASTER: Final = "aster-0001"
AETHER: Final = "5b0c7f1e-aaaa-4c1b-9a57-000000000001"
FILE_TIME_S: Final = 1_790_000_000
"""2026-09-21: every file of the store."""


def build_index(folder: Path) -> Path:
    """Write the store below ``folder``, ingest it and return the index."""
    home = HomeBuilder(folder / "home")
    write_store(home)
    for path in home.home.rglob("*"):
        os.utime(path, (FILE_TIME_S, FILE_TIME_S))
    index = folder / "index" / "index.sqlite"
    ingest(home.settings(index))
    return index


def write_store(home: HomeBuilder) -> None:
    """Write every file of the store."""
    head = [_claude_prompt("Fix the lamp", "u1", 0), _claude_answer("On it", "u2", 1, ("m1", "r1", 10))]
    home.claude(MAIN, *head, *_rest_of_main())
    copies = [{**record, "sessionId": FORK} for record in head]
    home.claude(FORK, *copies, _claude_prompt("Fix the other lamp", "v1", 30, FORK))
    home.claude_agent(MAIN, "h1", *_sub_agent())
    home.aster(ASTER, *_aster(), end=b'{"broken\n')
    home.aether(AETHER, *_aether())
    home.block("lamp-rule", "Turn it off first.", "before touching lamps")
    home.block("old-rule", "Never mind.", "what was once true", archived=True)
    home.journal(
        {"ts": make.at(0), "op": "remember", "name": "lamp-rule"},
        {"ts": make.at(1), "op": "remember", "name": "old-rule"},
        {"ts": make.at(2), "op": "recall", "name": "Lamp rule"},
        {"ts": make.at(1441), "op": "recall", "name": "lamp-rule"},
        {"ts": make.at(1442), "op": "recall", "name": "gone-rule"},
        {"ts": make.at(1443), "op": "archive", "name": "Old rule", "detail": "it was wrong", "source_session": ASTER},
        {"ts": make.at(1444), "op": "forget", "name": "gone-rule"},
        {"ts": make.at(1445), "op": "append_project", "detail": "lamps are hot"},
        {"ts": make.at(1446), "op": "consolidated", "source_session": ASTER},
    )


def _rest_of_main() -> list[Record]:
    grown = [_claude_answer("Bu", "u7", 8, ("m2", "r2", 5)), _claude_answer("Bulb in", "u8", 9, ("m2", "r2", 20))]
    return [
        _call("b1", "Bash", "u3", 2),
        _result("b1", "Exit code 1\nno bulb", "u4", 3, failed=True),
        _call("b2", "Bash", "u5", 4),
        _result("b2", "done", "u6", 5),
        *grown,
        _claude_prompt("Again, please", "u9", 10),
        _claude_answer("Again", "u10", 11, ("m3", "r3", 30)),
        _call("b3", "Bash", "u11", 12),
        _result("b3", "Exit code 1\nno socket", "u12", 13, failed=True),
        _call("b4", "Read", "u13", 13.5),
        _result("b4", "No such file", "u14", 14, failed=True),
        _claude_prompt("yes", "u15", 20),
        _claude_answer("Fine", "u16", 20.5, None),
    ]


def _sub_agent() -> list[Record]:
    side = {"agentId": "h1", "isSidechain": True}
    records = [
        _claude_prompt("Look around", "w1", 2.1),
        _claude_answer("Looked", "w2", 2.5, ("m4", "r4", 5)),
        _call("b5", "Read", "w3", 2.6),
        _result("b5", "text", "w4", 2.7),
    ]
    return [{**record, **side} for record in records]


def _aster() -> list[Record]:
    partly = {**make.aster_answer("Half known", 1443), "usage": {"prompt_tokens": 50}}
    return [
        make.aster_header(ASTER, 1440, model="m-9"),
        make.aster_prompt("Yes", 1441),
        make.aster_answer("Good", 1442, (100, 40)),
        partly,
        make.aster_prompt(" yes\n", 1500),
        make.aster_answer("Better", 1501, (200, 60)),
    ]


def _aether() -> list[Record]:
    request = {"id": "t1", "name": "shell", "arguments": "{}"}
    return [
        make.aether_metadata(AETHER, 2880),
        make.aether_prompt("Go", "p1"),
        _agent("turn", type="llm_call_ended", purpose="chat", outcome={"status": "failed", "error": "busy"}),
        _agent("turn", type="retry_scheduled", purpose="chat", attempt=1, max_attempts=3, delay_ms=5),
        _sample(1, "Planner", (1000, 100, 600, 200, 50), 0.5, (1000, 100, 600, 200, 50), 0.5, 0),
        _agent("tool", type="call", request=request),
        _agent("tool", type="error", error={**request, "error": "exit status 2"}),
        make.aether_context(850),
        _sample(2, "Helper", (300, 30, None, None, None), None, (1300, 130, 600, 200, 50), 0.5, 1),
        _agent("turn", type="ended", outcome={"status": "cancelled"}),
        make.aether_prompt("Go on", "p2"),
        _agent("turn", type="ended", outcome={"status": "completed"}),
    ]


def _agent(category: str, **event: object) -> Record:
    return {"kind": "agent", "data": {"category": category, "event": event}}


def _tokens(numbers: tuple[int | None, ...]) -> Record:
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens", "reasoning_tokens")
    return dict(zip(names, numbers, strict=True))


def _sample(
    sequence: int, name: str, tokens: tuple[int | None, ...], cost: float | None, totals: tuple[int | None, ...],
    total_cost: float, unpriced: int,
) -> Record:  # fmt: skip
    return _agent(
        "session_usage",
        sequence=sequence,
        source={"agent_id": name.lower(), "parent_agent_id": None, "task_id": None, "agent_name": name},
        purpose="chat",
        model={"provider": "acme", "model_id": "m-1", "pricing": None},
        tokens=_tokens(tokens),
        estimated_cost=None if cost is None else {"total_usd": cost},
        totals={"tokens": _tokens(totals), "estimated_usd": total_cost, "unpriced_calls": unpriced},
    )


def _claude_prompt(text: str, uuid: str, minute: float, session_id: str = MAIN) -> Record:
    return make.claude_prompt(text, session_id, uuid, minute, gitBranch="lamps")


def _claude_answer(text: str, uuid: str, minute: float, usage: tuple[str, str, int] | None) -> Record:
    if usage is None:
        return make.claude_answer(text, MAIN, uuid, minute, message_id=f"of-{uuid}", gitBranch="lamps")
    message_id, request_id, output = usage
    return make.claude_answer(
        text, MAIN, uuid, minute, message_id=message_id, request_id=request_id, output_tokens=output, gitBranch="lamps"
    )


def _call(call_id: str, tool: str, uuid: str, minute: float) -> Record:
    record = json.loads(json.dumps(make.claude_tool_call(call_id, MAIN, uuid, minute, command="x")))
    record["message"]["content"][0]["name"] = tool
    return {**record, "cwd": "/w/gamma", "gitBranch": "lamps"}


def _result(call_id: str, text: str, uuid: str, minute: float, *, failed: bool = False) -> Record:
    record = make.claude_tool_result(call_id, text, MAIN, uuid, minute)
    record["message"]["content"][0]["is_error"] = failed
    return record
