"""Transcripts of pi and omp, its fork: the parser, its state, and what a header tells of its session.

Pure: no I/O. Rules of the format: ``spec/agents.md`` 2 "pi and omp". One record is read in ``readers``. Never
imports SQL, a terminal, or anything that reads files.

A file is a tree: an entry names the one before it, and going back begins a branch. Every entry is read once, in file
order, whatever branch it lies on: what was said there was said. Of the two times in a message the entry's own counts,
when it was written down; the message's, when it was begun, serves where the other is missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final

from persist import times
from persist.agents.pi.readers import Title, read_record, read_title
from persist.agents.pi.skips import skip_name
from persist.agents.values import mark, read_id
from persist.errors import ShapeError
from persist.events import CONTROL, Event, Parsed, Trait
from persist.sources import Line, Record, Source, State

STATE_VERSION: Final = 1
_SEPARATORS = re.compile(r"[/\\]")


@dataclass(slots=True)
class _Memory:
    """The parser's state; every value is small and JSON. ``is_titled``: the file's first line gave the title."""

    session_id: str | None = None
    has_header: bool = False
    names_origin: bool = False
    recognised: bool = False
    is_titled: bool = False
    told: dict[str, str] = field(default_factory=dict)


class TranscriptParser:
    """Reads the records of one transcript (``persist.sources.Parser``).

    The session's id is its header's. ``source.path_tells`` is the id of the session that a sub-agent of omp works for;
    a sub-agent that has the same id is ``<parent id>/<name of its file>``.
    """

    def __init__(self, source: Source, skips: Mapping[str, str], state: State | None = None) -> None:
        self._stem = PurePath(source.path).name.removesuffix(".jsonl")
        self._parent_id = source.path_tells
        self._skips = skips
        self._memory = _Memory() if state is None else _load(state)

    @property
    def session_id(self) -> str | None:
        """The session's id, once the header told it."""
        return self._memory.session_id

    @property
    def names_parent(self) -> bool:
        """Whether this is a sub-agent's file or its header names the session it was forked from."""
        return bool(self._parent_id) or self._memory.names_origin

    @property
    def recognised(self) -> bool:
        """Whether a header or a message was among the records so far."""
        return self._memory.recognised

    def feed(self, record: Record, line: Line) -> Parsed:  # noqa: ARG002 - the protocol's signature
        """Read one record. Raises ``ShapeError`` for what is no record; the state then stays."""
        if not isinstance(record, dict):
            raise ShapeError(f"a transcript record must be an object, not {type(record).__name__}")
        kind = record.get("type")
        if kind == "session":
            return self._read_header(record)
        if kind == "title":
            return self._read_slot(record)
        memory = self._memory
        ts, bad_times = _time_of(record)
        reading = read_record(record, ts, bool(self._parent_id))
        events = list(reading.events)
        traits: list[Trait] = []
        told: dict[str, str] = {}
        if reading.title is not None and memory.told.get("title") != (titled := _mark_of(reading.title)):
            events.append(Event(CONTROL, "session_title", reading.title.text))
            if not memory.is_titled:
                told["title"] = titled
                traits.append(Trait("title", reading.title.text, reading.title.rank))
        _note_model(reading.model, memory.told, told, traits)
        memory.told.update(told)
        memory.recognised = memory.recognised or kind == "message"
        if not events:
            return Parsed(skipped=skip_name(record, self._skips))
        entry_id = read_id(record.get("id"))
        return Parsed([_placed(event, ts, entry_id) for event in events], reading.usage, traits, bad_times=bad_times)

    def save(self) -> State:
        """Return the state as JSON: a few hundred bytes."""
        memory = self._memory
        return {
            "v": STATE_VERSION,
            "session": memory.session_id,
            "header": memory.has_header,
            "origin": memory.names_origin,
            "ours": memory.recognised,
            "titled": memory.is_titled,
            "told": dict(memory.told),
        }

    def _read_header(self, record: Mapping[str, Any]) -> Parsed:
        own = read_id(record.get("id"))
        if own is None:
            raise ShapeError("the id of a session header must be text of 1 to 200 characters")
        memory = self._memory
        if memory.has_header:
            return Parsed(skipped="session:again")
        session_id = f"{self._parent_id}/{self._stem}" if own == self._parent_id else own
        written = record.get("timestamp")
        created_at = times.from_any(written)
        traits = [Trait(name, value) for name, value in (("cwd", record.get("cwd")), ("created_at", created_at))
                  if isinstance(value, str) and value]  # fmt: skip
        origin = _origin(record)
        if self._parent_id:
            traits.append(Trait("parent", self._parent_id))
        elif origin is not None and origin != own:
            traits.append(Trait("forked_from", origin))
        told: dict[str, str] = {}
        _note_model(read_id(record.get("modelId")), memory.told, told, traits)
        events: list[Event] = []
        title = None if memory.is_titled else read_title(record.get("title"), record.get("titleSource"))
        if title is not None:
            told["title"] = _mark_of(title)
            traits.append(Trait("title", title.text, title.rank))
            events.append(Event(CONTROL, "session_title", title.text, created_at))
        memory.told.update(told)
        memory.session_id = session_id
        memory.has_header = memory.recognised = True
        memory.names_origin = origin is not None and origin != own
        bad_times = int(created_at is None and written is not None)
        return Parsed(events, traits=traits, skipped=None if traits else "session:bare", bad_times=bad_times)

    def _read_slot(self, record: Mapping[str, Any]) -> Parsed:
        """Read omp's first line, which it writes anew in its place: its title is the newest, so it beats all others."""
        title = read_title(record.get("title"), record.get("source"))
        memory = self._memory
        if title is None or memory.is_titled or memory.has_header:
            return Parsed(skipped=skip_name(record, self._skips))
        written = record.get("updatedAt")
        ts = times.from_any(written)
        memory.told["title"] = _mark_of(title)
        memory.is_titled = True
        event = Event(CONTROL, "session_title", title.text, ts)
        bad_times = int(ts is None and written is not None)
        return Parsed((event,), traits=(Trait("title", title.text, title.rank),), bad_times=bad_times)


def _time_of(record: Mapping[str, Any]) -> tuple[str | None, int]:
    """Return the time of an entry, and 1 if the one that should be it cannot be read."""
    written = record.get("timestamp")
    ts = times.from_any(written)
    bad_times = int(ts is None and written is not None)
    if ts is None:
        message = record.get("message")
        begun = message.get("timestamp") if isinstance(message, dict) else None
        ts = times.from_any(begun)
        if ts is None and begun is not None:
            bad_times = 1
    return ts, bad_times


def _placed(event: Event, ts: str | None, entry_id: str | None) -> Event:
    """Return an event with its entry's time and id; the call of a command that a person ran is named by its entry."""
    is_own_command = event.tool_name is not None and event.kind == "user"
    call_id = entry_id if is_own_command else event.tool_call_id
    return event._replace(ts=ts, record_id=entry_id, tool_call_id=call_id)


def _note_model(model: str | None, known: Mapping[str, str], told: dict[str, str], traits: list[Trait]) -> None:
    if model is not None and known.get("model") != model:
        told["model"] = model
        traits.append(Trait("model", model))


def _origin(record: Mapping[str, Any]) -> str | None:
    """Return the id of the session that a header names as its origin: by its file (``TIME_ID.jsonl``), or by its id."""
    named = record.get("parentSession") or record.get("branchedFrom")
    if not isinstance(named, str):
        return None
    name = _SEPARATORS.split(named)[-1]
    if name == named and not name.endswith(".jsonl"):
        return read_id(named)
    name = name.removesuffix(".jsonl")
    return read_id(name.partition("_")[2] or name)


def _mark_of(title: Title) -> str:
    return mark(f"{title.rank} {title.text}")


def _load(state: State) -> _Memory:
    if state.get("v") != STATE_VERSION:
        raise ValueError(f"a pi parser state of version {state.get('v')!r} cannot be continued; read the file anew")
    return _Memory(
        state["session"], state["header"], state["origin"], state["ours"], state["titled"], dict(state["told"])
    )
