"""Where Codex keeps its files: its home, and the sources in it.

Reads folders and ``stat``, never a file's content; writes nothing. Never imports SQL or a terminal.

``sessions/YYYY/MM/DD/rollout-*.jsonl``, ``archived_sessions/rollout-*.jsonl`` and ``history.jsonl``. Codex compresses
old rollouts to ``.jsonl.zst`` and reads such a file only where no plain one lies beside it; so does this module. The
date in folders and names is local time and is not looked at. Links: ``persist.agents.walk``.
"""

from __future__ import annotations

import os
from enum import Enum
from typing import Final

from persist.agents.folders import named_path, unless_folder
from persist.agents.walk import Folder, NotRead, Rules, Walk
from persist.sources import HISTORY, TRANSCRIPT, Environment, Found, Root

NAME: Final = "codex"
_PREFIX: Final = "rollout-"
_ZST: Final = ".zst"
_PLAIN: Final = ".jsonl"
_ENDINGS: Final = (_PLAIN, f"{_PLAIN}{_ZST}")
_UNREADABLE: Final = (".gz", ".xz", ".bz2", ".zip")


class _Sort(Enum):
    """A folder of rollouts below the home, or one below that, by its name."""

    SESSIONS = "sessions"
    ARCHIVED = "archived_sessions"


_MAX_DEPTH: Final = {_Sort.SESSIONS: 3, _Sort.ARCHIVED: 0}
"""How deep rollouts lie; older files lie in ``sessions`` itself."""


def locate(env: Environment) -> list[Root]:
    """Return Codex's home: ``$CODEX_HOME`` if set, else ``~/.codex``."""
    named = env.variables.get("CODEX_HOME", "").strip()
    return [Root(NAME, named_path(named, env.home) if named else env.home / ".codex")]


def discover(root: Root) -> Found:
    """Return the sources below ``root.path`` in path order, with one ``stat`` per file.

    ``root.path`` is a home, or one of its folders of rollouts alone. Troubles are in path order. Never raises
    ``OSError``. Cost: one ``scandir`` per folder.
    """
    nothing = unless_folder(root)
    if nothing is not None:
        return nothing
    walk = Walk(root, _RULES)
    walk.file(f"{root.path}/history.jsonl", HISTORY)
    folders = [sort for sort in _Sort if os.path.lexists(f"{root.path}/{sort.value}")]
    for sort in folders:
        walk.folder(f"{root.path}/{sort.value}", sort)
    if not folders and root.path.name in [sort.value for sort in _Sort]:
        walk.folder(str(root.path), _Sort(root.path.name))
    return walk.found()


def _kind_of(name: str, folder: Folder) -> str | NotRead | None:
    if name.endswith(_UNREADABLE):
        return NotRead("compressed", "a compressed file; it was not read")
    if not name.endswith(_ENDINGS):
        return None
    if name.endswith(_ZST) and os.path.lexists(f"{folder.path}/{name.removesuffix(_ZST)}"):
        return None  # its plain form lies beside it and is read
    if name.startswith(_PREFIX):
        return TRANSCRIPT
    return NotRead("misplaced", "a .jsonl file whose name is not a rollout's; it was not read")


def _below(_name: str, folder: Folder) -> Folder | None:
    is_deep = folder.depth == _MAX_DEPTH[_Sort(folder.sort)]
    return None if is_deep else folder._replace(depth=folder.depth + 1)


_RULES: Final = Rules(_ENDINGS, _kind_of, _below, frozenset(_Sort), _PREFIX)
