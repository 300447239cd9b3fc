"""Leads from a block or a fact of the memory to the event of a transcript that it comes from.

Reads only: the journal from its file, the session from its transcript, found in the index or without one. Which event
it is, is ``persist.memory.provenance``'s to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from index.errors import AsterIndexError
from index.results import EventRow, SessionRow
from index.sessions import show_session
from index.settings import Settings
from index.unindexed import show_from_files
from persist.errors import NotFoundError, StoreError
from persist.events import Note, NoteFact
from persist.memory.journal import known_operations
from persist.memory.provenance import Call, Turn, Writing, find_turn, writing_of_block, writing_of_fact


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a note comes from, as far as it is known.

    ``writing`` is ``None`` where no session is named. ``session`` is ``None`` where it cannot be found: ``trouble``
    says why. ``event`` is the one that led to it, whole, ``rule`` how it was found (``named``, ``time``,
    ``consolidated``).
    """

    writing: Writing | None
    session: SessionRow | None = None
    event: EventRow | None = None
    rule: str | None = None
    trouble: str | None = None


def block_provenance(settings: Settings, path: Path, note: Note) -> Provenance:
    """Return where the block in the file at ``path`` comes from. Cost: the journal, and the session's files."""
    folder = path.parent.parent if note.archived else path.parent
    return _traced(settings, writing_of_block(path.stem, note, known_operations(folder)))


def fact_provenance(settings: Settings, folder: Path, fact: NoteFact) -> Provenance:
    """Return where a fact of the ``ASTER.md`` in ``folder`` comes from. Cost as :func:`block_provenance`."""
    return _traced(settings, writing_of_fact(fact, known_operations(folder)))


def _traced(settings: Settings, writing: Writing | None) -> Provenance:
    if writing is None:
        return Provenance(None)
    try:
        session, events = _find(settings, writing.session)
    except (AsterIndexError, StoreError) as error:
        return Provenance(writing, trouble=str(error))
    try:
        turn = find_turn(writing, _calls(events))
        event = None if turn is None else _event(settings, session, turn)
    except StoreError as error:
        return Provenance(writing, session, trouble=str(error))
    return Provenance(writing, session, event, None if turn is None else turn.rule)


def _find(settings: Settings, text: str) -> tuple[SessionRow, Iterator[EventRow]]:
    """Return a session; one that the index does not know yet is looked for in the files."""
    try:
        return show_session(settings, text)
    except NotFoundError:
        return show_from_files(settings, text)


def _calls(events: Iterator[EventRow]) -> Iterator[Call]:
    for event in events:
        if event.event_type in ("tool_call", "user_message"):
            yield Call(
                event.event_index, event.event_type, event.ts, event.tool_name, event.tool_arguments, event.source_path
            )


def _event(settings: Settings, session: SessionRow, turn: Turn) -> EventRow | None:
    """Return the event again, whole: not every event of a session is held meanwhile."""
    _row, events = _find(settings, f"{session.agent}:{session.session_id}")
    return next(
        (one for one in events if (one.event_index, one.source_path) == (turn.event_index, turn.source_path)), None
    )
