"""Puts versions of blocks aside in ``.archive/``, and finds them again (DESIGN 10).

``<slug>@<ULID>.md`` is what a block was before a change, ``<slug>.md`` an archived block. No version is ever removed or
written over. Whoever calls holds the folder's lock.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from persist.errors import AmbiguousError, NotFoundError, RefusedError, StoreIOError
from persist.files import make_private_folder, write_atomic
from persist.files.folders import flush_folder
from persist.files.temporary import sweep
from persist.ids import MIN_PREFIX_CHARACTERS, new_session_id
from persist.memory.archive import Version, list_archived, list_versions
from persist.memory.blocks import ARCHIVE_FOLDER, Block, find_block, read_block
from persist.memory.journal import Operation, last_known_operation
from persist.memory.names import archived_stem, block_slug, is_of_slug, same_title, version_slug
from persist.regular import read_regular

_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Kept:
    """A version that was put aside: its ULID, its file, and the hash of its bytes."""

    ulid: str
    path: Path
    sha256: str


@dataclass(frozen=True, slots=True)
class PutAside:
    """What can be brought back: its file and bytes, and the version's ULID (``None``: an archived block)."""

    path: Path
    data: bytes
    ulid: str | None


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes. Raises ``StoreIOError``."""
    try:
        return read_regular(path)
    except OSError as error:
        raise StoreIOError(path, "read", error.strerror or str(error)) from error


def sha256(data: bytes | None) -> str | None:
    """Return the hash by which a step knows a file's bytes again, ``None`` where there is no file."""
    return None if data is None else hashlib.sha256(data).hexdigest()


def keep_copy(folder: Path, stem: str, data: bytes) -> Kept:
    """Write ``data`` aside as the newest version of the block in ``<stem>.md``. Raises ``StoreIOError``."""
    kept = _next(folder, stem, data)
    write_atomic(kept.path, data)
    return kept


def keep_copy_at(folder: Path, stem: str, data: bytes, ulid: str) -> Kept:
    """Write ``data`` aside as the version ``ulid`` of the block in ``<stem>.md``, unless it is there already.

    Raises ``StoreIOError``, and ``RefusedError`` where that version is something else.
    """
    archive_folder(folder)
    kept = Kept(ulid, version_path(folder, stem, ulid), hashlib.sha256(data).hexdigest())
    if not holds(kept.path, data):
        if kept.path.exists():
            raise RefusedError(f"{kept.path} is not what was put aside there", "see to it by hand")
        write_atomic(kept.path, data)
    return kept


def version_path(folder: Path, stem: str, ulid: str) -> Path:
    """Return the file of a version of the block in ``<stem>.md``."""
    return folder / ARCHIVE_FOLDER / f"{version_slug(stem)}@{ulid}.md"


def move_aside(folder: Path, path: Path, data: bytes) -> Kept:
    """Make a block's file, which holds ``data``, its newest version: it is gone from the folder.

    In one rename, so that it is in one place at every moment. Of a link the text is copied and the link itself is
    removed, never what it leads to. Raises ``StoreIOError``.
    """
    kept = _next(folder, path.stem, data)
    if path.is_symlink():
        write_atomic(kept.path, data)
        remove(path)
    else:
        move(path, kept.path)
    return kept


def move(path: Path, target: Path) -> None:
    """Rename a file of the store, over one that may be there. Raises ``StoreIOError``."""
    try:
        path.replace(target)
        flush_folder(target.parent)
        if path.parent != target.parent:
            flush_folder(path.parent)
    except OSError as error:
        raise StoreIOError(path, "move", error.strerror or str(error)) from error


def remove(path: Path) -> None:
    """Remove a file or a link, never what the link leads to. Raises ``StoreIOError``."""
    try:
        path.unlink()
        flush_folder(path.parent)
    except OSError as error:
        raise StoreIOError(path, "remove", error.strerror or str(error)) from error


def archived_path(folder: Path, stem: str) -> Path:
    """Return where the block in ``<stem>.md`` lies once it is archived. Raises like :func:`archive_folder`."""
    archive_folder(folder)
    return archived_file(folder, stem)


def archived_file(folder: Path, stem: str) -> Path:
    """Return where the block in ``<stem>.md`` lies once it is archived; nothing is made."""
    return folder / ARCHIVE_FOLDER / f"{archived_stem(stem)}.md"


def archive_folder(folder: Path) -> Path:
    """Return ``.archive/``, made where missing. Raises ``RefusedError`` when it leads out of the store."""
    archive = folder / ARCHIVE_FOLDER
    if archive.is_symlink():
        raise RefusedError(f"{archive} is a link", "put a folder in its place")
    make_private_folder(archive)
    sweep(archive)  # it has no lock of its own
    return archive


def is_kept(folder: Path, stem: str, data: bytes) -> bool:
    """Tell whether these very bytes are a version of the block already."""
    return any(holds(version.path, data) for version in list_versions(folder, version_slug(stem)))


def stem_to_restore(folder: Path, name: str) -> str | None:
    """Return the stem of the block that ``name``, a title or a slug, means among those there and those put aside.

    One of that very title or stem comes first, one that is there before one put aside; then one that is there, as
    :func:`persist.memory.blocks.find_block` chooses, then what was put aside. ``None`` when nothing answers to it.
    """
    living = find_block(folder, name)
    if living is not None and name in (living.path.stem, living.title):
        return living.path.stem
    archived = {version_slug(block.path.stem): block for block in list_archived(folder)}
    newest: dict[str, Path] = {key: block.path for key, block in archived.items()}
    for version in list_versions(folder):
        newest.setdefault(version.slug, version.path)
    key = exact if (exact := version_slug(name)) in newest else None
    if key is None and living is not None and (living.title is None or same_title(living.title, name)):
        return living.path.stem
    key = key or _titled_key(newest, name)
    if key is None and living is not None:
        return living.path.stem
    key = key or next((one for one in (version_slug(name.strip()), block_slug(name)) if one in newest), None)
    if key is None:
        return None
    return archived[key].path.stem if key in archived else _journaled_stem(folder, key)


def find_put_aside(folder: Path, stem: str, at: str | None, living: bytes | None) -> PutAside:
    """Return what is to be brought back as ``<stem>.md``.

    With ``at``, a ULID or the beginning of one, that version; else the archived block, where it is no version as well;
    else the newest version. One that reads like ``living`` is passed over. Raises ``NotFoundError``,
    ``AmbiguousError``, and ``RefusedError`` when the version asked for is what the block is now.
    """
    versions = list_versions(folder, version_slug(stem))
    if at is not None:
        version = _version_at(versions, stem, at)
        data = read_bytes(version.path)
        if data == living:
            raise RefusedError(
                f"block {stem!r} reads like version {version.ulid} already", "asx memory log lists others"
            )
        return PutAside(version.path, data, version.ulid)
    archived = folder / ARCHIVE_FOLDER / f"{archived_stem(stem)}.md"
    if archived.exists():
        data = read_bytes(archived)
        if data != living and not any(holds(version.path, data) for version in versions):
            return PutAside(archived, data, None)
    for version in versions:
        data = read_bytes(version.path)
        if data != living:
            return PutAside(version.path, data, version.ulid)
    raise NotFoundError("older version of block", stem, "see: asx memory log")


def _next(folder: Path, stem: str, data: bytes) -> Kept:
    archive_folder(folder)
    ulid = later_than(list_versions(folder, version_slug(stem)))
    return Kept(ulid, version_path(folder, stem, ulid), hashlib.sha256(data).hexdigest())


def later_than(versions: list[Version]) -> str:
    """Return a ULID that is newer than every version (the newest first), whatever the clock says."""
    from ulid import ULID

    fresh = new_session_id().upper()
    newest = versions[0].ulid.upper() if versions else ""
    if fresh > newest:
        return fresh
    return str(ULID((int.from_bytes(ULID.from_str(newest).bytes, "big") + 1).to_bytes(16, "big")))


def _version_at(versions: list[Version], stem: str, at: str) -> Version:
    wanted = at.strip().upper()
    exact = [version for version in versions if version.ulid.upper() == wanted]
    if not exact and len(wanted) >= MIN_PREFIX_CHARACTERS:
        exact = [version for version in versions if version.ulid.upper().startswith(wanted)]
    if not exact:
        known = ", ".join(version.ulid for version in versions[:_SHOWN])
        raise NotFoundError("version", f"{stem}@{at.strip()}", f"the newest are {known}" if known else "there is none")
    if len(exact) > 1:
        raise AmbiguousError("version", at.strip(), tuple(version.ulid for version in exact))
    return exact[0]


def holds(path: Path, data: bytes) -> bool:
    """Tell whether a file, and no link, holds these very bytes; one that is missing or unreadable does not."""
    try:
        return not path.is_symlink() and path.stat().st_size == len(data) and read_bytes(path) == data
    except (OSError, StoreIOError):
        return False


def _titled_key(newest: dict[str, Path], name: str) -> str | None:
    """Return what is called so; of what shares its slug first, since that is read most often."""
    base = block_slug(name)
    alike = [key for key in newest if base and is_of_slug(key, base)]
    for key in dict.fromkeys([*alike, *newest]):
        if _is_called(read_block(newest[key], archived=True), name):
            return key
    return None


def _is_called(block: Block, name: str) -> bool:
    return same_title(block.title or block.note.name, name)


def _journaled_stem(folder: Path, key: str) -> str:
    """Return the stem that the journal tells for versions of this name, where it is not the name itself."""

    def is_of_key(operation: Operation) -> bool:
        name = operation.entry.name or ""
        return name != key and version_slug(name) == key and "/" not in name and "\0" not in name

    told = last_known_operation(folder, is_of_key)
    return key if told is None else told.entry.name or key
