"""Removes one file of the store by its name, and never anything that lies outside of it.

Standard library only. The folder is opened first and the name is removed in it, so that no link put in its place in
between leads elsewhere; a link is removed itself, what it points to stays.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from persist.errors import RefusedError, StoreIOError
from persist.files.folders import flush_folder


def refuse_outside(path: Path, base: Path) -> None:
    """Raise ``RefusedError`` where the folder of ``path`` lies outside of ``base`` once links are followed."""
    _refuse_leading_out(path.parent, base)


def refuse_link_outside(path: Path, base: Path) -> None:
    """Raise ``RefusedError`` where what ``path`` names, or would name, lies outside of ``base``: to be written to."""
    _refuse_leading_out(path, base)


def _refuse_leading_out(path: Path, base: Path) -> None:
    real_base = os.path.realpath(base)
    real = os.path.realpath(path)
    if real != real_base and not real.startswith(real_base.rstrip(os.sep) + os.sep):
        raise RefusedError(
            f"{path} is a link that leaves the store: it leads to {real}", "nothing is changed behind such a link"
        )


def remove_inside(path: Path, base: Path) -> bool:
    """Remove the file or link at ``path``, whose folder lies in ``base``; return whether there was one.

    Raises ``RefusedError`` for a folder that leads out of ``base`` and for what is neither file nor link, and
    ``StoreIOError``. The caller holds the folder's lock.
    """
    refuse_outside(path, base)
    try:
        folder = os.open(os.path.realpath(path.parent), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StoreIOError(path, "remove", error.strerror or str(error)) from error
    try:
        mode = os.stat(path.name, dir_fd=folder, follow_symlinks=False).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
            raise RefusedError(f"{path} is no file", "it was not made by this store; see to it yourself")
        os.unlink(path.name, dir_fd=folder)
        flush_folder(path.parent)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StoreIOError(path, "remove", error.strerror or str(error)) from error
    finally:
        os.close(folder)
    return True
