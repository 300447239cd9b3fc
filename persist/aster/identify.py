"""Every transcript of Aster's homes with the id under which it is listed, whatever is in it.

Reads each file up to its header. Never writes and never raises for a file: one that has no header, is empty or cannot
be read is known by its name, so that it can be deleted too (``spec/aster.md`` 8, 12).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from persist.aster.listing import transcripts
from persist.aster.transcript import read_header
from persist.errors import StoreError
from persist.known_sessions import StoredFile
from persist.sources import Trouble

AGENT: Final = "aster"


def stored_files(homes: Sequence[Path]) -> tuple[list[StoredFile], list[Trouble]]:
    """Return every transcript below ``homes``, and what could not be looked into.

    Files that an earlier home also has are there too: whoever deletes the one must not let the other come to light
    (DESIGN 5). A link to something inside a home is left out, since that is there itself. Cost: each file is opened and
    read up to its header.
    """
    found: list[StoredFile] = []
    troubles: list[Trouble] = []
    for home, path in transcripts(homes, None, troubles, shadowed=True):
        if not is_link_inside(path, home):
            found.append(StoredFile(AGENT, listed_id(path), path, home))
    return found, troubles


def listed_id(path: Path) -> str:
    """Return the header's id, else the file's name without its ending, also where the file cannot be read."""
    try:
        header = read_header(path)
    except StoreError:
        header = None
    return (header.id if header is not None else None) or path.stem


def is_link_inside(path: Path, home: Path) -> bool:
    """Whether a file is reached by a link below ``home`` and lies in it all the same."""
    below = os.path.realpath(home)
    real = os.path.realpath(path)
    return real != str(Path(below) / path.relative_to(home)) and real.startswith(below + os.sep)
