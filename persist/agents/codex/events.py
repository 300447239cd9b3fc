"""Codex's ``event_msg`` records and the few others outside response items, one by one, to events.

Pure; imports only ``persist`` values. What a person typed stands here (``user_message``), and nothing the program
wrote does. Rules of the format: ``spec/agents.md`` 2 "Codex".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from persist.agents.codex.content import words
from persist.agents.codex.items import ANSWERED, Known, Reading, as_json
from persist.agents.codex.skips import skip_name
from persist.agents.values import read_id
from persist.events import AGENT, CONTROL, USER, Event

_ATTACHMENTS: Final = ("images", "local_images", "audio", "local_audio")
_ALONE: Final = ("Plan", "plan")
"""Items whose completion is recorded nowhere else."""


def read_event(payload: Mapping[str, Any], known: Known) -> Reading:
    """Read one event, but for ``token_count``, which rests on the one before it. Never raises for a shape but where a
    tool's arguments cannot be written as JSON (``ShapeError``)."""
    kind = payload.get("type")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    return reader(payload, known) if reader is not None else Reading(skipped=skip_name("event_msg", kind))


def read_compacted(payload: Mapping[str, Any]) -> Reading:
    """Read a summary that replaces older turns. What it kept of them in ``replacement_history`` was told before."""
    return Reading((Event(AGENT, "context_compaction_result", words(payload.get("message"))),))


def read_communication(payload: Mapping[str, Any]) -> Reading:
    """Read a message that one agent sent to another."""
    text = words(payload.get("content"))
    if text is None:
        return Reading(skipped="encrypted agent_message")
    return Reading((Event(USER, "user_notice", text),))


def _read_user(payload: Mapping[str, Any], known: Known) -> Reading:
    text = words(payload.get("message"))
    if payload.get("kind") not in (None, "plain"):
        return Reading((Event(USER, "user_notice", text),))
    has_words = text is not None and bool(text.strip())
    is_prompt = known.is_typed and (has_words or any(payload.get(key) for key in _ATTACHMENTS))
    return Reading((Event(USER, "user_message", text, is_prompt=is_prompt),), said="user")


def _read_answer(payload: Mapping[str, Any], _known: Known) -> Reading:
    return Reading((Event(AGENT, "message_text", words(payload.get("message"))),), said="assistant")


def _read_aborted(payload: Mapping[str, Any], _known: Known) -> Reading:
    return Reading((Event(CONTROL, "turn_ended", words(payload.get("reason")), outcome="cancelled"),))


def _read_complete(_payload: Mapping[str, Any], _known: Known) -> Reading:
    return Reading((Event(CONTROL, "turn_ended", outcome="completed"),))


def _read_error(payload: Mapping[str, Any], _known: Known) -> Reading:
    return Reading((Event(AGENT, "llm_call_ended", words(payload.get("message")), outcome="failed"),))


def _read_retry(payload: Mapping[str, Any], _known: Known) -> Reading:
    return Reading((Event(AGENT, "retry_scheduled", words(payload.get("message"))),))


def _read_warning(payload: Mapping[str, Any], _known: Known) -> Reading:
    return Reading((Event(CONTROL, "system_message", words(payload.get("message"))),))


def _read_compaction(_payload: Mapping[str, Any], _known: Known) -> Reading:
    return Reading((Event(AGENT, "context_compaction_ended", outcome="completed"),))


def _read_review(payload: Mapping[str, Any], _known: Known) -> Reading:
    """The result of a review: the answer that repeats it has no event of its own."""
    output = payload.get("review_output")
    if not isinstance(output, dict):
        return Reading((Event(CONTROL, "turn_ended", outcome="cancelled"),))
    findings = output.get("findings")
    texts = [
        value
        for finding in (findings if isinstance(findings, list) else [])
        if isinstance(finding, dict)
        for key in ("title", "body")
        if isinstance(value := finding.get(key), str)
    ]
    overall = words(output.get("overall_explanation"))
    text = "\n".join([*([] if overall is None else [overall]), *texts])
    return Reading((Event(AGENT, "message_text", text or None),))


def _read_item_completed(payload: Mapping[str, Any], _known: Known) -> Reading:
    item = payload.get("item")
    if isinstance(item, dict) and item.get("type") in _ALONE and (text := words(item.get("text"))) is not None:
        return Reading((Event(AGENT, "message_text", text),))
    return Reading(skipped="event_msg:item_completed")


def _read_mcp_end(payload: Mapping[str, Any], known: Known) -> Reading:
    """A call of an MCP tool that ended. One that the model made itself has a call and an output of its own, and only
    its failure is told here; one made from within a script has nothing else: here the call stands behind its result.
    """
    call_id = read_id(payload.get("call_id"))
    invocation = payload.get("invocation")
    invocation = invocation if isinstance(invocation, dict) else {}
    names = [word for key in ("server", "tool") if (word := read_id(invocation.get(key))) is not None]
    name = ".".join(names) or None
    result = payload.get("result")
    failure = result.get("Err") if isinstance(result, dict) else None
    success = result.get("Ok", result) if isinstance(result, dict) else None
    content = success.get("content") if isinstance(success, dict) else None
    has_failed = failure is not None or (isinstance(success, dict) and success.get("isError") is True)
    text = words(failure) if failure is not None else words(content)
    known_name = known.calls.get(call_id) if call_id is not None else None
    event = Event(
        AGENT,
        "tool_error" if has_failed else "tool_result",
        text,
        outcome="failed" if has_failed else None,
        tool_call_id=call_id,
        tool_name=known_name or name,
    )
    if known_name is not None and call_id is not None:
        if not has_failed:
            return Reading(skipped="repeated mcp_tool_call_end")
        return Reading((event,), opened=(call_id, ANSWERED))
    call = Event(
        AGENT,
        "tool_call",
        tool_call_id=call_id,
        tool_name=name,
        tool_arguments=as_json(invocation.get("arguments")),
        part=1,
    )
    return Reading((event, call))


_READERS: Final[Mapping[str, Callable[[Mapping[str, Any], Known], Reading]]] = {
    "user_message": _read_user,
    "agent_message": _read_answer,
    "turn_aborted": _read_aborted,
    "task_complete": _read_complete,
    "turn_complete": _read_complete,
    "error": _read_error,
    "stream_error": _read_retry,
    "warning": _read_warning,
    "guardian_warning": _read_warning,
    "context_compacted": _read_compaction,
    "exited_review_mode": _read_review,
    "item_completed": _read_item_completed,
    "mcp_tool_call_end": _read_mcp_end,
}
