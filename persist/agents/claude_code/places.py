"""Where Claude Code keeps its files: the roots, and the sources below one root.

Reads folders and ``stat``, never a file's content; writes nothing. Never imports SQL or a terminal. A project's
folder name is never turned back into a path (``spec/fault-checks.md`` B01).

Links (B05): what is read in place is not read again through a link; a link that leads elsewhere, also out of
the root, is followed and its files keep the path through the link; links without an end and links to a folder
around them are reported. Below ``subagents`` only ``agent-*.jsonl`` are transcripts; other files there and
files of other kinds elsewhere belong to the program and are passed over.
"""

from __future__ import annotations

import errno
import os
import stat
from enum import IntEnum
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple

from persist.agents.folders import is_utf8, link_trouble, named_path, unless_folder
from persist.agents.plain_files import plain_files
from persist.fingerprint import stat_of
from persist.sources import BLOCK, HISTORY, TRANSCRIPT, Environment, Found, Root, Source, Trouble

NAME: Final = "claude-code"
_COMPRESSED: Final = (".zst", ".gz")
_MAX_DEPTH: Final = 8
"""Folders below ``subagents`` are looked into this deep; the program itself nests one or two."""


class _Level(IntEnum):
    """What a folder is."""

    PROJECTS = 0
    PROJECT = 1
    SESSION = 2
    SUBAGENTS = 3
    MEMORY = 4


class _Folder(NamedTuple):
    """A folder to look into: its path as found, the same without links, what it is, whose, how deep."""

    path: str
    real: str
    level: _Level
    session_id: str = ""
    depth: int = 0


class _Link(NamedTuple):
    """A link that was met in a folder, kept until everything that is no link has been seen."""

    path: str
    name: str
    status: os.stat_result
    folder: _Folder


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
    walk = _Walk(str(root.path))
    walk.run()
    walk.sources.sort(key=itemgetter(2))
    walk.troubles.sort()
    return Found(root, tuple(walk.sources), tuple(walk.troubles))


class _Walk:
    """One look at one root; collects sources and troubles in the order met."""

    def __init__(self, root: str) -> None:
        self.sources: list[Source] = []
        self.troubles: list[Trouble] = []
        self._root = root
        self._real_paths: dict[str, str] = {}
        self._links: list[_Link] = []

    def run(self) -> None:
        """Look at everything that is no link first, so that a link never takes the place of what it leads to."""
        self._history(f"{self._root}/history.jsonl")
        projects = f"{self._root}/projects"
        if os.path.basename(self._root) == "projects" and not os.path.lexists(projects):  # noqa: PTH119 - os: entries are many
            projects = self._root
        real = os.path.realpath(projects)
        if os.path.lexists(projects):
            self._look(_Folder(projects, real, _Level.PROJECTS))
        while self._links:
            links, self._links = sorted(self._links, key=attrgetter("path")), []
            self._follow_all(links)

    def _history(self, path: str) -> None:
        try:
            status = os.stat(path)  # noqa: PTH116 - os: entries are many
        except FileNotFoundError:
            if os.path.islink(path):  # noqa: PTH114 - os: entries are many
                self.troubles.append(link_trouble(path, errno.ENOENT))
        except OSError as error:
            self.troubles.append(link_trouble(path, error.errno))
        else:
            self._file(path, status, HISTORY, "")

    def _look(self, folder: _Folder) -> None:
        """Sort the entries of a folder into files, folders to look into, and links for later."""
        self._real_paths[folder.path] = folder.real
        is_project = folder.level is _Level.PROJECT
        for entry in self._all_but_plain(folder) if is_project else self._entries(folder.path):
            name = entry.name
            try:
                if entry.is_symlink():
                    self._links.append(_Link(entry.path, name, os.stat(entry.path), folder))  # noqa: PTH116 - os: entries are many
                elif entry.is_dir(follow_symlinks=False):
                    self._descend(name, entry.path, f"{folder.real}/{name}", folder)
                elif (kind := self._kind(name, entry.path, folder)) is not None:
                    self._file(entry.path, entry.stat(follow_symlinks=False), kind, folder.session_id)
            except OSError as error:
                # What vanished since the folder was read is no trouble, a link that leads nowhere is.
                if error.errno != errno.ENOENT or entry.is_symlink():
                    self.troubles.append(link_trouble(entry.path, error.errno))

    def _all_but_plain(self, folder: _Folder) -> list[os.DirEntry[str]]:
        """Take the ordinary transcripts of a project and return the other entries."""
        if not is_utf8(folder.path):
            return self._entries(folder.path)
        try:
            sources, others = plain_files(folder.path, ".jsonl", NAME, TRANSCRIPT, self._root)
        except OSError:
            return self._entries(folder.path)
        self.sources += sources
        return [entry for entry in self._entries(folder.path) if entry.name in others] if others else []

    def _entries(self, path: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(path) as entries:
                return list(entries)
        except FileNotFoundError:
            return []
        except OSError as error:
            self._trouble(path, "unreadable", f"the folder cannot be read: {os.strerror(error.errno or 0)}")
            return []

    def _kind(self, name: str, path: str, folder: _Folder) -> str | None:
        """Return the kind of source that a file is in that folder, or ``None``."""
        level = folder.level
        if level is _Level.MEMORY:
            return BLOCK if name.endswith(".md") else None
        if name.endswith(".jsonl"):
            if level is _Level.PROJECT or (level >= _Level.SESSION and name.startswith("agent-")):
                return TRANSCRIPT
            if level is not _Level.SUBAGENTS:
                self._trouble(
                    path, "misplaced", "a .jsonl file where Claude Code keeps no transcripts; it was not read"
                )
        elif name.endswith(_COMPRESSED):
            self._trouble(path, "compressed", "a compressed file; it was not read")
        return None

    def _descend(self, name: str, path: str, real: str, folder: _Folder) -> None:
        below = self._below(name, path, real, folder)
        if name.endswith(".jsonl"):
            self._trouble(path, "not_a_file", "a folder with the name of a transcript; it was not read")
        elif below is not None:
            self._look(below)

    def _below(self, name: str, path: str, real: str, folder: _Folder) -> _Folder | None:
        """Return what the folder ``name`` in ``folder`` is, or ``None`` if no sources lie below it."""
        level, session_id, depth = folder.level, folder.session_id, folder.depth
        if level is _Level.PROJECTS:
            return _Folder(path, real, _Level.PROJECT)
        if level is _Level.PROJECT and name == "memory":
            return _Folder(path, real, _Level.MEMORY)
        if level is _Level.PROJECT:
            return _Folder(path, real, _Level.SESSION, name)
        if level is _Level.SESSION and name == "subagents":
            return _Folder(path, real, _Level.SUBAGENTS, session_id)
        if level is _Level.SUBAGENTS and depth < _MAX_DEPTH:
            return _Folder(path, real, _Level.SUBAGENTS, session_id, depth + 1)
        return None

    def _file(self, path: str, status: os.stat_result, kind: str, path_tells: str) -> None:
        if not stat.S_ISREG(status.st_mode):
            self._trouble(path, "not_a_file", "neither a file nor a folder; it was not read")
        elif not path.isascii() and not is_utf8(path):
            self._trouble(path, "bad_name", "the name is not UTF-8; rename it to have it read")
        else:
            self.sources.append(Source(NAME, kind, path, self._root, stat_of(status), path_tells))

    def _follow_all(self, links: list[_Link]) -> None:
        """Follow the links that lead to what has not been looked at, in path order."""
        seen_folders = set(self._real_paths.values())
        seen_files = {self._real_file(source.path) for source in self.sources}
        for link in links:
            target = os.path.realpath(link.path)
            if not stat.S_ISDIR(link.status.st_mode):
                if target not in seen_files and (kind := self._kind(link.name, link.path, link.folder)) is not None:
                    seen_files.add(target)
                    self._file(link.path, link.status, kind, link.folder.session_id)
            elif f"{link.folder.real}/".startswith(f"{target.rstrip('/')}/"):
                self._trouble(link.path, "loop", "a link to a folder around it; it was not followed")
            elif target not in seen_folders:
                self._descend(link.name, link.path, target, link.folder)
                seen_folders.update(self._real_paths.values())

    def _real_file(self, path: str) -> str:
        folder, _, name = path.rpartition("/")
        return f"{self._real_paths.get(folder, folder)}/{name}"

    def _trouble(self, path: str, kind: str, message: str) -> None:
        self.troubles.append(Trouble(path, kind, message))
