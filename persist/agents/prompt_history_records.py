"""``prompt-history.jsonl`` as Aether writes it and Aster took it over (``spec/aether.md`` 3).

Pure; imports only the persist contracts, and the keys from ``persist.history``, which writes the file. One entry per
line, all four keys required, further keys passed over; no time per prompt.
"""

from __future__ import annotations

from typing import Final

from persist.errors import ShapeError
from persist.events import HistoryPrompt, Parsed
from persist.history import KEYS
from persist.sources import Line, Record, State

STATE_VERSION: Final = 1


class PromptHistoryParser:
    """Turns entries into prompts; a :class:`persist.sources.Parser`. Holds nothing but whether one was good."""

    def __init__(self, state: State | None = None) -> None:
        self._recognised = bool(state["recognised"]) if state is not None else False

    @property
    def session_id(self) -> None:
        """A history belongs to no session."""
        return

    @property
    def names_parent(self) -> bool:
        """Never."""
        return False

    @property
    def recognised(self) -> bool:
        """Whether any entry so far was whole."""
        return self._recognised

    def feed(self, record: Record, line: Line) -> Parsed:  # noqa: ARG002 (entries are alike wherever they stand)
        """Read one entry. Raises ``ShapeError`` when a key is missing or not text."""
        if not isinstance(record, dict):
            raise ShapeError("a prompt history entry is not an object")
        for key in KEYS:
            if not isinstance(record.get(key), str):
                raise ShapeError(f"{key} of a prompt history entry is missing or not text")
        self._recognised = True
        prompt = HistoryPrompt(record["prompt"], session_id=record["sessionId"], project=record["cwd"])
        return Parsed(prompts=(prompt,))

    def save(self) -> State:
        """Return the state after the last entry."""
        return {"version": STATE_VERSION, "recognised": self._recognised}
