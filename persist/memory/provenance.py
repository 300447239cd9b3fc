"""Which session a block or a fact comes from, which turn of it wrote it, and what a session wrote; pure.

The header of a block names one session, the journal every writing. Rules: ``spec/aster.md`` 4.5, 4.6. Imports
``persist``'s contracts only; who has a transcript's events hands them in.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from persist.errors import AmbiguousError
from persist.events import Note, NoteFact
from persist.ids import MIN_PREFIX_CHARACTERS, slug
from persist.memory.blocks import Block
from persist.memory.journal import Operation
from persist.memory.journal_writer import MAX_DETAIL_CHARACTERS
from persist.memory.names import same_title

NAMED: Final = "named"
TIME: Final = "time"
CONSOLIDATED: Final = "consolidated"
HEADER: Final = "header"
JOURNAL: Final = "journal"
_WRITES: Final = "remember"
_ADDS: Final = "append_project"
_OUR_COMMANDS: Final = ("remember", "memory add")


class Writing(NamedTuple):
    """When and by which session a block or a fact was written; ``step`` is the plan that it was part of.

    ``names`` are what a tool call may call it: title and slug of a block, the beginning of a fact. ``ts`` is in the
    index's form. ``op`` is ``None`` where the header alone tells, the journal knowing nothing of it. ``stem`` is the
    slug of a block whose title nobody noted, as Aster's: whatever gives that slug may be it.
    """

    session: str
    ts: str | None
    names: tuple[str, ...]
    is_fact: bool = False
    op: str | None = None
    step: str | None = None
    stem: str | None = None


class Call(NamedTuple):
    """What is asked of an event of a transcript, in the transcript's order."""

    event_index: int
    event_type: str
    ts: str | None
    tool_name: str | None
    tool_arguments: str | None
    source_path: str


class Turn(NamedTuple):
    """The event that led to a writing, and by which rule it was found."""

    event_index: int
    source_path: str
    rule: str


class OfSession(NamedTuple):
    """What a session wrote: blocks with where that is told, facts that still stand, names of blocks that are gone."""

    blocks: tuple[tuple[Block, tuple[str, ...]], ...]
    facts: tuple[NoteFact, ...]
    gone: tuple[str, ...]


def writing_of_block(stem: str, note: Note, operations: Iterable[Operation]) -> Writing | None:
    """Return the writing that made a block what it is, ``None`` where neither header nor journal names a session.

    Of the journal's lines the newest of the header's session counts, without one the newest that names a session.
    ``operations`` come newest first.
    """
    told = [
        one for one in operations if one.entry.op == _WRITES and one.entry.source_session and _means(one, stem, note)
    ]
    wanted = note.source_session
    line = next((one for one in told if wanted is None or is_same(one.entry.source_session, wanted)), None)
    session = wanted or (None if line is None else line.entry.source_session)
    if session is None:
        return None
    names = tuple(dict.fromkeys(name for name in (note.title, stem, note.name) if name))
    untitled = stem if note.title is None else None
    if line is None:
        return Writing(session, note.updated_at or note.created_at, names, stem=untitled)
    return Writing(session, line.entry.ts, names, op=line.entry.op, step=line.step, stem=untitled)


def writing_of_fact(fact: NoteFact, operations: Iterable[Operation]) -> Writing | None:
    """Return the writing of a fact, ``None`` where the journal knows of none with a session."""
    for one in operations:
        if one.entry.op == _ADDS and one.entry.source_session and _is_about(one, fact):
            return Writing(one.entry.source_session, one.entry.ts, (fact.text,), is_fact=True, op=_ADDS, step=one.step)
    return None


def find_turn(writing: Writing, calls: Iterable[Call]) -> Turn | None:
    """Return the event of its session that led to a writing.

    A call that writes it by its name, the last at or before the journal's line, else the first behind it (clocks
    differ); without one the prompt of the turn at that time. ``None`` where the session had not begun by then, or where
    nobody knows the time.
    """
    before: Call | None = None
    behind: Call | None = None
    prompt: Call | None = None
    for call in calls:
        is_late = writing.ts is not None and call.ts is not None and call.ts > writing.ts
        if call.event_type == "tool_call" and _writes(call, writing):
            if not is_late:
                before = _later(before, call)
            elif behind is None:
                behind = call
        elif call.event_type == "user_message" and writing.ts is not None and call.ts is not None and not is_late:
            prompt = _later(prompt, call)
    named = before or behind
    if named is not None and writing.step is None:
        return Turn(named.event_index, named.source_path, NAMED)
    if prompt is None:
        return None
    return Turn(prompt.event_index, prompt.source_path, TIME if writing.step is None else CONSOLIDATED)


def _later(known: Call | None, call: Call) -> Call:
    """Return the later of two calls; several files may tell a session, and each is in its own order."""
    return known if known is not None and known.ts and call.ts and known.ts > call.ts else call


def written_by(
    typed: str, blocks: Sequence[Block], facts: Iterable[NoteFact], operations: Sequence[Operation]
) -> OfSession:
    """Return what a session wrote; ``typed`` is its id, or a beginning of it that fits one.

    Raises ``AmbiguousError``.
    """
    noted = {block.note.source_session for block in blocks} | {one.entry.source_session for one in operations}
    wanted = _fitting(typed, {text for text in noted if text})
    lines = [one for one in operations if one.entry.source_session in wanted]
    written = [one for one in lines if one.entry.op == _WRITES and one.entry.name]
    found = []
    for block in blocks:
        stem = block.path.stem
        where = [HEADER] if block.note.source_session in wanted else []
        if any(_means(one, stem, block.note) for one in written):
            where.append(JOURNAL)
        if where:
            found.append((block, tuple(where)))
    adds = [one for one in lines if one.entry.op == _ADDS]
    there = tuple(fact for fact in facts if any(_is_about(one, fact) for one in adds))
    lost = [one for one in written if not any(_means(one, block.path.stem, block.note) for block, _ in found)]
    return OfSession(tuple(found), there, tuple(dict.fromkeys(one.entry.name or "" for one in lost)))


def is_same(noted: str | None, session: str) -> bool:
    """Tell whether a session that somebody noted is this one: Aster slugs ids, and ``agent:`` may stand before one."""
    return noted is not None and _id(noted) == _id(session) != ""


def _fitting(typed: str, noted: set[str]) -> set[str]:
    whole = {text for text in noted if is_same(text, typed)}
    if whole or len(typed.strip()) < MIN_PREFIX_CHARACTERS:
        return whole
    found = {text for text in noted if _id(text).startswith(_id(typed))} if _id(typed) else set()
    if len({_id(text) for text in found}) > 1:
        raise AmbiguousError("session", typed, tuple(sorted(found)))
    return found


def _id(text: str) -> str:
    return slug(text.rpartition(":")[2])


def _means(operation: Operation, stem: str, note: Note) -> bool:
    """Tell whether a line is about a block: it has the slug, or as Aster writes it the name as it was asked for."""
    name = operation.entry.name or ""
    return name == stem or (slug(name) == stem != "") or (note.title is not None and same_title(name, note.title))


def _is_about(operation: Operation, fact: NoteFact) -> bool:
    detail = " ".join((operation.entry.detail or "").split())
    text = " ".join(fact.text.split())
    return bool(detail) and (text == detail or (len(detail) > MAX_DETAIL_CHARACTERS // 2 and text.startswith(detail)))


def _writes(call: Call, writing: Writing) -> bool:
    """Tell whether a tool call keeps this very note: the tool of that name, or a command line that runs ours."""
    arguments = call.tool_arguments or ""
    tool = slug(call.tool_name or "").rpartition("-")[2]
    if tool == _WRITES:
        try:
            given = json.loads(arguments)
        except (ValueError, RecursionError):
            given = None
        if isinstance(given, dict):
            key = given.get("note" if writing.is_fact else "title")
            return isinstance(key, str) and (
                any(same_title(key, name) for name in writing.names)
                or (writing.stem is not None and slug(key) == writing.stem != "")
            )
    folded = " ".join(arguments.casefold().replace("\\n", " ").split())
    if tool != _WRITES and not any(command in folded for command in _OUR_COMMANDS):
        return False
    if writing.stem is not None and f"-{writing.stem}-" in f"-{slug(folded)}-":
        return True
    return any(" ".join(name.casefold().split()) in folded for name in writing.names)
