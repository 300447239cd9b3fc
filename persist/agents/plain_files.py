"""Takes the ordinary files of a folder at once: nearly all entries of a large store are these.

Reads one folder and asks ``lstat`` by name below its open descriptor, which spares the system the way down to it for
each file; opens no file, imports no SQL. Links, folders, hidden names and names beyond ASCII are left to the caller,
who looks at them one by one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from itertools import repeat
from operator import attrgetter
from typing import Final

from persist.sources import Source, Stat

_FINGERPRINT: Final = attrgetter("st_size", "st_mtime_ns", "st_ctime_ns", "st_ino")


def plain_files(
    folder: str, suffix: str, agent: str, kind: str, root: str, *, besides: str = ""
) -> tuple[list[Source], set[str]]:
    """Return the regular files in ``folder`` whose names end with ``suffix``, and the names of all other entries.

    Sources are in no order. ``besides`` is a name that counts among the others. A name that cannot be looked at is
    one of the others too. Raises ``OSError`` as ``os.scandir`` does. Cost: one ``lstat`` for each such name.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        names = os.listdir(descriptor)  # noqa: PTH208 - a Path for each name would double the time
        wanted = [name for name in names if name.endswith(suffix) and name[0] != "." and name != besides]
        if not "".join(wanted).isascii():
            wanted = [name for name in wanted if name.isascii()]
        wanted, told = _looked_at(descriptor, wanted)
    finally:
        os.close(descriptor)
    base = folder if folder.endswith("/") else f"{folder}/"
    new = tuple.__new__  # the classes' own constructors take twice the time
    stats = map(new, repeat(Stat), map(_FINGERPRINT, told))
    paths = map(base.__add__, wanted)
    values = zip(repeat(agent), repeat(kind), paths, repeat(root), stats, repeat(""))
    sources: list[Source] = list(map(new, repeat(Source), values))
    return sources, set() if len(wanted) == len(names) else set(names).difference(wanted)


def _looked_at(descriptor: int, names: Sequence[str]) -> tuple[list[str], list[os.stat_result]]:
    """Return the names of regular files among ``names`` and what ``lstat`` tells of each."""
    look = os.stat
    try:
        told = [look(name, dir_fd=descriptor, follow_symlinks=False) for name in names]
    except OSError:  # one of them vanished, or may not be looked at
        return _looked_at_singly(descriptor, names)
    if all(map(stat.S_ISREG, {result[0] for result in told})):
        return list(names), told
    return _only_regular(names, told)


def _looked_at_singly(descriptor: int, names: Sequence[str]) -> tuple[list[str], list[os.stat_result]]:
    seen: list[str] = []
    told: list[os.stat_result] = []
    for name in names:
        try:
            told.append(os.stat(name, dir_fd=descriptor, follow_symlinks=False))
        except OSError:
            continue
        seen.append(name)
    return _only_regular(seen, told)


def _only_regular(names: Sequence[str], told: Sequence[os.stat_result]) -> tuple[list[str], list[os.stat_result]]:
    pairs = [(name, result) for name, result in zip(names, told, strict=True) if stat.S_ISREG(result.st_mode)]
    return [name for name, _ in pairs], [result for _, result in pairs]
