"""What the values inside Aster's records may look like, read as widely as they can be understood.

Pure. Shared by the parser that feeds the index (``records``) and the store's own reader
(``persist.aster.transcript``), so that both find the same texts. Aster rejects whole lines for shapes that its
forks and other writers do use (``spec/aster.md`` 1.2); here a value of an unknown shape is a message
without text, and only a record that says nothing of what it is gives a ``ShapeError``.
"""

from __future__ import annotations

import json
import math
import re
from typing import Final, NamedTuple

from persist.errors import ShapeError
from persist.sources import Record

SUPPORTED_VERSION: Final = 1
ERROR_PREFIX: Final = "error: "
"""How Aster marks a failed tool's result (``spec/aster.md`` 1.3)."""
BY_KEY: Final = "by"
BY_PERSON: Final = "person"
"""Our key of a title event, behind Aster's own, and its value where a person gave the title. Aster ignores it; without
it a title counts as the agent's, and the newest of those is the session's (``spec/aster.md`` 1.3)."""
_IMPORTED_ID = re.compile(r"(claude|codex|cursor|opencode|hermes)-(.+)", re.DOTALL)
_IMPORT_AGENTS: Final = {"claude": "claude-code"}
"""Aster's name of an import source, where it is not ours."""
_MAX_COUNT: Final = 2**63 - 1
_NAME = re.compile(r"[A-Za-z0-9_.:/-]{1,64}", re.ASCII)
"""A type is counted and shown by its name, so free text never counts as one (DESIGN law 7)."""


class Call(NamedTuple):
    """One tool call of an assistant message; ``arguments`` is JSON text as recorded, or made compact."""

    id: str | None
    name: str | None
    arguments: str | None


class Origin(NamedTuple):
    """Where a session was imported from, as ``agent:id``; ``guessed`` when only its own id says so."""

    told: str
    guessed: bool


def record_type(record: Record) -> str:
    """Return the record's ``type``, ``?`` where it is no plain name. Raises ``ShapeError`` where there is none."""
    if not isinstance(record, dict):
        raise ShapeError(f"the value is {kind_of(record)}, not an object")
    kind = record.get("type")
    if not isinstance(kind, str) or not kind:
        raise ShapeError(f"the key 'type' is {kind_of(kind)}, not text")
    return kind if _NAME.fullmatch(kind) else "?"


def role_of(record: dict[str, Record]) -> str:
    """Return a message's role, ``?`` where it is no plain name. Raises ``ShapeError`` where there is none."""
    role = record.get("role")
    if not isinstance(role, str) or not role:
        raise ShapeError(f"the key 'role' is {kind_of(role)}, not text")
    return role if _NAME.fullmatch(role) else "?"


def text_of(value: Record) -> str | None:
    """Return the text of a ``content``: a string, or the texts of its parts joined by one newline.

    Parts are strings or objects with a ``text``; other parts (images) have none. ``None`` where there
    is no text at all, which is not the same as an empty one.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return value["text"] if isinstance(value.get("text"), str) else None
    if isinstance(value, list):
        texts = [text for part in value if not isinstance(part, list) and (text := text_of(part)) is not None]
        return "\n".join(texts) if texts else None
    return None


def calls_of(record: dict[str, Record]) -> list[Call]:
    """Return the tool calls of an assistant message in order; ``null`` and a missing list are none."""
    value = record.get("tool_calls")
    if not isinstance(value, list):
        return []
    return [_call(entry) for entry in value]


def _call(entry: Record) -> Call:
    if not isinstance(entry, dict):
        return Call(None, None, compact(entry))
    function = entry.get("function")
    holder = function if isinstance(function, dict) else entry
    name = plain(holder.get("name"))
    arguments = holder.get("arguments")
    if arguments is not None and not isinstance(arguments, str):
        arguments = compact(arguments)
    return Call(plain(entry.get("id")), name, arguments)


def reasoning_of(record: dict[str, Record]) -> str | None:
    """Return the thinking's text: ``reasoning.text``, or ``reasoning`` itself where it is text."""
    return text_of(record.get("reasoning")) or None


def is_by_person(title: dict[str, Record]) -> bool:
    """Whether a title event says that a person gave the title."""
    return title.get(BY_KEY) == BY_PERSON


def plain(value: Record) -> str | None:
    """Return ``value`` if it is a text that is not empty."""
    return value if isinstance(value, str) and value else None


def count(value: Record) -> int | None:
    """Return a count that fits a 64-bit column; ``None`` for anything else (negative, huge, text)."""
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_COUNT:
        return None
    return value


def format_version(header: dict[str, Record]) -> int | None:
    """Return the header's ``v`` (1 where missing); ``None`` where it is no number."""
    value = header.get("v")
    if value is None:
        return SUPPORTED_VERSION
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        return int(value)
    return count(value)


def origin_of(header: dict[str, Record], session_id: str | None) -> Origin | None:
    """Return where a session was imported from: as its header records it, else as guessed from its id.

    The header key ``imported_from`` is an object of ``agent`` and ``id``, or ``agent:id`` as text. Aster's own
    imports leave only the id ``<source>-<id>``, slugified (``spec/aster.md`` 2.7): a guess counts only where
    a session of that agent is known whose id has that slug (DESIGN 6).
    """
    value = header.get("imported_from")
    if isinstance(value, dict):
        agent, original = plain(value.get("agent")), plain(value.get("id"))
        return Origin(f"{agent}:{original}", False) if agent and original else None
    if isinstance(value, str) and value:
        return Origin(value, False)
    match = _IMPORTED_ID.fullmatch(session_id) if session_id else None
    if match is None:
        return None
    source, rest = match.groups()
    return Origin(f"{_IMPORT_AGENTS.get(source, source)}:{rest}", True)


def compact(value: Record) -> str:
    """Return a value as compact JSON text. Raises ``ShapeError`` where it is nested too deeply."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise ShapeError("a value is nested too deeply") from None


def kind_of(value: Record) -> str:
    """Name a JSON value's kind for a message; never its content."""
    match value:
        case None:
            return "missing or null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "empty text" if not value else "text"
        case list():
            return "a list"
        case _:
            return "an object"
