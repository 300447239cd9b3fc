"""The events of one transcript as shown, their texts whole, read from the file at that moment.

I/O on one file; no SQL. Serves sessions with and without an index, so it knows of neither.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator

from index.results import EventRow
from index.settings import Settings
from persist.archive.opening import open_transcript
from persist.errors import NotFoundError, StoreIOError
from persist.fingerprint import stat_of
from persist.ids import MIN_PREFIX_CHARACTERS
from persist.reading import Numbered, ReadLine, SourceReader
from persist.sources import Source


def no_session(text: str, id_: str) -> NotFoundError:
    """Return the error for a text that names no session; ``id_`` is the text without the agent."""
    short = len(id_) < MIN_PREFIX_CHARACTERS
    hint = (
        f"a prefix needs at least {MIN_PREFIX_CHARACTERS} characters"
        if short
        else "asx sessions list --all shows the ids"
    )
    return NotFoundError("session", text, hint)


def event_row(numbered: Numbered, line: ReadLine, source_path: str, canonical: bool) -> EventRow:
    """Return one event as shown."""
    event = numbered.event
    return EventRow(
        event_index=numbered.event_index,
        line_number=line.number,
        offset_bytes=line.offset_bytes,
        turn_index=numbered.turn_index,
        ts=event.ts,
        kind=event.kind,
        event_type=event.event_type,
        outcome=event.outcome,
        text=event.text,
        text_len=len(event.text or ""),
        tool_call_id=event.tool_call_id,
        tool_name=event.tool_name,
        tool_arguments=event.tool_arguments,
        model_name=event.model_name,
        message_id=event.message_id,
        canonical=canonical,
        source_path=source_path,
    )


def read_events(
    settings: Settings,
    agent: str,
    kind: str,
    path: str,
    root: str,
    hidden: frozenset[int],
    damaged: Counter[str] | None = None,
) -> Iterator[EventRow]:
    """Yield the events of one transcript, read whole. Raises ``StoreIOError`` where it cannot be read.

    ``damaged`` is given the number of the file's damaged lines, by its path, as they are met.
    """
    limit = settings.configuration.limits.max_line_bytes
    try:
        with open_transcript(settings.places.archive, agent, path) as opened:
            source = Source(agent, kind, path, root, stat_of(os.fstat(opened.file.fileno())))
            for line in SourceReader(settings.agent(agent), source, opened.plain, max_line_bytes=limit):
                if damaged is not None and line.error is not None:
                    damaged[path] += 1
                for numbered in line.events:
                    yield event_row(numbered, line, path, numbered.event_index not in hidden)
    except OSError as error:
        raise StoreIOError(path, "read", error.strerror or type(error).__name__) from error
