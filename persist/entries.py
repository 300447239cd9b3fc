"""A parser of files whose lines do not depend on each other: prompt histories and the memory journal.

Pure; imports the persist contracts only. Such a file belongs to no session, so its parser has nothing to keep but
whether any line was of the format.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

from persist.events import Parsed
from persist.sources import Line, Record, State

STATE_VERSION: Final = 1


class EntryParser(ABC):
    """A :class:`persist.sources.Parser` that reads one entry like the next; subclasses say how.

    Raises ``ValueError`` for a state that another version saved: the file is then read anew.
    """

    def __init__(self, state: State | None = None) -> None:
        if state is not None and state.get("version") != STATE_VERSION:
            raise ValueError(f"a state of version {state.get('version')!r} cannot be continued; read the file anew")
        self._recognised = state is not None and bool(state["recognised"])

    @property
    def session_id(self) -> str | None:
        """Always ``None``: the file belongs to no session."""
        return None

    @property
    def names_parent(self) -> bool:
        """Always false."""
        return False

    @property
    def recognised(self) -> bool:
        """Whether any entry so far was of the format."""
        return self._recognised

    @abstractmethod
    def read_entry(self, record: Record) -> Parsed:
        """Return what one entry comes to. Raises ``ShapeError`` when it is not of the format."""

    def feed(self, record: Record, line: Line) -> Parsed:  # noqa: ARG002 - entries are alike wherever they stand
        """Read one JSON value. Raises ``ShapeError`` when it is not of the format."""
        parsed = self.read_entry(record)
        self._recognised = True
        return parsed

    def save(self) -> State:
        """Return the state after the last entry."""
        return {"version": STATE_VERSION, "recognised": self._recognised}
