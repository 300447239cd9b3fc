"""Draws records of Codex's rollouts, for tests of what may come. Pure."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.persist.drawn_values import junk, mostly, some

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
