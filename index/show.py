"""Shows one event whole: the index tells where it stands, its source is read at that moment.

Reads only. Reads the one line, not the file: the event's texts depend on the line alone, and what depends on earlier
lines (a result's tool name) is in the index.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from index.opening import open_reader
from index.results import EventRow
from index.sessions import event_row, find_session
from index.settings import Settings
from persist.errors import NotFoundError, StoreIOError
from persist.fingerprint import stat_of
from persist.reading import Checkpoint, SourceReader
from persist.sources import Source

_PLACE: Final = """SELECT a.name, s.kind, s.path, s.root, e.line_number, e.offset_bytes, e.event_index, e.turn_index,
  e.hidden, e.tool_name, e.arguments_head, e.model_name, s.id
FROM source_rows s JOIN event_rows e ON e.source_id = s.id JOIN agents a ON a.id = s.agent_id
WHERE s.session_row = ? AND e.event_index = ? ORDER BY s.head_time IS NULL, s.head_time, s.path LIMIT 1"""
_FIRST_ON_LINE: Final = "SELECT min(event_index) FROM event_rows WHERE source_id = ? AND line_number = ?"


def show_event(settings: Settings, text: str, event_index: int) -> EventRow:
    """Return one event of a session, texts whole.

    ``text`` names the session as in ``index.sessions.show_session``. Where several files tell the session, the index
    counts in the first of them that has such an event. Raises ``NotFoundError``, ``AmbiguousError``, ``StoreIOError``
    when the source cannot be read or no longer has the line, and the errors of ``open_reader``. Cost: one line.
    """
    connection = open_reader(settings.index_path)
    try:
        row_id, session = find_session(connection, text)
        place = connection.execute(_PLACE, (row_id, event_index)).fetchone()
        if place is None:
            raise NotFoundError("event", f"{text}:{event_index}", f"the session has events 0 to {session.events - 1}")
        first = connection.execute(_FIRST_ON_LINE, (place[12], place[4])).fetchone()[0]
    finally:
        connection.close()
    return _read(settings, place, event_index - first)


def _read(settings: Settings, place: tuple[Any, ...], number_on_line: int) -> EventRow:
    agent, kind, path, root, line_number, offset, event_index, turn_index, hidden, tool_name, arguments, model, _ = (
        place
    )
    try:
        with Path(path).open("rb") as file:
            source = Source(agent, kind, path, root, stat_of(Path(path).stat()))
            start = Checkpoint(offset_bytes=offset, line_number=line_number)
            line = next(iter(SourceReader(settings.agent(agent), source, file, start)), None)
    except OSError as error:
        raise StoreIOError(path, "read", error.strerror or type(error).__name__) from error
    if line is None or line.number != line_number or number_on_line >= len(line.events):
        raise StoreIOError(path, "read", f"line {line_number} is no longer what was indexed; run: asx ingest")
    shown = event_row(line.events[number_on_line], line, path, hidden == 0)
    return replace(
        shown,
        event_index=event_index,
        turn_index=turn_index,
        tool_name=shown.tool_name or tool_name,
        tool_arguments=shown.tool_arguments or arguments,
        model_name=shown.model_name or model,
    )
