"""Carries out a plan on an open index and tells what it does: the work of ``ingest`` and of the refresh.

Plain ``sqlite3``; must never import SQLAlchemy, Alembic, pydantic or ulid. The caller holds the index's lock.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from index.discovery import Look
from index.load import Progress
from index.notices import deletion_notice
from index.plan import BROKEN, FAILED, HELD, IGNORED, Plan, Step
from index.results import AgentReport, IngestReport, Problem
from index.run import why_still_unreadable
from index.settings import Settings
from index.slices import SliceWriter, slices
from persist.projects import ProjectResolver


def write(
    settings: Settings, connection: sqlite3.Connection, plan: Plan, moved: Sequence[tuple[str, str, str]],
    resolver: ProjectResolver, report: IngestReport, progress: Progress,
) -> None:  # fmt: skip
    """Write a plan in slices on a connection of ``open_writer``, and empty the WAL unless a reader holds it.

    ``moved`` is what ``moved_projects`` found. A slice that fails is rolled back; those before it stand. Raises
    ``sqlite3.Error`` as SQLite reports it, ``IndexUnusableError`` when another generation lies there by now.
    """
    try:
        writer = SliceWriter(settings, connection, resolver, report, progress)
        writer.let_go(plan, list(moved))
        progress.start(sum(step.source.stat.size_bytes for step in plan.steps))
        for steps in slices(plan.steps):
            writer.write(steps)
        connection.execute("PRAGMA busy_timeout = 0")  # a long reader keeps its pages; the next run truncates
        connection.execute("PRAGMA wal_checkpoint(truncate)")
    except BaseException:
        if connection.in_transaction:
            connection.rollback()
        raise


def report_plan(settings: Settings, report: IngestReport, seen: Look, plan: Plan) -> None:
    """Count and tell what a run finds before it reads any source: unchanged, gone, held, deleted by its agent."""
    for (agent, status), count in plan.unchanged.items():
        counts = report.agents[agent].sources
        if status == IGNORED:
            counts.ignored += count
        elif status == BROKEN:
            counts.failed += count
        else:
            counts.unchanged += count
    for row in (*plan.gone, *plan.excluded):
        report.agents.setdefault(row.agent, AgentReport()).sources.removed += 1
    _report_held(report, plan)
    _note_deletion(settings, report, seen, plan)


def drop_still_unreadable(report: IngestReport, plan: Plan) -> None:
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
        gone = f"1 source of {agent} is gone" if count == 1 else f"{count:,} sources of {agent} are gone at once"
        kept = "was kept" if count == 1 else "were kept"
        report.notes.append(f"{gone} and {kept}; if that is right, run: asx ingest --prune")


def _note_deletion(settings: Settings, report: IngestReport, seen: Look, plan: Plan) -> None:
    """Say in one line that an agent deletes its transcripts: at first sight, and whenever some were removed."""
    first_seen = {step.source.agent for step in plan.steps} - plan.known_agents
    removed = {row.agent for row in plan.gone}
    for agent in settings.agents:
        if agent.deletes_after_days is None or report.agents[agent.name].kept:
            continue
        if agent.name in first_seen or agent.name in removed:
            oldest = seen.oldest_transcript_ns(agent.name)
            report.notes.append(deletion_notice(agent.title, agent.deletes_after_days, oldest))
