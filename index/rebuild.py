"""Makes the index anew from the files and puts it in place of the old one, whose rows are never read.

The new index grows in a file of its own beside the live one, without journal, and is checked before it takes its
place; a rebuild that dies leaves the old index as it was. Where the old one is readable, the backup API copies the new
one over it in one step, so that readers see the old or the new state, never an error.
"""

from __future__ import annotations

import sqlite3
import time
import unicodedata
from pathlib import Path
from typing import Final

from index import statements
from index.apply import Applier, configure_full_text, optimize_full_text
from index.creating import create_index
from index.discovery import Look, look
from index.errors import AsterIndexError, IndexUnusableError
from index.load import Loader, Progress, Silent
from index.lock import index_lock, new_path
from index.notices import deletion_notice
from index.opening import leave_for_readers, open_reader, refuse_others, remove_database
from index.plan import Plan
from index.results import IngestReport
from index.run import begin_report, finish_report, plan_of, read_known, without_cycles
from index.settings import Settings
from index.settle import settle_all
from index.sqlite_errors import translate_write_errors
from index.swap import put_in_place
from persist.errors import RefusedError
from persist.files.folders import make_private_folder
from persist.projects import ProjectResolver
from persist.times import now

CACHE_KIB: Final = 16 * 1024


def rebuild(settings: Settings, *, prune: bool = False, progress: Progress | None = None) -> IngestReport:
    """Make the index anew and tell what was done.

    Sources that the old index holds and that cannot be read now are dropped and named; where that would lose more than
    half of an agent's, ``prune`` must allow it. Raises ``IndexBusyError``; ``IndexUnusableError`` for a path that must
    not be overwritten; ``RefusedError`` for a loss that was not allowed; ``IndexWriteError`` and ``StoreIOError`` when
    the disk does not take it. The old index is then as it was.
    """
    with index_lock(settings, keeps_aside=True), translate_write_errors(settings.index_path):
        return rebuild_locked(settings, prune=prune, progress=progress)


def rebuild_locked(settings: Settings, *, prune: bool = False, progress: Progress | None = None) -> IngestReport:
    """Make the index anew; the caller holds the lock."""
    path = settings.index_path
    refuse_others(path, keeps_aside=True)
    seen = look(settings)
    dropped = _loss(settings, seen, prune)
    new = new_path(path)
    try:
        report = build(settings, new, seen, progress or Silent())
        note = put_in_place(new, path, settings.lock_timeout_s)
    finally:
        remove_database(new)
    leave_for_readers(path)
    report.wrote = True
    if note:
        report.notes.append(note)
    report.notes += dropped
    return report


def build(settings: Settings, path: Path, seen: Look, progress: Progress) -> IngestReport:
    """Build an index of everything seen at ``path``, where nothing lies yet, and check it.

    Raises ``IndexUnusableError`` when the result fails SQLite's own check or SQLite is too old, ``StoreIOError``,
    ``IndexWriteError``, ``OSError`` or ``sqlite3.Error`` when the disk does not take it.
    """
    started = time.monotonic()
    make_private_folder(path.parent)
    create_index(path)
    report = begin_report(settings, seen)
    plan = plan_of(settings, seen, {})
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        for pragma in ("journal_mode = off", "synchronous = off", "locking_mode = exclusive", "secure_delete = off",
                       f"cache_size = -{CACHE_KIB}"):  # fmt: skip
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN")
        with without_cycles():
            _load_all(settings, connection, plan, report, progress)
        connection.execute("COMMIT")
        _check(connection, path)
        finish_report(report, connection, started)
    finally:
        connection.close()
    _note_deletions(settings, report, seen)
    return report


def _load_all(
    settings: Settings, connection: sqlite3.Connection, plan: Plan, report: IngestReport, progress: Progress
) -> None:
    configure_full_text(connection, statements.BULK_LOADING)
    applier = Applier(connection, touching=False)
    loader = Loader(settings, applier, report, now(), progress)
    progress.start(sum(step.source.stat.size_bytes for step in plan.steps))
    for step in plan.steps:
        loader.carry_out(step, None)
    loader.flush()
    settle_all(connection, ProjectResolver().project_of)
    optimize_full_text(connection)
    configure_full_text(connection, statements.AFTER_LOADING)
    _write_meta(connection, settings)


def _write_meta(connection: sqlite3.Connection, settings: Settings) -> None:
    """Store by which rules the rows were made; opening compares them."""
    values = {"projection": settings.projection, "unicode_version": unicodedata.unidata_version}
    connection.executemany("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", sorted(values.items()))


def _check(connection: sqlite3.Connection, path: Path) -> None:
    verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if verdict != "ok":
        raise IndexUnusableError(path, f"came out damaged ({verdict})", "check the disk and run: asx rebuild")


def _loss(settings: Settings, seen: Look, prune: bool) -> list[str]:
    """Return a line for each agent that loses sources which the old index still holds; refuse a great loss."""
    try:
        reader = open_reader(settings.index_path)
    except AsterIndexError:
        return []
    try:
        known = read_known(reader)
    except sqlite3.DatabaseError:
        return []
    finally:
        reader.close()
    plan = plan_of(settings, seen, known)
    if plan.withheld and not prune:
        lost = ", ".join(sorted({row.agent for row in plan.withheld}))
        many = "1 source" if len(plan.withheld) == 1 else f"{len(plan.withheld):,} sources"
        raise RefusedError(
            f"a rebuild would drop {many} ({lost}), more than half of what the index holds",
            "see that the disk is mounted, or allow it: asx rebuild --prune",
        )
    missing = [*plan.withheld, *(row for row, _ in plan.unreachable), *plan.unvisited]
    names = [f"{row.path} ({row.agent})" for row in missing]
    if not names:
        return []
    many = f"{len(names)} sources that were held or not visited were dropped, the first: "
    return [(many if len(names) > 1 else "a source that was held or not visited was dropped: ") + names[0]]


def _note_deletions(settings: Settings, report: IngestReport, seen: Look) -> None:
    for agent in settings.agents:
        oldest = seen.oldest_transcript_ns(agent.name)
        if oldest is not None and agent.deletes_after_days is not None and not settings.keeps(agent.name):
            report.notes.append(deletion_notice(agent.title, agent.deletes_after_days, oldest))
