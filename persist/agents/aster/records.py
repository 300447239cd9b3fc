"""Aster's transcript records become events (``spec/aster.md`` 1).

Pure; opens nothing. Reads more than Aster does: any order of keys, any version, ``null`` lists, parts, objects for
arguments, messages without a time. The state is the header as far as later lines need it, the open tool calls and
a digest of the last title: a few hundred bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final

from persist import times
from persist.agents.aster import shapes as shapes
from persist.events import AGENT, CONTROL, USER, Event, Parsed, Trait, Usage
from persist.sources import Line, Record, State

STATE_VERSION: Final = 1
_MAX_OPEN_CALLS: Final = 256
_MAX_OPEN_BYTES: Final = 32 * 1024
_MAX_KEPT_CHARACTERS: Final = 200
_MAX_ID_CHARACTERS: Final = 1000
"""A longer id is none: it names no file, and the state is bounded."""

_TRAIT_KEYS: Final = (
    ("cwd", "cwd"),
    ("repo_root", "repo_root"),
    ("model", "model"),
    ("aster_version", "version"),
    ("schedule", "schedule"),
    ("parent", "parent"),
)


class AsterParser:
    """Turns the records of one Aster transcript into events, in order (``persist.sources.Parser``)."""

    def __init__(self, state: State | None = None) -> None:
        state = state or {}
        self._session_id: str | None = state.get("id")
        self._has_header: bool = state.get("header", False)
        self._names_parent: bool = state.get("parent", False)
        self._recognised: bool = state.get("seen", False)
        self._model: str | None = state.get("model")
        self._title: str | None = state.get("title")
        self._open: dict[str, str] = dict(state.get("open", []))

    @property
    def session_id(self) -> str | None:
        """The header's id, as recorded."""
        return self._session_id

    @property
    def names_parent(self) -> bool:
        """Whether the header names a parent or says that the session was imported."""
        return self._names_parent

    @property
    def recognised(self) -> bool:
        """Whether any record so far was of a kind that Aster writes."""
        return self._recognised

    def save(self) -> State:
        """Return the state after the last record."""
        return {
            "version": STATE_VERSION,
            "id": self._session_id,
            "header": self._has_header,
            "parent": self._names_parent,
            "seen": self._recognised,
            "model": self._model,
            "title": self._title,
            "open": list(self._open.items()),
        }

    def feed(self, record: Record, line: Line) -> Parsed:
        """Read one JSON value. Raises ``ShapeError`` when it is not an object, or names no type or no role."""
        del line
        kind = shapes.record_type(record)
        read = _READERS.get(kind)
        if read is None:
            return Parsed(skipped=f"unknown:{kind}")
        parsed = read(self, record)
        self._recognised = True
        if parsed.events and parsed.events[0].ts is None and record.get("ts") is not None:
            return parsed._replace(bad_times=1)
        return parsed

    def _header(self, record: dict[str, Record]) -> Parsed:
        if self._has_header:
            return Parsed(skipped="session:again")
        traits = [
            Trait(name, value) for key, name in _TRAIT_KEYS if (value := shapes.plain(record.get(key))) is not None
        ]
        version = shapes.format_version(record)
        if version != shapes.SUPPORTED_VERSION and not any(trait.name == "version" for trait in traits):
            traits.append(Trait("version", f"format {'unknown' if version is None else version}"))
        created_at = times.from_any(record.get("created_at"))
        if created_at is not None:
            traits.append(Trait("created_at", created_at))
        title = shapes.plain(record.get("title"))
        if title is not None:
            traits.append(Trait("title", title, rank=2))
        session_id = shapes.plain(record.get("id"))
        if session_id is not None and len(session_id) > _MAX_ID_CHARACTERS:
            session_id = None
        origin = shapes.origin_of(record, session_id)
        if origin is not None:
            traits.append(Trait("imported_from", origin.told, rank=int(origin.guessed)))
        self._has_header = True
        self._session_id = session_id
        self._names_parent = origin is not None or shapes.plain(record.get("parent")) is not None
        model = shapes.plain(record.get("model"))
        self._model = model[:_MAX_KEPT_CHARACTERS] if model else None
        return Parsed(traits=traits) if traits else Parsed(skipped="session:bare")

    def _message(self, record: dict[str, Record]) -> Parsed:
        role = shapes.role_of(record)
        read = _ROLES.get(role)
        if read is None:
            return Parsed(skipped=f"unknown:message/{role}")
        return read(self, record, times.from_any(record.get("ts")))

    def _user(self, record: dict[str, Record], ts: str | None) -> Parsed:
        text = shapes.text_of(record.get("content"))
        return Parsed([Event(USER, "user_message", text, ts, is_prompt=True)])

    def _assistant(self, record: dict[str, Record], ts: str | None) -> Parsed:
        events: list[Event] = []
        reasoning = shapes.reasoning_of(record)
        text = shapes.text_of(record.get("content"))
        calls = shapes.calls_of(record)
        if reasoning is not None:
            events.append(Event(AGENT, "message_thought", reasoning, ts, model_name=self._model))
        if text or not (calls or events):
            events.append(Event(AGENT, "message_text", text, ts, model_name=self._model, part=len(events)))
        for call in calls:
            events.append(
                Event(
                    AGENT, "tool_call", None, ts, tool_call_id=call.id, tool_name=call.name,
                    tool_arguments=call.arguments, model_name=self._model, part=len(events),
                )
            )  # fmt: skip
        usage = self._usage(record.get("usage"), ts)
        for call in calls:
            self._remember(call)
        return Parsed(events, usage)

    def _usage(self, value: Record, ts: str | None) -> list[Usage]:
        if not isinstance(value, dict):
            return []
        used = shapes.count(value.get("prompt_tokens"))
        made = shapes.count(value.get("completion_tokens"))
        if used is None and made is None:
            return []
        return [Usage(model_name=self._model, ts=ts, input_tokens=used, output_tokens=made)]

    def _tool(self, record: dict[str, Record], ts: str | None) -> Parsed:
        text = shapes.text_of(record.get("content"))
        call_id = shapes.plain(record.get("tool_call_id"))
        name = self._open.get(call_id) if call_id else None
        failed = text is not None and text.startswith(shapes.ERROR_PREFIX)
        event = Event(
            AGENT, "tool_error" if failed else "tool_result", text, ts, outcome="failed" if failed else None,
            tool_call_id=call_id, tool_name=name or shapes.plain(record.get("name")),
        )  # fmt: skip
        if call_id:
            self._open.pop(call_id, None)
        return Parsed([event])

    def _system(self, record: dict[str, Record], ts: str | None) -> Parsed:
        return Parsed([Event(CONTROL, "system_message", shapes.text_of(record.get("content")), ts)])

    def _summary(self, record: dict[str, Record]) -> Parsed:
        text = shapes.text_of(record.get("content"))
        return Parsed([Event(AGENT, "context_compaction_result", text, times.from_any(record.get("ts")))])

    def _eviction(self, record: dict[str, Record]) -> Parsed:
        reason = shapes.plain(record.get("reason"))
        return Parsed([Event(CONTROL, "context_eviction", reason, times.from_any(record.get("ts")))])

    def _titled(self, record: dict[str, Record]) -> Parsed:
        title = shapes.text_of(record.get("title"))
        event = Event(CONTROL, "session_title", title, times.from_any(record.get("ts")))
        if not title or not title.strip():
            return Parsed([event])
        rank = 0 if shapes.is_by_person(record) else 1
        told = f"{rank}{title}".encode("utf-8", "replace")
        digest = hashlib.blake2b(told, digest_size=8).hexdigest()
        if digest == self._title:
            return Parsed([event])
        self._title = digest
        return Parsed([event], traits=[Trait("title", title, rank)])

    def _remember(self, call: shapes.Call) -> None:
        """Keep a call's name for its result; the oldest go first when there are too many or too long ones."""
        if call.id is None or call.name is None or len(call.id) > _MAX_KEPT_CHARACTERS:
            return
        self._open.pop(call.id, None)
        self._open[call.id] = call.name[:_MAX_KEPT_CHARACTERS]
        while len(self._open) > _MAX_OPEN_CALLS or _open_bytes(self._open) > _MAX_OPEN_BYTES:
            del self._open[next(iter(self._open))]


def _open_bytes(calls: dict[str, str]) -> int:
    """Return an upper bound of what the open calls take as JSON: a character may be escaped to 6 bytes."""
    return sum(len(call_id) + len(name) for call_id, name in calls.items()) * 6


_READERS: Final[dict[str, Callable[[AsterParser, dict[str, Record]], Parsed]]] = {
    "session": AsterParser._header,
    "message": AsterParser._message,
    "summary": AsterParser._summary,
    "eviction": AsterParser._eviction,
    "title": AsterParser._titled,
}
_ROLES: Final[dict[str, Callable[[AsterParser, dict[str, Record], str | None], Parsed]]] = {
    "user": AsterParser._user,
    "assistant": AsterParser._assistant,
    "tool": AsterParser._tool,
    "system": AsterParser._system,
}
SKIPS: Final = {
    "session:again": "a second header; the first one is the session's",
    "session:bare": "a header that tells nothing but its id",
}
