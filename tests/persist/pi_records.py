"""Draws records of pi's and omp's sessions, for tests of what may come. Pure."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.persist.drawn_values import junk, mostly, some

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


def block(random: Random) -> Any:
    inner: dict[str, list[Any]] = {
        "type": ["server_tool_use", "web_search_tool_result"],
        "id": IDS,
        "tool_use_id": IDS,
        "input": [{}],
        "content": [[{"title": "t"}], {"error_code": "e"}],
    }
    return some(random, {"type": BLOCKS, "text": TEXTS, "thinking": TEXTS, "id": IDS, "name": ["bash", "read"],
                         "arguments": [{"a": 1}, "raw", {}], "block": [some(random, inner, 0.7)]}, 0.7)  # fmt: skip


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
    }, 0.7)  # fmt: skip


def record(random: Random) -> Any:
    if random.random() < 0.05:
        return junk(random)
    found = {key: mostly(random, choices) for key, choices in KEYS.items() if random.random() < 0.4}
    return {**found, "type": mostly(random, KINDS), "message": mostly(random, [message(random)])}
