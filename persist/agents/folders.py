"""What looking for agents' files has in common: paths as variables name them, roots, and what is in the way.

Asks ``stat`` of one path at a time, opens nothing; imports only ``persist`` values, never an agent. Ordinary files are
taken by ``plain_files``.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Final

from persist.sources import Found, Root, Trouble

_PATH: Final = itemgetter(2)
"""A source's path; by its place, which is faster than by its name."""


def named_path(text: str, home: Path) -> Path:
    """Return the path that a variable names, absolute.

    A spelling through ``..`` is resolved: what it means depends on the links before it.
    """
    path = home / text[2:] if text.startswith("~/") else home if text == "~" else Path(text)
    return path.resolve() if ".." in path.parts else path.absolute()


def unless_folder(root: Root) -> Found | None:
    """Return what is found at a root that is no folder, or that may not be looked at; ``None`` for a folder."""
    try:
        is_folder = stat.S_ISDIR(os.stat(root.path).st_mode)  # noqa: PTH116 - as everywhere beside it
    except (FileNotFoundError, NotADirectoryError):
        is_folder = False
    except OSError as error:
        reason = f"cannot be looked at: {os.strerror(error.errno or 0)}"
        return Found(root, (), (Trouble(str(root.path), "unreadable", reason),))
    return None if is_folder else Found(root, (), exists=False)


def link_trouble(path: str, number: int | None) -> Trouble:
    """Return the trouble with an entry that ``stat`` refused with this ``errno``; with ``ENOENT`` it must be a link."""
    if number == errno.ENOENT:
        return Trouble(path, "dangling", "a link that leads nowhere")
    if number == errno.ELOOP:
        return Trouble(path, "loop", "a link that leads back to itself")
    return Trouble(path, "unreadable", f"cannot be looked at: {os.strerror(number or 0)}")


def with_readable_names(found: Found) -> Found:
    """Return what was found with paths that are text: a source whose path is none becomes a trouble, behind the others.

    Paths of troubles are made printable.
    """
    troubles = tuple(one if one.path.isascii() else one._replace(path=_shown(one.path)) for one in found.troubles)
    if all(map(str.isascii, map(_PATH, found.sources))):
        return replace(found, troubles=troubles)
    odd = [source for source in found.sources if not source.path.isascii() and _shown(source.path) != source.path]
    left_out = {source.path for source in odd}
    kept = tuple(source for source in found.sources if source.path not in left_out)
    return replace(found, sources=kept, troubles=(*troubles, *(_unreadable_name(source.path) for source in odd)))


def _unreadable_name(path: str) -> Trouble:
    """Tell a name that is not UTF-8 from one that only this run cannot read: what is indexed of that one stays."""
    shown = _shown(path)
    if "\ufffd" in shown:
        return Trouble(shown, "bad_name", "the name is not UTF-8; rename it to have it read")
    return Trouble(shown, "unreadable", "the name needs a UTF-8 locale; run with LC_ALL=C.UTF-8")


def _shown(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
