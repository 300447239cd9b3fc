"""Tells the project of a session: the root of the repository its folder lies in, else the folder (DESIGN 5).

Looks at the disk, but never runs git, never writes and never raises: a folder that is gone, unreadable or from
another machine is its own project. Paths stay as they were recorded, links unresolved.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from persist.regular import read_regular

MAX_DEPTH: Final = 64
"""Folders looked into above a path; deeper ones are their own project."""
MAX_REMEMBERED: Final = 65_536
"""Folders whose answer is kept; a larger store asks the disk again and gets the same answer."""
_MAX_POINTER_BYTES: Final = 4096
_NOT_ON_DISK: Final = ("/proc/", "/sys/", "/dev/", "//")
"""Below these no repository lies, and a look may block: kernel files and the hosts of a network."""


def project_of(cwd: str, repo_root: str | None = None) -> str:
    """Return the project of one folder; see :class:`ProjectResolver`, which is for many."""
    return ProjectResolver().project_of(cwd, repo_root)


class ProjectResolver:
    """Answers for many folders with few looks at the disk: one answer is remembered for each folder.

    Answers hold for the resolver's life; a new run makes a new one. Not for several threads.
    """

    def __init__(self) -> None:
        self._roots: dict[str, str | None] = {}

    def project_of(self, cwd: str, repo_root: str | None = None) -> str:
        """Return the git root of ``cwd`` (a worktree's main one), else ``repo_root`` where recorded, else ``cwd``.

        The disk goes first because Aster records the current folder as ``repo_root``. Of a folder that is there and
        in no repository, a recorded root that it lies in is better than itself; of one that is gone any recorded
        root is: that of a worktree lies beside it. Cost: at most two stats for each of ``MAX_DEPTH`` folders and a
        few small files, nothing for a folder already asked.
        """
        path = cwd.rstrip("/") or cwd[:1]
        if not path.startswith("/") or "\0" in path or f"{path}/".startswith(_NOT_ON_DISK):
            return _recorded(path, repo_root)
        root = self._root(os.path.normpath(path))
        if root is not None:
            return root
        recorded = _recorded(path, repo_root)
        if repo_root and repo_root.startswith("/") and recorded == path and _stat(Path(path)) is None:
            return repo_root.rstrip("/") or path
        return recorded

    def _root(self, path: str) -> str | None:
        """Climb from ``path`` to the first folder that is a repository's, remembering each on the way."""
        climbed: list[str] = []
        root: str | None = None
        for folder in _upwards(path):
            if folder in self._roots:
                root = self._roots[folder]
                break
            climbed.append(folder)
            has_marker = os.path.exists(f"{folder}/.git")  # noqa: PTH110 - most have none
            found = _repository_at(Path(folder)) if has_marker else None
            if found is not None:
                root = _as_recorded(found, path)
                break
        if len(self._roots) + len(climbed) > MAX_REMEMBERED:
            self._roots.clear()
        self._roots.update(dict.fromkeys(climbed, root))
        return root


def _recorded(path: str, repo_root: str | None) -> str:
    root = (repo_root or "").rstrip("/")
    return root if root and (not path or path.startswith(f"{root}/")) else path


def _upwards(path: str) -> list[str]:
    """Return a folder and those above it; ``path`` is absolute and normal."""
    folders = [path]
    while path != "/" and len(folders) < MAX_DEPTH:
        path = path.rpartition("/")[0] or "/"
        folders.append(path)
    return folders


def _repository_at(folder: Path) -> Path | None:
    """Return the root that a ``.git`` in this very folder names, ``None`` where there is none.

    A ``.git`` folder is a repository's when it has a ``HEAD``; a ``.git`` file points to one, as in worktrees,
    submodules and with a separate git folder.
    """
    marker = folder / ".git"
    found = _stat(marker)
    if found is None:
        return None
    if stat.S_ISDIR(found.st_mode):
        return folder if _stat(marker / "HEAD") is not None else None
    pointer = _read_pointer(marker)
    if pointer is None or not pointer.startswith("gitdir:"):
        return None
    git_folder = _below(folder, pointer.removeprefix("gitdir:").strip())
    if git_folder.parent.name != "worktrees":
        return folder
    return _main_root(git_folder)


def _main_root(git_folder: Path) -> Path:
    """Return the main root of a worktree whose own git folder is ``git_folder``.

    ``commondir`` in it names the repository's git folder; where it is gone (a pruned worktree) the place tells.
    ``<root>/.git`` gives the root; a submodule's git folder names its own in ``core.worktree``; a bare
    repository has no main worktree and is the project itself.
    """
    pointer = _read_pointer(git_folder / "commondir")
    common = _below(git_folder, pointer) if pointer else git_folder.parent.parent
    if common.name == ".git":
        return common.parent
    return _configured_worktree(common) or common


def _configured_worktree(git_folder: Path) -> Path | None:
    text = _read_pointer(git_folder / "config") or ""
    for line in text.splitlines():
        key, separator, value = line.partition("=")
        if separator and key.strip().lower() == "worktree":
            return _below(git_folder, value.strip().strip('"'))
    return None


def _as_recorded(root: Path, path: str) -> str:
    """Spell a root as ``path`` does where it is above it: git writes resolved paths into its pointers."""
    if Path(path).is_relative_to(root):
        return str(root)
    wanted = _stat(root)
    if wanted is None:
        return str(root)
    for folder in _upwards(path):
        found = _stat(Path(folder))
        if found is not None and os.path.samestat(found, wanted):
            return folder
    return str(root)


def _below(folder: Path, pointer: str) -> Path:
    return Path(os.path.normpath(folder / pointer))


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (OSError, ValueError):
        return None


def _read_pointer(path: Path) -> str | None:
    """Return the head of a small regular file as text, ``None`` where it cannot be read."""
    try:
        data = read_regular(path, _MAX_POINTER_BYTES)
    except (OSError, ValueError):
        return None
    return os.fsdecode(data).replace("\0", "").strip()
