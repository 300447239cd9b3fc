"""Where pi keeps its transcripts, and how they are found below a root; omp's lie alike.

Reads folders and ``stat``, never a file's content; writes nothing. Never imports SQL or a terminal. A project's
folder name is never turned back into a path (``spec/fault-checks.md`` B01).

A root is a folder of sessions, or one that holds it under the name ``sessions``. In it lie transcripts, folders of
projects with transcripts, and beside a transcript ``TIME_ID.jsonl`` the folder ``TIME_ID`` with what belongs to it: of
omp the transcripts of its sub-agents too. Links (B05): what is read in place is not read again through a link; a link
that leads elsewhere is followed and its files keep the path through it; links without an end and links to a folder
around them are reported.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from enum import Enum
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Final, NamedTuple

from persist.agents.folders import link_trouble, named_path, unless_folder
from persist.agents.plain_files import plain_files
from persist.fingerprint import stat_of
from persist.sources import TRANSCRIPT, Environment, Found, Root, Source, Trouble

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


class _Folder(NamedTuple):
    """A folder to look into: its path as found, the same without links, what it is, whose, how deep."""

    path: str
    real: str
    sort: _Sort
    session_id: str = ""
    depth: int = 0


class _Link(NamedTuple):
    """A link that was met in a folder, kept until everything that is no link has been seen."""

    path: str
    name: str
    status: os.stat_result
    folder: _Folder


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
    walk = _Walk(str(root.path), root.agent)
    walk.run()
    walk.sources.sort(key=itemgetter(2))
    walk.troubles.sort()
    return Found(root, tuple(walk.sources), tuple(walk.troubles))


class _Walk:
    """One look at one root; collects sources and troubles in the order met."""

    def __init__(self, root: str, agent: str) -> None:
        self.sources: list[Source] = []
        self.troubles: list[Trouble] = []
        self._root = root
        self._agent = agent
        self._real_paths: dict[str, str] = {}
        self._links: list[_Link] = []

    def run(self) -> None:
        """Look at everything that is no link first, so that a link never takes the place of what it leads to."""
        below = f"{self._root}/sessions"
        sessions = below if os.path.lexists(below) else self._root
        self._look(_Folder(sessions, os.path.realpath(sessions), _Sort.SESSIONS))
        while self._links:
            links, self._links = sorted(self._links, key=attrgetter("path")), []
            self._follow_all(links)

    def _look(self, folder: _Folder) -> None:
        """Sort the entries of a folder into files, folders to look into, and links for later."""
        self._real_paths[folder.path] = folder.real
        for entry in self._all_but_plain(folder) if folder.sort is _Sort.PROJECT else self._entries(folder.path):
            try:
                if entry.is_symlink():
                    self._links.append(_Link(entry.path, entry.name, os.stat(entry.path), folder))  # noqa: PTH116 - os: entries are many
                elif entry.is_dir(follow_symlinks=False):
                    self._descend(entry.name, entry.path, f"{folder.real}/{entry.name}", folder)
                elif self._is_transcript(entry.name, entry.path, folder):
                    self._file(entry.path, entry.stat(follow_symlinks=False), folder)
            except OSError as error:
                # What vanished since the folder was read is no trouble, a link that leads nowhere is.
                if error.errno != errno.ENOENT or entry.is_symlink():
                    self.troubles.append(link_trouble(entry.path, error.errno))

    def _all_but_plain(self, folder: _Folder) -> list[os.DirEntry[str]]:
        """Take the ordinary transcripts of a project and return the other entries."""
        try:
            sources, others = plain_files(folder.path, _EXTENSION, self._agent, TRANSCRIPT, self._root)
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

    def _is_transcript(self, name: str, path: str, folder: _Folder) -> bool:
        if name.endswith(_COMPRESSED):
            self._trouble(path, "compressed", "a compressed transcript; it was not read")
            return False
        if not name.endswith(_EXTENSION) or name == _EXTENSION:
            return False
        if folder.sort is not _Sort.OTHER:
            return True
        self._trouble(path, "misplaced", f"a .jsonl file where {self._agent} keeps no transcripts; it was not read")
        return False

    def _descend(self, name: str, path: str, real: str, folder: _Folder) -> None:
        if name.endswith(_EXTENSION):
            self._trouble(path, "not_a_file", "a folder with the name of a transcript; it was not read")
        elif folder.depth < _MAX_DEPTH:
            self._look(self._below(name, path, real, folder))

    def _below(self, name: str, path: str, real: str, folder: _Folder) -> _Folder:
        """Return what the folder ``name`` in ``folder`` is."""
        named = _SESSION_NAME.match(name)
        if folder.sort in (_Sort.SESSIONS, _Sort.PROJECT):
            if named is not None and self._agent == OMP:
                return _Folder(path, real, _Sort.SESSION, named[1], 1)
            if named is None and folder.sort is _Sort.SESSIONS:
                return _Folder(path, real, _Sort.PROJECT)
            return _Folder(path, real, _Sort.OTHER, depth=1)
        return _Folder(path, real, folder.sort, folder.session_id, folder.depth + 1)

    def _file(self, path: str, status: os.stat_result, folder: _Folder) -> None:
        if not stat.S_ISREG(status.st_mode):
            self._trouble(path, "not_a_file", "neither a file nor a folder; it was not read")
            return
        self.sources.append(Source(self._agent, TRANSCRIPT, path, self._root, stat_of(status), folder.session_id))

    def _follow_all(self, links: list[_Link]) -> None:
        """Follow the links that lead to what has not been looked at, in path order, those to folders first."""
        seen_folders = set(self._real_paths.values())
        to_files: list[_Link] = []
        for link in links:
            target = os.path.realpath(link.path)
            if not stat.S_ISDIR(link.status.st_mode):
                to_files.append(link)
            elif f"{link.folder.real}/".startswith(f"{target.rstrip('/')}/"):
                self._trouble(link.path, "loop", "a link to a folder around it; it was not followed")
            elif target not in seen_folders:
                self._descend(link.name, link.path, target, link.folder)
                seen_folders.update(self._real_paths.values())
        seen_files = {self._real_file(source.path) for source in self.sources} if to_files else set()
        for link in to_files:
            target = os.path.realpath(link.path)
            if target not in seen_files and self._is_transcript(link.name, link.path, link.folder):
                seen_files.add(target)
                self._file(link.path, link.status, link.folder)

    def _real_file(self, path: str) -> str:
        folder, _, name = path.rpartition("/")
        return f"{self._real_paths.get(folder, folder)}/{name}"

    def _trouble(self, path: str, kind: str, message: str) -> None:
        self.troubles.append(Trouble(path, kind, message))
