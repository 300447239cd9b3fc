"""Claude Code's ``history.jsonl`` to history prompts: what was typed, pastes put back in place.

Pure: no I/O. Rules: ``spec/agents.md`` 2, ``spec/fault-checks.md`` B22. Imports only ``persist`` values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from persist import times
from persist.errors import ShapeError
from persist.events import HistoryPrompt, Parsed
from persist.sources import Line, Record, State

STATE_VERSION: Final = 1
_PLACEHOLDER = re.compile(r"\[(?:Pasted text|\.\.\.Truncated text) #(\d{1,9})(?: \+\d{1,9} lines)?\.*\]")


class HistoryParser:
    """Reads the entries of a prompt history (``persist.sources.Parser``); its state is one flag."""

    def __init__(self, state: State | None = None) -> None:
        if state is not None and state.get("v") != STATE_VERSION:
            raise ValueError(f"a history state of version {state.get('v')!r} cannot be continued; read the file anew")
        self._recognised = bool(state["ours"]) if state is not None else False

    @property
    def session_id(self) -> str | None:
        """Always ``None``: a history tells of many sessions."""
        return None

    @property
    def names_parent(self) -> bool:
        """Always false."""
        return False

    @property
    def recognised(self) -> bool:
        """Whether any entry so far had a shown text."""
        return self._recognised

    def feed(self, record: Record, line: Line) -> Parsed:  # noqa: ARG002 - the protocol's signature
        """Read one entry. Raises ``ShapeError`` for one that is no object or has no shown text."""
        if not isinstance(record, dict):
            raise ShapeError(f"a history entry must be an object, not {type(record).__name__}")
        display = record.get("display")
        if not isinstance(display, str):
            raise ShapeError(f"'display' of a history entry must be text, not {type(display).__name__}")
        self._recognised = True
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

    def save(self) -> State:
        """Return the state as JSON."""
        return {"v": STATE_VERSION, "ours": self._recognised}


class _Pastes:
    """Replaces a placeholder by the text pasted under its number; unknown ones and images stay as shown."""

    def __init__(self, pasted: object) -> None:
        self._by_number: Mapping[Any, Any] = pasted if isinstance(pasted, dict) else {}

    def __call__(self, placeholder: re.Match[str]) -> str:
        paste = self._by_number.get(placeholder[1])
        if isinstance(paste, dict) and paste.get("type") != "image" and isinstance(paste.get("content"), str):
            return str(paste["content"])
        return placeholder[0]
