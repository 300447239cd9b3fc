"""Archives the stale blocks of a memory folder, or says which they are (``decay.py`` tells what is stale).

Each block is one step under the folder's lock, judged again there, so that other writers wait for one block at most and
a block that was used or changed meanwhile stays. Without the word to do it nothing is written and no lock is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from persist import times
from persist.errors import BusyError, StoreError
from persist.events import Note
from persist.files import LOCK_NAME, locked
from persist.memory.blocks import PROJECT_FILE, note_paths, read_block
from persist.memory.decay import Stale, stale_blocks, stale_reason
from persist.memory.journal import Operation, iter_operations
from persist.memory.journal_tail import JournalTail
from persist.memory.put_aside import archive_held
from persist.memory.standing import Standing, noted, standings


class Archived(NamedTuple):
    """A stale block: its slug, the reason, and once it is archived the ULID of its version."""

    name: str
    reason: str
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Decay:
    """What a decay came to: the stale blocks by name (with ``dry_run`` none was touched), and how many stay.

    ``troubles`` are sentences about blocks that could not be archived and stay, ``journal_troubles`` about those that
    were while the journal does not tell of it.
    """

    dry_run: bool
    as_of: str
    archived: tuple[Archived, ...]
    staying: int
    troubles: tuple[str, ...] = ()
    journal_troubles: tuple[str, ...] = ()


def decay(folder: Path, *, yes: bool = False, as_of: str | None = None) -> Decay:
    """Return the stale blocks of a memory folder at ``as_of`` (the index's form; now), archived with ``yes``.

    What cannot be read or archived stays and does not hinder others. Memory: names and headers, no texts; the journal
    is streamed. Raises ``StoreIOError`` where the folder or the journal cannot be read, ``BusyError`` where the lock is
    held too long before anything was archived; later than that it is a trouble, and the rest is left.
    """
    moment = as_of or times.now()
    notes = _notes(folder)
    tail = JournalTail(folder)
    stale = stale_blocks(standings(notes.values(), tail.read(), moment), moment)
    if not yes:
        return Decay(True, moment, tuple(Archived(*one) for one in stale), len(notes) - len(stale))
    archived: list[Archived] = []
    troubles: list[str] = []
    journal_troubles: list[str] = []
    added: list[Operation] = []
    for one in stale:
        try:
            with locked(folder / LOCK_NAME):
                reason = _reason_still(folder, one, notes[one.name], tail, added, as_of)
                change = None if reason is None else archive_held(folder, folder / f"{one.name}.md", reason)
        except BusyError as error:
            if not archived:
                raise
            troubles.append(str(error))
            break
        except StoreError as error:
            troubles.append(str(error))
            continue
        if change is None or reason is None:
            continue
        archived.append(Archived(one.name, reason, change.version))
        if change.journal_trouble is not None:
            journal_troubles.append(change.journal_trouble)
    return Decay(False, moment, tuple(archived), len(notes) - len(archived), tuple(troubles), tuple(journal_troubles))


def _notes(folder: Path) -> dict[str, Note]:
    """Return the notes of the folder that could be read, by slug, without their texts."""
    notes = {}
    for path in note_paths(folder):
        if path.name != PROJECT_FILE:
            note = _note(path)
            if note is not None:
                notes[path.stem] = note
    return notes


def _note(path: Path) -> Note | None:
    block = read_block(path)
    return None if block.unread is not None else noted(path.stem, block.note)._replace(body="")


def _reason_still(
    folder: Path, stale: Stale, before: Note, tail: JournalTail, added: list[Operation], as_of: str | None
) -> str | None:
    """Return why a block is stale now that the lock is held, ``None`` when it is not any more, or is gone.

    Where neither the note nor what the journal tells of it has changed, the first verdict holds; else the journal is
    read again. ``added`` gathers what others noted meanwhile.
    """
    note = _note(folder / f"{stale.name}.md")
    if note is None:
        return None
    added += (one for one in tail.read() if one.entry.op != "archive")
    moment = as_of or times.now()
    if note == before and not tail.replaced and _of(note, added, moment) == _of(note, (), moment):
        return stale.reason
    return stale_reason(standings([note], iter_operations(folder), moment)[stale.name], moment)


def _of(note: Note, operations: list[Operation] | tuple[()], moment: str) -> Standing:
    return standings([note], operations, moment)[note.name]
