"""Makes a new file that is whole from the moment it has its name, and never takes another's place.

Standard library only. A process killed in between leaves no file of that name, so nothing begins without its head.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from persist.errors import RefusedError, StoreIOError
from persist.files.atomic import TEMPORARY_PREFIX
from persist.files.folders import PRIVATE_FILE, flush_folder, make_private_folder


def create_file(path: Path, data: bytes) -> None:
    """Make ``path`` with ``data``, 0600 in 0700 folders, on disk when this returns.

    Raises ``RefusedError`` where something of that name is there already, and ``StoreIOError``; then nothing is left
    behind. The caller holds the folder's lock.
    """
    make_private_folder(path.parent)
    temporary = path.parent / f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}"
    try:
        _write(temporary, data)
        _give_name(temporary, path)
        flush_folder(path.parent)
    except FileExistsError:
        raise RefusedError(f"{path} exists already", "open it to append") from None
    except OSError as error:
        raise StoreIOError(path, "make", error.strerror or str(error)) from error
    finally:
        temporary.unlink(missing_ok=True)


def _write(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)


def _give_name(temporary: Path, path: Path) -> None:
    """Link, which refuses a name that is taken; where the file system knows no links, look and rename."""
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        raise
    except OSError:
        if os.path.lexists(path):
            raise FileExistsError(path) from None
        temporary.rename(path)
