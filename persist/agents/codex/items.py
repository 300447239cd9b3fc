"""Codex's response items, one by one, to events: messages, thinking, tool calls and their outputs.

Pure; imports only ``persist`` values. No state is touched here: what earlier records told comes in a
:class:`Known`. Rules of the format: ``spec/agents.md`` 2 "Codex".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from persist.agents.codex.content import has_attachment, read_output, sort_typed, words
from persist.agents.codex.skips import skip_name
from persist.agents.codex.twice import Speaker
from persist.agents.values import compact_json, read_id
from persist.events import AGENT, CONTROL, USER, Event, Usage

ANSWERED: Final = "\n"
"""Stands for a call's name where an event already told how it failed: no name holds a line break."""


class Known(NamedTuple):
    """What earlier records told: open calls (id to name), and whether a person types in this session."""

    calls: Mapping[str, str]
    is_typed: bool


class Reading(NamedTuple):
    """What one record came to, before the parser's state is touched. ``said`` is who spoke, where the last of the
    events is what was said: the same words may stand in the other form too (``twice``)."""

    events: tuple[Event, ...] = ()
    usage: tuple[Usage, ...] = ()
    opened: tuple[str, str] | None = None
    closed: str | None = None
    skipped: str | None = None
    said: Speaker | None = None


def read_item(item: Mapping[str, Any], known: Known) -> Reading:
    """Read one response item. Raises ``ShapeError`` when a tool's arguments cannot be written as JSON."""
    kind = item.get("type")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    return reader(item, known) if reader is not None else Reading(skipped=skip_name("response_item", kind))


def is_item_type(kind: object) -> bool:
    """Whether a record type is a response item's: the oldest files hold them bare."""
    return isinstance(kind, str) and kind in _READERS


def as_json(value: object) -> str | None:
    """Return a tool's arguments as text, those that are text already as they are.

    Raises ``ShapeError`` for what cannot be written.
    """
    return value if value is None or isinstance(value, str) else compact_json(value, "a tool's arguments")


def _read_message(item: Mapping[str, Any], known: Known) -> Reading:
    role, content = item.get("role"), item.get("content")
    if role == "assistant":
        return Reading((Event(AGENT, "message_text", words(content)),), said="assistant")
    if role != "user":
        return Reading((Event(CONTROL, "system_message", words(content)),))
    machine, typed = sort_typed(content)
    notice = () if machine is None else (Event(USER, "user_notice", machine),)
    if typed is None and (notice or not has_attachment(content)):
        return Reading(notice or (Event(USER, "user_message", None),))
    is_prompt = known.is_typed and (typed is None or bool(typed.strip()))
    prompt = Event(USER, "user_message", typed, is_prompt=is_prompt, part=len(notice))
    return Reading((*notice, prompt), said="user")


def _read_reasoning(item: Mapping[str, Any], _known: Known) -> Reading:
    texts = [text for key in ("summary", "content") if (text := words(item.get(key))) is not None]
    if not any(text.strip() for text in texts):
        return Reading(skipped="encrypted reasoning")
    return Reading((Event(AGENT, "message_thought", "\n".join(texts)),))


def _read_agent_message(item: Mapping[str, Any], _known: Known) -> Reading:
    """A message that one agent sent to another: no person's, and often not readable."""
    text = words(item.get("content"))
    if text is None:
        return Reading(skipped="encrypted agent_message")
    return Reading((Event(USER, "user_notice", text),))


def _read_call(item: Mapping[str, Any], _known: Known) -> Reading:
    name, space = read_id(item.get("name")), read_id(item.get("namespace"))
    if name is not None and space is not None:
        name = f"{space}.{name}"
    return _call(item, name, item.get("arguments", item.get("input")))


def _read_shell_call(item: Mapping[str, Any], _known: Known) -> Reading:
    return _call(item, "local_shell", item.get("action"))


def _read_search_call(item: Mapping[str, Any], _known: Known) -> Reading:
    return _call(item, "web_search", item.get("action", item.get("query")))


def _read_tool_search_call(item: Mapping[str, Any], _known: Known) -> Reading:
    return _call(item, "tool_search", item.get("arguments"))


def _read_image_call(item: Mapping[str, Any], _known: Known) -> Reading:
    return _call(item, "image_generation", item.get("revised_prompt"))


def _call(item: Mapping[str, Any], name: str | None, arguments: object) -> Reading:
    call_id = read_id(item.get("call_id")) or read_id(item.get("id"))
    event = Event(AGENT, "tool_call", tool_call_id=call_id, tool_name=name, tool_arguments=as_json(arguments))
    return Reading((event,), opened=(call_id, name) if call_id and name else None)


def _read_output(item: Mapping[str, Any], known: Known) -> Reading:
    call_id = read_id(item.get("call_id"))
    name = known.calls.get(call_id) if call_id is not None else None
    if name == ANSWERED:
        return Reading(closed=call_id, skipped="repeated output")
    read = read_output(item.get("output", item.get("tools")))
    text = read.text if "output" in item else as_json(item.get("tools"))
    event = Event(AGENT, read.event_type, text, outcome=read.outcome, tool_call_id=call_id, tool_name=name)
    return Reading((event,), closed=call_id)


_READERS: Final[Mapping[str, Callable[[Mapping[str, Any], Known], Reading]]] = {
    "message": _read_message,
    "reasoning": _read_reasoning,
    "agent_message": _read_agent_message,
    "function_call": _read_call,
    "custom_tool_call": _read_call,
    "local_shell_call": _read_shell_call,
    "web_search_call": _read_search_call,
    "tool_search_call": _read_tool_search_call,
    "image_generation_call": _read_image_call,
    "function_call_output": _read_output,
    "custom_tool_call_output": _read_output,
    "tool_search_output": _read_output,
    "local_shell_call_output": _read_output,
}
