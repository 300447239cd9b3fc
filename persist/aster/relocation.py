r"""Moves a session to another folder: its header says the new one, its file goes to that project's (DESIGN 12).

The one operation that replaces a header (DESIGN law 1). Two renames: the rewritten file takes the old one's place, then
moves to the new project's folder; at every moment there is one whole file, and a second run ends what a killed one
began. Everything behind the header stays byte for byte. What another program
appends meanwhile is kept, or the session is refused as in use (``persist.files.rewrite``); the second rename keeps the
inode and loses nothing.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from persist.agents.aster.shapes import SUPPORTED_VERSION, format_version
from persist.aster.places import SUFFIX, find_in_folder, project_folder
from persist.errors import NotFoundError, RefusedError, StoreIOError
from persist.files import LOCK_NAME, locked, make_private_folder
from persist.files.folders import flush_folder
from persist.files.remove import refuse_outside
from persist.files.rewrite import Span, replace_span
from persist.ids import slug
from persist.lines import decode_line, encode, iter_lines
from persist.projects import project_of
from persist.regular import open_regular


class _Head(NamedTuple):
    """The header's line in a file, without its line end, and its record."""

    span: Span
    record: dict[str, Any]


def new_place(path: Path, home: Path, cwd: str) -> tuple[Path, str]:
    """Return where a session's file belongs whose folder is ``cwd``, and the project it is then of."""
    root = project_of(cwd)
    return project_folder(home, root) / path.name, root


def relocate_file(path: Path, home: Path, cwd: str) -> Path:
    """Make ``cwd`` (absolute) the folder of the session in ``path``, and return where its file stands now.

    Does what is left to do: a file whose header says so already is only moved. Raises ``RefusedError`` where there is
    no header of a line of its own, where it is of a newer version, where the new place is taken or leads out of the
    store; ``InUseError`` where another program writes the session; ``NotFoundError``, ``BusyError``, ``StoreIOError``.
    The old file or the new one is there whole whatever happens.
    """
    target, root = new_place(path, home, cwd)
    refuse_outside(path, home)
    if path.is_symlink():
        raise RefusedError(f"{path} is a link", "relocate the file where it lies, or replace the link by it")
    _refuse_headerless(path, cwd, root)
    make_private_folder(target.parent)
    refuse_outside(target, home)
    with ExitStack() as locks:
        for folder in sorted({path.parent, target.parent}):
            locks.enter_context(locked(folder / LOCK_NAME))
        _refuse_taken(path, target)
        try:
            _rewrite(path, cwd, root)
            if target != path:
                path.rename(target)
                flush_folder(target.parent)
        except FileNotFoundError:
            raise NotFoundError("file", str(path), "it was deleted or moved meanwhile") from None
        except OSError as error:
            raise StoreIOError(path, "relocate", error.strerror or str(error)) from error
    return target


def _refuse_headerless(path: Path, cwd: str, root: str) -> None:
    """Raise before anything is made what would be raised once the locks are held."""
    try:
        with open_regular(path, 0) as file:
            _new_line(path, _head_of(path, file), cwd, root)
    except FileNotFoundError:
        raise NotFoundError("file", str(path), "it was deleted or moved meanwhile") from None
    except OSError as error:
        raise StoreIOError(path, "read", error.strerror or str(error)) from error


def _refuse_taken(path: Path, target: Path) -> None:
    if target.parent == path.parent:
        return
    name = target.name.removesuffix(SUFFIX)
    taken = find_in_folder(target.parent, name) if slug(name) else None  # a name of other letters has no twin
    if taken is not None or os.path.lexists(target):
        raise RefusedError(f"{taken or target} is there already", "two sessions of one project cannot share an id")


def _rewrite(path: Path, cwd: str, root: str) -> None:
    """Put the file with its new header in the place of the old one, unless the header says so already."""
    with open_regular(path, 0) as file:
        head = _head_of(path, file)
        line = _new_line(path, head, cwd, root)
        if line is not None:
            replace_span(path, file, head.span, line)


def _head_of(path: Path, file: BinaryIO) -> _Head:
    for raw in iter_lines(file):
        if raw.oversize:
            continue
        decoded = decode_line(raw.data)
        if not any(isinstance(record, dict) and record.get("type") == "session" for record in decoded.records):
            continue
        if not decoded.is_object:
            raise RefusedError(f"the header of {path} shares its line {raw.number} with damage or another event")
        span = Span(raw.offset_bytes, raw.offset_bytes + len(raw.data.rstrip(b"\r")))
        return _Head(span, decoded.records[0])
    raise RefusedError(f"{path} has no header that says where the session belongs", "there is nothing to relocate")


def _new_line(path: Path, head: _Head, cwd: str, root: str) -> bytes | None:
    version = format_version(head.record)
    if version is None or version > SUPPORTED_VERSION:
        raise RefusedError(
            f"{path} has format version {version or 'that is no number'}",
            f"this program writes version {SUPPORTED_VERSION}; update it",
        )
    if (head.record.get("cwd"), head.record.get("repo_root")) == (cwd, root):
        return None
    record = {**head.record, "cwd": cwd, "repo_root": root}
    return encode(json.dumps(record, ensure_ascii=False, separators=(",", ":")))
