"""An evaluation case as plain values, whatever file it was read from. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Block:
    """A memory block as a case tells it; ``created`` is a day, ``project`` a folder or ``None`` for everywhere."""

    name: str
    body: str
    description: str = ""
    created: str = "2026-09-01"
    kind: str | None = None
    project: str | None = None
    aliases: tuple[str, ...] = ()
    pinned: bool = False
    superseded_by: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """What must come back: exactly ``recall``, plus at most what is in ``may``; ``first`` must rank first.

    ``archived`` and ``active`` are the blocks' state after decay at the case's moment.
    """

    recall: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    first: str | None = None
    archived: frozenset[str] = frozenset()
    active: frozenset[str] = frozenset()

    @property
    def is_silent(self) -> bool:
        """Nothing may come back."""
        return not self.recall and not self.may and self.first is None

    @property
    def has_decay(self) -> bool:
        """Whether decay must run before the prompt is asked."""
        return bool(self.archived or self.active)


@dataclass(frozen=True, slots=True)
class Case:
    """One prompt in a world of blocks. ``now`` is a day; ``journal`` holds operations as the journal's lines do."""

    id: str
    group: str
    prompt: str
    cwd: str
    now: str
    blocks: tuple[Block, ...]
    expected: Expected
    journal: tuple[dict[str, Any], ...] = ()
    facts: tuple[str, ...] = ()
    limit: int = 5
    gold: tuple[str, ...] = field(default=())
    """For sets that are measured as a ranking: what should be among the first, in no order."""
