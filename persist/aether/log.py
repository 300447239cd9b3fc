"""One Aether session log, line by line: what is persisted, transient, unknown, malformed or unfinished.

Reads one file; imports only persist, never the index. Classes follow ``spec/aether.md`` 1.5, but lines of every
era are understood (1.6), bytes that are not UTF-8 spoil their own line only, and the good half of a damaged line is
kept: what the index finds is found here, because both use the same parser.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Literal, NamedTuple

from persist.agents.aether.calls import best_arguments
from persist.agents.aether.eras import normalise
from persist.agents.aether.records import ANSWERS, AetherParser, Metadata, read_metadata
from persist.errors import NotFoundError, ShapeError, StoreError, StoreIOError
from persist.events import Event
from persist.lines import RawLine, decode_line, iter_lines
from persist.regular import open_regular
from persist.sources import Line, Record

Status = Literal["persisted", "transient", "unknown", "malformed", "pending"]

PERSISTED: Final = "persisted"
TRANSIENT: Final = "transient"
UNKNOWN: Final = "unknown"
MALFORMED: Final = "malformed"
PENDING: Final = "pending"


class MetadataError(StoreError):
    """A log does not begin with metadata; ``line_number`` is ``None`` when it has only blank lines."""

    def __init__(self, path: Path, line_number: int | None, reason: str) -> None:
        self.path = path
        self.line_number = line_number
        self.reason = reason
        where = f"{path}, line {line_number}" if line_number is not None else str(path)
        super().__init__(f"{where}: {reason}; its events can be read, but not whose they are")


class Header(NamedTuple):
    """The metadata of a log and where it stands."""

    metadata: Metadata
    line: Line


class Entry(NamedTuple):
    """One record of a log after its metadata, or one line of which nothing (more) could be read.

    ``record`` is in the current shape (``None`` when malformed or pending); ``event`` is set when persisted.
    ``reason`` tells why a line is malformed or pending and which type is transient or unknown; it never quotes.
    """

    line: Line
    status: Status
    record: Record = None
    event: Event | None = None
    reason: str | None = None


class AssembledCall(NamedTuple):
    """A tool call with its whole arguments, as far as the log tells them.

    ``line_number`` is where it was called, ``answer_line_number`` where its last answer stands;
    ``answer_type`` is that answer's event type (``tool_result``, ``tool_deferred`` …), ``None`` when it has none.
    """

    call_id: str | None
    name: str | None
    arguments: str | None
    line_number: int
    answer_type: str | None = None
    answer_line_number: int | None = None


@dataclass(frozen=True, slots=True)
class AetherLog:
    """A log that was opened once to see its first line. ``header`` is ``None`` where ``header_error`` is set."""

    path: Path
    header: Header | None
    header_error: MetadataError | None

    def metadata(self) -> Metadata:
        """Return the metadata. Raises ``MetadataError`` when the log does not begin with it."""
        if self.header is None:
            raise self.header_error or MetadataError(self.path, None, "no metadata")
        return self.header.metadata

    def entries(self) -> Iterator[Entry]:
        """Yield the records in file order, reading the file anew: memory is one block and one line.

        Metadata lines and blank lines are no entries. Raises ``StoreIOError`` where reading fails.
        """
        try:
            with open_regular(self.path) as file:
                yield from _entries(file)
        except OSError as error:
            raise StoreIOError(self.path, "read", error.strerror or "unknown reason") from error


def read_log(path: Path) -> AetherLog:
    """Open a log and read its metadata, the first line that is not blank.

    Raises ``NotFoundError`` when there is no such file and ``StoreIOError`` when it cannot be read; missing or
    broken metadata is kept in the answer, because the events behind it are worth reading all the same.
    """
    try:
        with open_regular(path) as file:
            first = next((raw for raw in iter_lines(file) if trimmed(raw.data)), None)
    except FileNotFoundError as error:
        raise NotFoundError("Aether session log", str(path)) from error
    except OSError as error:
        raise StoreIOError(path, "read", error.strerror or "unknown reason") from error
    if first is None:
        return AetherLog(path, None, MetadataError(path, None, "no metadata, only blank lines"))
    try:
        header = Header(metadata_of(first.data), Line(first.number, first.offset_bytes))
    except ShapeError as error:
        return AetherLog(path, None, MetadataError(path, first.number, f"not metadata: {error}"))
    return AetherLog(path, header, None)


def metadata_of(data: bytes) -> Metadata:
    """Read the metadata in one line. Raises ``ShapeError`` when the line is anything else, or damaged."""
    decoded = decode_line(trimmed(data))
    if decoded.damage is not None or len(decoded.records) != 1:
        raise ShapeError(decoded.damage or "not exactly one JSON value")
    record = decoded.records[0]
    if isinstance(record, dict) and "kind" in record:
        raise ShapeError("the line is an event")
    return read_metadata(record)


def trimmed(data: bytes) -> bytes:
    """Strip white space as Aether does, Unicode's included (``spec/aether.md`` 2); a blank line gives ``b""``."""
    data = data.strip()
    if data and (data[0] >= 0x80 or data[-1] >= 0x80):
        return data.decode("utf-8", "surrogateescape").strip().encode("utf-8", "surrogateescape")
    return data


def assembled_calls(entries: Iterable[Entry]) -> list[AssembledCall]:
    """Return every call in the order of the log, each once, with its arguments put together.

    The copy of the arguments in a call's answer wins where it has one; else the call's own and the pieces that
    followed it (eras A to D). Of calls that share an id, pieces and answers belong to the latest before them. Answers
    without a call are no calls. Memory grows with the arguments of all calls, not with the log.
    """
    calls: list[AssembledCall] = []
    pieces: dict[int, list[str]] = {}
    latest: dict[str, int] = {}
    for entry in entries:
        if entry.status == TRANSIENT:
            update = _call_update(entry.record)
            if update is not None and update[0] in latest:
                pieces.setdefault(latest[update[0]], []).append(update[1])
            continue
        event = entry.event
        if event is None:
            continue
        if event.event_type == "tool_call":
            if event.tool_call_id is not None:
                latest[event.tool_call_id] = len(calls)
            calls.append(AssembledCall(event.tool_call_id, event.tool_name, event.tool_arguments, entry.line.number))
        elif event.event_type in ANSWERS and event.tool_call_id in latest:
            index = latest[event.tool_call_id]
            told = _told_arguments(entry.record)
            if told:
                pieces.pop(index, None)
            calls[index] = calls[index]._replace(
                arguments=told or calls[index].arguments,
                answer_type=event.event_type,
                answer_line_number=entry.line.number,
            )
    for index, parts in pieces.items():
        calls[index] = calls[index]._replace(arguments=best_arguments(calls[index].arguments or "", "".join(parts)))
    return calls


def _entries(file: IO[bytes]) -> Iterator[Entry]:
    parser = AetherParser()
    for raw in iter_lines(file):
        line = Line(raw.number, raw.offset_bytes)
        if raw.oversize:
            yield Entry(line, MALFORMED, reason=f"a line of {raw.length_bytes} bytes is over the limit")
            continue
        yield from _line_entries(parser, line, raw)


def _line_entries(parser: AetherParser, line: Line, raw: RawLine) -> Iterator[Entry]:
    decoded = decode_line(trimmed(raw.data))
    if not raw.terminated and not decoded.is_object:
        if trimmed(raw.data):
            yield Entry(line, PENDING, reason="the last line is not finished")
        return
    for record in decoded.records:
        entry = _entry(parser, line, record)
        if entry is not None:
            yield entry
    if decoded.damage is not None:
        yield Entry(line, MALFORMED, reason=decoded.damage)


def _entry(parser: AetherParser, line: Line, record: Record) -> Entry | None:
    """Return what one record came to; ``None`` for metadata."""
    try:
        parsed = parser.feed(record, line)
    except ShapeError as error:
        return Entry(line, MALFORMED, reason=str(error))
    if "kind" not in record:
        return None
    current = normalise(record).record
    if parsed.events:
        return Entry(line, PERSISTED, current, parsed.events[0])
    skipped = parsed.skipped or ""
    return Entry(line, UNKNOWN if skipped.startswith("unknown:") else TRANSIENT, current, None, skipped)


def _call_update(record: Record) -> tuple[str, str] | None:
    """Return id and piece of a ``call_update`` that the parser has found well-formed."""
    event = record["data"].get("event") if isinstance(record["data"], dict) else None
    if not isinstance(event, dict) or event.get("type") != "call_update":
        return None
    return event["tool_call_id"], event["chunk"]


def _told_arguments(record: Record) -> str | None:
    """Return the arguments that an answer's own record repeats, if they are text."""
    event = record["data"]["event"]
    for key in ("request", "result", "error"):
        answer = event.get(key)
        if isinstance(answer, dict) and isinstance(answer.get("arguments"), str):
            return str(answer["arguments"]) or None
    return None
