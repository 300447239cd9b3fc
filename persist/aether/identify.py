"""Every log of Aether's homes with the id under which it is listed, whatever is in it.

Reads each log's metadata. Never writes and never raises for a file: one without metadata is known by its name, so that
it can be deleted too.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from persist.aether.log import read_log
from persist.agents.aether.agent import NAME, discover
from persist.errors import StoreError
from persist.known_sessions import StoredFile
from persist.sources import TRANSCRIPT, Root, Trouble


def stored_files(homes: Sequence[Path]) -> tuple[list[StoredFile], list[Trouble]]:
    """Return every log below ``homes``, and what could not be looked into. Cost: each log is opened."""
    found: list[StoredFile] = []
    troubles: list[Trouble] = []
    for home in homes:
        look = discover(Root(NAME, home))
        troubles.extend(look.troubles)
        for source in look.sources:
            if source.kind == TRANSCRIPT:
                path = Path(source.path)
                found.append(StoredFile(NAME, listed_id(path), path, home))
    return found, troubles


def listed_id(path: Path) -> str:
    """Return the metadata's id, else the file's name without its ending, also where the file cannot be read."""
    try:
        log = read_log(path)
    except StoreError:
        return path.stem
    return (log.header.metadata.session_id if log.header is not None else None) or path.stem
