"""Sets apart the sources that are as they were, before a plan is made of the rest.

Nearly all sources of a run are these, so whole lists are compared: one row for each source on disk, one for each that
the index knows, both in order. Pure: no disk, no database (``index.run`` reads the index's rows).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple, TypeAlias

from persist.sources import BLOCK, HISTORY, JOURNAL, PROJECT_MEMORY, TRANSCRIPT, Found

_KINDS: Final = (TRANSCRIPT, BLOCK, HISTORY, JOURNAL, PROJECT_MEMORY)
"""The kinds of sources, the most frequent first."""

Row: TypeAlias = tuple[int, str, int, int, int, int]
"""A source's group, path, and the values of its ``persist.sources.Stat``. Of the index's rows, those that are not
indexed or of no group have their agent's negative number in place of a group."""


class Group(NamedTuple):
    """What the sources of one kind have in common that one look at a root met."""

    agent: str
    kind: str
    root: str


@dataclass(frozen=True, slots=True)
class Rest:
    """What is left to plan: ``found`` without the sources that are as they were, which ``same`` counts by agent;
    ``kept`` the same of those whose kept copies are read; ``keys`` are (agent, path) of all others, those on disk and
    those that only the index has."""

    found: tuple[Found, ...]
    kept: tuple[Found, ...]
    same: Counter[str]
    keys: frozenset[tuple[str, str]]


def groups_of(found: Sequence[Found]) -> list[Group]:
    """Return the groups that the sources found are of; those of the largest looks come first."""
    looks = [(look.root.agent, root) for look in sorted(found, key=_size) if (root := _root_of(look)) is not None]
    return list(dict.fromkeys(Group(agent, kind, root) for kind in _KINDS for agent, root in looks))


def set_apart(
    found: Sequence[Found],
    groups: Sequence[Group],
    known: list[Row],
    agents: Mapping[int, str],
    kept: Sequence[Found] = (),
) -> Rest:
    """Set apart what is as it was. ``known`` are the index's rows, in order, by the numbers of ``groups``.

    ``kept`` are looks at sources whose kept copies are read; none of them is in ``found``. ``agents`` names agents by
    their ids. Cost where nothing changed: a row for each source and one comparison of two lists; else two sets of them.
    """
    found = [*_without_repeats(found), *kept]
    numbers = [_numbers(look, groups) for look in found]
    seen: list[Row] = []
    for look, by_kind in zip(found, numbers, strict=True):
        if by_kind:
            seen += [
                (by_kind[kind], path, size_bytes, mtime_ns, ctime_ns, inode)
                for _, kind, path, _, (size_bytes, mtime_ns, ctime_ns, inode), _ in look.sources
            ]
    seen.sort()
    first = bisect_left(known, (0,))
    of_groups = known[first:] if first else known
    differing = set[Row]() if of_groups == seen else set(of_groups) ^ set(seen)
    keys = {(agents[-number], path) for number, path, *_ in known[:first]}
    keys |= {(groups[number].agent, path) for number, path, *_ in differing}
    same: Counter[str] = Counter()
    rest: list[Found] = []
    for look, by_kind in zip(found, numbers, strict=True):
        agent = look.root.agent
        changed = look.sources
        if by_kind:
            changed = tuple(source for source in look.sources if (agent, source.path) in keys) if keys else ()
        same[agent] += len(look.sources) - len(changed)
        keys.update((agent, source.path) for source in changed)
        rest.append(replace(look, sources=changed))
    first_kept = len(rest) - len(kept)
    return Rest(tuple(rest[:first_kept]), tuple(rest[first_kept:]), +same, frozenset(keys))


def _numbers(look: Found, groups: Sequence[Group]) -> dict[str, int]:
    """Return the number of each kind's group; empty where a look has none: then all its sources are left to plan."""
    root = _root_of(look)
    here = (look.root.agent, root)
    mine = {group.kind: number for number, group in enumerate(groups) if (group.agent, group.root) == here}
    return mine if root is not None else {}


def _size(look: Found) -> int:
    return -len(look.sources)


def _root_of(look: Found) -> str | None:
    """Return how a look's sources spell their root; null where there are none, or several spellings."""
    roots = set(map(itemgetter(3), look.sources))
    return roots.pop() if len(roots) == 1 else None


def _without_repeats(found: Sequence[Found]) -> Sequence[Found]:
    """Leave out what an earlier look at another root of the same agent met already: roots may lie in each other."""
    looks = [look.root.agent for look in found if look.sources]
    if len(set(looks)) == len(looks):
        return found
    seen: dict[str, set[str]] = {}
    kept: list[Found] = []
    for look in found:
        paths = seen.setdefault(look.root.agent, set())
        kept.append(replace(look, sources=tuple(source for source in look.sources if source.path not in paths)))
        paths.update(map(attrgetter("path"), look.sources))
    return kept
