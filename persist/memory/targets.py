"""Which file a titled note goes to: the block of that title, the block of that slug, or a new one of its own.

``Build command``, ``build_command`` and ``BUILD COMMAND!`` are three titles with one slug; Aster keeps the last of them
only (``spec/aster.md`` 4.7). Reads, and writes nothing. Whoever goes on to write holds the folder's lock.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from persist.errors import RefusedError
from persist.memory.archive import list_versions
from persist.memory.blocks import ARCHIVE_FOLDER, Block, called, paths_of_slug, read_block
from persist.memory.describe import one_line
from persist.memory.journal import last_known_operation
from persist.memory.names import WITHOUT_SLUG, block_slug, free_stems, is_like_fact, same_title

MAX_TITLE_BYTES: Final = 1000


@dataclass(frozen=True, slots=True)
class Target:
    """Where a note goes: its file, and the block that is there now."""

    path: Path
    block: Block | None


def checked_title(title: str) -> str:
    """Return a typed title on one line, trimmed.

    Raises ``RefusedError`` for one that is empty, over-long, or called like a fact.
    """
    typed = one_line(title)
    if not typed:
        raise RefusedError("a title is empty", "give it at least one character, or leave it out")
    if is_like_fact(typed):
        raise RefusedError(f"{typed!r} is what facts of ASTER.md are called", "give the note another title")
    if len(typed.encode("utf-8", "replace")) > MAX_TITLE_BYTES:
        raise RefusedError(f"a title is over {MAX_TITLE_BYTES} bytes", "use a shorter one")
    return typed


def find_target(folder: Path, title: str, listed: Iterable[Block]) -> Target:
    """Return where a note of this title (of :func:`checked_title`) goes.

    The same title, or a block's slug itself, is that block's. A block that has no title (Aster keeps none) takes any
    title of its slug, unless its name or the journal tells another. ``listed`` are the folder's blocks of a moment ago:
    among them one by hand may have that very title or name. Cost: the blocks that share the slug, one archived block
    and version for a new title, and the journal where Aster wrote the block of the slug. Raises ``StoreIOError``.
    """
    base = block_slug(title)
    alike = [read_block(path) for path in paths_of_slug(folder, base or WITHOUT_SLUG)]
    found = called(alike, title)
    if found is not None:
        return Target(found.path, found)
    for block in alike:
        if base and block.path.stem == base and same_title(_known_title(folder, block) or title, title):
            return Target(block.path, block)
    for block in listed:
        if _is_named(block, title) and _is_named(there := read_block(block.path), title):
            return Target(there.path, there)
    return Target(_new_path(folder, title, {block.path.stem for block in alike}), None)


def _is_named(block: Block, title: str) -> bool:
    """Tell whether a block, whatever its file is called, has this title, or where it has none this name."""
    known = block.title or (block.note.name if block.note.name != block.path.stem else None)
    return known is not None and same_title(known, title)


def _known_title(folder: Path, block: Block) -> str | None:
    """Return the title of a block as far as anything tells it: its file, or the journal's last word."""
    if block.title is not None:
        return block.title
    if block.note.name != block.path.stem:
        return block.note.name
    stem = block.path.stem
    told = last_known_operation(folder, lambda one: bool(one.title) and one.entry.name == stem)
    return None if told is None else told.title


def _new_path(folder: Path, title: str, taken: set[str]) -> Path:
    """Return the first free file for a new title; what was put aside under another title keeps its slug."""
    for stem in free_stems(title):
        path = folder / f"{stem}.md"
        if stem in taken or path.exists() or path.is_symlink():
            continue
        others = _title_put_aside(folder, stem)
        if others is None or same_title(others, title):
            return path
    raise AssertionError("the numbers are endless")


def _title_put_aside(folder: Path, stem: str) -> str | None:
    """Return the title of the block that was archived or removed under a stem last, ``None`` where none is known."""
    archived = folder / ARCHIVE_FOLDER / f"{stem}.md"
    newest = [version.path for version in list_versions(folder, stem)[:1]]
    return next((read_block(path).title for path in [archived, *newest] if path.is_file()), None)
