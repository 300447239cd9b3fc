"""Where Claude Code keeps its files: the roots, and the sources below one root.

Reads folders and ``stat``, never a file's content; writes nothing. Never imports SQL or a terminal. A project's
folder name is never turned back into a path (``spec/fault-checks.md`` B01).

Below ``subagents`` only ``agent-*.jsonl`` are transcripts; other files there and files of other kinds elsewhere belong
to the program and are passed over. Links: ``persist.agents.walk``.
"""

from __future__ import annotations

import os
from enum import Enum
from typing import Final

from persist.agents.folders import named_path, unless_folder
from persist.agents.walk import Folder, NotRead, Rules, Walk
from persist.sources import BLOCK, HISTORY, TRANSCRIPT, Environment, Found, Root

NAME: Final = "claude-code"
_EXTENSION: Final = ".jsonl"
_COMPRESSED: Final = (".zst", ".gz")
_MAX_DEPTH: Final = 8
"""Folders below ``subagents`` are looked into this deep; the program itself nests one or two."""
_MISPLACED: Final = NotRead("misplaced", "a .jsonl file where Claude Code keeps no transcripts; it was not read")


class _Sort(Enum):
    """What a folder is."""

    PROJECTS = "projects"
    PROJECT = "project"
    SESSION = "session"
    SUBAGENTS = "subagents"
    MEMORY = "memory"


def locate(env: Environment) -> list[Root]:
    """Return the configuration folders: those of ``$CLAUDE_CONFIG_DIR`` (a comma list) and only they, if set.

    Else ``~/.claude``, and ``~/.config/claude`` if it exists. One folder spelled twice counts once.
    """
    named = [part.strip() for part in env.variables.get("CLAUDE_CONFIG_DIR", "").split(",")]
    folders = [named_path(part, env.home) for part in named if part]
    if not folders:
        folders = [env.home / ".claude"]
        second = env.home / ".config" / "claude"
        if os.path.isdir(second):  # noqa: PTH112 - false where it may not look, where Path.is_dir raises
            folders.append(second)
    roots: dict[str, Root] = {}
    for folder in folders:
        roots.setdefault(os.path.realpath(folder), Root(NAME, folder))
    return list(roots.values())


def discover(root: Root) -> Found:
    """Return the sources below ``root.path`` in path order, with one ``stat`` per file.

    ``root.path`` is a configuration folder, or its ``projects`` folder alone. Troubles are in path order. Never
    raises ``OSError``. Cost: one ``scandir`` per folder of a project, a session and its sub-agents.
    """
    nothing = unless_folder(root)
    if nothing is not None:
        return nothing
    walk = Walk(root, _RULES)
    walk.file(f"{root.path}/history.jsonl", HISTORY)
    projects = f"{root.path}/projects"
    is_projects = root.path.name == "projects" and not os.path.lexists(projects)
    walk.folder(str(root.path) if is_projects else projects, _Sort.PROJECTS)
    return walk.found()


def _kind_of(name: str, folder: Folder) -> str | NotRead | None:
    if folder.sort is _Sort.MEMORY:
        return BLOCK if name.endswith(".md") else None
    if name.endswith(_COMPRESSED):
        return NotRead("compressed", "a compressed file; it was not read")
    if not name.endswith(_EXTENSION):
        return None
    if folder.sort is _Sort.PROJECT:
        return TRANSCRIPT
    if folder.sort is not _Sort.PROJECTS and name.startswith("agent-"):
        return TRANSCRIPT
    return None if folder.sort is _Sort.SUBAGENTS else _MISPLACED


def _below(name: str, folder: Folder) -> Folder | None:
    if folder.sort is _Sort.PROJECTS:
        return folder._replace(sort=_Sort.PROJECT)
    if folder.sort is _Sort.PROJECT:
        if name == "memory":
            return folder._replace(sort=_Sort.MEMORY)
        return folder._replace(sort=_Sort.SESSION, session_id=name)
    if folder.sort is _Sort.SESSION and name == "subagents":
        return folder._replace(sort=_Sort.SUBAGENTS)
    if folder.sort is _Sort.SUBAGENTS and folder.depth < _MAX_DEPTH:
        return folder._replace(depth=folder.depth + 1)
    return None


_RULES: Final = Rules((_EXTENSION,), _kind_of, _below, frozenset({_Sort.PROJECT}))
