"""What looking for agents' files has in common: paths as variables name them, roots, and what is in the way.

Asks ``stat`` of one path at a time, opens nothing; imports only ``persist`` values, never an agent. Ordinary files are
taken by ``plain_files``.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from persist.sources import Found, Root, Trouble


def named_path(text: str, home: Path) -> Path:
    """Return the path that a variable names, absolute.

    A spelling through ``..`` is resolved: what it means depends on the links before it.
    """
    path = home / text[2:] if text.startswith("~/") else home if text == "~" else Path(text)
    return path.resolve() if ".." in path.parts else path.absolute()


def unless_folder(root: Root) -> Found | None:
    """Return what is found at a root that is no folder, or that may not be looked at; ``None`` for a folder."""
    try:
        is_folder = stat.S_ISDIR(os.stat(root.path).st_mode)  # noqa: PTH116 - as everywhere beside it
    except (FileNotFoundError, NotADirectoryError):
        is_folder = False
    except OSError as error:
        reason = f"cannot be looked at: {os.strerror(error.errno or 0)}"
        return Found(root, (), (Trouble(str(root.path), "unreadable", reason),))
    return None if is_folder else Found(root, (), exists=False)


def link_trouble(path: str, number: int | None) -> Trouble:
    """Return the trouble with an entry that ``stat`` refused with this ``errno``; with ``ENOENT`` it must be a link."""
    if number == errno.ENOENT:
        return Trouble(path, "dangling", "a link that leads nowhere")
    if number == errno.ELOOP:
        return Trouble(path, "loop", "a link that leads back to itself")
    return Trouble(path, "unreadable", f"cannot be looked at: {os.strerror(number or 0)}")


def is_utf8(path: str) -> bool:
    """Return whether a path can be stored as text."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
