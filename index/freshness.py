"""Tells whether the index is behind the disk, and when a run last looked.

Reads ``stat`` only (and a byte of what could not be read last time); writes nothing.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from index.discovery import look
from index.lock import lock_path
from index.opening import is_current, open_reader
from index.run import plan_of, read_known, why_still_unreadable
from index.settings import Settings
from index.settle_sessions import moved_projects
from index.sqlite_errors import translate_read_errors
from persist.projects import ProjectResolver
from persist.times import from_ns


@dataclass(frozen=True, slots=True)
class Freshness:
    """``stale``: an ingest would do something. ``age_s``: since a run last looked at the disk; null if unknown."""

    stale: bool
    age_s: float | None
    last_ingest_at: str | None


def freshness_of(settings: Settings) -> Freshness:
    """Return the freshness of the index at its path. Raises the errors of ``open_reader``."""
    with translate_read_errors(settings.index_path), closing(open_reader(settings.index_path)) as connection:
        return freshness(settings, connection)


def freshness(settings: Settings, connection: sqlite3.Connection) -> Freshness:
    """Compare the disk with what the index knows, and the rules it was made by with today's.

    Cost: one ``stat`` for each source and one query.
    """
    seen = look(settings)
    plan = plan_of(settings, seen, read_known(connection))
    looked_ns = _looked_ns(settings.index_path)
    age_s = None if looked_ns is None else round(max(0.0, time.time() - looked_ns / 1e9), 3)
    plan.steps = [step for step in plan.steps if why_still_unreadable(step) is None]
    moved = moved_projects(connection, ProjectResolver().project_of)
    stale = not plan.is_empty or bool(moved) or not is_current(connection, settings.projection)
    return Freshness(stale, age_s, None if looked_ns is None else from_ns(looked_ns))


def _looked_ns(index_path: Path) -> int | None:
    for path in (lock_path(index_path), index_path):
        try:
            return path.stat().st_mtime_ns
        except OSError:
            continue
    return None
