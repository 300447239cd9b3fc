"""Looks at every root of every agent: what is there, what is in the way, what the configuration leaves out.

I/O on folders only, no file is opened; no SQL.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import itemgetter

from index.settings import Settings
from persist.agents.aster.agent import shadowed
from persist.config import exclusion
from persist.sources import TRANSCRIPT, Found, Trouble


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the disk. ``excluded`` holds (agent, path) of sources that the configuration leaves out."""

    found: tuple[Found, ...]
    excluded: frozenset[tuple[str, str]]

    @property
    def size_bytes(self) -> int:
        """Return the bytes of all sources found."""
        return sum(source.stat.size_bytes for look in self.found for source in look.sources)

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
        found.extend(map(_readable_names, shadowed(looks)))
    covering = exclusion(settings.configuration.excludes)
    if not settings.configuration.excludes:
        return Look(tuple(found), frozenset())
    excluded = frozenset(
        (source.agent, source.path) for each in found for source in each.sources if covering(source.path)
    )
    kept = [
        replace(each, sources=tuple(source for source in each.sources if (source.agent, source.path) not in excluded))
        for each in found
    ]
    return Look(tuple(kept), excluded)


def _readable_names(found: Found) -> Found:
    """Turn sources whose path the index cannot hold as text into troubles."""
    if all(map(str.isascii, map(itemgetter(2), found.sources))):  # the paths
        return found
    odd = [source for source in found.sources if not source.path.isascii() and _shown(source.path) != source.path]
    if not odd:
        return found
    troubles = [_unreadable_name(source.path) for source in odd]
    left_out = {source.path for source in odd}
    kept = tuple(source for source in found.sources if source.path not in left_out)
    return replace(found, sources=kept, troubles=(*found.troubles, *troubles))


def _unreadable_name(path: str) -> Trouble:
    """Tell a name that is not UTF-8 from one that only this run cannot read: what is indexed of that one stays."""
    shown = _shown(path)
    if "\ufffd" in shown:
        return Trouble(shown, "bad_name", "the name is not UTF-8; rename it to have it read")
    return Trouble(shown, "unreadable", "the name needs a UTF-8 locale; run with LC_ALL=C.UTF-8")


def _shown(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
