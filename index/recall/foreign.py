"""Which project another agent's memory note is about: its folder's name tells.

Pure. Claude Code keeps a project's notes in ``projects/<folder>/memory/``; the folder is named after the path of the
project, each character but an ASCII letter or digit made ``-`` (``spec/agents.md`` 2). What that name was made of
cannot be told from it, but whether it was made of a given path can.
"""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from pathlib import PurePath
from typing import Final

from persist.recall.scope import ANYWHERE, Place

_NOT_KEPT = re.compile(r"[^A-Za-z0-9]")
_NOTES: Final = "memory"


def lies_in_notes_of(path: str, place: Place) -> bool:
    """Tell whether a note counts at ``place``: its folder is named after the place's folder, its project, or one above.

    A note that lies in no project's folder counts everywhere.
    """
    project, notes = posixpath.split(posixpath.dirname(path))
    if place == ANYWHERE or notes != _NOTES:
        return True
    return posixpath.basename(project) in _names_at(place)


def named_after(path: str) -> str:
    """Return the name of the folder in which a project's notes lie."""
    return _NOT_KEPT.sub("-", path)


@lru_cache(maxsize=8)
def _names_at(place: Place) -> frozenset[str]:
    """Return what the folders are named whose notes count at ``place``."""
    return frozenset(named_after(above) for start in (place.cwd, place.project) if start for above in _and_above(start))


def _and_above(path: str) -> list[str]:
    pure = PurePath(path)
    return [str(pure), *(str(parent) for parent in pure.parents if str(parent) != "/")]
