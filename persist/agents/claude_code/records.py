"""Claude Code transcript records to events: the parser, its state, and what a record tells of its session.

Pure: no I/O. Rules of the format: ``spec/agents.md`` 2 "Claude Code". One record is read in
``readers``. Never imports SQL, a terminal, or anything that reads files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final

from persist import times
from persist.agents.claude_code.readers import READERS, SYNTHETIC_MODEL, Reading
from persist.agents.claude_code.skips import skip_name
from persist.agents.values import mark, read_id
from persist.errors import ShapeError
from persist.events import CONTROL, Event, Parsed, Trait
from persist.sources import Line, Record, Source, State

STATE_VERSION: Final = 1
MAX_OPEN_CALLS: Final = 256
"""Calls without a result that are remembered; the oldest are dropped (their results then name no tool)."""

_CALL_WORD = re.compile(r"[\w.:/-]{1,80}\Z", re.ASCII)
"""Call ids and tool names of another form are not remembered, so that the state stays under 64 KiB."""
_TRAIT_KEYS: Final = (("cwd", "cwd"), ("git_branch", "gitBranch"), ("version", "version"))
_TITLE_KEYS: Final = {"custom-title": ("customTitle", 0), "ai-title": ("aiTitle", 1), "summary": ("summary", 2)}


@dataclass(slots=True)
class _Memory:
    """The parser's state; every value is small and JSON."""

    session_id: str | None = None
    names_parent: bool = False
    is_head_over: bool = False
    recognised: bool = False
    told: dict[str, str] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)


class TranscriptParser:
    """Reads the records of one transcript (``persist.sources.Parser``).

    In a sub-agent's file (named ``agent-*``) the session is ``<parent id>/<agent id>``; elsewhere it is the
    first ``sessionId`` in file order. ``session_id`` of newer records is another number and not looked at.
    """

    def __init__(self, source: Source, state: State | None = None) -> None:
        stem = self._stem = PurePath(source.path).name.removesuffix(".jsonl")
        self._file_agent_id = stem.removeprefix("agent-") if stem.startswith("agent-") else None
        self._path_tells = source.path_tells
        self._memory = _Memory() if state is None else _load(state)

    @property
    def session_id(self) -> str | None:
        """The session's id, once a record told it."""
        return self._memory.session_id

    @property
    def names_parent(self) -> bool:
        """Whether this is a sub-agent's file or its head names the session it was forked from."""
        return self._memory.names_parent

    @property
    def recognised(self) -> bool:
        """Whether any record so far had the keys that only Claude Code's have together."""
        return self._memory.recognised

    def feed(self, record: Record, line: Line) -> Parsed:  # noqa: ARG002 - the protocol's signature
        """Read one record. Raises ``ShapeError`` for a value that is no object; the state then stays."""
        if not isinstance(record, dict):
            raise ShapeError(f"a transcript record must be an object, not {type(record).__name__}")
        memory = self._memory
        kind = record.get("type")
        reader = READERS.get(kind) if isinstance(kind, str) else None
        written_time = record.get("timestamp")
        ts = times.from_any(written_time) if written_time is not None else None
        traits: list[Trait] = []
        told: dict[str, str] = {}
        if isinstance(kind, str) and kind in _TITLE_KEYS:
            reading = _read_title(record, kind, ts, memory.told, told, traits)
            if self._is_of_another(record):  # it stays an event, and does not pass for one that was told
                traits.clear()
                told.clear()
        else:
            reading = reader(record, memory.calls, ts) if reader is not None else Reading()
        session_id, link = self._identify(record, kind)
        if link is not None:
            traits.append(link)
        if reading.events and (self._file_agent_id is not None or record.get("isSidechain") is not True):
            _note_traits(record, reading.events, memory.told, told, traits)

        memory.session_id = session_id
        memory.names_parent = memory.names_parent or link is not None
        memory.is_head_over = memory.is_head_over or link is not None or kind in ("user", "assistant")
        memory.recognised = memory.recognised or _is_ours(record, kind)
        memory.told.update(told)
        _keep_calls(memory.calls, reading)
        return Parsed(
            events=reading.events,
            usage=reading.usage,
            traits=traits,
            skipped=None if reading.events else skip_name(record),
            bad_times=1 if reading.events and ts is None and written_time is not None else 0,
        )

    def save(self) -> State:
        """Return the state as JSON: under 64 KiB, a few hundred bytes as a rule."""
        memory = self._memory
        return {
            "v": STATE_VERSION,
            "session": memory.session_id,
            "parent": memory.names_parent,
            "head": memory.is_head_over,
            "ours": memory.recognised,
            "told": dict(memory.told),
            "calls": dict(memory.calls),
        }

    def _is_of_another(self, record: Mapping[str, Any]) -> bool:
        """Return whether a title names a session that is neither the file's first nor the one it is named after."""
        own = read_id(record.get("sessionId"))
        known = self._memory.session_id
        return own is not None and known is not None and own not in (known, self._stem)

    def _identify(self, record: Mapping[str, Any], kind: object) -> tuple[str | None, Trait | None]:
        """Return the session's id after this record, and its parent or fork origin if this record settles that."""
        memory = self._memory
        own = read_id(record.get("sessionId"))
        if self._file_agent_id is not None:
            if memory.session_id is not None:
                return memory.session_id, None
            agent_id = read_id(record.get("agentId"))
            is_settled = own is not None or agent_id is not None or kind in ("user", "assistant")
            parent = own or self._path_tells
            if not is_settled or not parent:
                return None, None
            return f"{parent}/{agent_id or self._file_agent_id}", Trait("parent", parent)
        session_id = memory.session_id or own
        if memory.is_head_over:
            return session_id, None
        origin = record.get("forkedFrom")
        fork = read_id(origin.get("sessionId")) if isinstance(origin, dict) else None
        return session_id, Trait("forked_from", fork) if fork and fork != session_id else None


def _read_title(
    record: Mapping[str, Any],
    kind: str,
    ts: str | None,
    told: Mapping[str, str],
    news: dict[str, str],
    traits: list[Trait],
) -> Reading:
    key, rank = _TITLE_KEYS[kind]
    title = record.get(key)
    if not isinstance(title, str) or not title.strip():
        return Reading()
    target = read_id(record.get("leafUuid")) if kind == "summary" else None
    marked = mark(f"{target} {title}" if target else title)
    if told.get(kind) == marked:
        return Reading()
    news[kind] = marked
    traits.append(Trait("title", title, rank, target))
    return Reading((Event(CONTROL, "session_title", title, ts, record_id=read_id(record.get("uuid"))),))


def _note_traits(
    record: Mapping[str, Any],
    events: Sequence[Event],
    told: Mapping[str, str],
    news: dict[str, str],
    traits: list[Trait],
) -> None:
    """Add what the record tells of its session where it differs from what was last told."""
    for name, key in _TRAIT_KEYS:
        value = record.get(key)
        if value and isinstance(value, str) and told.get(name) != (marked := mark(value)):
            news[name] = marked
            traits.append(Trait(name, value))
    model = events[0].model_name
    if model and model != SYNTHETIC_MODEL and told.get("model") != (marked := mark(model)):
        news["model"] = marked
        traits.append(Trait("model", model))


def _keep_calls(calls: dict[str, str], reading: Reading) -> None:
    for call_id in reading.closed:
        calls.pop(call_id, None)
    for call_id, name in (reading.opened or {}).items():
        if _CALL_WORD.match(call_id) and _CALL_WORD.match(name):
            calls.pop(call_id, None)
            calls[call_id] = name
    while len(calls) > MAX_OPEN_CALLS:
        del calls[next(iter(calls))]


def _is_ours(record: Mapping[str, Any], kind: object) -> bool:
    """Tell a record of Claude Code from other programs' by the keys that only it has together."""
    if kind in ("user", "assistant"):
        return isinstance(record.get("message"), dict)
    if kind == "summary":
        return isinstance(record.get("leafUuid"), str)
    if kind == "file-history-snapshot":
        return isinstance(record.get("messageId"), str)
    return isinstance(kind, str) and isinstance(record.get("sessionId"), str)


def _load(state: State) -> _Memory:
    if state.get("v") != STATE_VERSION:
        raise ValueError(
            f"a Claude Code parser state of version {state.get('v')!r} cannot be continued; read the file anew"
        )
    return _Memory(
        state["session"], state["parent"], state["head"], state["ours"], dict(state["told"]), dict(state["calls"])
    )
