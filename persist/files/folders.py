"""Folders of the store: private from the moment they exist (DESIGN law 7).

Standard library only. Folders that exist already keep their mode: they belong to whoever made them.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from persist.errors import StoreIOError

PRIVATE_FOLDER: Final = 0o700
PRIVATE_FILE: Final = 0o600


def make_private_folder(path: Path) -> None:
    """Make ``path`` and every missing folder above it, each 0700. Raises ``StoreIOError``."""
    missing = []
    folder = path
    while not folder.is_dir():
        missing.append(folder)
        if folder.parent == folder:
            break
        folder = folder.parent
    for folder in reversed(missing):
        try:
            folder.mkdir(mode=PRIVATE_FOLDER)
        except FileExistsError:
            if not folder.is_dir():
                raise StoreIOError(folder, "make folder", "a file of that name is in the way") from None
        except OSError as error:
            raise StoreIOError(folder, "make folder", error.strerror or str(error)) from error


def flush_folder(path: Path) -> None:
    """Make the names in a folder durable, where the file system can. Raises ``OSError``."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)
