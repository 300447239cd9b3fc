"""Remembers: a note with a title as a block, one without as a fact of ``ASTER.md`` (``spec/aster.md`` 4.5, DESIGN 10).

Under the folder's lock, in this order: what is there is put aside, the new file is put in its place by one rename, the
journal is written. Ended at any moment, every file is the old or the new one, whole. A block keeps every byte of its
header that the change is not about (``persist.memory.note_file``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from persist import times
from persist.aster.writer import now_text
from persist.errors import RefusedError, StoreIOError
from persist.files import LOCK_NAME, locked
from persist.files.create import create_file
from persist.lines import encode
from persist.memory import note_file
from persist.memory.block_file import bytes_to_change, existing_block, put_block
from persist.memory.blocks import MAX_BLOCK_BYTES, PROJECT_FILE, Block, list_blocks
from persist.memory.change import Change, tell
from persist.memory.describe import first_sentence, one_line
from persist.memory.frontmatter import Value
from persist.memory.journal import iter_operations
from persist.memory.journal_writer import MAX_DETAIL_CHARACTERS, JournalValue
from persist.memory.near import near_duplicates
from persist.memory.project import parse_facts, read_project_bytes, same_fact
from persist.memory.project_writer import append_fact, fact_bullet
from persist.memory.standing import DEFAULT_KIND, noted, standings
from persist.memory.targets import Target, checked_title, find_target
from persist.memory.versions import keep_copy
from persist.recall.candidate import fact_name

MAX_NOTE_BYTES: Final = MAX_BLOCK_BYTES - 64 * 1024
"""Of a block that is read whole (``MAX_BLOCK_BYTES``); the rest is for its header."""


@dataclass(frozen=True, slots=True)
class NewNote:
    """What is to be remembered as a block, as it was typed; ``None`` and empty leave what the block has.

    ``description`` left out is the note's first sentence. ``aliases`` are added to those of the block, ``supersedes``
    is the title or slug of the block that this one replaces.
    """

    text: str
    title: str
    description: str | None = None
    source_session: str | None = None
    kind: str | None = None
    project: str | None = None
    aliases: Sequence[str] = ()
    is_pinned: bool = False
    supersedes: str | None = None


def add_fact(folder: Path, text: str, source_session: str | None = None) -> Change:
    """Append a fact to ``ASTER.md``, unless it stands there already: then nothing is written, the journal neither.

    Raises ``RefusedError`` for an empty one, ``BusyError``, ``StoreIOError``.
    """
    bullet = fact_bullet(text)
    with locked(folder / LOCK_NAME):
        there = _fact_there(folder, bullet)
        if there is not None:
            return Change("append_project", None, folder / PROJECT_FILE, fact=there)
        path = append_fact(folder, bullet)
        detail = text.strip()[:MAX_DETAIL_CHARACTERS]
        change = tell(folder, "append_project", path, name="", detail=detail, source_session=source_session)
        return replace(change, name=None, fact=_fact_there(folder, bullet), is_new=True)


def _fact_there(folder: Path, bullet: str) -> str | None:
    """Return the name of the fact that says what a bullet says, ``None`` where none does or nothing can be read."""
    try:
        data = read_project_bytes(folder)
    except StoreIOError:
        return None  # whoever appends to such a file is told why
    return next((fact_name(fact.line_number) for fact in parse_facts(data or b"") if same_fact(fact, bullet)), None)


def remember(folder: Path, note: NewNote) -> Change:
    """Write a block, new or over the one of that title, whose old version is put aside.

    Raises ``RefusedError`` for an empty or over-long text or title, for a block that would supersede itself and for a
    file that leads out of the store; ``NotFoundError`` when there is no block to supersede; ``BusyError``,
    ``StoreIOError``. Nothing is changed then, but where the disk fails between the note and the block it supersedes.
    """
    title = checked_title(note.title)
    body = note.text.strip()
    if not one_line(body):
        raise RefusedError("the note is empty", "give it at least one character")
    if len(encode(body)) > MAX_NOTE_BYTES:
        raise RefusedError(f"a note is over {MAX_NOTE_BYTES} bytes", "keep it in a file and remember where")
    listed = list_blocks(folder)
    with locked(folder / LOCK_NAME):
        superseded = None if note.supersedes is None else existing_block(folder, note.supersedes)
        old = b"" if superseded is None else bytes_to_change(folder, superseded.path)
        target = find_target(folder, title, listed)
        if superseded is not None and superseded.path == target.path:
            raise RefusedError(f"block {target.path.stem!r} cannot supersede itself", "give the note another title")
        change = _write_block(folder, with_dropped(folder, note, target), title, body, target)
        if superseded is not None:
            trouble = _supersede(folder, superseded, old, target.path.stem, note.source_session)
            change = replace(change, superseded=superseded.path.stem, journal_trouble=change.journal_trouble or trouble)
    others = [block for block in listed if superseded is None or block.path != superseded.path]
    words = f"{title} {_description(note, body)}"
    return replace(change, near=near_duplicates(target.path.stem, words, others))


def with_dropped(folder: Path, note: NewNote, target: Target) -> NewNote:
    """Return the note with what the block had and another program's rewrite dropped (DESIGN 10): the journal tells.

    Cost: the journal, for a block whose header has none of this store's keys; one that cannot be read tells nothing.
    """
    block = target.block
    if block is None or block.note.aliases or block.note.kind or block.note.project or block.note.pinned:
        return note
    try:
        known = standings([noted(block.path.stem, block.note)], iter_operations(folder), times.now())[block.path.stem]
    except StoreIOError:
        return note
    return replace(
        note,
        aliases=(*known.aliases, *note.aliases),
        kind=note.kind or (None if known.kind == DEFAULT_KIND else known.kind),
        project=note.project or known.project,
        is_pinned=note.is_pinned or known.pinned,
    )


def _write_block(folder: Path, note: NewNote, title: str, body: str, target: Target) -> Change:
    block = target.block
    old = None if block is None else bytes_to_change(folder, block.path)
    data = block_bytes(note, title, body, target, old, now_text())
    if old is None:
        kept = None
        create_file(target.path, data)
    else:
        kept = keep_copy(folder, target.path.stem, old)
        put_block(target.path, data, kept)
    change = tell(folder, "remember", target.path, kept=kept, told=told_values(note, title, target))
    return replace(change, is_new=block is None, held_again=None if block is None else block.note.superseded_by)


def block_bytes(note: NewNote, title: str, body: str, target: Target, old: bytes | None, now: str) -> bytes:
    """Return the file of a block as ``note`` makes it out of ``old``, ``None`` for a new one.

    ``title`` is of ``checked_title``, ``body`` trimmed, ``now`` a time as ``now_text`` gives it. Pure.
    """
    fields = _fields(note, title, body, target, now)
    if old is None:
        return note_file.new_note(fields, body)
    return note_file.with_body(note_file.with_fields(old, fields), body)


def told_values(note: NewNote, title: str, target: Target) -> dict[str, JournalValue]:
    """Return what the journal's ``remember`` line tells of a block beside its name and what was put aside."""
    block = target.block
    return {
        "source_session": note.source_session,
        "title": _title(title, target),
        "aliases": _aliases(note, block),
        "kind": note.kind or (None if block is None else block.note.kind),
        "project": note.project or (None if block is None else block.note.project),
        "pinned": note.is_pinned or (block is not None and block.note.pinned),
    }


def _fields(note: NewNote, title: str, body: str, target: Target, written_at: str) -> dict[str, Value | None]:
    """Return what the block's header is to say, in order; a key that is left out stays as it is."""
    now = f"{written_at.removesuffix('Z')}+00:00"
    block = target.block
    fields: dict[str, Value | None] = {
        "name": target.path.stem if block is None else None,
        "description": _description(note, body),
        "source_session": one_line(note.source_session or ""),
        "created_at": now if block is None else None,
        "updated_at": now,
        "title": _title(title, target) if block is None or block.title is None else None,
        "aliases": _aliases(note, block) if note.aliases else None,
        "kind": one_line(note.kind or ""),
        "project": note.project,
        "pinned": "true" if note.is_pinned and not (block is not None and block.note.pinned) else None,
    }
    told = {key: value for key, value in fields.items() if value or key == "description"}
    if block is not None and block.note.superseded_by is not None:
        told["superseded_by"] = None
    return told


def _title(title: str, target: Target) -> str | None:
    """Return the title that the block has from now on; its slug is none."""
    if target.block is not None and target.block.title is not None:
        return target.block.title
    return title if title != target.path.stem else None


def _description(note: NewNote, body: str) -> str:
    return first_sentence(body) if note.description is None else one_line(note.description)


def _aliases(note: NewNote, block: Block | None) -> list[str]:
    """Return the block's aliases and the new ones, each once, in this order."""
    known = () if block is None else block.note.aliases
    return list(dict.fromkeys([*known, *(alias for text in note.aliases if (alias := one_line(text)))]))


def _supersede(folder: Path, block: Block, old: bytes, successor: str, source_session: str | None) -> str | None:
    """Write the successor into a block's header; return what was wrong with the journal."""
    if block.note.superseded_by == successor:
        return None
    data = superseded_bytes(block.path.stem, old, successor)
    kept = keep_copy(folder, block.path.stem, old)
    put_block(block.path, data, kept)
    return tell(folder, "supersede", block.path, kept=kept, source_session=source_session, by=successor).journal_trouble


def superseded_bytes(stem: str, old: bytes, successor: str) -> bytes:
    """Return the file of the block in ``<stem>.md`` with its successor in the header. Pure."""
    fields: dict[str, Value | None] = {"superseded_by": successor}
    if not note_file.has_header(old):
        fields = {"name": stem, **fields}
    return note_file.with_fields(old, fields)
