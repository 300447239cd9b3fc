"""Names in the archive: which copy a file name is, and where the copies of a folder's files lie.

Pure. No source of any agent has a name that ends as a closed copy's does, so the two never mix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from persist.compressed import SUFFIX

OWN_AGENTS: Final = frozenset({"aster", "aether"})
"""Agents whose files are this product's own store: nothing cleans them up, and nothing of them is copied."""
CATALOGUE_NAME: Final = "catalogue.json"
MAX_NAME_BYTES: Final = 240
"""A longer name leaves no room for the mark of a closed copy."""
_CLOSED: Final = re.compile(r"(?P<name>.+)~(?P<number>[1-9]\d{0,8})(?P<compressed>\.zst)?", re.DOTALL)


class CopyName(NamedTuple):
    """A copy's file name taken apart. ``number`` is 0 for the living copy, which comes after all closed ones."""

    name: str
    number: int
    is_compressed: bool

    @property
    def age(self) -> tuple[bool, int, bool]:
        """Return what orders the copies of one original, the newest last."""
        return (self.number == 0, self.number, self.is_compressed)

    @property
    def file_name(self) -> str:
        """Return the file name."""
        return f"{self.name}~{self.number}{SUFFIX * self.is_compressed}" if self.number else self.name


def take_apart(file_name: str) -> CopyName:
    """Return which copy of which original a file name in the archive is."""
    closed = _CLOSED.fullmatch(file_name)
    if closed is None:
        return CopyName(file_name, 0, False)
    return CopyName(closed["name"], int(closed["number"]), closed["compressed"] is not None)


def can_be_kept(name: str) -> bool:
    """Tell whether a copy of a file of that name has a name of its own in the archive."""
    return _CLOSED.fullmatch(name) is None and len(name.encode("utf-8", "surrogateescape")) <= MAX_NAME_BYTES


def copies_by_name(file_names: Iterable[str]) -> dict[str, list[CopyName]]:
    """Return the copies in one folder by their original's name, the newest last."""
    copies: dict[str, list[CopyName]] = {}
    for file_name in file_names:
        copy = take_apart(file_name)
        copies.setdefault(copy.name, []).append(copy)
    for each in copies.values():
        each.sort(key=lambda copy: copy.age)
    return copies


def folder_of_copies(archive: Path, agent: str, folder: str) -> Path:
    """Return where the copies of the files in ``folder``, an absolute path, lie.

    Parts that mean another folder are spelled out, so that the result is always below ``archive``.
    """
    parts = [part for part in folder.split("/") if part]
    return archive.joinpath(agent, *(part.replace(".", "%2E") if part in (".", "..") else part for part in parts))
