"""One Aster transcript, whole: its header, its events in file order, and what could not be read.

For commands about one session; the index reads through ``persist.agents.aster.records`` instead. Decodes
line by line, so that nothing damaged hides what follows (``spec/aster.md`` 1.2 and 8). Memory grows with the one
file that is loaded. Never writes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from persist import times
from persist.agents.aster import shapes as shapes
from persist.agents.aster.shapes import Call
from persist.errors import NotFoundError, ShapeError, StoreIOError
from persist.lines import Decoded, RawLine, decode_line, iter_lines
from persist.regular import open_regular
from persist.sources import Line, Record


@dataclass(frozen=True, slots=True)
class Header:
    """The session's header. ``version`` is ``None`` where ``v`` is no number; times are as recorded."""

    line: Line
    id: str | None = None
    version: int | None = 1
    created_at: str | None = None
    cwd: str | None = None
    repo_root: str | None = None
    model: str | None = None
    base_url: str | None = None
    aster_version: str | None = None
    title: str | None = None
    schedule: str | None = None
    imported_from: str | None = None


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """The tokens spent in one round, as Aster counts them; ``None`` where not recorded."""

    prompt_tokens: int | None
    completion_tokens: int | None


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A model's readable thinking; ``tokens`` is Aster's estimate."""

    text: str
    tokens: int | None = None
    duration_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """A page that an answer names."""

    url: str
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A message. ``content`` is ``None`` where the record has no text, which is not the same as empty."""

    line: Line
    role: str
    content: str | None
    ts: str | None = None
    tool_calls: tuple[Call, ...] = ()
    tool_call_id: str | None = None
    usage: TokenCounts | None = None
    annotations: tuple[Citation, ...] = ()
    reasoning: Reasoning | None = None

    @property
    def is_visible(self) -> bool:
        """Whether a rebuilt chat shows it: a person's or the agent's words that are not blank."""
        return self.role in ("user", "assistant") and bool(self.content and self.content.strip())


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of older turns. ``keeps_from_line`` is ours: the physical line of the first message kept."""

    line: Line
    content: str | None
    replaces_through: int | None = None
    ts: str | None = None
    keeps_from_line: int | None = None


@dataclass(frozen=True, slots=True)
class Eviction:
    """A tool result was blanked in a request; ``index`` counts in the request, ``chars`` are bytes."""

    line: Line
    reason: str | None
    role: str | None = None
    index: int | None = None
    chars: int | None = None
    ts: str | None = None


@dataclass(frozen=True, slots=True)
class Title:
    """The session was given a title. ``is_by_person`` where the line says so (``shapes.BY_PERSON``)."""

    line: Line
    title: str | None
    ts: str | None = None
    is_by_person: bool = False


StoredEvent: TypeAlias = Header | Message | Summary | Eviction | Title


@dataclass(frozen=True, slots=True)
class DamagedLine:
    """A line of which something had to be given up; ``reason`` never quotes it."""

    line: Line
    length_bytes: int
    reason: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript as loaded. ``events`` hold every readable record of a known kind, headers included.

    ``header`` is the first one, on whatever line. ``unknown`` counts records by type that no version known
    here writes. ``pending_bytes`` is the length of an unfinished last line.
    """

    path: Path
    header: Header | None
    events: tuple[StoredEvent, ...]
    damaged: tuple[DamagedLine, ...] = ()
    unknown: Mapping[str, int] = field(default_factory=dict)
    pending_bytes: int = 0

    @classmethod
    def load(cls, path: Path) -> Transcript:
        """Read a whole transcript. Raises ``NotFoundError`` and ``StoreIOError``, never for content."""
        events: list[StoredEvent] = []
        damaged: list[DamagedLine] = []
        unknown: Counter[str] = Counter()
        pending_bytes = 0
        for raw, decoded in _decoded_lines(path):
            line = Line(raw.number, raw.offset_bytes)
            reason = decoded.damage
            if not raw.terminated and not decoded.is_object:
                pending_bytes = raw.length_bytes
                continue
            for record in decoded.records:
                try:
                    event = event_of(record, line)
                except ShapeError as error:
                    reason = reason or str(error)
                    continue
                if isinstance(event, str):
                    unknown[event] += 1
                else:
                    events.append(event)
            if reason is not None:
                damaged.append(DamagedLine(line, raw.length_bytes, reason))
        header = next((event for event in events if isinstance(event, Header)), None)
        return cls(path, header, tuple(events), tuple(damaged), dict(unknown), pending_bytes)

    @property
    def title(self) -> str | None:
        """The last that a person gave, else the last title event's, else the header's."""
        titles = [event for event in self.events if isinstance(event, Title) and (event.title or "").strip()]
        if titles:
            return ([one for one in titles if one.is_by_person] or titles)[-1].title
        return self.header.title if self.header is not None else None

    @property
    def display_title(self) -> str | None:
        """The title, else the first prompt's text, which may be missing."""
        if self.title is not None:
            return self.title
        return next((message.content for message in self.messages if message.role == "user"), None)

    @property
    def user_turns(self) -> int:
        """How many prompts there are, blank ones counted, steering not."""
        return sum(message.role == "user" for message in self.messages)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages of every role, in file order."""
        return tuple(event for event in self.events if isinstance(event, Message))


def read_header(path: Path) -> Header | None:
    """Return the first header, on whatever line; ``None`` where no line holds one.

    Reads no further than the header. Raises ``NotFoundError`` and ``StoreIOError``.
    """
    for raw, decoded in _decoded_lines(path):
        for record in decoded.records:
            if isinstance(record, dict) and record.get("type") == "session":
                return _header(record, Line(raw.number, raw.offset_bytes))
    return None


def event_of(record: Record, line: Line) -> StoredEvent | str:
    """Return the event that a record is, or the name of its unknown type. Raises ``ShapeError``."""
    kind = shapes.record_type(record)
    ts = _time_text(record.get("ts"))
    match kind:
        case "session":
            return _header(record, line)
        case "message":
            return _message(record, line, ts)
        case "summary":
            return Summary(
                line,
                shapes.text_of(record.get("content")),
                shapes.count(record.get("replaces_through")),
                ts,
                shapes.count(record.get("keeps_from_line")),
            )
        case "eviction":
            return Eviction(
                line,
                shapes.plain(record.get("reason")),
                shapes.plain(record.get("role")),
                shapes.count(record.get("index")),
                shapes.count(record.get("chars")),
                ts,
            )
        case "title":
            return Title(line, shapes.text_of(record.get("title")), ts, shapes.is_by_person(record))
        case _:
            return kind


def _decoded_lines(path: Path) -> Iterator[tuple[RawLine, Decoded]]:
    try:
        with open_regular(path) as file:
            for raw in iter_lines(file):
                if raw.oversize:
                    yield raw, Decoded([], "the line is over the limit")
                else:
                    yield raw, decode_line(raw.data)
    except FileNotFoundError:
        raise NotFoundError("transcript", str(path)) from None
    except OSError as error:
        raise StoreIOError(path, "read", error.strerror or str(error)) from error


def _header(record: dict[str, Record], line: Line) -> Header:
    session_id = shapes.plain(record.get("id"))
    origin = shapes.origin_of(record, session_id)
    return Header(
        line=line,
        id=session_id,
        version=shapes.format_version(record),
        created_at=_time_text(record.get("created_at")),
        cwd=shapes.plain(record.get("cwd")),
        repo_root=shapes.plain(record.get("repo_root")),
        model=shapes.plain(record.get("model")),
        base_url=shapes.plain(record.get("base_url")),
        aster_version=shapes.plain(record.get("aster_version")),
        title=shapes.plain(record.get("title")),
        schedule=shapes.plain(record.get("schedule")),
        imported_from=origin.told if origin else None,
    )


def _message(record: dict[str, Record], line: Line, ts: str | None) -> Message:
    role = shapes.role_of(record)
    usage = record.get("usage")
    counts = None
    if isinstance(usage, dict):
        counts = TokenCounts(
            shapes.count(usage.get("prompt_tokens")),
            shapes.count(usage.get("completion_tokens")),
        )
    return Message(
        line,
        role,
        shapes.text_of(record.get("content")),
        ts,
        tuple(shapes.calls_of(record)),
        shapes.plain(record.get("tool_call_id")),
        counts,
        _citations(record.get("annotations")),
        _reasoning(record),
    )


def _reasoning(record: dict[str, Record]) -> Reasoning | None:
    text = shapes.reasoning_of(record)
    if text is None:
        return None
    value = record["reasoning"]
    if not isinstance(value, dict):
        return Reasoning(text)
    return Reasoning(text, shapes.count(value.get("tokens")), shapes.count(value.get("duration_ms")))


def _citations(value: Record) -> tuple[Citation, ...]:
    if not isinstance(value, list):
        return ()
    cited = [entry.get("url_citation") for entry in value if isinstance(entry, dict)]
    return tuple(
        Citation(entry["url"], shapes.plain(entry.get("title")))
        for entry in cited
        if isinstance(entry, dict) and shapes.plain(entry.get("url"))
    )


def _time_text(value: Record) -> str | None:
    """Return a time as recorded (nine digits stay), or a number's in the index's form."""
    return value if isinstance(value, str) and value else times.from_any(value)
