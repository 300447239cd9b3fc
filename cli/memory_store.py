"""Finds memory blocks in the data home and, lower in rank, in Aster's older homes; changes them, and tells of it.

Answered from the files alone: ``index`` is imported only after a change, to follow it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cli import choices, output, shapes
from cli.settings import open_places, open_settings

BLOCK: Final = "memory block"
"""What ``NotFoundError`` calls a block."""

if TYPE_CHECKING:
    from persist.errors import NotFoundError
    from persist.events import NoteFact
    from persist.memory import MemoryStore
    from persist.memory.blocks import Block
    from persist.memory.change import Change
    from persist.places import Places


def memory_folders(places: Places) -> list[Path]:
    """Return the memory folders, the highest rank first: those of the homes that ingest reads, and no others."""
    from persist.agents.aster.agent import locate
    from persist.memory import folders
    from persist.places import current_environment

    return [places.memory, *folders.memory_folders(locate(current_environment()))[1:]]


def list_all_blocks(places: Places, *, archived: bool = False) -> list[Block]:
    """Return the blocks of all homes, newest first; of files of one name that of the highest rank."""
    from persist.memory.blocks import list_blocks, newest_first

    found: dict[tuple[str, bool], Block] = {}
    for folder in memory_folders(places):
        for block in list_blocks(folder, include_archived=archived):
            found.setdefault((block.path.name, block.note.archived), block)
    return newest_first(found.values())


def get_block(places: Places, name: str) -> Block:
    """Return the block that ``name`` means. Raises ``NotFoundError``, naming near ones, and ``StoreIOError``."""
    from persist.errors import StoreIOError
    from persist.memory.blocks import find_block

    for folder in memory_folders(places):
        block = find_block(folder, name)
        if block is not None:
            if block.unread is not None:
                raise StoreIOError(block.path, "read", block.unread)
            if block.problem:
                output.talk(f"{block.path} {block.problem}")
            return block
    raise _unknown(places, name)


def print_note(places: Places, name: str, *, session: str | None = None, journaled: bool = True, json: bool) -> None:
    """Print the block, fact or project file that ``name`` means; of a block the journal tells, unless not wanted.

    Raises ``NotFoundError`` and ``StoreIOError``.
    """
    from persist.memory.known_blocks import known_block

    unheaded = _of_project(places, name)
    block = unheaded or get_block(places, name)
    if json:
        output.emit_json(shapes.block(unheaded or known_block(block)))
    else:
        output.line(output.safe(block.note.body.rstrip("\n")))
    if journaled and unheaded is None:
        note_recall(places, block, session)


def typed_name(places: Places, words: Sequence[str]) -> str:
    """Return the name that was typed; of a file of the memory, whose path lists and recalls print, its name."""
    from persist.memory.names import is_note_file, is_of_project

    typed = choices.joined(words)
    for folder in memory_folders(places) if typed.startswith("/") else ():
        below = typed.removeprefix(f"{folder}/")
        if below != typed and "/" not in below and (is_of_project(below) or is_note_file(below)):
            return below if is_of_project(below) else below.removesuffix(".md")
    return typed


def fact_at(places: Places, name: str) -> tuple[Path, NoteFact]:
    """Return the fact on the line that ``ASTER.md:LINE`` names, and its folder. Raises ``NotFoundError``."""
    from persist.errors import NotFoundError
    from persist.memory.blocks import PROJECT_FILE
    from persist.memory.names import fact_line
    from persist.memory.project import parse_facts, read_project_bytes

    line = fact_line(name)
    for folder in memory_folders(places):
        data = read_project_bytes(folder)
        if data is None:
            continue  # of files of one name that of the highest rank stands, and no other
        for fact in parse_facts(data):
            if line is not None and fact.line_number <= line <= fact.last_line_number:
                return folder, fact
        break
    raise NotFoundError("fact", name, f"asx memory show {PROJECT_FILE} prints them all")


def fact_as_block(folder: Path, fact: NoteFact) -> Block:
    """Return a fact as a block without a header, called ``ASTER.md:LINE`` after the line it begins on."""
    from persist.events import Note
    from persist.memory.blocks import PROJECT_FILE, Block
    from persist.recall.candidate import fact_name

    note = Note(fact_name(fact.line_number), fact.text, kind="fact")
    return Block(note, folder / PROJECT_FILE, len(fact.text.encode()))


def _of_project(places: Places, name: str) -> Block | None:
    """Return ``ASTER.md``, or the fact that is named, as a block without a header; ``None`` for any other name."""
    from persist.memory.blocks import PROJECT_FILE
    from persist.memory.names import is_like_fact

    if is_like_fact(name):
        return fact_as_block(*fact_at(places, name))
    return _project_file(places) if name == PROJECT_FILE else None


def _project_file(places: Places) -> Block | None:
    """Return ``ASTER.md`` as a block without a header; ``None`` where there is none, or a block has this title."""
    from persist.events import Note
    from persist.memory.blocks import PROJECT_FILE, Block, find_block
    from persist.memory.project import read_project

    folders = memory_folders(places)
    if any(find_block(folder, PROJECT_FILE) is not None for folder in folders):
        return None
    for folder in folders:
        text = read_project(folder)
        if text is not None:
            return Block(Note(PROJECT_FILE, text), folder / PROJECT_FILE, len(text.encode()))
    return None


def note_recall(places: Places, block: Block, session: str | None = None) -> None:
    """Write the journal line of a block that is given out (DESIGN 10); one that cannot be written is only told."""
    from persist import times
    from persist.memory.journal_writer import append_recalls

    trouble = append_recalls(places.memory, [block.path.stem], session=session, ts=times.now())
    if trouble is not None:
        output.talk(f"the recall is not in the journal: {trouble}")


def change_block(words: Sequence[str], change: Callable[[MemoryStore, str], Change], *, moves: bool = True) -> Change:
    """Make a change to the block that is named, and let the index follow; ``moves`` if its file may go elsewhere.

    Raises what the store raises; ``NotFoundError`` names near blocks, and a block of an older home is ``RefusedError``.
    """
    from persist.errors import NotFoundError, RefusedError
    from persist.memory import MemoryStore, find_block
    from persist.memory.put_aside import files_that_may_go

    places = open_places()
    name = typed_name(places, words)
    try:
        with index_follows(files_that_may_go(places.memory, name) if moves else ()):
            return change(MemoryStore(places.memory), name)
    except NotFoundError as error:
        if error.what != BLOCK:
            raise
        for folder in memory_folders(places)[1:]:
            block = find_block(folder, name)
            if block is not None:
                raise RefusedError(
                    f"{block.path} lies in an older home, which is only read", f"move it to {places.memory}"
                ) from None
        raise _unknown(places, name) from None


@contextmanager
def index_follows(paths: Sequence[Path] = ()) -> Iterator[None]:
    """Let the index follow the change that is made within; ``paths`` are files that it may take from their place.

    Whatever is wrong with the configuration is told afterwards: it is none of the store's business.
    """
    from cli.session_store import followed
    from persist.errors import ConfigError

    try:
        settings = open_settings()
    except ConfigError as error:
        yield
        output.talk(f"the index was left as it was: {error}")
        return
    with followed(settings, paths):
        yield


def tell_change(change: Change, *, json: bool) -> None:
    """Print what a change came to, and tell a person what may matter about it."""
    name = change.name or change.fact or "ASTER.md"
    if json:
        output.emit_json(shapes.memory_change(change))
    else:
        output.line(output.safe_line(name))
        if change.version is not None:
            output.talk(f"what it was is kept: asx memory restore {shlex.quote(name)} --at {change.version}")
    if change.name is None and not change.is_new:
        output.talk(f"{name}: stands in ASTER.md already; nothing was written")
    if change.held_again is not None:
        output.talk(f"{name} was superseded by {change.held_again}; it holds again")
    if change.near:
        output.talk(f"nearly the same: {', '.join(change.near)}")
    if change.journal_trouble is not None:
        output.talk(f"the journal does not tell of it: {change.journal_trouble}")


def is_put_aside(places: Places, name: str) -> bool:
    """Tell whether a name that no block has is one that was archived or removed."""
    from persist.memory.versions import stem_to_restore

    return stem_to_restore(places.memory, name) is not None


def _unknown(places: Places, name: str) -> NotFoundError:
    from difflib import get_close_matches

    from persist.errors import NotFoundError
    from persist.memory.blocks import PROJECT_FILE
    from persist.memory.versions import archived_file, stem_to_restore

    if name == PROJECT_FILE:
        return NotFoundError(BLOCK, name, f"it holds the facts and is changed by hand: {places.memory / name}")
    stem = stem_to_restore(places.memory, name)
    if stem is not None:
        gone = "is archived" if archived_file(places.memory, stem).exists() else "was removed"
        return NotFoundError(BLOCK, name, f"it {gone}; to bring it back: asx memory restore {shlex.quote(stem)}")
    known = [text for block in list_all_blocks(places) for text in (block.note.name, block.title) if text]
    near = get_close_matches(name, known)
    return NotFoundError(BLOCK, name, f"did you mean {' or '.join(near)}?" if near else "see: asx memory list")
