"""Searches the whole texts of tools, which stand in the source files only: ``search --deep``.

Reads files and, with plain ``sqlite3``, the index: it tells which texts are longer than their heads and on which lines
they stand (``index.search.longer_texts``). Lines that certainly cannot hold the query are passed over undecoded
(``index.search.sieve``); that counts only while the file is what was indexed. Where it is not, every such line is read
and compared with what the index knows of it (``index.search.reread``). What cannot be read is searched in its head, and
told.

Never imports SQLAlchemy, pydantic or anything of the command line.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import IO, Final, NamedTuple

from index.match.query import Query
from index.search.line_runs import lines_of, runs_of_lines
from index.search.longer_texts import LongerTexts
from index.search.matches import Match
from index.search.reread import Rereader
from index.search.scope import Scope
from index.search.sieve import sieve_of
from index.search.tools import (
    ARGUMENTS,
    TEXT,
    Keyed,
    Row,
    Spans,
    Told,
    ToolSource,
    match_of,
    may_match,
    rows_of,
    source_by_source,
    sources_of,
)
from index.settings import Settings
from persist.archive.opening import open_transcript

HELD_CHARACTERS: Final = 16 * 1024 * 1024
"""Whole texts kept at once until their turn comes; those beyond are read again then."""


def find_in_whole(
    settings: Settings, connection: sqlite3.Connection, scope: Scope, query: Query | None, spans: Spans, told: Told
) -> Iterator[Match]:
    """Yield the whole texts of tools that hold the query, newest first, canonical ones only.

    ``query``, ``spans`` and ``told`` are as in :func:`index.search.tools.find_in_heads`. Never raises for a file: those
    that cannot be read, or are not what was indexed, are in ``told.unread``, and their heads were searched. Cost: the
    files of the sources that are taken, read once; memory is ``HELD_CHARACTERS`` and the longest line.
    """
    search = _Deep(settings, connection, scope, query, spans, told)
    for match in source_by_source(sources_of(connection, scope), search.in_source):
        given = search.give_out(match)
        if given is not None:
            yield given


class _LetGo(NamedTuple):
    """Where a match was found whose text is not held."""

    source: ToolSource
    row: Row


class _Deep:
    """One search. Judges every text once, as whole as it can be had."""

    def __init__(
        self, settings: Settings, connection: sqlite3.Connection, scope: Scope, query: Query | None, spans: Spans,
        told: Told,
    ) -> None:  # fmt: skip
        self._connection = connection
        self._scope = scope
        self._spans = spans
        self._told = told
        self._heads = may_match(query)
        self._sieve = sieve_of(query)
        self._reread = Rereader(settings, connection)
        self._max_line_bytes = settings.configuration.limits.max_line_bytes
        self._archive = settings.places.archive
        self._held_characters = 0
        self._let_go: dict[tuple[int, str], _LetGo] = {}

    def in_source(self, source: ToolSource) -> list[Keyed]:
        """Return all matches of one source, in no order. The file comes first: it spares most looks at the index."""
        found: list[Keyed] = []
        longer = LongerTexts(self._connection, self._scope, source, self._sieve.is_number)
        try:
            with open_transcript(self._archive, source.agent, source.path) as opened:
                for keyed in self._in_file(longer, opened.plain):
                    found.append(keyed)  # noqa: PERF402 - what was found stays where reading ends with an error
        except OSError as error:
            longer.holds_nothing = False
            self._tell(source, longer.unread(), _reason(error))
        if not longer.holds_nothing:
            found.extend(self._in_index(source))
        for row in longer.unread():
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
        let_go = self._let_go.pop((match.id, match.part), None)
        if let_go is None:
            self._held_characters -= len(match.text)
            return match
        source, row = let_go
        text = self._reread.text_of(source, row, match.part)
        if text is None:
            self._tell(source, [row], _not_as_indexed(row))
            text = next(head for part, head, _ in row.texts() if part == match.part)
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
        self._let_go[row.id, part] = _LetGo(source, row)
        ((order, match),) = keyed
        return ((order, match._replace(text="", spans=())),)

    def _in_head(self, source: ToolSource, row: Row) -> Iterator[Keyed]:
        for part, head, length in row.texts():
            if len(head) < length:
                for keyed in match_of(source, row, part, head, length, self._spans(head)):
                    self._held_characters += len(head)  # counted back when it is given out; too short to be let go
                    yield keyed

    def _tell(self, source: ToolSource, rows: Sequence[Row], why: str) -> None:
        """Tell why texts of a file were searched in their heads; the first reason is enough."""
        if rows and all(path != source.path for path, _ in self._told.unread):
            self._told.unread.append((source.path, why))

    def _in_file(self, longer: LongerTexts, file: IO[bytes]) -> Iterator[Keyed]:
        source = longer.source
        longer.begin(file)
        apart: list[Row] = []
        for offset_bytes, run in runs_of_lines(file, self._max_line_bytes):
            end_bytes = offset_bytes + len(run)
            if longer.may_pass_over(offset_bytes, end_bytes) and not self._sieve.may_hold_some(run):
                longer.has_read_to(end_bytes)
                continue
            longer.holds_nothing = False
            for line_offset, line in lines_of(offset_bytes, run):
                rows = longer.rows_at(line_offset)
                if not rows or not (longer.must_read(line_offset, line) or self._sieve.may_hold(line)):
                    continue
                found, left_over, changed = self._in_line(source, rows, line)
                yield from found
                apart.extend(left_over)
                longer.leave_unread(changed)
                self._tell(source, changed, _not_as_indexed(rows[0]))
            longer.has_read_to(end_bytes)
        missing = longer.finish()
        longer.holds_nothing &= not missing
        if missing:
            self._tell(source, missing, _not_as_indexed(missing[0]))
        if apart:
            yield from self._assembled(longer, apart, file)

    def _in_line(
        self, source: ToolSource, rows: Sequence[Row], line: bytes
    ) -> tuple[list[Keyed], list[Row], list[Row]]:
        """Return the matches on a line, the events whose arguments stand on earlier lines, and those that changed."""
        found: list[Keyed] = []
        apart: list[Row] = []
        changed: list[Row] = []
        for row, event in self._reread.on_line(source, rows, line):
            if event is None:
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

    def _assembled(self, longer: LongerTexts, rows: Sequence[Row], file: IO[bytes]) -> Iterator[Keyed]:
        """Judge arguments that an old log has in pieces on earlier lines, by reading it from its beginning."""
        wanted = {row.event_index: row for row in rows}
        why = _not_as_indexed(rows[0])
        try:
            for event_index, arguments in self._reread.arguments(longer.source, file, wanted):
                row = wanted.pop(event_index)
                yield from self._judge(longer.source, row, ARGUMENTS, arguments, row.arguments_len or 0)
        except OSError as error:
            why = _reason(error)
        changed = [row._replace(head=None) for row in wanted.values()]
        longer.leave_unread(changed)
        self._tell(longer.source, changed, why)


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__


def _not_as_indexed(row: Row) -> str:
    return f"line {row.line_number} is no longer what was indexed; run: asx ingest"
