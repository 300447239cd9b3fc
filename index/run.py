"""What an ingest and a rebuild have in common: the sources known, the report begun and finished.

Plain ``sqlite3``; writes nothing. Opens a source only to see whether it can be read now.
"""

from __future__ import annotations

import gc
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from index import statements
from index.discovery import Look
from index.plan import FAILED, HELD, KnownSource, Plan, Step, make_plan
from index.results import AgentReport, IngestReport, Problem
from index.settings import Settings
from persist.regular import open_regular
from persist.sources import Stat


def read_known(connection: sqlite3.Connection) -> dict[tuple[str, str], KnownSource]:
    """Return every source that the index knows, by (agent, path)."""
    known: dict[tuple[str, str], KnownSource] = {}
    for id_, agent, kind, path, root, status, size, mtime, ctime, inode, offset, error in connection.execute(
        statements.KNOWN_SOURCES
    ):
        stat = Stat(size, mtime, ctime, inode)
        known[agent, path] = KnownSource(id_, agent, kind, path, root, status, stat, offset, error)
    return known


def plan_of(
    settings: Settings,
    seen: Look,
    known: Mapping[tuple[str, str], KnownSource],
    *,
    prune: bool = False,
    read_all: bool = False,
) -> Plan:
    """Return what a run of these settings would do, from one look at the disk; see ``index.plan.make_plan``."""
    return make_plan(
        seen.found,
        known,
        visited_agents=settings.agent_names,
        excluded=seen.excluded,
        prune=prune,
        read_all=read_all,
    )


def why_still_unreadable(step: Step) -> str | None:
    """Return why a source that could not be read last time cannot be read now either; null for every other step.

    A held source keeps the stat of what was indexed, so its own tells nothing.
    """
    known = step.known
    if known is None or not (known.status == HELD or (known.status == FAILED and known.stat == step.source.stat)):
        return None
    try:
        with open_regular(known.path, 0) as file:
            file.read(1)
    except OSError as error:
        return error.strerror or type(error).__name__
    return None


def begin_report(settings: Settings, seen: Look) -> IngestReport:
    """Return a report that names the roots and what lies in the way."""
    report = IngestReport(settings.index_path)
    for agent in settings.agents:
        report.agents[agent.name] = AgentReport()
    for found in seen.found:
        mine = report.agents[found.root.agent]
        (mine.roots if found.exists else mine.missing_roots).append(str(found.root.path))
        mine.sources.seen += len(found.sources)
        for trouble in found.troubles:
            report.problems.append(Problem(trouble.kind, trouble.path, None, None, trouble.message))
            report.problems_total += 1
    return report


def finish_report(report: IngestReport, connection: sqlite3.Connection, started: float) -> None:
    """Fill in the index's totals and the time taken."""
    report.sessions = connection.execute("SELECT count(*) FROM session_rows").fetchone()[0]
    report.events = connection.execute("SELECT coalesce(sum(events), 0) FROM source_rows").fetchone()[0]
    report.seconds = round(time.monotonic() - started, 3)


@contextmanager
def without_cycles() -> Iterator[None]:
    """Switch the cycle collector off for a run: nothing it makes holds cycles, and looking for them costs a tenth."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
