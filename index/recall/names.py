"""Under which numbers a block is found by what the journal calls it.

Pure; imports the names of blocks only. The journal names a block by its slug or by a title as somebody typed it, and
which block is meant depends on all blocks there are (``persist.memory.standing``). A name and a block that it may mean
share a number at least: by the slug's beginning, or by the title. Those that share one by chance do no harm.
"""

from __future__ import annotations

from typing import Final

from index.identity import hash_of
from persist.events import Note
from persist.ids import slug
from persist.memory.names import folded_title

_SLUG_CHARACTERS: Final = 100
"""Where a long title's slug is cut for a file name, another end is put to it; so much of it stays."""


def keys_of_name(name: str) -> tuple[int | None, int]:
    """Return the number of a name's slug, null where it has none, and that of the name as a title."""
    shortened = slug(name)[:_SLUG_CHARACTERS]
    return (hash_of(f"slug {shortened}") if shortened else None), hash_of(f"title {folded_title(name)}")


def keys_of_block(stem: str, note: Note) -> tuple[int, ...]:
    """Return the numbers by which a block may be meant, each once: of its file's stem, its name and its title."""
    names = dict.fromkeys(name for name in (stem, note.name, note.title) if name)
    return tuple(dict.fromkeys(key for name in names for key in keys_of_name(name) if key is not None))


def stem_of(path: str) -> str:
    """Return the stem of a block's file: its slug."""
    name = path.rpartition("/")[2]
    stem, dot, _ = name.rpartition(".")
    return stem if dot and stem else name
