"""Aether's session log as a :class:`persist.sources.Parser`: metadata, events, and what spans lines.

Pure; imports only persist. Two things span lines, both in old logs only: tool arguments that arrive in pieces, put
on the event of the call's answer (later lines never change earlier rows), and the ``Done`` that follows a
``Cancelled``, which ends no second turn. A call whose pieces are never answered stays as it was written.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from persist.agents.aether.calls import OpenCalls
from persist.agents.aether.eras import normalise
from persist.agents.aether.events import read_event
from persist.agents.aether.fields import text, text_or_none
from persist.errors import ShapeError
from persist.events import Event, Parsed, Trait
from persist.sources import Line, Record, State
from persist.times import from_any

STATE_VERSION: Final = 1
MAX_ID_CHARACTERS: Final = 512
"""A session's id is also a file name; a longer one would make the parser's state unbounded."""

ANSWERS: Final = frozenset(
    {
        "tool_result", "tool_error", "tool_refused", "tool_deferred",
        "tool_task_completed", "tool_task_failed", "tool_task_cancelled",
    }
)  # fmt: skip
"""Event types that answer a call; all but ``tool_deferred`` end it."""
_CALL_UPDATE: Final = "transient:tool/call_update"
_REPEATED_END: Final = "repeated:turn/ended"


class Metadata(NamedTuple):
    """The first line of a log (``spec/aether.md`` 1.2), as recorded; ``created_at`` is what Aether wrote."""

    session_id: str
    cwd: str | None
    model: str | None
    selected_mode: str | None
    created_at: Record


def read_metadata(record: Record) -> Metadata:
    """Read a metadata line. Only the id must be there. Raises ``ShapeError`` when it is not one."""
    if not isinstance(record, dict):
        raise ShapeError("the record is not an object")
    if "sessionId" not in record:
        raise ShapeError("the record has neither kind nor sessionId")
    session_id = text(record["sessionId"], "sessionId")
    if not session_id.strip():
        raise ShapeError("sessionId is blank")
    if len(session_id) > MAX_ID_CHARACTERS:
        raise ShapeError(f"sessionId is over {MAX_ID_CHARACTERS} characters")
    created_at = record.get("createdAt")
    if not isinstance(created_at, str | int | float | None):
        raise ShapeError("createdAt is neither text nor a number")
    return Metadata(
        session_id,
        text_or_none(record.get("cwd"), "cwd"),
        text_or_none(record.get("model"), "model"),
        text_or_none(record.get("selectedMode"), "selectedMode"),
        created_at,
    )


class AetherParser:
    """Reads the records of one session log in order; its state is under 64 KiB whatever the log's size."""

    def __init__(self, state: State | None = None) -> None:
        """Begin a log, or go on from :meth:`save`. Raises ``ValueError`` for another version's state."""
        if state is not None and state.get("version") != STATE_VERSION:
            raise ValueError("the parser's state is of another version")
        saved = state or {}
        self._session_id: str | None = saved.get("session_id")
        self._recognised: bool = saved.get("recognised", False)
        self._cancelled: bool = saved.get("cancelled", False)
        self._calls = OpenCalls(saved.get("calls"))

    @property
    def session_id(self) -> str | None:
        """The id in the metadata, ``None`` until it was seen."""
        return self._session_id

    @property
    def names_parent(self) -> bool:
        """Never: Aether records no parent session."""
        return False

    @property
    def recognised(self) -> bool:
        """Whether metadata or a known event was seen."""
        return self._recognised

    def feed(self, record: Record, line: Line) -> Parsed:  # noqa: ARG002 (no id is made from the line here)
        """Read one JSON value. Raises ``ShapeError`` when it is neither metadata nor an event of known shape."""
        if not isinstance(record, dict) or "kind" not in record:
            return self._metadata(read_metadata(record))
        current, old_name = normalise(record)
        parsed = read_event(current)
        if old_name == "Done" and self._cancelled:
            return Parsed(skipped=_REPEATED_END)
        if parsed.skipped == _CALL_UPDATE:
            self._add_piece(current["data"]["event"])
        elif parsed.events:
            parsed = self._with_arguments(parsed)
            self._remember(parsed.events[0], old_name)
        if not self._recognised:
            self._recognised = not (parsed.skipped or "").startswith("unknown:")
        return parsed

    def save(self) -> State:
        """Return the state after the last record."""
        return {
            "version": STATE_VERSION,
            "session_id": self._session_id,
            "recognised": self._recognised,
            "cancelled": self._cancelled,
            "calls": self._calls.save(),
        }

    def _metadata(self, metadata: Metadata) -> Parsed:
        """Take the first metadata line, wherever it stands; a later one may only speak of the same session."""
        if self._session_id not in (None, metadata.session_id):
            raise ShapeError("a second metadata line names another session")
        created_at = from_any(metadata.created_at)
        bad_times = int(created_at is None and metadata.created_at is not None)
        told = (
            ("cwd", metadata.cwd),
            ("model", metadata.model),
            ("mode", metadata.selected_mode),
            ("created_at", created_at),
        )
        self._session_id = metadata.session_id
        self._recognised = True
        traits = tuple(Trait(name, value) for name, value in told if value is not None)
        return Parsed(traits=traits, skipped=None if traits else "metadata", bad_times=bad_times)

    def _add_piece(self, update: dict[str, Record]) -> None:
        call_id = text(update.get("tool_call_id"), "event.tool_call_id")
        self._calls.add(call_id, text(update.get("chunk"), "event.chunk"))

    def _with_arguments(self, parsed: Parsed) -> Parsed:
        """Put the arguments known from earlier lines on an answer that does not repeat them."""
        event = parsed.events[0]
        if event.tool_arguments or event.event_type not in ANSWERS:
            return parsed
        known = self._calls.arguments(event.tool_call_id)
        return parsed._replace(events=(event._replace(tool_arguments=known),)) if known else parsed

    def _remember(self, event: Event, old_name: str | None) -> None:
        if event.event_type == "tool_call" and event.tool_call_id is not None:
            self._calls.open(event.tool_call_id, event.tool_arguments)
        elif event.event_type in ANSWERS and event.event_type != "tool_deferred":
            self._calls.close(event.tool_call_id)
        elif event.event_type in ("turn_ended", "user_message"):
            self._cancelled = old_name == "Cancelled"
