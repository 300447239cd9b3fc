"""Shows one event whole: the index tells where it stands, its source is read at that moment.

Reads only. Reads the one line, not the file: the event's texts depend on the line alone, and what depends on earlier
lines (a result's tool, the session's model) is in the index. Only arguments that an old log has in pieces on earlier
lines, longer than the index keeps, make it read the file up to that line.
"""

from __future__ import annotations

import os
import sqlite3
from dataclasses import replace
from typing import Final, NamedTuple

from index.identity import hash_of
from index.opening import open_reader
from index.results import EventRow
from index.sessions import find_session
from index.settings import Settings
from index.sqlite_errors import translate_read_errors
from index.transcripts import event_row, read_events
from persist.archive.opening import open_transcript
from persist.errors import AmbiguousError, NotFoundError, StoreIOError
from persist.fingerprint import stat_of
from persist.reading import Checkpoint, SourceReader
from persist.sources import Source

_PLACE: Final = """SELECT s.id, a.name, s.kind, s.path, s.root, e.line_number, e.offset_bytes, e.event_index,
  e.turn_index, e.hidden, e.tool_name, e.arguments_head, e.arguments_len, e.model_name, t.name, e.text_len, e.head,
  p.text_hash
FROM source_rows s JOIN event_rows e ON e.source_id = s.id JOIN agents a ON a.id = s.agent_id
JOIN event_types t ON t.code = e.type_code LEFT JOIN prose p ON p.id = e.id
WHERE s.session_row = :session_row AND e.event_index = :event_index AND (:path IS NULL OR s.path = :path)
ORDER BY e.hidden <> 0, s.head_time IS NULL, s.head_time, s.path LIMIT 20"""
_FIRST_ON_LINE: Final = "SELECT min(event_index) FROM event_rows WHERE source_id = ? AND line_number = ?"
_LAST: Final = """SELECT max(e.event_index) FROM source_rows s JOIN event_rows e ON e.source_id = s.id
WHERE s.session_row = ?"""
_MAX_INDEX: Final = 2**63 - 1


class _Place(NamedTuple):
    """What the index knows of the event, in the order of ``_PLACE``; ``text_hash`` of prose, ``head`` of the rest."""

    source_id: int
    agent: str
    kind: str
    path: str
    root: str
    line_number: int
    offset_bytes: int
    event_index: int
    turn_index: int | None
    hidden: int
    tool_name: str | None
    arguments_head: str | None
    arguments_len: int | None
    model_name: str | None
    event_type: str
    text_len: int
    head: str | None
    text_hash: int | None

    def is_of(self, shown: EventRow) -> bool:
        """Tell whether what was read is what was indexed."""
        text = shown.text or ""
        return (
            (shown.event_type, shown.text_len) == (self.event_type, self.text_len)
            and (self.text_hash is None or hash_of(text) == self.text_hash)
            and text.startswith(self.head or "")
        )


def show_event(settings: Settings, text: str, event_index: int, path: str | None = None) -> EventRow:
    """Return one event of a session, texts whole.

    ``text`` names the session as in ``index.sessions.show_session``. Events are numbered in each file: where several
    files tell the session with different events of that number, ``path`` must name one. Raises ``NotFoundError``,
    ``AmbiguousError``, ``StoreIOError`` when the source cannot be read or no longer has the line, and the errors of
    ``open_reader``. Cost: one line.
    """
    with translate_read_errors(settings.index_path):
        connection = open_reader(settings.index_path)
        try:
            row_id, _ = find_session(connection, text)
            place = _find(connection, row_id, event_index, path)
            if place is None:
                raise NotFoundError("event", f"{text}:{event_index}", _those_there(connection, row_id))
            first = connection.execute(_FIRST_ON_LINE, (place.source_id, place.line_number)).fetchone()[0]
        finally:
            connection.close()
    shown = _read(settings, place, event_index - first)
    arguments = shown.tool_arguments or place.arguments_head
    if arguments is not None and len(arguments) < (place.arguments_len or 0):
        arguments = _assembled(settings, place)
    return replace(
        shown,
        event_index=event_index,
        turn_index=place.turn_index,
        tool_name=place.tool_name,
        tool_arguments=arguments,
        model_name=place.model_name,
    )


def _find(connection: sqlite3.Connection, session_row: int, event_index: int, path: str | None) -> _Place | None:
    if not 0 <= event_index <= _MAX_INDEX:
        return None
    values = {"session_row": session_row, "event_index": event_index, "path": path}
    places = [_Place(*row) for row in connection.execute(_PLACE, values)]
    canonical = [place for place in places if place.hidden == 0]
    if len(canonical) > 1:
        raise AmbiguousError("event", str(event_index), tuple(f"--file {place.path}" for place in canonical))
    return places[0] if places else None


def _those_there(connection: sqlite3.Connection, session_row: int) -> str:
    last = connection.execute(_LAST, (session_row,)).fetchone()[0]
    if last is None:
        return "the session has no events"
    return f"the session has events 0 to {last}" if last else "the session has one event, 0"


def _read(settings: Settings, place: _Place, number_on_line: int) -> EventRow:
    limit = settings.configuration.limits.max_line_bytes
    try:
        with open_transcript(settings.places.archive, place.agent, place.path) as opened:
            stat = stat_of(os.fstat(opened.file.fileno()))
            source = Source(place.agent, place.kind, place.path, place.root, stat)
            start = Checkpoint(offset_bytes=place.offset_bytes, line_number=place.line_number)
            reader = SourceReader(settings.agent(place.agent), source, opened.plain, start, max_line_bytes=limit)
            line = next(iter(reader), None)
    except OSError as error:
        raise StoreIOError(place.path, "read", error.strerror or type(error).__name__) from error
    if line is None or line.number != place.line_number or number_on_line >= len(line.events):
        raise _not_as_indexed(place)
    shown = event_row(line.events[number_on_line], line, place.path, place.hidden == 0)
    if not place.is_of(shown):
        raise _not_as_indexed(place)
    return shown


def _assembled(settings: Settings, place: _Place) -> str | None:
    """Return arguments that lie in pieces on earlier lines, by reading the file up to the event."""
    for event in read_events(settings, place.agent, place.kind, place.path, place.root, frozenset()):
        if event.event_index == place.event_index:
            return event.tool_arguments
    raise _not_as_indexed(place)


def _not_as_indexed(place: _Place) -> StoreIOError:
    return StoreIOError(place.path, "read", f"line {place.line_number} is no longer what was indexed; run: asx ingest")
