"""What a change of the memory came to, and its line in the journal.

Whoever calls holds the folder's lock: the line is written after the change, and a journal that cannot be written never
makes a change that is done look failed (``spec/aster.md`` 8, 26).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from persist.aster.writer import now_text
from persist.memory.journal_writer import JournalValue, append_operation
from persist.memory.versions import Kept


@dataclass(frozen=True, slots=True)
class Change:
    """What was done. ``name`` is the block's slug, ``None`` for a fact, whose ``path`` is ``ASTER.md``.

    ``fact`` is what commands call a fact, ``ASTER.md:LINE``; ``None`` for a block, and where no line of the file is
    one. A fact that is not ``is_new`` was there already, and nothing was done.
    ``version`` is the ULID of what was put aside, ``version_path`` its file. ``superseded`` is the slug of the block
    that this one replaced, ``held_again`` of the one that had replaced it before. ``restored`` is the ULID of the
    version that came back. ``near`` are the slugs of blocks that say nearly the same. ``journal_trouble`` is why the
    journal does not tell of the change, if it does not: it is done all the same.
    """

    operation: str
    name: str | None
    path: Path | None
    fact: str | None = None
    is_new: bool = False
    version: str | None = None
    version_path: Path | None = None
    superseded: str | None = None
    held_again: str | None = None
    restored: str | None = None
    near: tuple[str, ...] = ()
    journal_trouble: str | None = None


def tell(
    folder: Path,
    operation: str,
    path: Path,
    *,
    name: str | None = None,
    kept: Kept | None = None,
    told: Mapping[str, JournalValue] | None = None,
    **values: JournalValue,
) -> Change:
    """Write a change into the journal and return it.

    ``kept`` is what it put aside, ``told`` and ``values`` are further keys.
    """
    stem = path.stem if name is None else name
    line = {"ts": now_text(), "op": operation, "name": stem, **where(folder, kept), **(told or {}), **values}
    trouble = append_operation(folder, line, already_locked=True)
    return Change(
        operation,
        stem,
        path,
        version=None if kept is None else kept.ulid,
        version_path=None if kept is None else kept.path,
        journal_trouble=trouble,
    )


def where(folder: Path, kept: Kept | None) -> dict[str, JournalValue]:
    """Return the keys of the journal that tell where a version is: its ULID, path below the folder, and hash."""
    if kept is None:
        return {}
    return {"version": kept.ulid, "path": str(kept.path.relative_to(folder)), "sha256": kept.sha256}
