"""Brings the index up to date: look, plan, load, settle; the first time, a rebuild.

The lock is held from the look at the disk to the last commit, so that two ingests never work from the same snapshot.
A run commits in slices (``index.slices``); a run that dies leaves what it committed, and the next one goes on. Plain
``sqlite3``; Alembic is only imported where an index is made.
"""

from __future__ import annotations

import time

from index.discovery import Look, look
from index.errors import IndexUnusableError
from index.load import Progress, Silent
from index.lock import index_lock
from index.notices import deletion_notice
from index.opening import (
    Finding,
    is_current,
    leave_for_readers,
    open_reader,
    open_writer,
    read_header,
)
from index.plan import BROKEN, FAILED, HELD, IGNORED, KnownSource, Plan, Step
from index.rebuild import rebuild_locked
from index.results import AgentReport, IngestReport, Problem
from index.run import begin_report, finish_report, plan_of, read_known, why_still_unreadable, without_cycles
from index.settings import Settings
from index.settle_sessions import moved_projects
from index.slices import SliceWriter, slices
from index.sqlite_errors import translate_write_errors
from persist.projects import ProjectResolver


def ingest(
    settings: Settings, *, prune: bool = False, check: bool = False, progress: Progress | None = None
) -> IngestReport:
    """Bring the index up to date and tell what was done; makes it when there is none, or when it is outdated.

    ``prune`` lets go of sources that are gone, however many; ``check`` reads every source anew instead of trusting
    fingerprints. Raises ``IndexBusyError`` when another run holds the lock, ``IndexUnusableError`` or
    ``IndexNewerError`` when what lies at the path must not be touched, ``IndexWriteError`` and ``StoreIOError`` when
    the disk does not take it, and where it makes the index anew what ``rebuild`` raises. An unchanged store writes
    nothing.
    """
    with index_lock(settings), translate_write_errors(settings.index_path), without_cycles():
        reason = _must_remake(settings)
        if reason is not None:
            report = rebuild_locked(settings, prune=prune, progress=progress)
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
        if header.finding is Finding.OURS:
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
    seen = look(settings)
    report = begin_report(settings, seen)
    resolver = ProjectResolver()
    reader = open_reader(settings.index_path)
    try:
        known = read_known(reader)
        plan = plan_of(settings, seen, known, prune=prune, read_all=check)
        _drop_still_unreadable(report, plan)
        _report_plan(settings, report, seen, plan, known)
        moved = moved_projects(reader, resolver.project_of)
        if not plan.is_empty or moved:
            _write(settings, plan, moved, resolver, report, progress or Silent())
            report.wrote = True
        finish_report(report, reader, started)
    finally:
        reader.close()  # after the writer: closing it last leaves -wal and -shm in place for readers
    if report.wrote:
        leave_for_readers(settings.index_path)
    return report


def _write(
    settings: Settings, plan: Plan, moved: list[tuple[str, str, str]], resolver: ProjectResolver,
    report: IngestReport, progress: Progress,
) -> None:  # fmt: skip
    connection = open_writer(settings.index_path)
    try:
        writer = SliceWriter(settings, connection, resolver, report, progress)
        writer.let_go(plan, moved)
        progress.start(sum(step.source.stat.size_bytes for step in plan.steps))
        for steps in slices(plan.steps):
            writer.write(steps)
        connection.execute("PRAGMA busy_timeout = 0")  # a long reader keeps its pages; the next run truncates
        connection.execute("PRAGMA wal_checkpoint(truncate)")
    except BaseException:
        if connection.in_transaction:
            connection.rollback()
        raise
    finally:
        connection.close()


def _report_plan(
    settings: Settings, report: IngestReport, seen: Look, plan: Plan, known: dict[tuple[str, str], KnownSource]
) -> None:  # fmt: skip
    for row in plan.unchanged:
        counts = report.agents[row.agent].sources
        if row.status == IGNORED:
            counts.ignored += 1
        elif row.status == BROKEN:
            counts.failed += 1
        else:
            counts.unchanged += 1
    for row in (*plan.gone, *plan.excluded):
        report.agents.setdefault(row.agent, AgentReport()).sources.removed += 1
    _report_held(report, plan)
    _note_deletion(settings, report, seen, plan, known)


def _drop_still_unreadable(report: IngestReport, plan: Plan) -> None:
    """Take out of the plan what an ingest could again not read: nothing to write."""
    steps: list[Step] = []
    for step in plan.steps:
        known, why = step.known, why_still_unreadable(step)
        if known is None or why is None:
            steps.append(step)
            continue
        counts = report.agents[known.agent].sources
        counts.held += known.status == HELD
        counts.failed += known.status == FAILED
        report.problems.append(Problem("unreadable", known.path, None, None, f"cannot be read: {why}"))
        report.problems_total += 1
    plan.steps = steps


def _report_held(report: IngestReport, plan: Plan) -> None:
    for row in plan.withheld:
        report.agents[row.agent].sources.held += 1
    for row, why in plan.unreachable:
        report.agents[row.agent].sources.held += 1
        report.problems.append(Problem(HELD, row.path, None, None, why))
        report.problems_total += 1
    by_agent: dict[str, int] = {}
    for row in plan.withheld:
        by_agent[row.agent] = by_agent.get(row.agent, 0) + 1
    for agent, count in sorted(by_agent.items()):
        report.notes.append(
            f"{count} sources of {agent} are gone at once and were kept; if that is right, run: asx ingest --prune"
        )


def _note_deletion(
    settings: Settings, report: IngestReport, seen: Look, plan: Plan, known: dict[tuple[str, str], KnownSource]
) -> None:  # fmt: skip
    """Say in one line that an agent deletes its transcripts: at first sight, and whenever some were removed."""
    seen_before = {agent for agent, _ in known}
    first_seen = {step.source.agent for step in plan.steps} - seen_before
    removed = {row.agent for row in plan.gone}
    for agent in settings.agents:
        if agent.deletes_after_days is None or report.agents[agent.name].kept:
            continue
        if agent.name in first_seen or agent.name in removed:
            oldest = seen.oldest_transcript_ns(agent.name)
            report.notes.append(deletion_notice(agent.title, agent.deletes_after_days, oldest))
