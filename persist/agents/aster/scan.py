"""Looks into the folders of one home and sorts what it finds into sources and troubles.

Reads folders and asks ``stat``; opens no file. Whatever cannot be a source is named, never passed over
(DESIGN law 3): unreadable folders, dangling links, folders with a transcript's name, compressed transcripts.
"""

from __future__ import annotations

import os
import stat
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Final

from persist.agents.folders import with_readable_names
from persist.agents.plain_files import plain_files
from persist.fingerprint import stat_of
from persist.sources import Found, Root, Source, Trouble

_COMPRESSED: Final = (".zst", ".gz", ".xz", ".bz2", ".zip")
_TRANSCRIPTS: Final = (".jsonl", *(f".jsonl{suffix}" for suffix in _COMPRESSED))


def absolute(path: Path | str) -> Path:
    """Return a path without ``..`` and relative parts; links stay links."""
    return Path(os.path.normpath(Path(path).absolute()))


class Scan:
    """One look at a home: collects ``sources`` and ``troubles`` as its methods are called."""

    def __init__(self, agent: str, root: Root) -> None:
        self._agent = agent
        self._root = root
        self._path = absolute(root.path)
        self._path_text = str(self._path)
        self._real = os.path.realpath(root.path)
        self.sources: list[Source] = []
        self.troubles: list[Trouble] = []

    def has_root(self) -> bool:
        """Whether the home is a folder; something else in its place is a trouble."""
        if self._path.is_dir():
            return True
        if os.path.lexists(self._path):
            self.trouble(str(self._path), "not_a_folder", "the data home is not a folder")
        return False

    def folder(self, *parts: str) -> list[os.DirEntry[str]]:
        """Return what a folder below the home holds, by name; nothing where it is missing."""
        path = str(self._path.joinpath(*parts))
        try:
            with os.scandir(path) as entries:
                return sorted(entries, key=attrgetter("name"))
        except FileNotFoundError:
            return []
        except OSError as error:
            if isinstance(error, NotADirectoryError) and not os.path.lexists(path):
                return []
            self.trouble(path, "unreadable", f"the folder cannot be read: {error.strerror or error}")
            return []

    def all_but_plain(self, kind: str, folder: os.DirEntry[str]) -> list[os.DirEntry[str]]:
        """Add the ordinary transcripts of a folder of ``sessions`` as sources; return what else it holds, by name."""
        try:
            sources, others = plain_files(folder.path, ".jsonl", self._agent, kind, self._path_text)
        except OSError:
            return self.folder("sessions", folder.name)
        self.sources += sources
        return [leaf for leaf in self.folder("sessions", folder.name) if leaf.name in others] if others else []

    def is_transcript(self, name: str) -> bool:
        """Whether a name is a transcript's, compressed or not; hidden names are not."""
        if name.startswith("."):
            return False
        return name.endswith(_TRANSCRIPTS)

    def is_folder(self, entry: os.DirEntry[str]) -> bool:
        """Whether an entry is a folder to look into: hidden ones and links back into the home are not."""
        if entry.name.startswith("."):
            return False
        if not entry.is_symlink():
            return entry.is_dir()
        if self._resolves(entry) is None:
            return False
        return entry.is_dir()

    def file(self, entry: os.DirEntry[str], kind: str, path_tells: str = "") -> None:
        """Add an entry as a source if it is a plain file (or a link to one elsewhere), else as a trouble."""
        if entry.name.startswith("."):
            return
        if entry.name.endswith(_COMPRESSED):
            self.trouble(entry.path, "compressed", "a compressed transcript is not read; unpack it beside")
            return
        if entry.is_symlink() and self._resolves(entry) is None:
            return
        try:
            result = entry.stat()
        except OSError as error:
            self.trouble(entry.path, "unreadable", f"the file cannot be looked at: {error.strerror or error}")
            return
        if not stat.S_ISREG(result.st_mode):
            self.trouble(entry.path, "not_a_file", "something that is not a file has a source's name")
            return
        self.sources.append(Source(self._agent, kind, entry.path, self._path_text, stat_of(result), path_tells))

    def trouble(self, path: str, kind: str, message: str) -> None:
        """Note something in the way."""
        self.troubles.append(Trouble(path, kind, message))

    def found(self) -> Found:
        """Return all that was collected, sorted by path."""
        self.sources.sort(key=itemgetter(2))  # by path
        return with_readable_names(Found(self._root, tuple(self.sources), tuple(self.troubles)))

    def _resolves(self, entry: os.DirEntry[str]) -> str | None:
        """Return where a link leads if that is to be read here; ``None``, with a trouble, if not."""
        try:
            real = os.path.realpath(entry.path, strict=True)
        except OSError:
            self.trouble(entry.path, "dangling_link", "a link leads nowhere")
            return None
        home = self._real
        if real == home or real.startswith(home + os.sep) or home.startswith(real.rstrip(os.sep) + os.sep):
            self.trouble(entry.path, "link_inside", "a link to something inside the home is read where it stands")
            return None
        return real
