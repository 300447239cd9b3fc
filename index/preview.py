"""The beginning of a session: its first turns, within a bounded window of its first transcript.

Reads the file at that moment, at most ``PREVIEW_BYTES`` and ``PREVIEW_LINES`` of it; no SQL of its own. Aether's logs
are previewed by Aether's own rules (``spec/aether.md`` 2, "Preview"), the other agents' by the same bounds.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

from index.results import Preview, SessionRow
from index.sessions import show_session
from index.settings import Settings
from persist.aether import listing
from persist.aether.listing import PREVIEW_BYTES, PREVIEW_LINES, PREVIEW_TURNS, Turn, turn_of
from persist.archive.opening import open_transcript
from persist.errors import NotFoundError, StoreIOError
from persist.fingerprint import stat_of
from persist.reading import SourceReader
from persist.sources import TRANSCRIPT, Source


def preview_session(settings: Settings, text: str) -> Preview:
    """Return the beginning of the session that ``text`` names, as in ``index.sessions.show_session``.

    Raises its errors, and ``StoreIOError`` when the transcript cannot be read.
    """
    session, _events = show_session(settings, text)
    if not session.paths:
        raise NotFoundError("transcript", text, "the session has no file")
    path = session.paths[0]
    if session.agent == "aether":
        found = listing.preview(Path(path))
        return Preview(session, found.metadata.selected_mode, found.transcript, found.tool_call_count, found.truncated)
    return _preview(settings, session, path)


def _preview(settings: Settings, session: SessionRow, path: str) -> Preview:
    try:
        with open_transcript(settings.places.archive, session.agent, path) as opened:
            stat = stat_of(os.fstat(opened.file.fileno()))
            window = opened.plain.read(PREVIEW_BYTES)
    except OSError as error:
        raise StoreIOError(path, "read", error.strerror or type(error).__name__) from error
    lines = window.split(b"\n")
    whole = (len(window) < PREVIEW_BYTES or len(window) == stat.size_bytes) and len(lines) <= PREVIEW_LINES + 1
    source = Source(session.agent, TRANSCRIPT, path, "", stat)
    reader = SourceReader(settings.agent(session.agent), source, io.BytesIO(b"\n".join(lines[:PREVIEW_LINES])))
    turns: list[Turn] = []
    calls = 0
    for line in reader:
        for numbered in line.events:
            calls += numbered.event.event_type == "tool_call"
            turn = turn_of(numbered.event)
            if turn is not None:
                turns.append(turn)
    truncated = not whole or len(turns) > PREVIEW_TURNS
    return Preview(session, None, tuple(turns[:PREVIEW_TURNS]), calls, truncated)
