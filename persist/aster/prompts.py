"""Makes the prompt history of a data home anew from its transcripts (DESIGN 9: it is derived).

Memory is the newest hundred prompts and one transcript. Writes only the history file, through ``persist.history``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from persist import history
from persist.aster.listing import list_sessions
from persist.aster.places import SESSIONS
from persist.aster.transcript import Transcript
from persist.errors import StoreError
from persist.times import from_any


def history_path(home: Path) -> Path:
    """Return where the prompt history of a data home stands."""
    return home / SESSIONS / history.HISTORY_NAME


def rebuild_history(home: Path) -> history.History:
    """Replace the history's entries by the newest prompts of all transcripts, by time, and return what it holds.

    A prompt without a time counts as typed with the one before it, the first with its session's beginning.
    Imported sessions and blank prompts are left out, as is a transcript that cannot be read. What is added to the
    history meanwhile stays in it. Raises ``BusyError`` and ``StoreIOError`` for the history itself.
    """
    before = history.read(history_path(home)).entries
    newest: list[tuple[str, history.PromptEntry]] = []
    for session in sorted(list_sessions([home]).sessions, key=lambda entry: (entry.created_at or "", entry.id)):
        imported = session.header is not None and session.header.imported_from is not None
        if not session.prompts or imported:
            continue
        try:
            newest.extend(_prompts(Transcript.load(session.path), session.id))
        except StoreError:
            continue
        newest = sorted(newest, key=lambda pair: pair[0])[-history.KEPT :]
    return history.replace_all(history_path(home), [entry for _ts, entry in newest], before=before)


def change_folder(home: Path, session_id: str, cwd: str) -> int:
    """Make ``cwd`` the folder of a session's prompts in the history; return how many there are.

    Raises ``BusyError`` and ``StoreIOError``.
    """

    def moved(entry: history.PromptEntry) -> history.PromptEntry:
        return replace(entry, cwd=cwd) if entry.session_id == session_id else entry

    return history.change(history_path(home), moved)


def _prompts(transcript: Transcript, session_id: str) -> Iterator[tuple[str, history.PromptEntry]]:
    header = transcript.header
    created_at = (header.created_at if header is not None else None) or ""
    cwd = (header.cwd if header is not None else None) or ""
    ts = from_any(created_at) or ""
    for message in transcript.messages:
        if message.role == "user" and message.is_visible:
            ts = from_any(message.ts) or ts
            yield ts, history.PromptEntry(session_id, cwd, created_at, message.content or "")
