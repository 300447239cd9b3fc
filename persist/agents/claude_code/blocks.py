"""Content blocks of Claude Code's messages: their texts, and what they become as events.

Pure; imports only ``persist`` values. Content may be a string, one block, a list of blocks and strings, or
anything else (``spec/agents.md`` 2, ``spec/fault-checks.md`` B17): what has no words gives no text, and no
exception but ``ShapeError``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from persist.agents.claude_code.text import BARE_COMMAND, INTERRUPTED, NOTICE, sort_text
from persist.agents.values import as_list, compact_json
from persist.events import AGENT, CONTROL, USER, Event

# Tuples, not sets: a type may be anything, a list too, and only == is safe with that.
_TEXT_TYPES: Final = ("text", "input_text", "output_text", None)
_CALL_TYPES: Final = ("tool_use", "server_tool_use", "mcp_tool_use")
_ATTACHED_TYPES: Final = ("image", "document")
_CANCELLED_DENIALS: Final = ("interrupted", "cancelled")
_WORD_KEYS: Final = ("text", "title", "url", "tool_name", "error_code")
"""Where a block of a tool's result keeps words; pictures have none of these keys."""


class Speaker(NamedTuple):
    """What the flags of a user record say of its text.

    ``is_person``: nothing speaks against a person. ``is_sworn``: the record says in so many words that a
    person sent it. ``is_machine``: the record says that the program wrote it.
    """

    is_person: bool
    is_sworn: bool
    is_machine: bool


class Blocks(NamedTuple):
    """Events of one content, and the tool calls it opened (id to name) and closed (ids)."""

    events: list[Event]
    opened: dict[str, str]
    closed: list[str]


def user_blocks(
    content: object, speaker: Speaker, calls: Mapping[str, str], ts: str | None, record_id: str | None, denial: object
) -> Blocks:
    """Return the events of a user record's content, in block order; at least one.

    Texts of a person are one event, joined by one newline, at the part of the first of them. ``calls`` maps
    the ids of open tool calls to their names; ``denial`` is the record's ``toolDenialKind``.
    """
    events: list[Event] = []
    closed: list[str] = []
    typed: list[str] = []
    typed_part = attached_part = -1
    for part, block in enumerate(as_list(content)):
        if isinstance(block, dict) and block.get("type") == "tool_result":
            result = _tool_result(block, calls, denial)
            events.append(result._replace(ts=ts, record_id=record_id, part=part))
            if result.tool_call_id is not None:
                closed.append(result.tool_call_id)
            continue
        text = _block_text(block)
        if text is None:
            if attached_part < 0 and isinstance(block, dict) and block.get("type") in _ATTACHED_TYPES:
                attached_part = part
            continue
        notice, words = _sort_said(text, speaker)
        if notice is not None:
            events.append(notice._replace(ts=ts, record_id=record_id, part=part))
        else:
            typed_part = part if typed_part < 0 else typed_part
            typed.append(words)
    message_part = typed_part if typed_part >= 0 else attached_part
    if not events or (message_part >= 0 and not speaker.is_machine):
        text = "\n".join(typed) if typed else None
        has_words = text is not None and text != "" and not text.isspace()
        event = Event(
            USER,
            "user_notice" if speaker.is_machine else "user_message",
            text,
            ts,
            is_prompt=speaker.is_person and (has_words or attached_part >= 0),
            record_id=record_id,
            part=max(message_part, 0),
        )
        events.append(event)
        events.sort(key=_part)
    return Blocks(events, {}, closed)


def assistant_blocks(
    content: object,
    calls: Mapping[str, str],
    ts: str | None,
    record_id: str | None,
    model: str | None,
    message_id: str | None,
    is_failure: bool,
) -> Blocks:
    """Return the events of an assistant record's content, in block order; at least one.

    ``is_failure``: the program wrote the text in the model's place because a call failed. Only texts and
    thoughts with words may grow: two calls of one message on two lines are never copies of each other.
    Raises ``ShapeError`` when a tool's input cannot be written as JSON.
    """
    made: list[Event] = []
    opened: dict[str, str] = {}
    closed: list[str] = []
    for part, block in enumerate(as_list(content)):
        event = _assistant_event(block, calls, is_failure)
        if event is None:
            continue
        if event.event_type == "tool_call":
            if event.tool_call_id and event.tool_name:
                opened[event.tool_call_id] = event.tool_name
        elif event.tool_call_id is not None:
            closed.append(event.tool_call_id)
            if event.tool_call_id in opened:
                event = event._replace(tool_name=opened.pop(event.tool_call_id))
        made.append(event._replace(part=part))
    if not made:
        made.append(Event(AGENT, "llm_call_ended", outcome="failed") if is_failure else Event(AGENT, "message_text"))
    events = [
        event._replace(
            ts=ts,
            model_name=model,
            message_id=message_id,
            record_id=record_id,
            may_grow=bool(event.text) and event.event_type in ("message_text", "message_thought"),
        )
        for event in made
    ]
    return Blocks(events, opened, closed)


def content_text(content: object) -> str | None:
    """Return the words of a content, its texts joined by one newline; ``None`` if it has none."""
    if isinstance(content, str):
        return content
    texts = [text for block in as_list(content) if (text := _block_text(block)) is not None]
    return "\n".join(texts) if texts else None


def error_text(error: object) -> str | None:
    """Return the innermost message (or code) of a provider's error, at most four objects deep."""
    found: str | None = None
    for _ in range(4):
        if isinstance(error, str):
            return error or found
        if not isinstance(error, dict):
            break
        found = next((error[key] for key in ("message", "code") if isinstance(error.get(key), str)), found)
        error = error.get("error") or error.get("cause")
    return found


def _part(event: Event) -> int:
    return event.part


def _block_text(block: object) -> str | None:
    if isinstance(block, str):
        return block
    if isinstance(block, dict) and block.get("type") in _TEXT_TYPES:
        text = block.get("text")
        return text if isinstance(text, str) else None
    return None


def _sort_said(text: str, speaker: Speaker) -> tuple[Event | None, str]:
    """Return the event of a text that no person typed, or ``None`` and the words a person typed."""
    said = sort_text(text)
    if said.sort == INTERRUPTED and not speaker.is_sworn:
        return Event(CONTROL, "turn_ended", said.text, outcome="cancelled"), ""
    if speaker.is_machine or said.sort == NOTICE or (said.sort == BARE_COMMAND and not speaker.is_sworn):
        return Event(USER, "user_notice", said.text), ""
    return None, said.text


def _tool_result(block: Mapping[str, Any], calls: Mapping[str, str], denial: object) -> Event:
    call_id = block.get("tool_use_id")
    call_id = call_id if isinstance(call_id, str) else None
    event_type, outcome = "tool_result", None
    if block.get("is_error") is True:
        event_type, outcome = "tool_error", "failed"
        if isinstance(denial, str) and denial:
            event_type, outcome = "tool_refused", "cancelled" if denial in _CANCELLED_DENIALS else "refused"
    return Event(
        AGENT,
        event_type,
        _result_text(block.get("content")),
        outcome=outcome,
        tool_call_id=call_id,
        tool_name=calls.get(call_id) if call_id is not None else None,
    )


def _result_text(content: object) -> str | None:
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for block in as_list(content):
        if isinstance(block, str):
            texts.append(block)
        elif isinstance(block, dict):
            texts.extend(value for key in _WORD_KEYS if isinstance(value := block.get(key), str))
    return "\n".join(texts) if texts else None


def _assistant_event(block: object, calls: Mapping[str, str], is_failure: bool) -> Event | None:
    text = _block_text(block)
    if text is not None:
        return (
            Event(AGENT, "llm_call_ended", text, outcome="failed") if is_failure else Event(AGENT, "message_text", text)
        )
    if not isinstance(block, dict):
        return None
    kind = block.get("type")
    if kind == "thinking":
        thought = block.get("thinking")
        return Event(AGENT, "message_thought", thought if isinstance(thought, str) else None)
    if kind == "redacted_thinking":
        return Event(AGENT, "message_thought")
    if kind in _CALL_TYPES:
        call_id, name = block.get("id"), block.get("name")
        return Event(
            AGENT,
            "tool_call",
            tool_call_id=call_id if isinstance(call_id, str) else None,
            tool_name=name if isinstance(name, str) else None,
            tool_arguments=_arguments(block),
        )
    if isinstance(kind, str) and kind.endswith("tool_result"):
        result = _tool_result(block, calls, None)
        content = block.get("content")
        failed = isinstance(content, dict) and isinstance(content.get("error_code"), str)
        return result._replace(event_type="tool_error", outcome="failed") if failed else result
    return None


def _arguments(block: Mapping[str, Any]) -> str | None:
    return compact_json(block["input"], "the input of a tool_use block") if "input" in block else None
