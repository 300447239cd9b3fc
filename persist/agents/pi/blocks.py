"""Contents of pi's and omp's messages: their words, and what an answer's blocks become as events.

Pure; imports only ``persist`` values. Content may be a string, one block, a list of blocks and strings, or
anything else (``spec/fault-checks.md`` B17): what has no words gives no text, and no exception but
``ShapeError``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from persist.agents.values import as_list, compact_json, read_id
from persist.events import AGENT, Event

# Tuples, not sets: a type may be anything, a list too, and only == is safe with that.
_TEXT_TYPES: Final = ("text", None)
_SKILL = re.compile(r'<skill name="([^"\n]{1,200})" location="[^"\n]*">\n.*?\n</skill>(?:\n\n(.+))?\Z', re.DOTALL)
"""How pi writes ``/skill:NAME WORDS`` into a prompt: the skill's file in an element, and the words behind it."""


class Said(NamedTuple):
    """A person's text as typed, and what the program put before it (null where it put nothing)."""

    typed: str
    added: str | None = None


def content_text(content: object) -> str | None:
    """Return the words of a content, its texts joined by one newline; ``None`` if it has none."""
    if isinstance(content, str):
        return content
    texts = [text for block in as_list(content) if (text := _block_text(block)) is not None]
    return "\n".join(texts) if texts else None


def has_image(content: object) -> bool:
    """Return whether a picture is among the blocks of a content."""
    return any(isinstance(block, dict) and block.get("type") == "image" for block in as_list(content))


def sort_said(text: str) -> Said:
    """Tell what a person typed from the skill that the program put before it, by the element's whole structure."""
    skill = _SKILL.match(text) if text.startswith("<skill ") else None
    if skill is None:
        return Said(text)
    name, words = skill.groups()
    typed = f"/skill:{name} {words}" if words else f"/skill:{name}"
    return Said(typed, text if words is None else text[: skill.start(2)].rstrip("\n"))


def answer_events(content: object) -> list[Event]:
    """Return the events of an assistant's content, in block order; none for an empty one.

    Raises ``ShapeError`` when a call's arguments cannot be written as JSON.
    """
    made: list[Event] = []
    for part, block in enumerate(as_list(content)):
        event = _answer_event(block)
        if event is not None:
            made.append(event._replace(part=part))
    return made


def _block_text(block: object) -> str | None:
    if isinstance(block, str):
        return block
    if isinstance(block, dict) and block.get("type") in _TEXT_TYPES:
        text = block.get("text")
        return text if isinstance(text, str) else None
    return None


def _answer_event(block: object) -> Event | None:
    text = _block_text(block)
    if text is not None:
        return Event(AGENT, "message_text", text)
    if not isinstance(block, dict):
        return None
    kind = block.get("type")
    if kind == "thinking":
        thought = block.get("thinking")
        return Event(AGENT, "message_thought", thought if isinstance(thought, str) else None)
    if kind == "redactedThinking":
        return Event(AGENT, "message_thought")
    if kind == "toolCall":
        return _call(block.get("id"), block.get("name"), block, "arguments")
    if kind == "anthropicServerTool":  # omp keeps the provider's own blocks of a search as they came
        inner = block.get("block")
        return _server_tool(inner) if isinstance(inner, dict) else None
    return None


def _server_tool(block: Mapping[str, Any]) -> Event | None:
    if block.get("type") == "server_tool_use":
        return _call(block.get("id"), block.get("name"), block, "input")
    call_id = read_id(block.get("tool_use_id"))
    if call_id is None:
        return None
    content = block.get("content")
    failed = isinstance(content, dict) and isinstance(content.get("error_code"), str)
    texts = [
        value
        for found in as_list(content)
        if isinstance(found, dict)
        for key in ("title", "url", "error_code")
        if isinstance(value := found.get(key), str)
    ]
    return Event(
        AGENT,
        "tool_error" if failed else "tool_result",
        "\n".join(texts) if texts else None,
        outcome="failed" if failed else None,
        tool_call_id=call_id,
    )


def _call(call_id: object, name: object, block: Mapping[str, Any], key: str) -> Event:
    return Event(
        AGENT,
        "tool_call",
        tool_call_id=call_id if isinstance(call_id, str) else None,
        tool_name=name if isinstance(name, str) else None,
        tool_arguments=_arguments(block[key]) if key in block else None,
    )


def _arguments(value: object) -> str:
    """Return a call's arguments as JSON; text stays as it is."""
    return value if isinstance(value, str) else compact_json(value, "the arguments of a toolCall block")
