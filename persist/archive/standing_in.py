"""Which kept copies are read because their originals are gone.

Reads the catalogue and, for originals that are not there, their folders' names in the archive; opens no copy. A copy
stands in with the original's path, root and fingerprint, so that to an index nothing has changed.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Final

from persist.archive.catalogue import Catalogue, KeptFolder
from persist.archive.names import folder_of_copies, take_apart
from persist.compressed import SUFFIX
from persist.fingerprint import stat_of
from persist.sources import TRANSCRIPT, Source, Stat

_TRANSCRIPT: Final = re.compile(r"\.jsonl(\.zst)?\Z")


@dataclass(slots=True)
class StandIns:
    """Originals that are gone, as sources in path order, and by path the copy that is read for each.

    ``living`` are those whose copies are still open, ``excluded`` paths of such that the configuration leaves out.
    """

    sources: list[Source] = field(default_factory=list)
    copies: dict[str, str] = field(default_factory=dict)
    living: list[Source] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)


def stand_ins(
    archive: Path,
    agent: str,
    catalogue: Catalogue,
    found: Mapping[str, Stat],
    missing: Collection[str],
    *,
    visited_roots: Collection[str],
    is_excluded: Callable[[str], object] | None,
) -> StandIns:
    """Return the copies of one agent that are read now.

    ``found`` are the agent's transcripts that are there, ``missing`` the paths in the catalogue that are not. Left out
    are copies whose original is there though no root of this run has it, was moved (it is found under another path), or
    has been compressed by its agent. Cost: for each folder with missing originals the names in it and in the archive.
    """
    result = StandIns()
    if not missing:
        return result
    elsewhere = cache(lambda: set(map(_content_of, found.values())))
    for folder, kept in catalogue.folders.items():
        names = [name for name in kept.copies if f"{folder}/{name}" in missing and name not in kept.moved]
        if not names:
            continue
        below = folder_of_copies(archive, agent, folder)
        newest = _newest_in(below)
        originals = _names_in(folder)
        for name in names:
            path, known, copy = f"{folder}/{name}", kept.copies[name], newest.get(name)
            if copy is None:
                continue
            if is_excluded is not None and is_excluded(path):
                result.excluded.append(path)
                continue
            packed = f"{name}{SUFFIX}"  # its agent compressed it: that file has it, or the copy of that file
            if packed in kept.copies or (packed in originals and f"{folder}/{packed}" in found):
                continue
            if name in originals and _is_there(path, is_visited=kept.root in visited_roots):
                continue
            if copy == name or known is None:
                if copy == name and known is not None and _content_of(known) in elsewhere():
                    continue
                known = _as_copied(f"{below}/{copy}", known)
                if known is None:
                    continue
            source = Source(agent, TRANSCRIPT, path, kept.root, known, kept.path_tells)
            result.sources.append(source)
            result.copies[path] = f"{below}/{copy}"
            if copy == name:
                result.living.append(source)
    result.sources.sort(key=itemgetter(2))
    return result


def recovered(archive: Path, agent: str, roots: Iterable[str]) -> Catalogue:
    """Return a catalogue made from where the copies lie, for one that was lost: without fingerprints."""
    known = sorted((root.rstrip("/") for root in roots), key=len, reverse=True)
    base = str(archive / agent)
    folders: dict[str, KeptFolder] = {}
    for below, _, names in os.walk(base):
        copies = {copy.name: None for copy in map(take_apart, names) if _TRANSCRIPT.search(copy.name) is not None}
        if copies:
            folder = below[len(base) :].replace("/%2E%2E", "/..").replace("/%2E", "/.")
            root = next((each for each in known if f"{folder}/".startswith(f"{each}/")), folder)
            folders[folder] = KeptFolder(root, "", dict.fromkeys(copies))
    return Catalogue(folders)


def _as_copied(copy: str, known: Stat | None) -> Stat | None:
    """Return the fingerprint that a copy answers to: its own, where the original's is not that of what it holds."""
    try:
        status = os.lstat(copy)
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return known if known is not None and status.st_size == known.size_bytes else stat_of(status)


def _newest_in(folder: Path) -> dict[str, str]:
    """Return the file name of each original's newest copy."""
    names = _names_in(str(folder))
    newest: dict[str, str] = {}
    ages: dict[str, tuple[bool, int, bool]] = {}
    for file_name in names:
        copy = take_apart(file_name) if "~" in file_name else None
        if copy is None or not copy.number:
            newest[file_name] = file_name
        elif copy.name not in names and copy.age > ages.get(copy.name, (False, 0, False)):
            newest[copy.name], ages[copy.name] = file_name, copy.age
    return newest


def _names_in(folder: str) -> frozenset[str]:
    """Return the names in a folder, none where it is gone or may not be looked into."""
    try:
        return frozenset(os.listdir(folder or "/"))  # noqa: PTH208 - names alone are wanted
    except OSError:
        return frozenset()


def _content_of(known: Stat) -> tuple[int, int, int]:
    """Return what a renamed file takes along."""
    return known.inode, known.size_bytes, known.mtime_ns


def _is_there(path: str, *, is_visited: bool) -> bool:
    """Tell whether the original is there. A link in its place is not, where its root was looked at."""
    try:
        return stat.S_ISREG((os.lstat if is_visited else os.stat)(path).st_mode)
    except OSError:
        return False
