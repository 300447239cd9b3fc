"""Takes blocks away and brings them back: forget, archive, restore. Nothing is ever lost by them (DESIGN 10).

Under the folder's lock; each step is one rename or one whole file, and the journal is written last.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from persist.errors import NotFoundError
from persist.files import LOCK_NAME, locked, write_atomic
from persist.memory import versions
from persist.memory.block_file import bytes_to_change, existing_block, put_block, refuse_fact
from persist.memory.blocks import ARCHIVE_FOLDER, find_block
from persist.memory.change import Change, tell
from persist.memory.names import archived_stem


def forget(folder: Path, name: str) -> Change:
    """Take a block away; its text stays as a version. Raises like :func:`archive`."""
    with locked(folder / LOCK_NAME):
        path = existing_block(folder, name).path
        kept = versions.move_aside(folder, path, versions.read_bytes(path))
        return replace(tell(folder, "forget", path, kept=kept), path=None)


def archive(folder: Path, name: str) -> Change:
    """Move a block to ``.archive/``: out of lists, context and recall, and there to be restored.

    Its text is kept as a version too, because Aster replaces an archived block by the next one of its name. Raises
    ``NotFoundError``, ``RefusedError``, ``BusyError``, ``StoreIOError``.
    """
    with locked(folder / LOCK_NAME):
        return archive_held(folder, existing_block(folder, name).path)


def archive_held(folder: Path, path: Path, reason: str | None = None) -> Change:
    """Archive the block at ``path`` as :func:`archive` does; whoever calls holds the folder's lock.

    ``reason`` is the journal's ``detail``. Raises ``RefusedError``, ``StoreIOError``.
    """
    data = versions.read_bytes(path)
    target = versions.archived_path(folder, path.stem)
    _keep_archived(folder, path.stem, target)
    kept = versions.keep_copy(folder, path.stem, data)
    if path.is_symlink():
        write_atomic(target, data)
        versions.remove(path)
    else:
        versions.move(path, target)
    return tell(folder, "archive", target, name=path.stem, kept=kept, detail=reason)


def restore(folder: Path, name: str, at: str | None = None) -> Change:
    """Bring a block back as it was, byte for byte; a living one is put aside as a version first.

    ``at`` is a version's ULID, or at least four characters of its beginning. Without it what was put aside last comes
    back: the newest version that differs from the block as it is, or a block that Aster archived. Raises
    ``NotFoundError``, ``AmbiguousError``, ``RefusedError``, ``BusyError``, ``StoreIOError``.
    """
    refuse_fact(folder, name)
    with locked(folder / LOCK_NAME):
        stem = versions.stem_to_restore(folder, name)
        if stem is None:
            raise NotFoundError("archived block or older version", name, "see: asx memory list --archived")
        path = folder / f"{stem}.md"
        living = bytes_to_change(folder, path) if path.exists() or path.is_symlink() else None
        found = versions.find_put_aside(folder, stem, at, living)
        kept = None if living is None else versions.keep_copy(folder, stem, living)
        archived = versions.archived_path(folder, stem)
        if found.path == archived or versions.holds(archived, found.data):
            versions.move(archived, path)
        else:
            put_block(path, found.data, kept)
        told = tell(folder, "restore", path, kept=kept, restored=found.ulid)
        return replace(told, is_new=living is None, restored=found.ulid)


def files_that_may_go(folder: Path, name: str) -> list[Path]:
    """Return the files that :func:`forget`, :func:`archive` or :func:`restore` of a block may take from their place.

    A look without the lock, for whoever has to be told before. Raises ``StoreIOError``.
    """
    block = find_block(folder, name)
    stem = versions.stem_to_restore(folder, name)
    places = [] if block is None else [block.path]
    places += [] if stem is None else [folder / ARCHIVE_FOLDER / f"{archived_stem(stem)}.md"]
    return [path for path in places if path.is_file()]


def _keep_archived(folder: Path, stem: str, path: Path) -> None:
    """Keep the block that was archived under this name before, unless it is a version already."""
    if path.is_symlink():
        versions.remove(path)
    elif path.exists():
        data = versions.read_bytes(path)
        if not versions.is_kept(folder, stem, data):
            versions.keep_copy(folder, stem, data)
