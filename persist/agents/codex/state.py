"""What a parser of Codex's rollouts knows between two records: its state, how it is copied, saved and read again.

Pure; imports only ``persist`` values. Bounded whatever the file's size: words are kept as marks, calls are counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from persist.agents.codex.items import ANSWERED, Reading
from persist.agents.codex.lineage import Lineage
from persist.agents.codex.tokens import Totals
from persist.agents.codex.twice import Twice
from persist.agents.values import mark
from persist.events import Trait
from persist.sources import State

STATE_VERSION: Final = 2
MAX_OPEN_CALLS: Final = 256
"""Calls without an output that are remembered; the oldest are dropped (their outputs then name no tool)."""

_CALL_WORD = re.compile(r"[\w.:/-]{1,80}\Z", re.ASCII)
"""Call ids and tool names of another form are not remembered, so that the state stays under 64 KiB."""


@dataclass(slots=True)
class Memory:
    """The parser's state; every value is small and JSON.

    ``told`` are marks of the traits last told, by name; ``calls`` the open calls, id to tool name; ``totals`` the
    running totals of ``tokens``. ``is_typed``: a person types here. ``is_head_over``: an event came.
    """

    lineage: Lineage = field(default_factory=Lineage)
    twice: Twice = field(default_factory=Twice)
    names_parent: bool = False
    is_head_over: bool = False
    recognised: bool = False
    is_typed: bool = True
    provider: str | None = None
    model: str | None = None
    totals: Totals | None = None
    told: dict[str, str] = field(default_factory=dict)
    calls: dict[str, str] = field(default_factory=dict)


def save(memory: Memory) -> State:
    """Return the state as a JSON object under 64 KiB."""
    return {"v": STATE_VERSION, **asdict(memory)}


def note_news(traits: Sequence[Trait], told: dict[str, str]) -> list[Trait]:
    """Return the traits that differ from what was last told, and note them."""
    news = [trait for trait in traits if told.get(trait.name) != mark(trait.value)]
    told.update({trait.name: mark(trait.value) for trait in news})
    return news


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
    """Return the state to be changed while a record is read: one that raises leaves the old one as it was.

    ``calls`` and ``totals`` are shared: calls are noted when nothing can raise any more, totals are never changed in
    place. Spelled out, as a copy is made for every line: ``dataclasses.replace`` takes five times as long.
    """
    lineage = memory.lineage
    return Memory(
        lineage=Lineage(
            session_id=lineage.session_id,
            known_origin=lineage.known_origin,
            is_copying=lineage.is_copying,
            turn=lineage.turn,
            created_ms=lineage.created_ms,
            burst_ms=lineage.burst_ms,
        ),
        twice=memory.twice.copied(),
        names_parent=memory.names_parent,
        is_head_over=memory.is_head_over,
        recognised=memory.recognised,
        is_typed=memory.is_typed,
        provider=memory.provider,
        model=memory.model,
        totals=memory.totals,
        told=dict(memory.told),
        calls=memory.calls,
    )


def load(state: State) -> Memory:
    """Return a saved state. Raises ``ValueError`` for one of another version."""
    if state.get("v") != STATE_VERSION:
        raise ValueError(f"a Codex parser state of version {state.get('v')!r} cannot be continued; read the file anew")
    values: dict[str, Any] = deepcopy({key: value for key, value in state.items() if key != "v"})
    return Memory(Lineage(**values.pop("lineage")), Twice(**values.pop("twice")), **values)
