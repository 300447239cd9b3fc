"""What ingest, rebuild, refresh and freshness share: the sources known, the plan, the report begun and finished.

Plain ``sqlite3``; writes nothing. Opens a source only to see whether it can be read now.
"""

from __future__ import annotations

import gc
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from index import statements
from index.discovery import Look
from index.plan import FAILED, HELD, INDEXED, KnownSource, Plan, StandingIn, Step, make_plan
from index.results import AgentReport, IngestReport, Problem
from index.settings import Settings
from index.unchanged import Group, Row, groups_of, set_apart
from persist.regular import open_regular
from persist.sources import Root, Stat

_AGENTS: Final = "SELECT name, id FROM agents"
_ROWS: Final = f"""SELECT CASE WHEN s.status <> '{INDEXED}' THEN -s.agent_id {{}} ELSE -s.agent_id END,
  s.path, s.size_bytes, s.mtime_ns, s.ctime_ns, s.inode
FROM source_rows s"""
_IS_OF_GROUP: Final = "s.agent_id = ? AND s.kind = ? AND s.root = ?"
_MANY: Final = 4000
"""From so many sources on, reading all that are known costs less than asking for each."""


def read_known(connection: sqlite3.Connection) -> dict[tuple[str, str], KnownSource]:
    """Return every source that the index knows, by (agent, path)."""
    sources = map(_known, connection.execute(statements.KNOWN_SOURCES))
    return {(source.agent, source.path): source for source in sources}


def _known(row: tuple[Any, ...]) -> KnownSource:
    id_, agent, kind, path, root, status, size, mtime, ctime, inode, offset, error = row
    return KnownSource(id_, agent, kind, path, root, status, Stat(size, mtime, ctime, inode), offset, error)


def plan_against(
    settings: Settings, seen: Look, connection: sqlite3.Connection, *, prune: bool = False, read_all: bool = False
) -> Plan:
    """Return what a run would do to the index on ``connection``: the same as ``plan_of`` all that it knows.

    Reads in one transaction; the caller has none open. Cost: a row and a look into a dictionary for each source that
    is as it was, and what ``plan_of`` costs for the others.
    """
    connection.execute("BEGIN")
    try:
        if read_all:
            return plan_of(settings, seen, read_known(connection), prune=prune, read_all=True)
        agents: dict[str, int] = dict(connection.execute(_AGENTS))
        groups = [group for group in groups_of([*seen.found, *seen.kept]) if group.agent in agents]
        rows = _read_rows(connection, groups, agents)
        rest = set_apart(seen.found, groups, rows, {id_: name for name, id_ in agents.items()}, seen.kept)
        known = _read_known_among(connection, rest.keys)
    finally:
        connection.execute("COMMIT")
    return make_plan(
        rest.found,
        known,
        visited_agents=settings.agent_names,
        excluded=seen.excluded,
        same=rest.same,
        prune=prune,
        kept=rest.kept,
        copies=seen.copies,
        standing_in=_standing_in(settings, seen),
    )


def _read_rows(connection: sqlite3.Connection, groups: Sequence[Group], agents: Mapping[str, int]) -> list[Row]:
    """Return a row for each source that the index knows, in order.

    SQLite numbers the groups: that spares three texts for each source.
    """
    cases = " ".join(f"WHEN {_IS_OF_GROUP} THEN {number}" for number in range(len(groups)))
    values = [value for group in groups for value in (agents[group.agent], group.kind, group.root)]
    rows: list[Row] = connection.execute(_ROWS.format(cases), values).fetchall()
    rows.sort()
    return rows


def _read_known_among(
    connection: sqlite3.Connection, keys: frozenset[tuple[str, str]]
) -> dict[tuple[str, str], KnownSource]:
    """Return those of these sources that the index knows, by (agent, path)."""
    if len(keys) > _MANY:
        return {key: row for key, row in read_known(connection).items() if key in keys}
    known: dict[tuple[str, str], KnownSource] = {}
    for path in {path for _, path in keys}:
        for row in connection.execute(f"{statements.KNOWN_SOURCES} WHERE s.path = ?", (path,)):
            source = _known(row)
            if (source.agent, path) in keys:
                known[source.agent, path] = source
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
        kept=seen.kept,
        copies=seen.copies,
        standing_in=_standing_in(settings, seen),
    )


def _standing_in(settings: Settings, seen: Look) -> StandingIn:
    """Return how many kept copies are read; without keeping, open ones stay open and tell nothing of lately."""
    lately = Counter({agent: len(sources) for agent, sources in seen.lost.items() if settings.keeps(agent)})
    return StandingIn(lately, seen.kept_by_agent - lately)


def why_still_unreadable(step: Step) -> str | None:
    """Return why a source that could not be read last time cannot be read now either; null for every other step.

    A held source keeps the stat of what was indexed, so its own tells nothing.
    """
    known = step.known
    if known is None or not (known.status == HELD or (known.status == FAILED and known.stat == step.source.stat)):
        return None
    try:
        with open_regular(step.read_path, 0) as file:
            file.read(1)
    except OSError as error:
        return error.strerror or type(error).__name__
    return None


def begin_report(settings: Settings, seen: Look) -> IngestReport:
    """Return a report that names the roots and what lies in the way."""
    report = IngestReport(settings.index_path)
    for agent in settings.agents:
        report.agents[agent.name] = AgentReport(kept=settings.keeps(agent.name))
    for found in seen.found:
        mine = report.agents[found.root.agent]
        (mine.roots if found.exists else mine.missing_roots).append(str(found.root.path))
        mine.sources.seen += len(found.sources)
        if found.exists and not found.sources and not found.troubles and not _has_excluded(seen, found.root):
            mine.empty_roots.append(str(found.root.path))
        for trouble in found.troubles:
            report.problems.append(Problem(trouble.kind, trouble.path, None, None, trouble.message))
            report.problems_total += 1
    for agent_name, count in seen.kept_by_agent.items():
        report.agents[agent_name].sources.seen += count
    return report


def _has_excluded(seen: Look, root: Root) -> bool:
    """Tell whether the configuration leaves out something of this root."""
    below = f"{root.path}/"
    return any(agent == root.agent and path.startswith(below) for agent, path in seen.excluded)


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
