"""Records of Aether's current shape, for tests that write them through the store."""

from __future__ import annotations

from typing import Any, TypeAlias

Record: TypeAlias = dict[str, Any]


def prompt(text: str | None, message_id: str = "u1", **fields: Any) -> Record:
    content = [] if text is None else [{"type": "text", "text": text}]
    return {"kind": "user", "data": {"type": "message", "message_id": message_id, "content": content, **fields}}


def agent(category: str, event_type: str, **fields: Any) -> Record:
    return {"kind": "agent", "data": {"category": category, "event": {"type": event_type, **fields}}}


def text(chunk: str, message_id: str = "m1", *, complete: bool = True) -> Record:
    return agent("message", "text", message_id=message_id, chunk=chunk, is_complete=complete)


def thought(chunk: str, message_id: str = "m1:thought") -> Record:
    return agent("message", "thought", message_id=message_id, chunk=chunk, is_complete=True)


def request(call_id: str = "c1") -> Record:
    return {"id": call_id, "name": "coding__run", "arguments": "{}"}


def call(call_id: str = "c1") -> Record:
    return agent("tool", "call", request=request(call_id))


def result(words: str, call_id: str = "c1") -> Record:
    return agent("tool", "result", result={**request(call_id), "result": words}, result_meta=None)


def error(words: str, call_id: str = "c1") -> Record:
    return agent("tool", "error", error={**request(call_id), "error": words})


def task(kind: str, task_id: str = "t1", **fields: Any) -> Record:
    return agent("tool", f"task_{kind}", request=request(), task_id=task_id, **fields)


def task_done(words: str, task_id: str = "t1") -> Record:
    return task("completed", task_id, result={**request(), "result": words}, result_meta=None)


def ended(status: str = "completed", **fields: Any) -> Record:
    return agent("turn", "ended", outcome={"status": status, **fields})


def auto_continue(words: str, message_id: str = "a1") -> Record:
    content = [{"type": "text", "text": words}]
    return agent("turn", "auto_continue", attempt=1, max_attempts=3, message_id=message_id, content=content)


def compacted(summary: str, message_id: str = "s1") -> Record:
    return agent(
        "context", "compaction_result", compaction_id="x", message_id=message_id, summary=summary, messages_removed=2
    )


def switched(to: str | None) -> Record:
    return {"kind": "control", "data": {"type": "agentSwitched", "from": None, "to": to}}


CLEARED_BY_AGENT: Record = agent("context", "cleared")
CLEARED_BY_PERSON: Record = {"kind": "user", "data": {"type": "clearContext"}}
