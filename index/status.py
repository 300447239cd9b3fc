"""What the index holds, whether it can answer, and whether it is behind the disk.

Reads only; a missing or unusable index is an answer, not an error.
"""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from index.discovery import Look
from index.errors import AsterIndexError, NoIndexError
from index.freshness import look_behind, state_of
from index.notices import deletion_notice, keeping_notice, unkept_notice
from index.opening import is_current, open_reader
from index.results import AgentCopies, AgentStatus, Status, Unkept
from index.run import without_cycles
from index.settings import Settings
from index.sqlite_errors import translate_read_errors
from persist.archive.catalogue import Catalogue
from persist.archive.lag import lag
from persist.archive.names import OWN_AGENTS
from persist.archive.standing_in import recovered

_AGENTS: Final = """SELECT a.name, count(*), (SELECT count(*) FROM session_rows n WHERE n.agent_id = a.id),
  sum(s.events), sum(s.lines_damaged), min(CASE WHEN s.kind = 'transcript' THEN coalesce(s.head_time, s.file_time) END)
FROM source_rows s JOIN agents a ON a.id = s.agent_id GROUP BY a.id ORDER BY a.name"""
_HELD: Final = """SELECT a.name, s.path, s.error FROM source_rows s JOIN agents a ON a.id = s.agent_id
WHERE s.status IN ('held', 'failed', 'broken') ORDER BY a.name, s.path"""
_LINES: Final = """SELECT coalesce(sum(lines_seen), 0), coalesce(sum(lines_indexed), 0),
  coalesce(sum(lines_skipped), 0), coalesce(sum(lines_damaged), 0),
  coalesce(sum(bytes_pending), 0), coalesce(sum(bad_times), 0)
FROM source_rows"""

_OLDEST: Final = """SELECT a.name, min(s.mtime_ns) FROM source_rows s JOIN agents a ON a.id = s.agent_id
WHERE s.kind = 'transcript' GROUP BY a.id"""


def status(settings: Settings) -> Status:
    """Return the state of the index. Raises nothing for what lies at its path: ``why`` tells what makes it unusable."""
    path = settings.index_path
    size_bytes = _size_bytes(path)
    try:
        with translate_read_errors(path), closing(open_reader(path)) as connection:
            return _with_index(settings, connection, size_bytes)
    except NoIndexError as error:
        return _without_index(settings, False, str(error), 0)
    except AsterIndexError as error:
        return _without_index(settings, True, str(error), size_bytes)


def _size_bytes(path: Path) -> int:
    try:
        found = path.stat()
    except OSError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


def _without_index(settings: Settings, exists: bool, why: str, size_bytes: int) -> Status:
    return Status(settings.index_path, exists, False, why, None, size_bytes, True, None, {}, 0, 0, 0, {}, ())


def _with_index(settings: Settings, connection: sqlite3.Connection, size_bytes: int) -> Status:
    held: dict[str, list[tuple[str, str]]] = {}
    for agent, path, why in connection.execute(_HELD):
        held.setdefault(agent, []).append((path, why or ""))
    with without_cycles():
        behind = look_behind(settings, connection)
        copies = _copies(settings, behind.seen)
    agents: dict[str, AgentStatus] = {}
    for name, sources, sessions, events, damaged, oldest in connection.execute(_AGENTS):
        agents[name] = AgentStatus(
            sources,
            sessions,
            events,
            damaged,
            settings.keeps(name),
            oldest,
            tuple(held.get(name, ())),
            copies.get(name),
        )
    blocks, archived = connection.execute(
        "SELECT count(*), coalesce(sum(archived), 0) FROM memory_blocks WHERE agent = 'aster'"
    ).fetchone()
    seen, indexed, skipped, damaged_lines, pending, bad_times = connection.execute(_LINES).fetchone()
    current = is_current(connection, settings.projection)
    state = state_of(settings.index_path, not (behind.is_empty and current), behind)
    return Status(
        path=settings.index_path,
        exists=True,
        usable=True,
        why=None if current else "made by other rules; the next ingest makes it anew",
        generation=connection.execute("PRAGMA user_version").fetchone()[0],
        size_bytes=size_bytes,
        stale=state.stale,
        last_ingest_at=state.last_ingest_at,
        agents=agents,
        blocks=blocks - archived,
        archived_blocks=archived,
        prompt_history=connection.execute("SELECT count(*) FROM history_rows").fetchone()[0],
        lines={
            "seen": seen, "indexed": indexed, "skipped": skipped, "damaged": damaged_lines, "bytes_pending": pending,
            "bad_times": bad_times,
        },
        notes=_notes(settings, connection, behind.seen, copies),
    )  # fmt: skip


def _copies(settings: Settings, seen: Look) -> dict[str, AgentCopies]:
    """Return how the transcripts of each agent are kept that is kept or was, as the next ingest that keeps sees it."""
    archive, gone = settings.places.archive, seen.kept_by_agent
    copies: dict[str, AgentCopies] = {}
    for agent in settings.agents:
        catalogue, there = seen.catalogues.get(agent.name), seen.stats_of(agent.name)
        if catalogue is None:
            catalogue = recovered(archive, agent.name, ()) if agent.name not in OWN_AGENTS else Catalogue()
            if not (catalogue.folders or settings.keeps(agent.name)):
                continue
        missing, older = lag(archive, agent.name, catalogue, there)
        copies[agent.name] = AgentCopies(
            len(there) - len(missing) + gone[agent.name],
            tuple(Unkept(path, there[path].mtime_ns) for path in sorted(missing)),
            tuple(Unkept(path, there[path].mtime_ns) for path in sorted(older)),
        )
    return copies


def _notes(
    settings: Settings, connection: sqlite3.Connection, seen: Look, copies: Mapping[str, AgentCopies]
) -> tuple[str, ...]:
    oldest = dict(connection.execute(_OLDEST).fetchall())
    notes = [
        deletion_notice(agent.title, agent.deletes_after_days, oldest[agent.name])
        for agent in settings.agents
        if agent.deletes_after_days is not None and agent.name in oldest and not settings.keeps(agent.name)
    ]
    gone = seen.kept_by_agent
    for name, kept in copies.items():
        if kept.total:
            notes.append(keeping_notice(settings.agent(name).title, kept.total, gone[name]))
        told = unkept(settings, name, kept)
        notes += [told] if told is not None else []
    return tuple(notes)


def unkept(settings: Settings, agent: str, copies: AgentCopies) -> str | None:
    """Return the sentence about an agent's transcripts that have no copy or an older one; null where none is."""
    if not (copies.missing or copies.older):
        return None
    cure = "asx ingest" if settings.keeps(agent) else "asx ingest --keep"
    return unkept_notice(settings.agent(agent).title, len(copies.missing), len(copies.older), cure)
