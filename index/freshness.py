"""Tells whether the index is behind the disk and by how much, and when a run last looked.

Reads ``stat`` only (and a byte of what could not be read last time); writes nothing.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

from index.discovery import Look, look
from index.lock import lock_path
from index.opening import is_current, open_reader
from index.plan import BROKEN, FAILED, HELD, Action, Plan, Step
from index.run import plan_against, why_still_unreadable, without_cycles
from index.settings import Settings
from index.settle.sessions import moved_projects
from index.sqlite_errors import SEARCH_BUSY_TIMEOUT_MS, translate_read_errors
from persist.projects import ProjectResolver
from persist.times import from_ns


class NotRefreshed(Enum):
    """Why an index that is behind was not brought up to date before a search."""

    TOO_MUCH = "too much"
    BUSY = "busy"
    READ_ONLY = "read-only"
    OFF = "off"
    OTHER_RULES = "other rules"
    FAILED = "failed"


_REASONS = {
    NotRefreshed.TOO_MUCH: "too much for a search to do first",
    NotRefreshed.BUSY: "another process is writing it",
    NotRefreshed.READ_ONLY: "it cannot be written here",
    NotRefreshed.OFF: "refresh_ms is 0",
    NotRefreshed.OTHER_RULES: "it was made by other rules",
}


MAX_UNREAD_NAMED: Final = 5
_HIDING: Final = frozenset({"unreadable", "bad_name", "compressed"})
"""Troubles of a look behind which texts may lie; the others are no transcripts."""
_UNREAD: Final = f"""SELECT path, coalesce(error, status) FROM source_rows
WHERE status IN ('{HELD}', '{FAILED}', '{BROKEN}') ORDER BY path"""


class Unread(NamedTuple):
    """Files and folders that could not be read, so that what is in them, or is new in them, was not searched.

    ``total`` is their number, ``first`` the path of each of the first ``MAX_UNREAD_NAMED`` and why.
    """

    total: int
    first: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Freshness:
    """``stale``: an ingest would do something, or may. ``age_s``: since a run last looked at the disk; null if unknown.

    ``sources_behind`` and ``bytes_behind`` are how many sources, and bytes to read of them, the index does not have as
    they are now; null where nobody looked. ``refreshed``: it was brought up to date just now. ``why_not`` says why it
    was not, ``failure`` what went wrong if that was tried. ``notes`` are sentences about what a refresh met.
    ``unread`` is what could not be read, and no ingest would read now; null where nobody looked.
    """

    stale: bool
    age_s: float | None
    last_ingest_at: str | None
    sources_behind: int | None = None
    bytes_behind: int | None = None
    refreshed: bool = False
    why_not: NotRefreshed | None = None
    failure: str | None = None
    notes: tuple[str, ...] = ()
    unread: Unread | None = None

    @property
    def sentence(self) -> str | None:
        """Return one sentence for a person about an index that is behind; null for one that is not."""
        if not self.stale:
            return None
        reason = self.failure if self.why_not is NotRefreshed.FAILED else _REASONS.get(self.why_not or NotRefreshed.OFF)
        if self.why_not is None:
            reason = None
        told = f" ({reason})" if reason else ""
        if not self.sources_behind:
            return f"some files may have changed since the index was made{told}; run: asx ingest"
        many = "1 changed file is" if self.sources_behind == 1 else f"{self.sources_behind:,} changed files are"
        size = f", {_size(self.bytes_behind)} to read" if self.bytes_behind else ""
        return f"{many} not in the index yet{size}{told}; run: asx ingest"


@dataclass(frozen=True, slots=True)
class Behind:
    """What an ingest would do now: one look at the disk against one state of the index."""

    seen: Look
    plan: Plan
    moved: list[tuple[str, str, str]]
    resolver: ProjectResolver

    @property
    def is_empty(self) -> bool:
        """Return whether the index says what the disk says."""
        return self.plan.is_empty and not self.moved

    @property
    def sources(self) -> int:
        """Return how many sources the index does not have as they are; moved projects count as one each."""
        plan = self.plan
        return len(plan.steps) + len(plan.gone) + len(plan.excluded) + len(plan.newly_held) + len(self.moved)

    @property
    def size_bytes(self) -> int:
        """Return the bytes to read if every grown file is read from where it was left."""
        return sum(map(bytes_to_read, self.plan.steps))


def bytes_to_read(step: Step) -> int:
    """Return the bytes that a step reads: those added, where a file may be read on from its checkpoint."""
    if step.action is Action.RELEASE:
        return 0
    read_before = step.known.offset_bytes if step.known and step.action is Action.MAYBE_TAIL else 0
    return step.source.stat.size_bytes - read_before


def freshness_of(settings: Settings) -> Freshness:
    """Return the freshness of the index at its path. Raises the errors of ``open_reader``."""
    path, wait_ms = settings.index_path, SEARCH_BUSY_TIMEOUT_MS
    with translate_read_errors(path, wait_ms), closing(open_reader(path, wait_ms)) as connection:
        return freshness(settings, connection)


def freshness(settings: Settings, connection: sqlite3.Connection) -> Freshness:
    """Compare the disk with what the index knows, and the rules it was made by with today's.

    Cost: one ``stat`` for each source and one query.
    """
    with without_cycles():
        behind = look_behind(settings, connection)
    stale = not behind.is_empty or not is_current(connection, settings.projection)
    return state_of(settings.index_path, stale, behind, unread=unread_sources(connection, behind.seen))


def look_behind(settings: Settings, connection: sqlite3.Connection) -> Behind:
    """Look at the disk and plan what an ingest would do; what still cannot be read is left out."""
    seen = look(settings)
    plan = plan_against(settings, seen, connection)
    plan.steps = [step for step in plan.steps if why_still_unreadable(step) is None]
    resolver = ProjectResolver()
    return Behind(seen, plan, moved_projects(connection, resolver.project_of), resolver)


def unread_sources(connection: sqlite3.Connection, seen: Look | None) -> Unread:
    """Return what the index says could not be read, and what the look at the disk, if any, could not look into.

    A folder stands for all below it. Cost: one query over the sources.
    """
    looks = seen.found if seen else ()
    unread = {trouble.path: trouble.message for look in looks for trouble in look.troubles if trouble.kind in _HIDING}
    folders = tuple(f"{path}/" for path in unread)
    for path, why in connection.execute(_UNREAD):
        if not path.startswith(folders):
            unread.setdefault(path, why)
    return Unread(len(unread), tuple(sorted(unread.items())[:MAX_UNREAD_NAMED]))


def state_of(
    index_path: Path,
    stale: bool,
    behind: Behind | None,
    why_not: NotRefreshed | None = None,
    failure: str | None = None,
    *,
    unread: Unread | None = None,
) -> Freshness:
    """Return the freshness of an index that was not changed; ``behind`` is null where nobody looked at the disk."""
    looked_ns = _looked_ns(index_path)
    return Freshness(
        stale=stale,
        age_s=None if looked_ns is None else round(max(0.0, time.time() - looked_ns / 1e9), 3),
        last_ingest_at=None if looked_ns is None else from_ns(looked_ns),
        sources_behind=None if behind is None else behind.sources,
        bytes_behind=None if behind is None else behind.size_bytes,
        why_not=why_not,
        failure=failure,
        unread=unread,
    )


def _looked_ns(index_path: Path) -> int | None:
    for path in (lock_path(index_path), index_path):
        try:
            return path.stat().st_mtime_ns
        except OSError:
            continue
    return None


def _size(size_bytes: int | None) -> str:
    """Return a size as people read it."""
    size = float(size_bytes or 0)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
