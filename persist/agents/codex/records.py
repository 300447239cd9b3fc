"""Codex rollouts to events: the parser and its state.

Pure: no I/O. One record is read in ``items``, ``events``, ``tokens`` and ``head``; what it
leaves for the next is in ``state``. Never imports SQL, a terminal, or anything that reads files.

Two generations: ``{timestamp, type, payload}``, and the oldest with a bare header, bare items and no times. Prompts and
answers are told by response items, by events (``event_msg``) or by both: ``twice`` takes the first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Final

from persist import times
from persist.agents.codex.content import words
from persist.agents.codex.events import read_communication, read_compacted, read_event
from persist.agents.codex.head import read_head, read_turn_context
from persist.agents.codex.items import Known, Reading, is_item_type, read_item
from persist.agents.codex.state import Memory, copied, keep_calls, load, note_news, save
from persist.agents.codex.tokens import read_token_count, running_total
from persist.agents.codex.twice import Form
from persist.agents.values import plain_word, read_id
from persist.errors import ShapeError
from persist.events import CONTROL, Event, Parsed, Trait, Usage
from persist.sources import Line, Record, Source, State

_FILE_ID = re.compile(r"rollout-.*?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl", re.IGNORECASE)
_TYPES: Final = (
    "session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state", "token_usage_record",
    "inter_agent_communication", "inter_agent_communication_metadata",
)  # fmt: skip


class TranscriptParser:
    """Reads the records of one rollout (``persist.sources.Parser``).

    The session is the first header's ``id``, which in a sub-agent is its own; in a file that does not begin with a
    header, the id in the file's name.
    """

    def __init__(self, source: Source, state: State | None = None) -> None:
        match = _FILE_ID.match(PurePath(source.path).name)
        self._file_id = match[1] if match is not None else None
        self._memory = Memory() if state is None else load(state)

    @property
    def session_id(self) -> str | None:
        """The session's id, once a record told it."""
        return self._memory.lineage.session_id

    @property
    def names_parent(self) -> bool:
        """Whether the head names the session that this one works for or repeats the beginning of."""
        return self._memory.names_parent

    @property
    def recognised(self) -> bool:
        """Whether any record so far was of one of the two generations."""
        return self._memory.recognised

    def feed(self, record: Record, line: Line) -> Parsed:  # noqa: ARG002 - the protocol's signature
        """Read one record. Raises ``ShapeError`` for what is none; the state then stays."""
        if not isinstance(record, dict):
            raise ShapeError(f"a rollout record must be an object, not {type(record).__name__}")
        kind, payload = _unwrapped(record)
        written_time = record.get("timestamp")
        ts = times.from_any(written_time) if written_time is not None else None
        if kind == "session_meta":
            return self._feed_head(payload, ts)
        memory = copied(self._memory)
        if memory.lineage.session_id is None and self._file_id is not None and kind in _TYPES:
            memory.lineage.begin(self._file_id, None, None, ts)
        memory.lineage.meet_time(ts)
        traits: list[Trait] = []
        if kind == "turn_context":
            reading = _read_turn(payload, memory, traits)
        elif kind == "event_msg":
            reading = self._read_event_msg(payload, ts, memory, traits)
        elif kind == "response_item":
            reading = read_item(payload, _known(memory))
        elif kind == "compacted":
            reading = read_compacted(payload)
        elif kind == "inter_agent_communication":
            reading = read_communication(payload)
        elif kind in ("world_state", "token_usage_record", "inter_agent_communication_metadata", "state"):
            reading = Reading(skipped=kind)
        else:
            reading = Reading(skipped=f"unknown:{plain_word(kind)}")
        reading = _told_once(reading, memory, kind, payload)
        anchor = memory.lineage.anchor()
        events = [event._replace(ts=ts, anchor=anchor, model_name=_model(event, memory)) for event in reading.events]
        keep_calls(memory.calls, reading)
        memory.recognised = memory.recognised or kind in _TYPES or kind == "state"
        memory.is_head_over = memory.is_head_over or bool(events)
        self._memory = memory
        return Parsed(
            events=events,
            usage=reading.usage,
            traits=traits,
            skipped=None if events or traits else reading.skipped or "turn_context",
            bad_times=1 if events and ts is None and written_time is not None else 0,
        )

    def save(self) -> State:
        """Return the state as JSON: under 64 KiB, some hundred bytes as a rule."""
        return save(self._memory)

    def _feed_head(self, payload: Mapping[str, Any], ts: str | None) -> Parsed:
        """Read a header: the session's own, or one of the session whose records are repeated."""
        memory = copied(self._memory)
        head = read_head(payload)
        lineage = memory.lineage
        memory.recognised = True
        if lineage.session_id is None:
            session_id = head.session_id or self._file_id
            if session_id is None:
                raise ShapeError("a session header has no id")
            lineage.begin(session_id, head.origin, head.created_at, ts)
            memory.names_parent = head.origin is not None
            memory.is_typed = not head.is_sub_agent
            memory.provider = head.provider
            traits = note_news(head.traits, memory.told)
        elif head.session_id not in (None, lineage.session_id):
            lineage.meet_time(ts)
            lineage.meet_header(str(head.session_id))
            traits = []
            if not memory.is_head_over and not memory.names_parent:
                memory.names_parent = True
                traits = [Trait("forked_from", str(head.session_id))]
            self._memory = memory
            return Parsed(traits=traits, skipped=None if traits else "session_meta of the origin")
        else:
            lineage.meet_time(ts)
            memory.provider = head.provider or memory.provider
            kept = [trait for trait in head.traits if trait.name in ("git_branch", "version")]
            traits = note_news(kept, memory.told)
        self._memory = memory
        return Parsed(traits=traits, skipped=None if traits else "session_meta")

    def _read_event_msg(
        self, payload: Mapping[str, Any], ts: str | None, memory: Memory, traits: list[Trait]
    ) -> Reading:
        kind = payload.get("type")
        turn_id = read_id(payload.get("turn_id"))
        if kind in ("task_started", "turn_started") and turn_id is not None:
            memory.lineage.meet_turn(turn_id)
        if kind == "token_count":
            return _read_tokens(payload, ts, memory)
        if kind == "thread_name_updated":
            return _read_title(payload, memory, traits)
        return read_event(payload, _known(memory))


def _unwrapped(record: Mapping[str, Any]) -> tuple[object, Mapping[str, Any]]:
    """Return a record's type and what it holds, also of the oldest generation, whose records are bare."""
    kind = record.get("type")
    if kind is None and record.get("record_type") == "state":
        return "state", {}
    if kind is None and isinstance(record.get("id"), str):
        return "session_meta", record
    if is_item_type(kind) and "payload" not in record:
        return "response_item", record
    payload = record.get("payload")
    if isinstance(payload, dict):
        return kind, payload
    if isinstance(kind, str) and kind in _TYPES:
        raise ShapeError(f"the payload of a {kind} record must be an object, not {type(payload).__name__}")
    return kind, {}


def _read_turn(payload: Mapping[str, Any], memory: Memory, traits: list[Trait]) -> Reading:
    turn_id = read_id(payload.get("turn_id"))
    if turn_id is not None:
        memory.lineage.meet_turn(turn_id)
    told = read_turn_context(payload)
    memory.model = next((trait.value for trait in told if trait.name == "model"), memory.model)
    traits.extend(note_news(told, memory.told))
    return Reading(skipped="turn_context")


def _read_title(payload: Mapping[str, Any], memory: Memory, traits: list[Trait]) -> Reading:
    title, own = words(payload.get("thread_name")), memory.lineage.session_id
    if title is None or not title.strip() or (own is not None and payload.get("thread_id") not in (None, own)):
        return Reading(skipped="event_msg:thread_name_updated")
    traits.append(Trait("title", title, 0))
    return Reading((Event(CONTROL, "session_title", title),))


def _read_tokens(payload: Mapping[str, Any], ts: str | None, memory: Memory) -> Reading:
    """A call's id is its turn (or session) and the running total, which stay the same wherever a fork repeats it."""
    told = read_token_count(payload, memory.totals)
    if told is None:
        repeated = isinstance(payload.get("info"), dict)
        return Reading(skipped="repeated token_count" if repeated else "token_count without usage")
    anchor, total = memory.lineage.anchor(), running_total(told.totals) if told.totals else None
    message_id = None if anchor is None or total is None else f"{anchor}:{total}"
    memory.totals = told.totals or memory.totals
    usage: tuple[Usage, ...] = ()
    if told.usage is not None:
        one = told.usage._replace(message_id=message_id, provider=memory.provider, model_name=memory.model, ts=ts)
        usage = (one,)
    return Reading((Event(CONTROL, "context_usage", message_id=message_id, measures=told.measures),), usage)


def _told_once(reading: Reading, memory: Memory, kind: object, payload: Mapping[str, Any]) -> Reading:
    """Leave out what the other form told already: always the last of a reading's events."""
    if reading.said is None:
        return reading
    form: Form = "item" if kind == "response_item" else "event"
    if memory.twice.takes(form, reading.said, reading.events[-1].text):
        return reading
    name = f"{reading.said} message" if form == "item" else payload.get("type")
    kept = reading.events[:-1]
    return Reading(kept, skipped=None if kept else f"repeated {name}")


def _known(memory: Memory) -> Known:
    return Known(memory.calls, memory.is_typed)


def _model(event: Event, memory: Memory) -> str | None:
    return memory.model if event.kind != CONTROL and event.event_type != "user_message" else None
