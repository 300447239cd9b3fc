"""Makes a new file that is whole from the moment it has its name, and never takes another's place.

Standard library only. A process killed in between leaves no file of that name, so nothing begins without its head.
"""

from __future__ import annotations

import os
from pathlib import Path

from persist.errors import RefusedError, StoreIOError
from persist.files.atomic import write_all
from persist.files.folders import flush_folder, make_private_folder
from persist.files.temporary import temporary_file


def create_file(path: Path, data: bytes) -> None:
    """Make ``path`` with ``data``, 0600 in 0700 folders, on disk when this returns.

    Raises ``RefusedError`` where something of that name is there already, and ``StoreIOError``; then nothing is left
    behind. The caller holds the folder's lock.
    """
    make_private_folder(path.parent)
    try:
        with temporary_file(path.parent) as (descriptor, temporary):
            write_all(descriptor, data)
            os.fsync(descriptor)
            give_name(temporary, path)
            flush_folder(path.parent)
    except FileExistsError:
        raise RefusedError(f"{path} exists already", "open it to append") from None
    except OSError as error:
        raise StoreIOError(path, "make", error.strerror or str(error)) from error


def give_name(temporary: Path, path: Path) -> None:
    """Give a file its name, never in the place of another: link it, which refuses a name that is taken.

    Where the file system knows no links, look and rename; the lock of the folder keeps our own writers away. Raises
    ``FileExistsError`` and ``OSError``.
    """
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        raise
    except OSError:
        if os.path.lexists(path):
            raise FileExistsError(path) from None
        temporary.rename(path)
