"""Codex's ``history.jsonl`` to history prompts: what was typed, in which session, when.

Pure: no I/O. Codex cuts the file's beginning off when it grows too large; such a file is read anew. Imports only
``persist`` values. Rules: ``spec/agents.md`` 2.
"""

from __future__ import annotations

from persist import times
from persist.entries import EntryParser
from persist.errors import ShapeError
from persist.events import HistoryPrompt, Parsed
from persist.sources import Record


class HistoryParser(EntryParser):
    """Reads the entries of a prompt history; one with a text is of the format."""

    def read_entry(self, record: Record) -> Parsed:
        """Read one entry. Raises ``ShapeError`` for one that is no object or has no text."""
        if not isinstance(record, dict):
            raise ShapeError(f"a history entry must be an object, not {type(record).__name__}")
        text = record.get("text")
        if not isinstance(text, str):
            raise ShapeError(f"'text' of a history entry must be text, not {type(text).__name__}")
        if not text.strip():
            return Parsed(skipped="empty prompt")
        session_id, written_time = record.get("session_id"), record.get("ts")
        ts = times.from_any(written_time)
        prompt = HistoryPrompt(text, None, ts, session_id if isinstance(session_id, str) and session_id else None)
        return Parsed(prompts=(prompt,), bad_times=1 if ts is None and written_time is not None else 0)
