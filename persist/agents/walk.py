"""One look below a root of an agent that keeps its transcripts in folders of its own kinds.

Reads folders and ``stat``, never a file's content; writes nothing. Imports only ``persist`` values, never an agent:
what names mean to one is told by its ``Rules``. Never imports SQL or a terminal.

Links (B05): what is read in place is not read again through a link; a link that leads elsewhere, also out of the root,
is followed and its files keep the path through the link; links without an end and links to a folder around them are
reported.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from enum import Enum
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple

from persist.agents.folders import link_trouble, with_readable_names
from persist.agents.plain_files import plain_files
from persist.fingerprint import stat_of
from persist.sources import TRANSCRIPT, Found, Root, Source, Trouble

_PATH: Final = attrgetter("path")


class Folder(NamedTuple):
    """A folder to look into: its path as found, the same without links, what it is to its agent, whose, how deep."""

    path: str
    real: str
    sort: Enum
    session_id: str = ""
    depth: int = 0


class NotRead(NamedTuple):
    """Why a file that looks like a source is none: the kind of the trouble, and a sentence."""

    kind: str
    message: str


class Rules(NamedTuple):
    """What an agent makes of the names in its folders.

    ``kind_of`` tells of a file in a folder which kind of source it is, why it is none, or null where it is no concern
    of ours. ``below`` makes of a folder the one of a name in it, whose paths the walk fills in, or null where no
    sources lie. ``endings`` are those of transcripts, the usual one first. In folders of the sorts ``plain`` nearly
    every file is a transcript: those whose names begin with ``prefix`` are taken all at once, and not asked about.
    """

    endings: tuple[str, ...]
    kind_of: Callable[[str, Folder], str | NotRead | None]
    below: Callable[[str, Folder], Folder | None]
    plain: frozenset[Enum]
    prefix: str = ""


class _Link(NamedTuple):
    """A link that was met in a folder, kept until everything that is no link has been seen."""

    path: str
    name: str
    status: os.stat_result
    folder: Folder


class Walk:
    """One look at one root; collects sources and troubles as its methods are called. Never raises ``OSError``."""

    def __init__(self, root: Root, rules: Rules) -> None:
        self._root = root
        self._root_path = str(root.path)
        self._rules = rules
        self._sources: list[Source] = []
        self._troubles: list[Trouble] = []
        self._real_paths: dict[str, str] = {}
        self._linked_files: set[str] = set()
        self._links: list[_Link] = []

    def file(self, path: str, kind: str) -> None:
        """Take the file at a path that may be missing; a link to it is followed."""
        try:
            status = os.stat(path)  # noqa: PTH116 - os: entries are many
        except OSError as error:
            self._lost(path, error.errno, is_link=os.path.islink(path))  # noqa: PTH114 - as above
        else:
            self._file(path, status, kind, "")

    def folder(self, path: str, sort: Enum) -> None:
        """Look into the folder at a path that may be missing, and into those below it; links are left for later."""
        self._look(Folder(path, os.path.realpath(path), sort))

    def found(self) -> Found:
        """Follow the links that were met, and return all that was found, sources and troubles in path order.

        Links come last, so that none takes the place of what it leads to.
        """
        while self._links:
            links, self._links = sorted(self._links, key=_PATH), []
            self._follow(links)
        self._sources.sort(key=itemgetter(2))  # by path
        return with_readable_names(Found(self._root, tuple(self._sources), tuple(sorted(self._troubles))))

    def _look(self, folder: Folder) -> None:
        """Sort the entries of a folder into files, folders to look into, and links for later."""
        self._real_paths[folder.path] = folder.real
        is_plain = folder.sort in self._rules.plain
        for entry in self._all_but_plain(folder) if is_plain else self._entries(folder.path):
            try:
                if entry.is_symlink():
                    self._links.append(_Link(entry.path, entry.name, os.stat(entry.path), folder))  # noqa: PTH116 - os: entries are many
                elif entry.is_dir(follow_symlinks=False):
                    self._descend(entry.name, entry.path, f"{folder.real}/{entry.name}", folder)
                elif (kind := self._kind(entry.name, entry.path, folder)) is not None:
                    self._file(entry.path, entry.stat(follow_symlinks=False), kind, folder.session_id)
            except OSError as error:
                self._lost(entry.path, error.errno, is_link=entry.is_symlink())

    def _all_but_plain(self, folder: Folder) -> list[os.DirEntry[str]]:
        """Take the ordinary transcripts of a folder and return the other entries."""
        ending, prefix = self._rules.endings[0], self._rules.prefix
        try:
            sources, others = plain_files(folder.path, ending, self._root.agent, TRANSCRIPT, self._root_path)
        except OSError:
            return self._entries(folder.path)
        if prefix:
            begin = f"{folder.path}/{prefix}"
            others.update(source.path.rpartition("/")[2] for source in sources if not source.path.startswith(begin))
            sources = [source for source in sources if source.path.startswith(begin)]
        self._sources += sources
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

    def _kind(self, name: str, path: str, folder: Folder) -> str | None:
        """Return the kind of source that a file is, or null; a file that looks like one and is none is told."""
        kind = self._rules.kind_of(name, folder)
        if isinstance(kind, NotRead):
            self._trouble(path, *kind)
            return None
        return kind

    def _descend(self, name: str, path: str, real: str, folder: Folder) -> None:
        if name.endswith(self._rules.endings):
            self._trouble(path, "not_a_file", "a folder with the name of a transcript; it was not read")
        elif (below := self._rules.below(name, folder)) is not None:
            self._look(below._replace(path=path, real=real))

    def _file(self, path: str, status: os.stat_result, kind: str, path_tells: str) -> None:
        if stat.S_ISREG(status.st_mode):
            self._sources.append(Source(self._root.agent, kind, path, self._root_path, stat_of(status), path_tells))
        else:
            self._trouble(path, "not_a_file", "neither a file nor a folder; it was not read")

    def _follow(self, links: list[_Link]) -> None:
        """Follow the links that lead to what has not been looked at, in path order.

        Those to folders come first: a file is told by its place in a folder rather than by a link to itself.
        """
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
        in_place = {self._real_file(source.path) for source in self._sources} if to_files else set()
        for link in to_files:
            target = os.path.realpath(link.path)
            if target in in_place or target in self._linked_files:
                continue
            if (kind := self._kind(link.name, link.path, link.folder)) is not None:
                self._linked_files.add(target)
                self._file(link.path, link.status, kind, link.folder.session_id)

    def _real_file(self, path: str) -> str:
        folder, _, name = path.rpartition("/")
        return f"{self._real_paths.get(folder, folder)}/{name}"

    def _lost(self, path: str, number: int | None, *, is_link: bool) -> None:
        """Tell of an entry that cannot be looked at; what merely vanished is no trouble, a link to nowhere is."""
        if number != errno.ENOENT or is_link:
            self._troubles.append(link_trouble(path, number))

    def _trouble(self, path: str, kind: str, message: str) -> None:
        self._troubles.append(Trouble(path, kind, message))
