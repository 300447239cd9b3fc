"""What each copy was made of: the original's root, what its path tells, and its fingerprint when it was copied.

One JSON file for each agent, written whole and at once. Every copy on disk has its entry before it is made; an entry
without a fingerprint means that the copy must be looked at. A catalogue that is lost costs only that: paths follow from
where the copies lie (``persist.archive.standing_in``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import Any, Final

import orjson

from persist.archive.names import CATALOGUE_NAME
from persist.files.atomic import write_atomic
from persist.regular import open_regular
from persist.sources import Source, Stat

_VERSION: Final = 1


@dataclass(slots=True)
class KeptFolder:
    """The copies of one original folder's files. ``copies`` has the original's fingerprint at the last copying, by
    name, null where that is not known; ``moved`` are names whose file lies elsewhere now."""

    root: str
    path_tells: str = ""
    copies: dict[str, Stat | None] = field(default_factory=dict)
    moved: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Catalogue:
    """One agent's copies by the absolute path of their original folder."""

    folders: dict[str, KeptFolder] = field(default_factory=dict)

    def stats(self) -> dict[str, Stat | None]:
        """Return the fingerprint of each original by its path. Cost: linear."""
        stats: dict[str, Stat | None] = {}
        for folder, kept in self.folders.items():
            stats.update(zip(map(f"{folder}/".__add__, kept.copies), kept.copies.values(), strict=True))
        return stats

    def moved(self) -> Iterator[str]:
        """Yield the paths of originals that were moved."""
        for folder, kept in self.folders.items():
            for name in kept.moved:
                yield f"{folder}/{name}"

    def stat_of(self, path: str) -> Stat | None:
        """Return the fingerprint of one original."""
        folder, _, name = path.rpartition("/")
        kept = self.folders.get(folder)
        return kept.copies.get(name) if kept is not None else None

    def note(self, source: Source, stat: Stat | None) -> bool:
        """Note what a source's copy is made of; tell whether that is another thing than what stood there."""
        folder, _, name = source.path.rpartition("/")
        kept = self.folders.setdefault(folder, KeptFolder(source.root, source.path_tells))
        before = (kept.root, kept.path_tells, kept.copies.get(name, ()), name in kept.moved)
        kept.root, kept.path_tells = source.root, source.path_tells
        kept.copies[name] = stat
        kept.moved.discard(name)
        return before != (source.root, source.path_tells, stat, False)

    def set_stat(self, path: str, stat: Stat | None) -> None:
        """Note another fingerprint for a path that is in the catalogue. Raises ``KeyError`` for another."""
        folder, _, name = path.rpartition("/")
        self.folders[folder].copies[name] = stat

    def note_move(self, path: str) -> None:
        """Note that the original at ``path`` lies elsewhere now: its copies here stand in for nothing any more."""
        folder, _, name = path.rpartition("/")
        self.folders[folder].moved.add(name)


def load_catalogue(archive: Path, agent: str) -> Catalogue | None:
    """Return an agent's catalogue; ``None`` where there is none, or none that can be read."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        with open_regular(archive / agent / CATALOGUE_NAME, 0) as file:
            data = orjson.loads(file.read())
        if data["version"] == _VERSION:
            return Catalogue({each["folder"]: _loaded(each) for each in data["folders"]})
    return None


def save_catalogue(archive: Path, agent: str, catalogue: Catalogue) -> None:
    """Write an agent's catalogue, 0600 in 0700 folders; the caller holds the archive's lock.

    Raises ``StoreIOError``; what stood there is then untouched.
    """
    folders = [
        {
            "folder": folder,
            "root": kept.root,
            "tells": kept.path_tells,
            "moved": sorted(kept.moved),
            "names": list(kept.copies),
            "stats": list(kept.copies.values()),
        }
        for folder, kept in sorted(catalogue.folders.items())
    ]
    data = orjson.dumps({"version": _VERSION, "folders": folders}, default=list)
    write_atomic(archive / agent / CATALOGUE_NAME, data.replace(b'{"folder":', b'\n{"folder":') + b"\n")


def _loaded(each: dict[str, Any]) -> KeptFolder:
    stats: list[Stat | None]
    try:
        stats = list(
            map(tuple.__new__, repeat(Stat), each["stats"])
        )  # the class's own constructor takes thrice the time
    except TypeError:
        stats = [None if stat is None else Stat(*stat) for stat in each["stats"]]
    copies = dict(zip(each["names"], stats, strict=True))
    return KeptFolder(each["root"], each["tells"], copies, set(each["moved"]))
