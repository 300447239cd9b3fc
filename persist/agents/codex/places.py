"""Where Codex keeps its files: its home, and the sources in it.

Reads folders and ``stat``, never a file's content; writes nothing. Never imports SQL or a terminal.

``sessions/YYYY/MM/DD/rollout-*.jsonl``, ``archived_sessions/rollout-*.jsonl`` and ``history.jsonl``. Codex compresses
old rollouts to ``.jsonl.zst`` and reads such a file only where no plain one lies beside it; so does this module. The
date in folders and names is local time and is not looked at. Links are followed unless they lead to what is read in
place, and depth is bounded, so none can loop.
"""

from __future__ import annotations

import errno
import os
import stat
from operator import attrgetter
from typing import Final

from persist.agents.folders import is_utf8, link_trouble, named_path, unless_folder
from persist.agents.plain_files import plain_files
from persist.fingerprint import stat_of
from persist.sources import HISTORY, TRANSCRIPT, Environment, Found, Root, Source, Trouble

NAME: Final = "codex"
_FOLDERS: Final = (("sessions", 3), ("archived_sessions", 0))
"""Folders of rollouts below the home, and how deep; older files lie in ``sessions`` itself."""
_PREFIX: Final = "rollout-"
_PLAIN: Final = ".jsonl"
_COMPRESSED: Final = ".jsonl.zst"
_UNREADABLE: Final = (".gz", ".xz", ".bz2", ".zip")


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
    walk = _Walk(str(root.path))
    walk.run()
    return Found(root, tuple(sorted(walk.sources, key=attrgetter("path"))), tuple(sorted(walk.troubles)))


class _Walk:
    """One look at one root; collects sources and troubles in the order met."""

    def __init__(self, root: str) -> None:
        self.sources: list[Source] = []
        self.troubles: list[Trouble] = []
        self._root = root
        self._folders: set[str] = set()
        self._links: list[tuple[str, int]] = []

    def run(self) -> None:
        """Look at what is no link first, so that a link never takes the place of what it leads to."""
        inner = [(f"{self._root}/{name}", depth) for name, depth in _FOLDERS]
        folders = [(path, depth) for path, depth in inner if os.path.lexists(path)]
        if not folders and os.path.basename(self._root) in dict(_FOLDERS):  # noqa: PTH119 - os: entries are many
            folders = [(self._root, dict(_FOLDERS)[os.path.basename(self._root)])]  # noqa: PTH119 - as above
        for path, depth in folders:
            self._look(path, depth)
        self._one_file(f"{self._root}/history.jsonl", HISTORY)
        while self._links:
            links, self._links = sorted(self._links), []
            self._follow(links)

    def _look(self, path: str, depth: int) -> None:
        self._folders.add(os.path.realpath(path))
        names: set[str]
        try:
            sources, names = plain_files(path, _PLAIN, NAME, TRANSCRIPT, self._root)
        except OSError as error:
            if error.errno != errno.ENOENT:
                self._trouble(path, "unreadable", f"the folder cannot be read: {os.strerror(error.errno or 0)}")
            return
        plain_names: set[str] = set()
        for source in sources:
            name = source.path.rpartition("/")[2]
            plain_names.add(name)
            if name.startswith(_PREFIX):
                self.sources.append(source)
            else:
                self._misplaced(source.path)
        for name in sorted(names):
            self._entry(f"{path}/{name}", name, depth, plain_names | names)

    def _entry(self, path: str, name: str, depth: int, beside: set[str]) -> None:
        try:
            status = os.lstat(path)
            is_link = stat.S_ISLNK(status.st_mode)
            if is_link:
                status = os.stat(path)  # noqa: PTH116 - os: entries are many
        except OSError as error:
            self._lost(path, error.errno)
            return
        if stat.S_ISDIR(status.st_mode):
            if name.endswith((_PLAIN, _COMPRESSED)):
                self._trouble(path, "not_a_file", "a folder with the name of a transcript; it was not read")
            elif is_link and depth > 0:
                self._links.append((path, depth))
            elif depth > 0:
                self._look(path, depth - 1)
        elif name.endswith(_COMPRESSED) and name.removesuffix(".zst") in beside:
            return  # its plain form lies beside it and is read
        elif name.startswith(_PREFIX) and name.endswith((_PLAIN, _COMPRESSED)):
            if is_link:
                self._links.append((path, 0))
            else:
                self._file(path, status, TRANSCRIPT)
        elif name.endswith((_PLAIN, _COMPRESSED)):
            self._misplaced(path)
        elif name.endswith(_UNREADABLE):
            self._trouble(path, "compressed", "a compressed file; it was not read")

    def _follow(self, links: list[tuple[str, int]]) -> None:
        """Follow the links that lead to what has not been looked at, in path order."""
        seen = {os.path.realpath(source.path) for source in self.sources}
        for path, depth in links:
            target = os.path.realpath(path)
            if depth == 0:
                if target not in seen:
                    seen.add(target)
                    self._one_file(path, TRANSCRIPT)
            elif f"{os.path.realpath(path.rpartition('/')[0])}/".startswith(f"{target.rstrip('/')}/"):
                self._trouble(path, "loop", "a link to a folder around it; it was not followed")
            elif target not in self._folders:  # else it is read in place
                self._look(path, depth - 1)
                seen.update(os.path.realpath(source.path) for source in self.sources)

    def _one_file(self, path: str, kind: str) -> None:
        try:
            self._file(path, os.stat(path), kind)  # noqa: PTH116 - os: entries are many
        except OSError as error:
            self._lost(path, error.errno)

    def _file(self, path: str, status: os.stat_result, kind: str) -> None:
        if not stat.S_ISREG(status.st_mode):
            self._trouble(path, "not_a_file", "neither a file nor a folder; it was not read")
        elif not is_utf8(path):
            self._trouble(path, "bad_name", "the name is not UTF-8; rename it to have it read")
        else:
            self.sources.append(Source(NAME, kind, path, self._root, stat_of(status)))

    def _lost(self, path: str, number: int | None) -> None:
        """Tell of an entry that cannot be looked at; what merely vanished is no trouble, a link to nowhere is."""
        if number != errno.ENOENT or os.path.islink(path):  # noqa: PTH114 - os: entries are many
            self.troubles.append(link_trouble(path, number))

    def _misplaced(self, path: str) -> None:
        self._trouble(path, "misplaced", "a .jsonl file whose name is not a rollout's; it was not read")

    def _trouble(self, path: str, kind: str, message: str) -> None:
        self.troubles.append(Trouble(path, kind, message))
