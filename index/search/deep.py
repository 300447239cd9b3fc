"""Searches the whole texts of tools, which stand in the source files only: ``search --deep``.

Reads files and, with plain ``sqlite3``, the index: it tells which texts are longer than their heads and on which lines
they stand. Lines that certainly cannot hold the query are passed over undecoded (``index.search.sieve``); that counts
only while the file is what was indexed. Where it is not, every such line is read and compared with what the index knows
of it. What cannot be read is searched in its head, and told.

Never imports SQLAlchemy, pydantic or anything of the command line.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from typing import IO, Final, NamedTuple

from index.match.query import Query
from index.projection import TYPE_CODES
from index.search.matches import Match
from index.search.scope import Condition, Scope
from index.search.sieve import looks_like_json, may_rewrite, sieve_of
from index.search.tools import (
    ARGUMENTS,
    IS_LONGER,
    TEXT,
    Keyed,
    Row,
    Spans,
    Told,
    ToolSource,
    match_of,
    may_match,
    newest_first,
    rows_of,
    sources_of,
)
from index.settings import Settings
from persist.events import Event
from persist.fingerprint import edges, stat_of
from persist.lines import BLOCK_BYTES, iter_lines
from persist.reading import Checkpoint, SourceReader
from persist.regular import open_regular
from persist.sources import Source, Stat

HELD_CHARACTERS: Final = 16 * 1024 * 1024
"""Whole texts kept at once until their turn comes; those beyond are read again then."""

_LATE_ARGUMENTS: Final = """SELECT 1 FROM event_rows INDEXED BY event_rows_late_arguments
WHERE source_id = ? AND arguments_head IS NOT NULL AND type_code <> 6 LIMIT 1"""
_KNOWN: Final = """SELECT size_bytes, mtime_ns, ctime_ns, inode, offset_bytes, head_hash, tail_hash
FROM source_rows WHERE id = ?"""
_FIRST_ON_LINE: Final = """SELECT min(event_index) FROM event_rows INDEXED BY event_rows_place
WHERE source_id = ? AND line_number = ?"""


def find_in_whole(
    settings: Settings, connection: sqlite3.Connection, scope: Scope, query: Query | None, spans: Spans, told: Told
) -> Iterator[Match]:
    """Yield the whole texts of tools that hold the query, newest first, canonical ones only.

    ``query``, ``spans`` and ``told`` are as in :func:`index.search.tools.find_in_heads`. Never raises for a file: those
    that cannot be read, or are not what was indexed, are in ``told.unread``, and their heads were searched. Cost: the
    files of the sources that are taken, read once; memory is ``HELD_CHARACTERS`` and the longest line.
    """
    search = _Deep(settings, connection, scope, query, spans, told)
    for match in newest_first(sources_of(connection, scope), search.in_source):
        given = search.give_out(match)
        if given is not None:
            yield given


class _Place(NamedTuple):
    """Where a match that is not held was found."""

    source: ToolSource
    row: Row


class _Deep:
    """One search. Judges every text once, as whole as it can be had."""

    def __init__(
        self, settings: Settings, connection: sqlite3.Connection, scope: Scope, query: Query | None, spans: Spans,
        told: Told,
    ) -> None:  # fmt: skip
        self._settings = settings
        self._connection = connection
        self._scope = scope
        self._spans = spans
        self._told = told
        self._heads = may_match(query)
        self._sieve = sieve_of(query)
        self._max_line_bytes = settings.configuration.limits.max_line_bytes
        self._held_characters = 0
        self._let_go: dict[tuple[int, str], _Place] = {}

    def in_source(self, source: ToolSource) -> list[Keyed]:
        """Return all matches of one source, in no order. The file comes first: it spares most looks at the index."""
        found: list[Keyed] = []
        reading = _Reading(self._connection, self._scope, source, self._sieve.is_number)
        try:
            with open_regular(source.path, 0) as file:
                for keyed in self._in_file(reading, file):
                    found.append(keyed)  # noqa: PERF402 - what was found stays where reading ends with an error
        except OSError as error:
            reading.holds_nothing = False
            self._tell(source, reading.unread(), _reason(error))
        if not reading.holds_nothing:
            found.extend(self._in_index(source))
        for row in reading.unread():
            found.extend(self._in_head(source, row))
        return found

    def _in_index(self, source: ToolSource) -> Iterator[Keyed]:
        """Judge the texts that the index has whole."""
        for row in rows_of(self._connection, self._scope, source, self._heads):
            for part, head, length in row.texts():
                if len(head) == length:
                    yield from self._judge(source, row, part, head, length)

    def give_out(self, match: Match) -> Match | None:
        """Return a match whose turn has come, with its text; null where the file no longer has it, nor its head."""
        place = self._let_go.pop((match.id, match.part), None)
        if place is None:
            self._held_characters -= len(match.text)
            return match
        text = self._text_again(place, match.part)
        if text is None:
            self._tell(place.source, [place.row], _not_as_indexed(place.row))
            text = next(head for part, head, _ in place.row.texts() if part == match.part)
        spans = self._spans(text)
        return match._replace(text=text, spans=tuple(spans)) if spans else None

    def _judge(self, source: ToolSource, row: Row, part: str, text: str, length: int) -> tuple[Keyed, ...]:
        self._told.texts += 1
        keyed = match_of(source, row, part, text, length, self._spans(text))
        if not keyed:
            return ()
        if self._held_characters + len(text) <= HELD_CHARACTERS:
            self._held_characters += len(text)
            return keyed
        self._let_go[row.id, part] = _Place(source, row)
        ((order, match),) = keyed
        return ((order, match._replace(text="", spans=())),)

    def _in_head(self, source: ToolSource, row: Row) -> Iterator[Keyed]:
        for part, head, length in row.texts():
            if len(head) < length:
                yield from match_of(source, row, part, head, length, self._spans(head))

    def _tell(self, source: ToolSource, rows: Sequence[Row], why: str) -> None:
        """Tell why texts of a file were searched in their heads; the first reason is enough."""
        if rows and all(path != source.path for path, _ in self._told.unread):
            self._told.unread.append((source.path, why))

    def _in_file(self, reading: _Reading, file: IO[bytes]) -> Iterator[Keyed]:
        source = reading.source
        reading.begin(*self._known_bytes(source, file))
        apart: list[Row] = []
        for offset_bytes, run in _runs_of_lines(file, self._max_line_bytes):
            end_bytes = offset_bytes + len(run)
            if reading.may_pass_over(offset_bytes, end_bytes) and not self._sieve.may_hold_some(run):
                reading.has_read_to(end_bytes)
                continue
            reading.holds_nothing = False
            for line_offset, line in _lines(offset_bytes, run):
                rows = reading.rows_at(line_offset)
                if not rows or not (reading.must_read(line_offset, line) or self._sieve.may_hold(line)):
                    continue
                found, left_over, changed = self._in_line(source, rows, line)
                yield from found
                apart.extend(left_over)
                reading.leave_unread(changed)
                self._tell(source, changed, _not_as_indexed(rows[0]))
            reading.has_read_to(end_bytes)
        missing = reading.finish()
        reading.holds_nothing &= not missing
        if missing:
            self._tell(source, missing, _not_as_indexed(missing[0]))
        if apart:
            yield from self._assembled(reading, apart, file)

    def _known_bytes(self, source: ToolSource, file: IO[bytes]) -> tuple[int, int]:
        """Return how long a file was when it was indexed, and up to where it still is what it was (DESIGN 8)."""
        *known, offset_bytes, head_hash, tail_hash = self._connection.execute(_KNOWN, (source.id,)).fetchone()
        indexed, now = Stat(*known), stat_of(os.fstat(file.fileno()))
        if now == indexed:
            return indexed.size_bytes, indexed.size_bytes
        if now.inode != indexed.inode or now.size_bytes < indexed.size_bytes:
            return indexed.size_bytes, 0
        is_same = edges(file, offset_bytes) == (head_hash, tail_hash)
        return indexed.size_bytes, offset_bytes if is_same else 0

    def _in_line(
        self, source: ToolSource, rows: Sequence[Row], line: bytes
    ) -> tuple[list[Keyed], list[Row], list[Row]]:
        """Return the matches on a line, the events whose arguments stand on earlier lines, and those that changed."""
        found: list[Keyed] = []
        apart: list[Row] = []
        changed: list[Row] = []
        events = self._events(source, line, rows[0].line_number)
        for row in rows:
            event = events.get(row.event_index)
            if event is None or not _is_of(row, event):
                changed.append(row)
                continue
            for part, head, length in row.texts():
                if len(head) == length:
                    continue
                whole = event.text if part == TEXT else event.tool_arguments
                if not whole:
                    apart.append(row)
                else:
                    found.extend(self._judge(source, row, part, whole, length))
        return found, apart, changed

    def _events(self, source: ToolSource, line: bytes, line_number: int) -> dict[int, Event]:
        """Return the events of a line by their number in the source."""
        start = Checkpoint(line_number=line_number)
        read = next(iter(self._reader(source, BytesIO(line), start)), None)
        first = self._connection.execute(_FIRST_ON_LINE, (source.id, line_number)).fetchone()[0]
        return {first + numbered.event_index: numbered.event for numbered in read.events} if read is not None else {}

    def _reader(self, source: ToolSource, file: IO[bytes], start: Checkpoint | None) -> SourceReader:
        agent = self._settings.agent(source.agent)
        as_found = Source(source.agent, source.kind, source.path, source.root, Stat(0, 0, 0, 0))
        return SourceReader(agent, as_found, file, start, max_line_bytes=self._max_line_bytes)

    def _assembled(self, reading: _Reading, rows: Sequence[Row], file: IO[bytes]) -> Iterator[Keyed]:
        """Judge arguments that an old log has in pieces on earlier lines, by reading it from its beginning."""
        wanted = {row.event_index: row for row in rows}
        why = _not_as_indexed(rows[0])
        try:
            for event_index, arguments in self._arguments(reading.source, file, wanted):
                row = wanted.pop(event_index)
                yield from self._judge(reading.source, row, ARGUMENTS, arguments, row.arguments_len or 0)
        except OSError as error:
            why = _reason(error)
        changed = [row._replace(head=None) for row in wanted.values()]
        reading.leave_unread(changed)
        self._tell(reading.source, changed, why)

    def _arguments(self, source: ToolSource, file: IO[bytes], wanted: dict[int, Row]) -> Iterator[tuple[int, str]]:
        for line in self._reader(source, file, None):
            for numbered in line.events:
                row = wanted.get(numbered.event_index)
                arguments = numbered.event.tool_arguments
                if row is not None and arguments and _agrees(arguments, row.arguments_head, row.arguments_len):
                    yield numbered.event_index, arguments

    def _text_again(self, place: _Place, part: str) -> str | None:
        """Return a text that was let go, null where it is no longer there."""
        source, row = place
        limit = self._max_line_bytes
        try:
            with open_regular(source.path, 0) as file:
                raw = next(iter_lines(file, row.offset_bytes, row.line_number, max_line_bytes=limit), None)
                if raw is None or raw.oversize:
                    return None
                line = raw.data + b"\n" * raw.terminated
                event = self._events(source, line, row.line_number).get(row.event_index)
                if event is None or not _is_of(row, event):
                    return None
                if part == TEXT:
                    return event.text
                if event.tool_arguments:
                    return event.tool_arguments
                return next((text for _, text in self._arguments(source, file, {row.event_index: row})), None)
        except OSError:
            return None


class _Reading:
    """The texts of one source that are longer than their heads, and which of them have not been read so far."""

    def __init__(self, connection: sqlite3.Connection, scope: Scope, source: ToolSource, minds_numbers: bool) -> None:
        self.source = source
        self.holds_nothing = False
        """Whether nothing in the file can hold the query, and so no text of it that the index has either."""
        self._minds_numbers = minds_numbers
        self._connection = connection
        self._scope = scope
        self._rows: dict[int, list[Row]] | None = None
        self._borrowing: frozenset[int] = frozenset()
        self._numbered: frozenset[int] = frozenset()
        self._left_unread: list[Row] = []
        self._indexed_bytes = 1
        self._trusted_bytes = 0
        self._read_bytes = 0
        self._met: set[int] = set()
        self._is_over = False

    def begin(self, indexed_bytes: int, trusted_bytes: int) -> None:
        """Begin to read a file that was so long when it was indexed, and is the same up to ``trusted_bytes``."""
        self._indexed_bytes = max(indexed_bytes, 1)
        self._trusted_bytes = trusted_bytes
        self.holds_nothing = trusted_bytes >= indexed_bytes and not self._minds_numbers
        if self._connection.execute(_LATE_ARGUMENTS, (self.source.id,)).fetchone() is not None:
            self._borrowing = self._offsets_of(_may_borrow)
            self.holds_nothing = False
        if self._minds_numbers:
            self._numbered = self._offsets_of(_may_have_numbers)

    def may_pass_over(self, start_bytes: int, end_bytes: int) -> bool:
        """Tell whether the bytes of a stretch of lines alone say what it holds.

        Not so where the file may have changed, nor on the lines that :meth:`must_read` knows.
        """
        if end_bytes > self._trusted_bytes:
            return False
        return not any(start_bytes <= at < end_bytes for lines in (self._borrowing, self._numbered) for at in lines)

    def must_read(self, offset_bytes: int, line: bytes) -> bool:
        """Tell whether a line must be read whatever its bytes are."""
        return (
            offset_bytes + len(line) > self._trusted_bytes
            or offset_bytes in self._borrowing
            or (offset_bytes in self._numbered and may_rewrite(line))
        )

    def _offsets_of(self, is_such: Callable[[Row], bool]) -> frozenset[int]:
        return frozenset(offset for offset, rows in self._loaded().items() if any(map(is_such, rows)))

    def rows_at(self, offset_bytes: int) -> list[Row]:
        """Return the events to be read of the line at an offset."""
        rows = self._loaded().get(offset_bytes, [])
        if rows:
            self._met.add(offset_bytes)
        return rows

    def has_read_to(self, offset_bytes: int) -> None:
        """Say that the file was read, or passed over, up to an offset."""
        self._read_bytes = offset_bytes

    def leave_unread(self, rows: Sequence[Row]) -> None:
        """Say that these were not there as indexed."""
        self._left_unread.extend(rows)

    def finish(self) -> list[Row]:
        """Say that the whole file was read; return the events whose lines were not met."""
        missing = self._not_met()
        self._left_unread.extend(missing)
        self._is_over = True
        return missing

    def unread(self) -> list[Row]:
        """Return the events of which only heads can be searched."""
        return self._left_unread if self._is_over else [*self._left_unread, *self._not_met()]

    def _not_met(self) -> list[Row]:
        passed_over = min(self._trusted_bytes, self._read_bytes)
        return [
            row
            for offset, rows in self._loaded_if_needed(passed_over).items()
            if offset >= passed_over and offset not in self._met
            for row in rows
        ]

    def _loaded_if_needed(self, passed_over: int) -> dict[int, list[Row]]:
        """Spare a look at the index where all of a file that did not change was passed over."""
        if self._rows is None and passed_over >= self._indexed_bytes:
            return {}
        return self._loaded()

    def _loaded(self) -> dict[int, list[Row]]:
        if self._rows is None:
            self._rows = {}
            for row in rows_of(self._connection, self._scope, self.source, Condition(IS_LONGER)):
                if row.is_longer():
                    self._rows.setdefault(row.offset_bytes, []).append(row)
        return self._rows


def _may_borrow(row: Row) -> bool:
    """Tell whether an event may have arguments from earlier lines: answers in old logs do."""
    return row.type_code != TYPE_CODES["tool_call"] and row.arguments_head is not None


def _may_have_numbers(row: Row) -> bool:
    return any(looks_like_json(head) for _, head, _ in row.texts())


def _is_of(row: Row, event: Event) -> bool:
    """Tell whether an event that was read is the one that was indexed; arguments may stand on earlier lines."""
    return (
        TYPE_CODES[event.event_type] == row.type_code
        and _agrees(event.text, row.head, row.text_len if row.head is not None else None)
        and (not event.tool_arguments or _agrees(event.tool_arguments, row.arguments_head, row.arguments_len))
    )


def _agrees(text: str | None, head: str | None, length: int | None) -> bool:
    if text is None or head is None or length is None:
        return text is head
    return len(text) == length and text.startswith(head)


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__


def _not_as_indexed(row: Row) -> str:
    return f"line {row.line_number} is no longer what was indexed; run: asx ingest"


def _runs_of_lines(file: IO[bytes], max_line_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield a file in runs of whole lines, with the offset of each; the last may lack its LF.

    A line over the limit is read past, as when it was indexed. Memory is one block and one line.
    """
    offset = 0
    pieces: list[bytes] = []
    kept_bytes = 0
    file.seek(0)
    while block := file.read(BLOCK_BYTES):
        cut = block.rfind(b"\n") + 1
        if not cut:
            kept_bytes += len(block)
            if kept_bytes <= max_line_bytes:
                pieces.append(block)
            else:
                pieces.clear()
            continue
        if kept_bytes > max_line_bytes or (pieces and kept_bytes + block.index(b"\n") > max_line_bytes):
            skipped = block.index(b"\n") + 1
            offset += kept_bytes + skipped
            pieces.clear()
            block, cut = block[skipped:], cut - skipped
        pieces.append(block[:cut])
        run = b"".join(pieces)
        if run:
            yield offset, run
        offset += len(run)
        pieces = [block[cut:]] if cut < len(block) else []
        kept_bytes = len(block) - cut
    if pieces and kept_bytes <= max_line_bytes:
        yield offset, b"".join(pieces)


def _lines(offset_bytes: int, run: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a run with their offsets and LFs."""
    start = 0
    while start < len(run):
        end = run.find(b"\n", start) + 1 or len(run)
        yield offset_bytes + start, run[start:end]
        start = end
