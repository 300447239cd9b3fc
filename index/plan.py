"""Compares what lies on disk with what the index knows: two snapshots in, a list of work out.

Pure: no disk, no database. Whether a grown file is really the old one with a longer tail is decided by whoever opens
it (``index.load`` compares the edges); the plan only says that it may be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from operator import attrgetter
from typing import Final, NamedTuple

from persist.sources import LINE_KINDS, TRANSCRIPT, Found, Source, Stat

INDEXED: Final = "indexed"
HELD: Final = "held"
FAILED: Final = "failed"
"""Never read so far, because the file could not be; tried again at every run."""
BROKEN: Final = "broken"
"""Its parser stumbled; tried again when the file changes, or with the next version's rules."""
IGNORED: Final = "ignored"
GONE_TOGETHER: Final = "it is gone, with most of its agent's sources"
"""Why a source is held that only ``--prune`` lets go: its stored error."""
_WITH_ROWS: Final = frozenset({INDEXED, HELD})
"""The states of a source that something is stored of; of the others there is nothing to hold."""


class KnownSource(NamedTuple):
    """A source as the index has it. ``status`` is one of this module's constants."""

    id: int
    agent: str
    kind: str
    path: str
    root: str
    status: str
    stat: Stat
    offset_bytes: int
    error: str | None = None


class Action(Enum):
    """What is to be done with one source."""

    ADD = "add"
    MAYBE_TAIL = "maybe tail"
    REPLACE = "replace"
    RELEASE = "release"


class Step(NamedTuple):
    """One source to read. ``known`` is null for a new one; ``RELEASE`` only ends a hold. ``copy`` is where the kept
    copy lies that is read for an original that is gone."""

    action: Action
    source: Source
    known: KnownSource | None
    copy: str | None = None

    @property
    def read_path(self) -> str:
        """Return the path of the file that is read."""
        return self.source.path if self.copy is None else self.copy


@dataclass(frozen=True, slots=True)
class StandingIn:
    """How many kept copies are read for originals, by agent: for those that went lately, and for those before."""

    gone_lately: Counter[str] = field(default_factory=Counter)
    gone_long_ago: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Plan:
    """The work, in path order. ``unchanged`` counts by (agent, status) what is as it was; ``gone`` may be removed;
    ``withheld`` are gone too but held back (more than half of their agent's sources at once); ``unreachable`` lie in
    places that cannot be looked into now; ``excluded`` leave at once; ``unvisited`` belong to roots that this run did
    not look at and keep their rows."""

    steps: list[Step] = field(default_factory=list)
    unchanged: Counter[tuple[str, str]] = field(default_factory=Counter)
    gone: list[KnownSource] = field(default_factory=list)
    withheld: list[KnownSource] = field(default_factory=list)
    unreachable: list[tuple[KnownSource, str]] = field(default_factory=list)
    excluded: list[KnownSource] = field(default_factory=list)
    unvisited: list[KnownSource] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether the index already says what the disk says."""
        return not (self.steps or self.gone or self.excluded or self.newly_held)

    @property
    def known_agents(self) -> set[str]:
        """Return the agents of which the index knew a source before."""
        rows = [*self.gone, *self.withheld, *self.excluded, *self.unvisited, *(row for row, _ in self.unreachable)]
        known = {row.agent for row in rows} | {step.known.agent for step in self.steps if step.known}
        return known | {agent for agent, _ in self.unchanged}

    @property
    def newly_held(self) -> list[KnownSource]:
        """Return the sources that this run marks as held."""
        gone = [known for known in self.withheld if not _is_held_back(known)]
        return gone + [known for known, _ in self.unreachable if known.status != HELD]


def make_plan(
    found: Sequence[Found],
    known: Mapping[tuple[str, str], KnownSource],
    *,
    visited_agents: frozenset[str],
    excluded: frozenset[tuple[str, str]] = frozenset(),
    same: Counter[str] | None = None,
    prune: bool = False,
    read_all: bool = False,
    kept: Sequence[Found] = (),
    copies: Mapping[tuple[str, str], str] | None = None,
    standing_in: StandingIn | None = None,
) -> Plan:
    """Plan one run. ``known`` is keyed by (agent, path); ``excluded`` keys leave whatever the disk says.

    ``kept`` are sources whose originals are gone and whose copies (``copies``, by key) are read; ``standing_in`` counts
    them, for judging how many of an agent's are gone.
    ``same`` counts, by agent, indexed sources that are as they were and stand in neither ``found`` nor ``known``
    (``index.unchanged``). ``read_all`` reads every source anew; ``prune`` lets go of sources that are gone however
    many. Cost: linear.
    """
    same = Counter() if same is None else same
    plan = Plan()
    plan.unchanged.update({(agent, INDEXED): count for agent, count in same.items()})
    copies = copies or {}
    present: set[tuple[str, str]] = set()
    for source in _in_order([*found, *kept]):
        key = (source.agent, source.path)
        if key in present or key in excluded:
            continue
        present.add(key)
        step = _step(source, known.get(key), read_all)
        if step is None:
            plan.unchanged[source.agent, known[key].status] += 1
        else:
            plan.steps.append(step._replace(copy=copies[key]) if key in copies else step)
    absent = [row for key, row in sorted(known.items()) if key not in present]
    _sort_absent(plan, absent, found, visited_agents, excluded)
    if not prune:
        _withhold(plan, known, same, standing_in or StandingIn())
    return plan


def _in_order(found: Iterable[Found]) -> list[Source]:
    sources = [source for look in found for source in look.sources]
    sources.sort(key=attrgetter("path", "agent"))
    return sources


def _step(source: Source, row: KnownSource | None, read_all: bool) -> Step | None:
    if row is None:
        return Step(Action.ADD, source, None)
    if read_all or row.status == FAILED or (row.kind, row.root) != (source.kind, source.root):
        return Step(Action.REPLACE, source, row)
    if row.stat == source.stat:
        return Step(Action.RELEASE, source, row) if row.status == HELD else None
    if row.status == IGNORED:  # nothing of it is stored that a tail could follow
        return Step(Action.REPLACE, source, row)
    grown = source.stat.size_bytes > row.stat.size_bytes and source.stat.inode == row.stat.inode
    if grown and source.kind in LINE_KINDS and row.offset_bytes > 0:
        return Step(Action.MAYBE_TAIL, source, row)
    return Step(Action.REPLACE, source, row)


def _sort_absent(
    plan: Plan,
    absent: list[KnownSource],
    found: Sequence[Found],
    visited_agents: frozenset[str],
    excluded: frozenset[tuple[str, str]],
) -> None:
    visited_roots = {str(look.root.path) for look in found}
    blocked = {
        trouble.path: trouble.message for look in found for trouble in look.troubles if trouble.kind == "unreadable"
    }
    for row in absent:
        if (row.agent, row.path) in excluded:
            plan.excluded.append(row)
            continue
        if row.agent not in visited_agents or row.root not in visited_roots:
            plan.unvisited.append(row)
            continue
        why = _what_blocks(row.path, blocked)
        if why is None or row.status not in _WITH_ROWS:
            plan.gone.append(row)
        else:
            plan.unreachable.append((row, why))


def _what_blocks(path: str, blocked: Mapping[str, str]) -> str | None:
    """Return why a path cannot be looked at: its own trouble, else that of the nearest folder above it."""
    while path and blocked:
        if path in blocked:
            return blocked[path]
        path = path.rpartition("/")[0]
    return None


def _withhold(
    plan: Plan, known: Mapping[tuple[str, str], KnownSource], same: Counter[str], standing_in: StandingIn
) -> None:
    """Hold back an agent whose sources are more than half gone: an unmounted disk looks like that (DESIGN 8).

    What was held back once stays so, however many other sources its agent has got since. A transcript of
    whose name another one came in the same run was moved or compressed, and is not gone.
    """
    totals = same + Counter(row.agent for row in known.values() if not _is_held_back(row))
    totals.subtract(standing_in.gone_long_ago)
    added = [step.source for step in plan.steps if step.action is Action.ADD and step.source.kind == TRANSCRIPT]
    came = {(source.agent, _name_of(source.path)) for source in added}
    absent = [row for row in plan.gone if row.kind != TRANSCRIPT or (row.agent, _name_of(row.path)) not in came]
    gone = standing_in.gone_lately + Counter(row.agent for row in absent if not _is_held_back(row))
    held = {agent for agent, count in gone.items() if count * 2 > totals[agent]}
    plan.withheld = [row for row in absent if _is_held_back(row) or (row.agent in held and row.status in _WITH_ROWS)]
    withheld = {row.id for row in plan.withheld}
    plan.gone = [row for row in plan.gone if row.id not in withheld]


def _name_of(path: str) -> str:
    """Return a file's name as it was before its agent compressed it."""
    return path.rpartition("/")[2].removesuffix(".zst")


def _is_held_back(row: KnownSource) -> bool:
    return row.status == HELD and row.error == GONE_TOGETHER
