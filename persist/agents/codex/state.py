"""What a parser of Codex's rollouts knows between two records: its state, how it is copied, saved and read again.

Pure; imports only ``persist`` values. Bounded whatever the file's size: words are kept as marks, calls are counted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from persist.agents.codex.items import ANSWERED, MAX_ID_CHARS, Reading
from persist.agents.codex.lineage import Lineage
from persist.agents.codex.tokens import Totals
from persist.events import Trait
from persist.sources import State

STATE_VERSION: Final = 1
MAX_OPEN_CALLS: Final = 256
"""Calls without an output that are remembered; the oldest are dropped (their outputs then name no tool)."""

_CALL_WORD = re.compile(r"[\w.:/-]{1,80}\Z", re.ASCII)
"""Call ids and tool names of another form are not remembered, so that the state stays under 64 KiB."""


@dataclass(slots=True)
class Memory:
    """The parser's state; every value is small and JSON. ``said`` are marks of the words last told by an item."""

    lineage: Lineage = field(default_factory=Lineage)
    names_parent: bool = False
    is_head_over: bool = False
    recognised: bool = False
    is_typed: bool = True
    writes_events: bool = False
    provider: str | None = None
    model: str | None = None
    totals: Totals | None = None
    told: dict[str, str] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)


def saved(memory: Memory) -> State:
    """Return the state as a JSON object under 64 KiB."""
    return {"v": STATE_VERSION, **asdict(memory)}


def news(traits: Sequence[Trait], told: dict[str, str]) -> list[Trait]:
    """Return the traits that differ from what was last told, and note them."""
    news = [trait for trait in traits if told.get(trait.name) != mark(trait.value)]
    told.update({trait.name: mark(trait.value) for trait in news})
    return news


def mark(value: str) -> str:
    """Return a short stand-in for a value, equal only for equal values."""
    if len(value) <= MAX_ID_CHARS:
        return value
    return f"#{hashlib.blake2b(value.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def keep_calls(calls: dict[str, str], reading: Reading) -> None:
    """Note the call that a record opened, forget the one it closed."""
    if reading.closed is not None:
        calls.pop(reading.closed, None)
    if reading.opened is not None:
        call_id, name = reading.opened
        if _CALL_WORD.match(call_id) and (name == ANSWERED or _CALL_WORD.match(name)):
            calls.pop(call_id, None)
            calls[call_id] = name
    while len(calls) > MAX_OPEN_CALLS:
        del calls[next(iter(calls))]


def copied(memory: Memory) -> Memory:
    """Return the state to be changed while a record is read: one that raises leaves the old one as it was."""
    lineage = memory.lineage
    return Memory(
        Lineage(
            lineage.session_id, lineage.known_origin, lineage.is_copying, lineage.turn, lineage.created_ms,
            lineage.burst_ms,
        ),
        memory.names_parent, memory.is_head_over, memory.recognised, memory.is_typed, memory.writes_events,
        memory.provider, memory.model, memory.totals, dict(memory.told), memory.calls, dict(memory.said),
    )  # fmt: skip


def load(state: State) -> Memory:
    """Return a saved state. Raises ``ValueError`` for one of another version."""
    if state.get("v") != STATE_VERSION:
        raise ValueError(f"a Codex parser state of version {state.get('v')!r} cannot be continued; read the file anew")
    values: dict[str, Any] = {key: deepcopy(value) for key, value in state.items() if key not in ("v", "lineage")}
    return Memory(Lineage(**state["lineage"]), **values)
