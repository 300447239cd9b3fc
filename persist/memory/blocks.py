"""Reads the blocks of a memory folder: ``<slug>.md`` files, and archived ones in ``.archive/``.

Reads files, writes none, and needs no index; must never import sqlalchemy or anything of ``persist.files``.
Rules: ``spec/aster.md`` 4.2, 4.3, 4.5. A file that cannot be read is still a block, with its ``problem``.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from persist import times
from persist.errors import StoreIOError
from persist.events import Note
from persist.ids import slug
from persist.memory.frontmatter import Value, read_frontmatter
from persist.memory.names import (
    VERSION_STEM,
    block_slug,
    is_like_fact,
    is_misnamed,
    is_note_file,
    is_of_project,
    is_of_slug,
    same_title,
)
from persist.regular import read_regular

PROJECT_FILE: Final = "ASTER.md"
ARCHIVE_FOLDER: Final = ".archive"
MAX_BLOCK_BYTES: Final = 4 * 1024 * 1024
"""A larger block is read up to here, and its ``problem`` says so (DESIGN 7: prose whole up to 4 MB)."""
_NO_VALUE: Final = frozenset({"", "~", "null"})
_YES: Final = frozenset({"true", "yes", "on", "1"})
_DAY = re.compile(r"\d{4}-\d\d-\d\d\Z", re.ASCII)
_FRACTION = re.compile(r":\d\d[.,](\d+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Block:
    """A block as it lies on disk.

    ``problem`` is one sentence when the file could not be read as a note is read (its text, as far as there
    is any, is in the note). ``dates`` are ``updated_at`` and ``created_at`` as they are written, where they are.
    ``unread`` is the reason when nothing of the file could be read; the note then knows its name alone.
    """

    note: Note
    path: Path
    size_bytes: int
    problem: str | None = None
    dates: tuple[str, ...] = ()
    unread: str | None = None

    @property
    def title(self) -> str | None:
        """What somebody typed for the block, where it is not its slug."""
        return self.note.title

    @property
    def touched_ns(self) -> int:
        """Nanoseconds from 1970 to ``updated_at``, else to ``created_at``; 0 when neither can be read.

        Aster writes them so: finer than the note's own milliseconds.
        """
        return next(filter(None, map(_instant_ns, self.dates)), 0)


def parse_note(path: str, data: bytes, archived: bool = False) -> Note:
    """Return the note in ``data``, the bytes of the file at ``path``; never raises.

    Bytes that are not UTF-8 become U+FFFD. Without a name, or without readable frontmatter, the note has
    the file's stem for a name, and in the second case the whole text for a body.
    """
    return _parse(path, data, archived)[0]


def read_block(path: Path, archived: bool = False) -> Block:
    """Read one block; what is in the way (a folder, no permission, bad bytes) is the block's ``problem``."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return _unread(path, archived, "is not a file", "it is not a file")
        data = read_regular(path, MAX_BLOCK_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        return _unread(path, archived, f"cannot be read: {reason}", reason)
    problem = None
    if len(data) > MAX_BLOCK_BYTES:
        data = data[:MAX_BLOCK_BYTES]
        problem = f"is longer than {MAX_BLOCK_BYTES} bytes; the rest was not read"
    note, values, text_problem = _parse(str(path), data, archived)
    dates = tuple(date for key in ("updated_at", "created_at") if isinstance(date := values.get(key), str))
    return Block(note, path, max(found.st_size, len(data)), problem or text_problem, dates)


def list_blocks(folder: Path, include_archived: bool = False) -> list[Block]:
    """Return the blocks of a memory folder, each of :func:`note_paths` but ``ASTER.md`` once, by name.

    With ``include_archived`` those in ``.archive/`` are among them (older versions are not). A missing folder
    has none. Cost: reads every block whole. Raises ``StoreIOError`` where the folder cannot be listed.
    """
    blocks = [read_block(path) for path in note_paths(folder) if path.name != PROJECT_FILE]
    if include_archived:
        archive = note_paths(folder / ARCHIVE_FOLDER)
        blocks += [read_block(path, archived=True) for path in archive if not VERSION_STEM.match(path.stem)]
    return by_name(blocks)


def note_paths(folder: Path) -> list[Path]:
    """Return the files of blocks and the project file directly in a folder (``names.is_note_file``), in path order.

    A missing folder has none. Raises ``StoreIOError`` where the folder cannot be listed.
    """
    return _paths(folder, is_note_file)


def misnamed_paths(folder: Path) -> list[Path]:
    """Return the files that are no blocks for their names alone (``names.is_misnamed``), for whoever tells of them.

    Order and errors as :func:`note_paths`.
    """
    return _paths(folder, is_misnamed)


def _paths(folder: Path, is_wanted: Callable[[str], bool]) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if is_wanted(entry.name)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreIOError(folder, "list", error.strerror or str(error)) from error
    return [folder / name for name in sorted(names)]


def by_name(blocks: Iterable[Block]) -> list[Block]:
    """Order by name, by bytes as Aster does; equal names by path."""
    return sorted(blocks, key=lambda block: (block.note.name, str(block.path)))


def newest_first(blocks: Iterable[Block]) -> list[Block]:
    """Order by ``updated_at``, else ``created_at``, newest first; ties by name, undated ones last.

    File times are not used: a copy or a checkout changes them (``spec/aster.md`` 4.3, rule of N1).
    """
    return sorted(by_name(blocks), key=lambda block: -block.touched_ns)


def find_block(folder: Path, name: str, listed: Sequence[Block] | None = None) -> Block | None:
    """Return the block that ``name``, a typed title or a slug, means, or ``None``; archived ones are never found.

    The block of that title, those that share its slug (``build``, ``build-2``) first, a file's stem before a title that
    differs in case or white space; else the file of the slug; else the first block in name order whose name is equal
    but for ASCII case, else the first whose name has the same slug. A name without an ASCII letter or digit has no slug
    and finds only the very same title or name (Aster found, and deleted, another's block by ``!``). What is called like
    a fact of the project file is no block. Cost: one file in the ordinary case, else every block; ``listed``, the
    blocks as :func:`list_blocks` gave them, spares who asks for many names that. Raises ``StoreIOError`` like
    :func:`list_blocks`.
    """
    if is_like_fact(name):
        return None
    wanted = slug(name)
    found = _of_slug(folder, name, wanted) if wanted else None
    if found is not None and (found.title is None or found.path.stem == name or same_title(found.title, name)):
        return found
    blocks = list_blocks(folder) if listed is None else listed
    for block in blocks:
        if block.title is not None and same_title(block.title, name):
            return block
    if found is not None:
        return found
    if not wanted:
        return next((block for block in blocks if block.note.name == name.strip()), None)
    lowered = _ascii_lower(name.strip())
    for block in blocks:
        if _ascii_lower(block.note.name) == lowered:
            return block
    return next((block for block in blocks if slug(block.note.name) == wanted), None)


def paths_of_slug(folder: Path, base: str) -> list[Path]:
    """Return the files of the blocks whose stem is ``base`` or ``base-N``, by name; the project file is none.

    Raises ``StoreIOError`` where the folder cannot be listed.
    """
    return [path for path in note_paths(folder) if path.name != PROJECT_FILE and is_of_slug(path.stem, base)]


def called(blocks: Iterable[Block], name: str) -> Block | None:
    """Return the block of this very title, else the one whose file has this stem, else the first with the same title.

    So a name as it is listed is always that block, also where another one's title differs from it in case alone.
    """
    known = list(blocks)
    titled = [block for block in known if block.title is not None and same_title(block.title, name)]
    exact = [block for block in titled if block.title == name] or [block for block in known if block.path.stem == name]
    return next(iter([*exact, *titled]), None)


def _of_slug(folder: Path, name: str, wanted: str) -> Block | None:
    paths = paths_of_slug(folder, block_slug(name))
    if len(paths) > 1:
        found = called([read_block(path) for path in paths], name)
        if found is not None:
            return found
    for stem in dict.fromkeys((wanted, block_slug(name))):
        path = folder / f"{stem}.md"
        if _is_there(path):
            return read_block(path)
    return None


def _is_there(path: Path) -> bool:
    """Tell whether a file has this very name: where case does not count, ``aster.md`` is the project file."""
    try:
        if path.name == PROJECT_FILE.lower():
            return any(path.name == other.name for other in path.parent.iterdir())
        return path.exists()
    except OSError:
        return False


def _ascii_lower(text: str) -> str:
    return "".join(character.lower() if character.isascii() else character for character in text)


def _parse(path: str, data: bytes, archived: bool) -> tuple[Note, dict[str, Value], str | None]:
    problem = None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        problem = f"is not UTF-8 at byte {error.start}; what could not be read is shown as \ufffd"
    values, body = read_frontmatter(text)
    if not values and body.startswith("---"):
        problem = problem or "has no readable frontmatter; it is taken as plain text"
    name = " ".join(_text(values, "name").splitlines())
    note = Note(
        name=_stem(path) if name in ("", "~") or is_of_project(name) else name,
        body=body,
        description=_text(values, "description"),
        kind=_optional(values, "kind", "type"),
        project=_optional(values, "project"),
        source_session=_optional(values, "source_session"),
        created_at=_time(values.get("created_at")),
        updated_at=_time(values.get("updated_at")),
        aliases=_texts(values.get("aliases")),
        archived=archived,
        superseded_by=_optional(values, "superseded_by"),
        pinned=_text(values, "pinned").partition(" ")[0].lower() in _YES,
        title=" ".join(_text(values, "title").split()) or None,
    )
    return note, values, problem


def _unread(path: Path, archived: bool, problem: str, reason: str) -> Block:
    return Block(Note(_stem(str(path)), "", archived=archived), path, 0, problem, unread=reason)


def _stem(path: str) -> str:
    """Return the file's name without ``.md``, as text that can be stored (names on disk are bytes)."""
    name = Path(path).name.removesuffix(".md")
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _text(values: dict[str, Value], key: str) -> str:
    value = values.get(key, "")
    return ", ".join(value) if isinstance(value, list) else value


def _optional(values: dict[str, Value], *keys: str) -> str | None:
    for key in keys:
        text = _text(values, key)
        if text not in _NO_VALUE:
            return text
    return None


def _texts(value: Value | None) -> tuple[str, ...]:
    """Return a list's texts in order, each once; a single text is a list written with commas."""
    if value is None:
        return ()
    parts = value if isinstance(value, list) else value.split(",")
    return tuple(dict.fromkeys(stripped for part in parts if (stripped := part.strip()) not in _NO_VALUE))


def _time(value: Value | None) -> str | None:
    if not isinstance(value, str):
        return None
    return times.from_text(f"{value}T00:00:00Z" if _DAY.match(value) else value)


def _instant_ns(value: str) -> int:
    moment = _time(value)
    if moment is None:
        return 0
    seconds = int(datetime.fromisoformat(f"{moment[:19]}+00:00").timestamp())
    fraction = _FRACTION.search(value)
    return seconds * 1_000_000_000 + (int(f"{fraction[1][:9]:0<9}") if fraction else 0)
