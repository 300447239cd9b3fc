"""Reads sources and puts their rows into the index: the I/O between ``persist.reading`` and ``index.apply``.

Works within the caller's transaction. One bad source never hides another (DESIGN law 5): what cannot be read is
marked and told, and this is the one place beside the command line's edge where any exception of a source's parser is
caught, counted and shown.

Whether a grown file is read from its tail or anew is decided here, by its two edges (``index.plan`` only says maybe).
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, Final, NamedTuple, Protocol

from index.apply import Applier, SourceState
from index.plan import BROKEN, FAILED, HELD, IGNORED, INDEXED, Action, Step
from index.projection import Projector, check_storable
from index.results import AgentReport, IngestReport, Problem
from index.settings import Settings
from persist.archive.opening import newest_copy
from persist.compressed import is_compressed, plain
from persist.fingerprint import edges, stat_of
from persist.reading import Checkpoint, Counts, ReadLine, SourceReader
from persist.regular import open_regular
from persist.sources import BLOCK, LINE_KINDS, PROJECT_MEMORY, TRANSCRIPT, Source

FLUSH_CHARACTERS: Final = 6_000_000
"""Rows are written when they weigh about this much: memory stays flat and statements stay long."""
MAX_NOTE_BYTES: Final = 64 * 1024 * 1024
MAX_PROBLEMS: Final = 100


class Progress(Protocol):
    """Told how far a run is, in bytes of sources."""

    def start(self, total_bytes: int) -> None:
        """Begin; ``total_bytes`` is what lies ahead."""

    def advance(self, size_bytes: int) -> None:
        """Note bytes that are done."""


class Silent:
    """Progress that nobody watches."""

    def start(self, total_bytes: int) -> None:
        """Begin."""

    def advance(self, size_bytes: int) -> None:
        """Note bytes that are done."""


class CopyOrder(NamedTuple):
    """What of a source decides which of equal events is canonical; a change bears on every one of its events."""

    session_row: int | None
    names_parent: int
    head_time: str | None


@dataclass(frozen=True, slots=True)
class StoredState:
    """What the index knows of a source that is read again: hashes of both edges, where reading ended, its order."""

    head_hash: bytes | None
    tail_hash: bytes | None
    checkpoint: Checkpoint
    order: CopyOrder


class SourceLostError(Exception):
    """A source that the index has could not be read to its end: its rows must stay as they were (DESIGN law 5)."""

    def __init__(self, source: Source, reason: str) -> None:
        self.agent = source.agent
        self.path = source.path
        self.reason = reason
        super().__init__(f"{source.path} could not be read to its end: {reason}")


class Verdict(NamedTuple):
    """What became of a source that is read line by line. ``final`` tells nothing of one that was not recognised."""

    status: str
    error: str | None
    final: Checkpoint


class _Opened(NamedTuple):
    """A source that is being read: its row, where reading goes on (null: from the beginning), what was stored."""

    id: int
    source: Source
    start: Checkpoint | None
    stored: StoredState | None
    has_rows: bool
    read_path: str


class Loader:
    """Carries out the steps of a plan, source by source, and keeps the run's report."""

    def __init__(
        self, settings: Settings, applier: Applier, report: IngestReport, now: str, progress: Progress | None = None
    ) -> None:
        self._settings = settings
        self._applier = applier
        self._report = report
        self._now = now
        self._progress = progress or Silent()
        self._projector = Projector(applier.next_id(), settings.limits)

    def carry_out(self, step: Step, stored: StoredState | None) -> None:
        """Read one source anew or from its checkpoint; ``stored`` is null for a source that is new.

        Raises ``SourceLostError`` when reading fails after rows of the source were removed: the caller rolls back.
        """
        counts = self._agent(step.source.agent).sources
        if step.action is Action.RELEASE and step.known is not None:
            self._applier.release(step.known.id)
            counts.unchanged += 1
            self._progress.advance(step.source.stat.size_bytes)
            return
        try:
            step, file = self._open(step)
            with file:
                source = step.source
                if step.copy is None:  # a copy stands for its original's fingerprint
                    source = source._replace(stat=stat_of(os.fstat(file.fileno())))
                self._load(step, source, file, stored)
        except OSError as error:
            self.cannot_read(step, error.strerror or type(error).__name__)
        self._progress.advance(step.source.stat.size_bytes)

    def _open(self, step: Step) -> tuple[Step, BinaryIO]:
        """Open what is read for a source; its copy under its new name, if that was closed since the look."""
        try:
            return step, open_regular(step.read_path, 0)
        except FileNotFoundError:
            source = step.source
            copy = newest_copy(self._settings.places.archive, source.agent, source.path) if step.copy else None
            if copy is None:
                raise
            return step._replace(copy=copy), open_regular(copy, 0)

    def flush(self) -> None:
        """Write the rows that are still in memory; none of them when one of the source at hand cannot be stored."""
        self._projector.check()
        self._applier.insert(self._projector.take())

    def problem(self, kind: str, path: str, message: str, line: ReadLine | None = None) -> None:
        """Tell of something that went wrong; the first ``MAX_PROBLEMS`` are kept, all are counted."""
        self._report.problems_total += 1
        if len(self._report.problems) < MAX_PROBLEMS:
            number, offset = (line.number, line.offset_bytes) if line else (None, None)
            self._report.problems.append(Problem(kind, path, number, offset, message))

    def _agent(self, name: str) -> AgentReport:
        return self._report.agents.setdefault(name, AgentReport())

    def _load(self, step: Step, source: Source, file: IO[bytes], stored: StoredState | None) -> None:
        start = self._start(step, file, stored)
        line_number = start.line_number if start else 0
        # What cannot be read must fail here, before any row goes: then what was indexed before stays (DESIGN law 5).
        beginning = file.read(1 if source.kind in LINE_KINDS else MAX_NOTE_BYTES)
        source_id = step.known.id if step.known else self._applier.add_source(source)
        if step.known:
            self._applier.remove_rows(source_id, line_number)
        has_rows = step.known is not None and step.known.status in (INDEXED, HELD)
        self._projector.begin_source()
        try:
            if source.kind in LINE_KINDS:
                opened = _Opened(source_id, source, start, stored, has_rows, step.read_path)
                status = self._load_lines(opened, file)
            else:
                status = self._load_note(source_id, source, beginning)
        except (sqlite3.Error, SourceLostError):
            raise  # the index's fault, not the source's: SQLite may have rolled the transaction back
        except Exception as error:
            # What the machine lacks for a moment passes, and the next ingest tries again; a parser's fault stays.
            passes = isinstance(error, OSError | MemoryError)
            if passes and has_rows:
                raise SourceLostError(source, type(error).__name__) from error
            self._projector.drop_source()  # half-made; the rows of the sources before it wait for the next flush
            self._applier.remove_rows(source_id, 0)
            status = FAILED if passes else BROKEN
            self._fail(source_id, source, status, f"its parser failed ({type(error).__name__})")
            self.problem("failed", source.path, f"its parser failed ({type(error).__name__})")
            return
        self._count(step, start, status)

    def _start(self, step: Step, file: IO[bytes], stored: StoredState | None) -> Checkpoint | None:
        """Return where to read on, or null to read anew: grown, and both edges as they were (DESIGN 8).

        A compressed file is never one that was appended to, and its checkpoint counts bytes that it does not hold.
        """
        if step.action is not Action.MAYBE_TAIL or stored is None or is_compressed(step.read_path):
            return None
        if edges(file, stored.checkpoint.offset_bytes) != (stored.head_hash, stored.tail_hash):
            return None
        try:
            self._settings.agent(step.source.agent).open_parser(step.source, stored.checkpoint.state)
        except (KeyError, TypeError, ValueError):  # saved by another version of the parser
            return None
        return stored.checkpoint

    def _load_lines(self, opened: _Opened, file: IO[bytes]) -> str:
        source_id, source, start, _, has_rows, read_path = opened
        limit = self._settings.configuration.limits.max_line_bytes
        agent, read_from = self._settings.agent(source.agent), plain(read_path, file)
        reader = SourceReader(agent, source, read_from, start, max_line_bytes=limit)
        before = start.counts.copy() if start else Counts()
        stem = Path(source.path).stem
        hashes: tuple[bytes | None, bytes | None] = (None, None)
        try:
            for line in reader:
                self._projector.add_line(source_id, source.agent, reader.final.session_id or stem, line)
                if line.error is not None:
                    self.problem("damaged_line", source.path, line.error, line)
                if self._projector.rows.size_characters > FLUSH_CHARACTERS:
                    self.flush()
            verdict = self._judge(source, reader.final)
            hashes = edges(file, reader.checkpoint.offset_bytes)
        except OSError as error:
            reason = error.strerror or "reading failed"
            if has_rows:
                raise SourceLostError(source, reason) from error
            verdict = Verdict(FAILED, reason, reader.final)
            self.problem("unreadable", source.path, f"reading stopped: {reason}")
        self._projector.check()  # before anything is stored of the source: its fault must not show in another's flush
        self._finish(opened, reader, verdict, hashes)
        self._report_lines(source, reader, verdict.final.counts, before)
        if verdict.status == IGNORED:
            self.flush()
            self._applier.remove_rows(source_id, 0)
            self.problem("not_recognised", source.path, verdict.error or "")
        return verdict.status

    def _judge(self, source: Source, final: Checkpoint) -> Verdict:
        if final.recognised:
            return Verdict(INDEXED, None, final)
        why = "empty file" if source.stat.size_bytes == 0 else f"no record of {source.agent}'s format"
        seen = final.counts.seen
        counts = Counts(seen=seen, skipped=seen, skipped_types=Counter({"not recognised": seen} if seen else {}))
        return Verdict(IGNORED, why, Checkpoint(counts=counts))

    def _finish(
        self, opened: _Opened, reader: SourceReader, verdict: Verdict, hashes: tuple[bytes | None, bytes | None]
    ) -> None:
        """Store the source's state, and note what its rows bear on once they are in the tables."""
        source_id, source, start, stored, *_ = opened
        final = verdict.final
        saved = json.dumps(reader.checkpoint.save(), ensure_ascii=False)
        check_storable((final.session_id, *final.counts.skipped_types, saved))  # before a session is added
        session_row: int | None = None
        if source.kind == TRANSCRIPT and (final.session_id or final.has_talk):
            session_row = self._applier.session_row(source.agent, final.session_id or Path(source.path).stem)
        order = CopyOrder(session_row, int(final.names_parent), final.head_time())
        moved = stored is not None and stored.order != order
        if moved:
            self.flush()
            self._applier.touch(source_id, 0)
        state = SourceState(
            source, verdict.status, verdict.error, *hashes, reader.checkpoint, final, reader.bytes_pending, session_row,
            self._now,
        )  # fmt: skip
        self._applier.save_source(source_id, state)
        if self._applier.touching:
            self.flush()
            self._applier.touch(source_id, 0 if moved or start is None else start.line_number)

    def _load_note(self, source_id: int, source: Source, data: bytes) -> str:
        agent = self._settings.agent(source.agent)
        self._report.bytes_read += len(data)
        if source.kind == BLOCK and agent.read_note is not None:
            self._projector.add_note(source_id, agent.read_note(source, data), source.path)
        elif source.kind == PROJECT_MEMORY and agent.read_note_facts is not None:
            for fact in agent.read_note_facts(source, data):
                self._projector.add_note_fact(source_id, fact)
        done = Checkpoint(offset_bytes=len(data), recognised=True)
        self._projector.check()
        state = SourceState(source, INDEXED, None, None, None, done, done, 0, None, self._now)
        self._applier.save_source(source_id, state)
        if self._projector.rows.size_characters > FLUSH_CHARACTERS:
            self.flush()
        return INDEXED

    def _report_lines(self, source: Source, reader: SourceReader, counts: Counts, earlier: Counts) -> None:
        report = self._report
        report.lines_seen += counts.seen - earlier.seen
        report.lines_indexed += counts.indexed - earlier.indexed
        report.lines_skipped += counts.skipped - earlier.skipped
        report.lines_damaged += counts.damaged - earlier.damaged
        report.bytes_pending += reader.bytes_pending
        report.bytes_read += reader.bytes_read
        types = self._agent(source.agent).skipped_types
        for name, count in (counts.skipped_types - earlier.skipped_types).items():
            types[name] = types.get(name, 0) + count

    def _count(self, step: Step, start: Checkpoint | None, status: str) -> None:
        counts = self._agent(step.source.agent).sources
        if status == IGNORED:
            counts.ignored += 1
        elif status == FAILED:
            counts.failed += 1
        elif step.known is None:
            counts.new += 1
        elif start is not None:
            counts.tailed += 1
        else:
            counts.replaced += 1

    def cannot_read(self, step: Step, reason: str) -> None:
        """Hold a known source as it was; note a new one as failed, to be tried again."""
        counts = self._agent(step.source.agent).sources
        self.problem("unreadable", step.source.path, f"cannot be read: {reason}")
        if step.known is not None and step.known.status in (INDEXED, HELD):
            self._applier.hold(step.known.id, reason)
            counts.held += 1
            return
        source_id = step.known.id if step.known else self._applier.add_source(step.source)
        self._fail(source_id, step.source, FAILED, reason)

    def _fail(self, source_id: int, source: Source, status: str, reason: str) -> None:
        nothing = Checkpoint()
        state = SourceState(source, status, reason, None, None, nothing, nothing, 0, None, self._now)
        self._applier.save_source(source_id, state)
        self._agent(source.agent).sources.failed += 1
