"""Draws records of Claude Code's transcripts, for tests of what may come. Pure."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.persist.drawn_values import junk, mostly

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
