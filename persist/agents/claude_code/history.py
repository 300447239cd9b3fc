"""Claude Code's ``history.jsonl`` to history prompts: what was typed, pastes put back in place.

Pure: no I/O. Rules: ``spec/agents.md`` 2, ``spec/fault-checks.md`` B22. Imports only ``persist`` values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from persist import times
from persist.entries import EntryParser
from persist.errors import ShapeError
from persist.events import HistoryPrompt, Parsed
from persist.sources import Record

_PLACEHOLDER = re.compile(r"\[(?:Pasted text|\.\.\.Truncated text) #(\d{1,9})(?: \+\d{1,9} lines)?\.*\]")


class HistoryParser(EntryParser):
    """Reads the entries of a prompt history; one with a shown text is of the format."""

    def read_entry(self, record: Record) -> Parsed:
        """Read one entry. Raises ``ShapeError`` for one that is no object or has no shown text."""
        if not isinstance(record, dict):
            raise ShapeError(f"a history entry must be an object, not {type(record).__name__}")
        display = record.get("display")
        if not isinstance(display, str):
            raise ShapeError(f"'display' of a history entry must be text, not {type(display).__name__}")
        if not display.strip():
            return Parsed(skipped="empty prompt")
        text = _PLACEHOLDER.sub(_Pastes(record.get("pastedContents")), display)
        session_id, project = record.get("sessionId"), record.get("project")
        written_time = record.get("timestamp")
        ts = times.from_any(written_time)
        prompt = HistoryPrompt(
            text,
            display if display != text else None,
            ts,
            session_id if isinstance(session_id, str) and session_id else None,
            project if isinstance(project, str) and project else None,
        )
        return Parsed(prompts=(prompt,), bad_times=1 if ts is None and written_time is not None else 0)


class _Pastes:
    """Replaces a placeholder by the text pasted under its number; unknown ones and images stay as shown."""

    def __init__(self, pasted: object) -> None:
        self._by_number: Mapping[Any, Any] = pasted if isinstance(pasted, dict) else {}

    def __call__(self, placeholder: re.Match[str]) -> str:
        paste = self._by_number.get(placeholder[1])
        if isinstance(paste, dict) and paste.get("type") != "image" and isinstance(paste.get("content"), str):
            return str(paste["content"])
        return placeholder[0]
