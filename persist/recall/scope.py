"""Whether a candidate counts where a prompt was typed: exact folders and what lies below them, worktrees as one.

``Place`` is plain values; only :func:`place_of` looks at the disk (``persist.projects``). Paths are compared part by
part and literally: ``/a/b`` is not above ``/a/bc``, and ``_``, ``%`` and capital letters are what they are.
"""

from __future__ import annotations

import posixpath
from typing import Final, NamedTuple

from persist.projects import ProjectResolver


class Place(NamedTuple):
    """Where a prompt was typed: the folder, and the project that it lies in (a worktree's main root).

    ``home`` stands for ``~`` in a project that somebody wrote by hand. An empty ``cwd`` is unknown: then only what
    counts everywhere counts.
    """

    cwd: str
    project: str
    home: str = ""


ANYWHERE: Final = Place("*", "*")
"""No place: what is limited to any project counts there."""


def place_of(cwd: str, home: str = "") -> Place:
    """Return the place for a folder; looks at the disk, never raises."""
    return Place(_plain(cwd), ProjectResolver().project_of(cwd) if cwd else "", _plain(home))


def is_in_scope(project: str | None, place: Place, resolver: ProjectResolver | None = None) -> bool:
    """Tell whether what is limited to ``project`` counts at ``place``; ``None`` and an empty project count everywhere.

    It does when the place's folder or its project is that very folder or lies below it. A project that is a worktree
    stands for its main root, which only ``resolver`` can tell. A project that is no path, but a name, is that of the
    place's project folder.
    """
    if not project or place == ANYWHERE:
        return True
    if not place.cwd:
        return False
    if project == "~" or project.startswith("~/"):
        project = place.home + project[1:]
    if "/" not in project:
        return project == place.project.rsplit("/", 1)[-1]
    folder = _plain(project)
    if _covers(folder, place.cwd) or _covers(folder, place.project):
        return True
    if resolver is None:
        return False
    root = resolver.project_of(folder)
    return not _covers(root, folder) and _covers(root, place.project)


def _covers(folder: str, path: str) -> bool:
    return path == folder or path.startswith(f"{folder}/") or (folder == "/" and path.startswith("/"))


def _plain(path: str) -> str:
    """Return a path without what names no folder in it: slashes at the end or in a row, and ``.``; pure."""
    return "/" + posixpath.normpath(path).lstrip("/") if path.startswith("/") else path.rstrip("/")
