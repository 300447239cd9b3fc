"""Reads ``.archive/`` of a memory folder: archived blocks, and older versions of blocks (DESIGN 10).

``<slug>.md`` is an archived block, ``<slug>@<ULID>.md`` what a block was before a change, made at the ULID's
time. Reads only; moving files in and out is the writer's business.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from persist import times
from persist.memory.blocks import ARCHIVE_FOLDER, Block, by_name, note_paths, read_block
from persist.memory.names import VERSION_STEM

_CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_TIME_CHARACTERS: Final = 10


@dataclass(frozen=True, slots=True)
class Version:
    """An older version of a block: its slug, its ULID as the file has it, and when it was put aside."""

    slug: str
    ulid: str
    path: Path
    made_at: str | None


def list_archived(folder: Path) -> list[Block]:
    """Return the archived blocks of a memory folder by name, without older versions.

    Raises ``StoreIOError`` where ``.archive/`` cannot be listed; a missing one is empty.
    """
    paths = note_paths(folder / ARCHIVE_FOLDER)
    return by_name(read_block(path, archived=True) for path in paths if not VERSION_STEM.match(path.stem))


def list_versions(folder: Path, slug: str | None = None) -> list[Version]:
    """Return the older versions of the block with this slug (``None``: of every block), newest first.

    Nothing is read but names. Raises like :func:`list_archived`.
    """
    versions = []
    for path in note_paths(folder / ARCHIVE_FOLDER):
        named = VERSION_STEM.match(path.stem)
        if named is not None and slug in (None, named["slug"]):
            versions.append(Version(named["slug"], named["ulid"], path, _made_at(named["ulid"])))
    return sorted(versions, key=lambda version: (version.ulid.upper(), version.slug), reverse=True)


def _made_at(ulid: str) -> str | None:
    """Return the time in a ULID: its first ten characters are milliseconds since 1970, base 32."""
    milliseconds = 0
    for character in ulid[:_TIME_CHARACTERS].upper():
        milliseconds = milliseconds * 32 + _CROCKFORD.index(character)
    return times.from_epoch_ms(milliseconds)
