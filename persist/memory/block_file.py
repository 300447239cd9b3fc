"""The file of one block: found by a name, read before it is changed, written whole.

A block may be a link that somebody put there: one that leads out of the store is never written through.
"""

from __future__ import annotations

import os
from pathlib import Path

from persist.errors import NotFoundError, RefusedError, StoreIOError
from persist.files import write_atomic
from persist.memory.blocks import PROJECT_FILE, Block, find_block
from persist.memory.names import fact_line, is_like_fact
from persist.memory.versions import Kept, read_bytes


def existing_block(folder: Path, name: str) -> Block:
    """Return the block that a title or slug means.

    Raises ``RefusedError`` for a fact, ``NotFoundError``, and ``StoreIOError`` for one that cannot be read.
    """
    refuse_fact(folder, name)
    block = find_block(folder, name)
    if block is None:
        raise NotFoundError("memory block", name, "see: asx memory list")
    if block.unread is not None:
        raise StoreIOError(block.path, "read", block.unread)
    return block


def refuse_fact(folder: Path, name: str) -> None:
    """Raise ``RefusedError`` where a name is not a block's, but that of a fact of ``ASTER.md``."""
    if is_like_fact(name):
        line = fact_line(name)
        where = folder / PROJECT_FILE if line is None else f"line {line} of {folder / PROJECT_FILE}"
        raise RefusedError(f"{name} is a fact, which no command marks, moves or removes", f"edit {where} by hand")


def bytes_to_change(folder: Path, path: Path) -> bytes:
    """Return a block's bytes before it is written over.

    Raises ``RefusedError`` for a link that leaves the memory folder, ``StoreIOError``.
    """
    if not os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep):
        raise RefusedError(f"{path} is a link that leaves the store", "change the file it leads to")
    return read_bytes(path)


def put_block(path: Path, data: bytes, kept: Kept | None) -> None:
    """Write a block's file; where that fails the version made for it goes again. Raises ``StoreIOError``."""
    try:
        write_atomic(path, data)
    except StoreIOError:
        if kept is not None:
            kept.path.unlink(missing_ok=True)
        raise
