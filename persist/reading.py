"""Reads one source line by line from a checkpoint and numbers what its agent's parser finds.

I/O on one file; no SQL. The rows of a line depend only on the checkpoint's state and the line, and no later line
changes them (DESIGN 8), so that reading on from any checkpoint gives what one pass over the file gives.

The checkpoint always lies before the first line that is not finished. A last line without LF that is a whole JSON
object is used at once and read again next time; otherwise its bytes are pending.
A torn last line is such: its bytes wait, and the next reading begins with it.

A compressed file comes opened as the plain one it was (``persist.compressed``); where it ends before its time, that
is one damaged line at its end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import IO, Final, Literal, NamedTuple

from persist.compressed import early_end
from persist.errors import ShapeError
from persist.events import CONTROL, SESSION_TITLE, Event, HistoryPrompt, JournalEntry, Parsed, Trait, Usage
from persist.lines import MAX_LINE_BYTES, Decoded, RawLine, decode_line, excerpt, iter_lines
from persist.sources import Agent, Line, Parser, Source, State

Outcome = Literal["indexed", "skipped", "damaged"]
TsSource = Literal["record", "previous", "session"]

CHECKPOINT_VERSION: Final = 1
MAX_SKIPPED_TYPES: Final = 100
"""Names counted apart in one source; a file that goes on naming new ones must not grow its checkpoint."""
OTHER_TYPES: Final = "unknown:others"


class Numbered(NamedTuple):
    """An event with its place: counted in the source, from 0; ``turn_index`` is null before the first prompt.

    ``sort_ts`` is the event's time, else the last before it in the source, else the session's creation;
    ``None`` means the file's own time must serve.
    """

    event: Event
    event_index: int
    turn_index: int | None
    sort_ts: str | None
    ts_source: TsSource | None


class ReadLine(NamedTuple):
    """One line and all it came to. ``error`` is set on damaged lines; ``skipped`` names a record type."""

    number: int
    offset_bytes: int
    length_bytes: int
    outcome: Outcome
    events: Sequence[Numbered]
    usage: Sequence[Usage]
    traits: Sequence[Trait]
    prompts: Sequence[HistoryPrompt]
    journal: Sequence[JournalEntry]
    error: str | None = None
    error_excerpt: str | None = None


@dataclass(slots=True)
class Counts:
    """How the lines of a source were classed; ``seen`` is always the sum of the other three (DESIGN law 3)."""

    seen: int = 0
    indexed: int = 0
    skipped: int = 0
    damaged: int = 0
    bad_times: int = 0
    skipped_types: Counter[str] = field(default_factory=Counter)

    def copy(self) -> Counts:
        """Return an independent copy."""
        return Counts(self.seen, self.indexed, self.skipped, self.damaged, self.bad_times, Counter(self.skipped_types))

    def add(self, outcome: Outcome, skipped: str | None) -> None:
        """Count one line in its class."""
        self.seen += 1
        if outcome == "indexed":
            self.indexed += 1
        elif outcome == "damaged":
            self.damaged += 1
        else:
            self.skipped += 1
            name = skipped or "blank"
            if name not in self.skipped_types and len(self.skipped_types) >= MAX_SKIPPED_TYPES:
                name = OTHER_TYPES
            self.skipped_types[name] += 1


@dataclass(slots=True)
class Checkpoint:
    """How far a source has been read: everything before ``offset_bytes``, and what reading on must know.

    ``last_ts`` is the last record's time, ``first_ts`` the first in file order, ``earliest_ts`` and ``latest_ts`` the
    least and the greatest; ``active_ts`` is the greatest but for titles: who names a session does not use it.
    ``has_talk`` tells whether any event was not of the control kind.
    """

    offset_bytes: int = 0
    line_number: int = 1
    event_index: int = 0
    turn_index: int | None = None
    last_ts: str | None = None
    first_ts: str | None = None
    earliest_ts: str | None = None
    latest_ts: str | None = None
    active_ts: str | None = None
    created_at: str | None = None
    has_talk: bool = False
    session_id: str | None = None
    names_parent: bool = False
    recognised: bool = False
    counts: Counts = field(default_factory=Counts)
    state: State | None = None

    def save(self) -> State:
        """Return the checkpoint as a JSON object."""
        return {
            "version": CHECKPOINT_VERSION,
            "offset_bytes": self.offset_bytes,
            "line_number": self.line_number,
            "event_index": self.event_index,
            "turn_index": self.turn_index,
            "last_ts": self.last_ts,
            "first_ts": self.first_ts,
            "earliest_ts": self.earliest_ts,
            "latest_ts": self.latest_ts,
            "active_ts": self.active_ts,
            "has_talk": self.has_talk,
            "created_at": self.created_at,
            "session_id": self.session_id,
            "names_parent": self.names_parent,
            "recognised": self.recognised,
            "counts": [
                self.counts.seen, self.counts.indexed, self.counts.skipped, self.counts.damaged, self.counts.bad_times,
                dict(self.counts.skipped_types),
            ],
            "state": self.state,
        }  # fmt: skip

    @classmethod
    def load(cls, saved: State) -> Checkpoint:
        """Restore what :meth:`save` gave. Raises ``KeyError``, ``TypeError`` or ``ValueError`` for anything else."""
        if saved["version"] != CHECKPOINT_VERSION:
            raise KeyError("version")
        seen, indexed, skipped, damaged, bad_times, skipped_types = saved["counts"]
        counts = Counts(seen, indexed, skipped, damaged, bad_times, Counter(skipped_types))
        rest = {key: value for key, value in saved.items() if key not in ("version", "counts")}
        return cls(**rest, counts=counts)

    def head_time(self) -> str | None:
        """Return the header's creation time, else that of the first record in file order that has one."""
        return self.created_at or self.first_ts


class SourceReader:
    """Iterates over the lines of one source from a checkpoint; afterwards tells how far it came.

    ``checkpoint`` is where to go on next time; ``final`` also counts an unfinished last line that was
    used; ``bytes_pending`` are those after the last line used; ``bytes_read`` those read from the file.
    Iterate once. Raises ``OSError`` from the file, never for content; when made from a checkpoint that another
    version of the parser saved, ``KeyError``, ``TypeError`` or ``ValueError``.
    """

    def __init__(
        self,
        agent: Agent,
        source: Source,
        file: IO[bytes],
        start: Checkpoint | None = None,
        *,
        max_line_bytes: int = MAX_LINE_BYTES,
    ) -> None:
        self._file = file
        self._start = start or Checkpoint()
        self._max_line_bytes = max_line_bytes
        self._parser: Parser = agent.open_parser(source, self._start.state)
        self.final = _copy(self._start)
        self.checkpoint = self._start
        self.bytes_pending = 0
        self.bytes_read = 0

    def __iter__(self) -> Iterator[ReadLine]:
        """Yield every line that came to something; blank and skipped lines are only counted."""
        at = self.final
        lines = iter_lines(self._file, at.offset_bytes, at.line_number, max_line_bytes=self._max_line_bytes)
        unfinished: RawLine | None = None
        try:
            for raw in lines:
                self.bytes_read += raw.length_bytes + raw.terminated
                if not raw.terminated:
                    unfinished = raw
                    break
                read = self._read(raw, _decoded(raw))
                if read is not None:
                    yield read
        finally:  # also where reading fails: what was read up to here stays a valid beginning
            at.state = self._parser.save()
            self.checkpoint = _copy(at)
        broken = early_end(self._file)
        if broken is not None:
            unfinished = unfinished or RawLine(at.line_number, at.offset_bytes, b"", False, 0)
            read = self._read(unfinished, Decoded([], broken))
            if read is not None:
                yield read
            return
        if unfinished is None:
            return
        decoded = _decoded(unfinished)
        if decoded.is_object:
            read = self._read(unfinished, decoded)
            if read is not None:
                yield read
        else:
            self.bytes_pending = unfinished.length_bytes

    def _read(self, raw: RawLine, decoded: Decoded) -> ReadLine | None:
        at = self.final
        error = decoded.damage
        position = Line(raw.number, raw.offset_bytes)
        told: list[Parsed] = []
        for record in decoded.records:
            try:
                told.append(self._parser.feed(record, position))
            except ShapeError as shape:
                error = error or str(shape)
        parsed = told[0] if len(told) == 1 else _joined(told)
        for trait in parsed.traits:
            if trait.name == "created_at" and at.created_at is None:
                at.created_at = trait.value
        events = self._number(parsed) if parsed.events else []
        at.offset_bytes = raw.offset_bytes + raw.length_bytes + raw.terminated
        at.line_number = raw.number + 1
        at.names_parent = self._parser.names_parent
        at.recognised = self._parser.recognised
        if at.session_id is None:
            at.session_id = self._parser.session_id
        something = events or parsed.traits or parsed.prompts or parsed.journal
        outcome: Outcome = "damaged" if error else "indexed" if something else "skipped"
        at.counts.add(outcome, parsed.skipped)
        at.counts.bad_times += parsed.bad_times
        if outcome == "skipped":
            return None
        return ReadLine(
            raw.number, raw.offset_bytes, raw.length_bytes, outcome, events, parsed.usage, parsed.traits,
            parsed.prompts, parsed.journal, error, excerpt(raw.data) if error else None,
        )  # fmt: skip

    def _number(self, parsed: Parsed) -> list[Numbered]:
        at = self.final
        numbered: list[Numbered] = []
        for event in parsed.events:
            if event.is_prompt:
                at.turn_index = 0 if at.turn_index is None else at.turn_index + 1
            sort_ts = event.ts
            ts_source: TsSource | None = "record"
            if sort_ts is not None:
                at.last_ts = sort_ts
                if at.first_ts is None:
                    at.first_ts = at.earliest_ts = at.latest_ts = sort_ts
                elif at.latest_ts is None or sort_ts > at.latest_ts:
                    at.latest_ts = sort_ts
                elif at.earliest_ts is None or sort_ts < at.earliest_ts:
                    at.earliest_ts = sort_ts
                if event.event_type != SESSION_TITLE and (at.active_ts is None or sort_ts > at.active_ts):
                    at.active_ts = sort_ts
            elif at.last_ts is not None:
                sort_ts, ts_source = at.last_ts, "previous"
            else:
                sort_ts = at.created_at
                ts_source = "session" if sort_ts else None
            if event.kind != CONTROL:
                at.has_talk = True
            numbered.append(Numbered(event, at.event_index, at.turn_index, sort_ts, ts_source))
            at.event_index += 1
        return numbered


def _joined(told: list[Parsed]) -> Parsed:
    """Return what several values of one line told together; of skipped types the last is named."""
    return Parsed(
        [event for parsed in told for event in parsed.events],
        [usage for parsed in told for usage in parsed.usage],
        [trait for parsed in told for trait in parsed.traits],
        [prompt for parsed in told for prompt in parsed.prompts],
        [entry for parsed in told for entry in parsed.journal],
        next((parsed.skipped for parsed in reversed(told) if parsed.skipped), None),
        sum(parsed.bad_times for parsed in told),
    )


def _decoded(raw: RawLine) -> Decoded:
    if raw.oversize:
        return Decoded([], f"a line of {raw.length_bytes} bytes is over the limit")
    return decode_line(raw.data)


def _copy(at: Checkpoint) -> Checkpoint:
    return replace(at, counts=at.counts.copy())
