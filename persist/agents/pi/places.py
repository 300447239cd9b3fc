"""Where pi keeps its transcripts, and how they are found below a root; omp's lie alike.

Reads folders and ``stat``, never a file's content; writes nothing. Never imports SQL or a terminal. A project's
folder name is never turned back into a path (``spec/fault-checks.md`` B01).

A root is a folder of sessions, or one that holds it under the name ``sessions``. In it lie transcripts, folders of
projects with transcripts, and beside a transcript ``TIME_ID.jsonl`` the folder ``TIME_ID`` with what belongs to it: of
omp the transcripts of its sub-agents too. Links: ``persist.agents.walk``.
"""

from __future__ import annotations

import os
import re
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Final

from persist.agents.folders import named_path, unless_folder
from persist.agents.walk import Folder, NotRead, Rules, Walk
from persist.sources import TRANSCRIPT, Environment, Found, Root

PI: Final = "pi"
OMP: Final = "omp"
_EXTENSION: Final = ".jsonl"
_COMPRESSED: Final = (".jsonl.zst", ".jsonl.gz")
_MAX_DEPTH: Final = 6
"""Folders below a session's own are looked into this deep; omp itself nests one or two."""
_SESSION_NAME = re.compile(r"\d{4}-\d\d-\d\dT[\dZ-]+_(.+)\Z")
"""A session's file without its ending, or its folder: the time and the id."""


class _Sort(Enum):
    """What a folder is: with transcripts, a session's own, or one that neither program makes."""

    SESSIONS = "sessions"
    PROJECT = "project"
    SESSION = "session"
    OTHER = "other"


def locate(env: Environment) -> list[Root]:
    """Return pi's folder of sessions: ``$PI_CODING_AGENT_SESSION_DIR``, else ``sessions`` of its own folder.

    That is ``$PI_CODING_AGENT_DIR``, else ``~/.pi/agent``. A variable that points below omp's folder is omp's.
    """
    named = env.variables.get("PI_CODING_AGENT_SESSION_DIR", "").strip()
    if named:
        return [Root(PI, named_path(named, env.home))]
    own = agent_folder(env)
    if own is None or is_of_omp(own, env):
        own = env.home / ".pi" / "agent"
    return [Root(PI, own / "sessions")]


def agent_folder(env: Environment) -> Path | None:
    """Return what ``$PI_CODING_AGENT_DIR`` names; both programs obey it."""
    named = env.variables.get("PI_CODING_AGENT_DIR", "").strip()
    return named_path(named, env.home) if named else None


def is_of_omp(folder: Path, env: Environment) -> bool:
    """Return whether a folder lies in omp's: omp sets the variable for the programs that it runs."""
    return omp_folder_name(env) in folder.parts


def omp_folder_name(env: Environment) -> str:
    """Return the name of omp's folder in the home."""
    return env.variables.get("PI_CONFIG_DIR", "").strip("/ ") or ".omp"


def discover(root: Root) -> Found:
    """Return the transcripts below ``root.path`` in path order, with one ``stat`` per file; troubles in path order.

    Never raises ``OSError``. Cost: one ``scandir`` for each folder of a project, and of omp's sessions.
    """
    nothing = unless_folder(root)
    if nothing is not None:
        return nothing
    kind_of, below = partial(_kind_of, root.agent), partial(_below, root.agent)
    walk = Walk(root, Rules((_EXTENSION,), kind_of, below, frozenset({_Sort.PROJECT})))
    sessions = f"{root.path}/sessions"
    walk.folder(sessions if os.path.lexists(sessions) else str(root.path), _Sort.SESSIONS)
    return walk.found()


def _kind_of(agent: str, name: str, folder: Folder) -> str | NotRead | None:
    if name.endswith(_COMPRESSED):
        return NotRead("compressed", "a compressed transcript; it was not read")
    if not name.endswith(_EXTENSION) or name == _EXTENSION:
        return None
    if folder.sort is _Sort.OTHER:
        return NotRead("misplaced", f"a .jsonl file where {agent} keeps no transcripts; it was not read")
    return TRANSCRIPT


def _below(agent: str, name: str, folder: Folder) -> Folder | None:
    if folder.depth == _MAX_DEPTH:
        return None
    if folder.sort in (_Sort.SESSION, _Sort.OTHER):
        return folder._replace(depth=folder.depth + 1)
    session = _SESSION_NAME.match(name)
    if session is not None and agent == OMP:
        return folder._replace(sort=_Sort.SESSION, session_id=session[1], depth=1)
    if session is None and folder.sort is _Sort.SESSIONS:
        return folder._replace(sort=_Sort.PROJECT)
    return folder._replace(sort=_Sort.OTHER, depth=1)
