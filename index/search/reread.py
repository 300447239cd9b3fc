"""Reads events that are indexed once more from their files, whole, and says which are no longer what was indexed.

With the agents' own parsers. Of the index it asks, with plain ``sqlite3``, how a line's events are numbered; never
imports SQLAlchemy, pydantic or the command line.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from typing import IO, Final

from index.projection import TYPE_CODES
from index.search.tools import TEXT, Row, ToolSource
from index.settings import Settings
from persist.archive.opening import open_transcript
from persist.events import Event
from persist.lines import iter_lines
from persist.reading import Checkpoint, SourceReader
from persist.sources import Source, Stat

_FIRST_ON_LINE: Final = """SELECT min(event_index) FROM event_rows INDEXED BY event_rows_place
WHERE source_id = ? AND line_number = ?"""


class Rereader:
    """Reads events of one index again."""

    def __init__(self, settings: Settings, connection: sqlite3.Connection) -> None:
        self._settings = settings
        self._connection = connection
        self._max_line_bytes = settings.configuration.limits.max_line_bytes

    def on_line(self, source: ToolSource, rows: Sequence[Row], line: bytes) -> Iterator[tuple[Row, Event | None]]:
        """Yield the events to be read of one line, each as it stands there; null where it is no longer that one."""
        events = self._events(source, line, rows[0].line_number)
        for row in rows:
            event = events.get(row.event_index)
            yield row, event if event is not None and _is_of(row, event) else None

    def arguments(self, source: ToolSource, file: IO[bytes], wanted: Mapping[int, Row]) -> Iterator[tuple[int, str]]:
        """Yield (event's number, arguments) of events whose arguments an old log has in pieces on earlier lines.

        ``wanted`` is by the event's number, and may lose those that were given. Reads the file from its beginning.
        Raises ``OSError`` as the file does.
        """
        for line in self._reader(source, file, None):
            for numbered in line.events:
                row = wanted.get(numbered.event_index)
                arguments = numbered.event.tool_arguments
                if row is not None and arguments and _agrees(arguments, row.arguments_head, row.arguments_len):
                    yield numbered.event_index, arguments

    def text_of(self, source: ToolSource, row: Row, part: str) -> str | None:
        """Return one text whole, null where it is no longer there. Cost: its line; in an old log, the whole file."""
        limit = self._max_line_bytes
        try:
            with open_transcript(self._settings.places.archive, source.agent, source.path) as opened:
                raw = next(iter_lines(opened.plain, row.offset_bytes, row.line_number, max_line_bytes=limit), None)
                if raw is None or raw.oversize:
                    return None
                line = raw.data + b"\n" * raw.terminated
                ((_, event),) = self.on_line(source, [row], line)
                if event is None:
                    return None
                if part == TEXT:
                    return event.text
                if event.tool_arguments:
                    return event.tool_arguments
                return next((text for _, text in self.arguments(source, opened.plain, {row.event_index: row})), None)
        except OSError:
            return None

    def _events(self, source: ToolSource, line: bytes, line_number: int) -> dict[int, Event]:
        """Return the events of a line by their number in the source."""
        start = Checkpoint(line_number=line_number)
        read = next(iter(self._reader(source, BytesIO(line), start)), None)
        first = self._connection.execute(_FIRST_ON_LINE, (source.id, line_number)).fetchone()[0]
        return {first + numbered.event_index: numbered.event for numbered in read.events} if read is not None else {}

    def _reader(self, source: ToolSource, file: IO[bytes], start: Checkpoint | None) -> SourceReader:
        agent = self._settings.agent(source.agent)
        as_found = Source(source.agent, source.kind, source.path, source.root, Stat(0, 0, 0, 0))
        return SourceReader(agent, as_found, file, start, max_line_bytes=self._max_line_bytes)


def _is_of(row: Row, event: Event) -> bool:
    """Tell whether an event that was read is the one that was indexed; arguments may stand on earlier lines."""
    return (
        TYPE_CODES[event.event_type] == row.type_code
        and _agrees(event.text, row.head, row.text_len if row.head is not None else None)
        and (not event.tool_arguments or _agrees(event.tool_arguments, row.arguments_head, row.arguments_len))
    )


def _agrees(text: str | None, head: str | None, length: int | None) -> bool:
    if text is None or head is None or length is None:
        return text is head
    return len(text) == length and text.startswith(head)
