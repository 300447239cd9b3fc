"""Looks at every root of every agent: what is there, what is in the way, what the configuration leaves out.

I/O on folders only, no file is opened; no SQL.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path

from index.settings import Settings
from persist.agents.aster.agent import shadowed
from persist.archive.catalogue import Catalogue, load_catalogue
from persist.archive.names import OWN_AGENTS
from persist.archive.standing_in import StandIns, recovered, stand_ins
from persist.config import exclusion
from persist.sources import TRANSCRIPT, Found, Root, Source, Stat


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the disk. ``excluded`` holds (agent, path) of sources that the configuration leaves out.

    ``kept`` are originals that are gone while the archive has their copies, by root; ``copies`` tells by (agent, path)
    which copy is read for each. ``lost`` are those of them, by agent, whose copies are still open: gone since the last
    ingest that keeps. ``catalogues`` are those of the archive that could be read, by agent;
    ``copied`` are agents all of whose transcripts have copies that answer to them, and no others.
    """

    found: tuple[Found, ...]
    excluded: frozenset[tuple[str, str]]
    kept: tuple[Found, ...] = ()
    copies: Mapping[tuple[str, str], str] = field(default_factory=dict)
    lost: Mapping[str, tuple[Source, ...]] = field(default_factory=dict)
    catalogues: Mapping[str, Catalogue] = field(default_factory=dict)
    copied: frozenset[str] = frozenset()

    @property
    def size_bytes(self) -> int:
        """Return the bytes of all sources found."""
        return sum(source.stat.size_bytes for look in self.found for source in look.sources)

    @property
    def kept_by_agent(self) -> Counter[str]:
        """Return how many kept copies are read because their originals are gone."""
        counts: Counter[str] = Counter()
        for each in self.kept:
            counts[each.root.agent] += len(each.sources)
        return counts

    def transcripts_of(self, agent: str) -> list[Source]:
        """Return an agent's transcripts that are there."""
        looks = (each.sources for each in self.found if each.root.agent == agent)
        return [source for sources in looks for source in sources if source[1] == TRANSCRIPT]

    def stats_of(self, agent: str) -> dict[str, Stat]:
        """Return the fingerprints of an agent's transcripts that are there, by path."""
        there = self.transcripts_of(agent)
        return dict(zip(map(itemgetter(2), there), map(itemgetter(4), there), strict=True))

    def oldest_transcript_ns(self, agent: str) -> int | None:
        """Return the earliest time of change among an agent's transcripts; null when it has none."""
        return min(
            (
                source.stat.mtime_ns
                for look in self.found
                for source in look.sources
                if source.agent == agent and source.kind == TRANSCRIPT
            ),
            default=None,
        )


def look(settings: Settings) -> Look:
    """Discover the sources of all roots. Cost: one ``scandir`` a folder and one ``stat`` a file."""
    found: list[Found] = []
    for agent in settings.agents:
        looks = [agent.discover(root) for root in settings.roots if root.agent == agent.name]
        found.extend(shadowed(looks))
    covering = exclusion(settings.configuration.excludes)
    if not settings.configuration.excludes:
        return with_kept(settings, Look(tuple(found), frozenset()))
    excluded = frozenset(
        (source.agent, source.path) for each in found for source in each.sources if covering(source.path)
    )
    kept = [
        replace(each, sources=tuple(source for source in each.sources if (source.agent, source.path) not in excluded))
        for each in found
    ]
    return with_kept(settings, Look(tuple(kept), excluded))


def with_kept(settings: Settings, seen: Look) -> Look:
    """Return the same look with the kept copies that are read now: those of originals that are gone.

    Reads nothing where there is no archive. Cost: ``persist.archive.standing_in`` for each agent that has copies.
    """
    archive = settings.places.archive
    if not os.path.isdir(archive):  # noqa: PTH112 - false where it may not look, where Path.is_dir raises
        return replace(seen, kept=(), copies={}, lost={}, catalogues={}, copied=frozenset())
    catalogues: dict[str, Catalogue] = {}
    copied: set[str] = set()
    standing_in: dict[str, StandIns] = {}
    excludes = settings.configuration.excludes
    for name in (agent.name for agent in settings.agents):
        if name in OWN_AGENTS or not os.path.isdir(archive / name):  # noqa: PTH112 - as above
            continue
        visited = [str(look.root.path) for look in seen.found if look.root.agent == name]
        catalogue = load_catalogue(archive, name)
        if catalogue is None:
            catalogue = recovered(archive, name, visited)
        else:
            catalogues[name] = catalogue
        there, known = seen.stats_of(name), catalogue.stats()
        if there == known and name in catalogues and there.keys().isdisjoint(catalogue.moved()):
            copied.add(name)
            continue
        standing_in[name] = stand_ins(
            archive,
            name,
            catalogue,
            there,
            known.keys() - there.keys(),
            visited_roots=visited,
            is_excluded=exclusion(excludes) if excludes else None,
        )
    excluded = {(name, path) for name, those in standing_in.items() for path in those.excluded}
    return replace(
        seen,
        excluded=seen.excluded | excluded,
        kept=tuple(look for name, those in standing_in.items() for look in _by_root(name, those)),
        copies={(name, path): copy for name, those in standing_in.items() for path, copy in those.copies.items()},
        lost={name: tuple(those.living) for name, those in standing_in.items() if those.living},
        catalogues=catalogues,
        copied=frozenset(copied),
    )


def _by_root(agent: str, those: StandIns) -> list[Found]:
    """Return the originals that copies stand in for as if each root had been looked at, in the order of their paths."""
    by_root: dict[str, list[Source]] = {}
    for source in those.sources:
        by_root.setdefault(source.root, []).append(source)
    return [Found(Root(agent, Path(root)), tuple(sources)) for root, sources in by_root.items()]
