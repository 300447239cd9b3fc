"""Brings the index up to date: look, plan, load, settle; the first time, a rebuild.

The lock is held from the look at the disk to the last commit, so that two ingests never work from the same snapshot.
A run commits in slices (``index.slices``); a run that dies leaves what it committed, and the next one goes on. Plain
``sqlite3``; Alembic is only imported where an index is made.
"""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace

from index.discovery import look
from index.errors import IndexUnusableError
from index.keep import keep_copies
from index.load import Progress, Silent
from index.lock import index_lock
from index.opening import (
    Finding,
    is_current,
    leave_for_readers,
    open_reader,
    open_writer,
    read_header,
)
from index.rebuild import rebuild_locked
from index.results import IngestReport
from index.run import begin_report, finish_report, plan_against, without_cycles
from index.settings import Settings
from index.settle.sessions import moved_projects
from index.sqlite_errors import REBUILD, translate_write_errors
from index.update import drop_still_unreadable, report_plan, write
from persist.projects import ProjectResolver


def ingest(
    settings: Settings, *, prune: bool = False, check: bool = False, progress: Progress | None = None
) -> IngestReport:
    """Bring the index up to date and tell what was done; makes it when there is none, or when it is outdated.

    Where the configuration keeps, copies of foreign transcripts are brought up to date first (``index.keep``).
    ``prune`` lets go of sources that are gone, however many; ``check`` reads every source anew instead of trusting
    fingerprints. Raises ``IndexBusyError`` when another run holds the lock, ``IndexUnusableError`` or
    ``IndexNewerError`` when what lies at the path must not be touched, ``IndexWriteError`` and ``StoreIOError`` when
    the disk does not take it, and where it makes the index anew what ``rebuild`` raises. An unchanged store writes
    nothing.
    """
    with index_lock(settings), translate_write_errors(settings.index_path), without_cycles():
        reason = _must_remake(settings)
        if reason is not None:
            kept = IngestReport(settings.index_path)
            if settings.configuration.keep:
                keep_copies(settings, look(settings), kept, compare_all=check)
            report = rebuild_locked(settings, prune=prune, progress=progress)
            report.problems += kept.problems
            report.problems_total += kept.problems_total
            report.notes += kept.notes
            if reason:
                report.notes.insert(0, reason)
            return report
        return _ingest_locked(settings, prune, check, progress)


def _must_remake(settings: Settings) -> str | None:
    """Return why the index must be made anew (empty for the first time), or null when it is current."""
    header = read_header(settings.index_path)
    if header.finding in (Finding.MISSING, Finding.EMPTY):
        return ""
    try:
        connection = open_reader(settings.index_path)
    except IndexUnusableError as error:
        if header.finding is Finding.OURS and error.cure == REBUILD:
            return f"the index {error.reason}; it was made anew"
        raise
    try:
        if not is_current(connection, settings.projection):
            return "the index was made by other rules; it was made anew"
    finally:
        connection.close()
    return None


def _ingest_locked(settings: Settings, prune: bool, check: bool, progress: Progress | None) -> IngestReport:
    started = time.monotonic()
    before = look(settings)
    report = begin_report(settings, before)
    seen = replace(keep_copies(settings, before, report, compare_all=check), lost=before.lost)
    resolver = ProjectResolver()
    reader = open_reader(settings.index_path)
    try:
        plan = plan_against(settings, seen, reader, prune=prune, read_all=check)
        drop_still_unreadable(report, plan)
        report_plan(settings, report, seen, plan)
        moved = moved_projects(reader, resolver.project_of)
        if not plan.is_empty or moved:
            with closing(open_writer(settings.index_path)) as writer:
                write(settings, writer, plan, moved, resolver, report, progress or Silent())
            report.wrote = True
        finish_report(report, reader, started)
    finally:
        reader.close()  # after the writer: closing it last leaves -wal and -shm in place for readers
    if report.wrote:
        leave_for_readers(settings.index_path)
    return report
