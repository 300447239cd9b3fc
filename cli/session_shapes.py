"""Turns what the session commands did into the JSON that they print: the output contract, beside ``cli.shapes``.

Pure; ``dry_run`` says that nothing was changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from cli import shapes

if TYPE_CHECKING:
    from index.results import SessionRow, SessionTotals
    from persist.aster.retention import Going, LeftAlone
    from persist.history import History
    from persist.known_sessions import StoredSession

Shape: TypeAlias = dict[str, Any]


def listed(total: int, rows: Sequence[SessionRow], partial: Collection[SessionRow], *, indexed: bool) -> Shape:
    """Return the shape of ``sessions list``; turns and events of those in ``partial`` are lower bounds."""
    return {
        "total": total,
        "indexed": indexed,
        "sessions": [{**shapes.session(row), "counts_are_exact": row not in partial} for row in rows],
    }


def listed_trees(total: int, pairs: Sequence[tuple[SessionRow, SessionTotals]]) -> Shape:
    """Return the shape of ``sessions list --with-children``, which only an index can answer."""
    told = shapes.session_trees(total, pairs)
    sessions = [{**one, "counts_are_exact": True} for one in told["sessions"]]
    return {**told, "indexed": True, "sessions": sessions}


def deleted(
    sessions: Sequence[StoredSession],
    failed: Sequence[tuple[StoredSession, str]],
    notes: Sequence[str],
    *,
    dry_run: bool,
) -> Shape:
    """Return the shape of ``sessions delete``; ``id`` is there when one was asked for, as in Aster."""
    asked = [*sessions, *(session for session, _ in failed)]
    return {
        "ok": not failed,
        "dry_run": dry_run,
        "id": asked[0].id if len(asked) == 1 else None,
        "deleted": [] if dry_run else [session.id for session in sessions],
        "sessions": [_stored(session) for session in sessions],
        "failed": [{**_stored(session), "why": why} for session, why in failed],
        "notes": list(notes),
    }


def _stored(session: StoredSession) -> Shape:
    return {"id": session.id, "agent": session.agent, "paths": [str(file.path) for file in session.files]}


def renamed(session: StoredSession, title: str) -> Shape:
    """Return the shape of ``sessions rename``."""
    return {"ok": True, "dry_run": False, "id": session.id, "agent": session.agent, "title": title}


def relocated(session: StoredSession, cwd: str, project: str, path: str, notes: Sequence[str]) -> Shape:
    """Return the shape of ``sessions relocate``."""
    told = {"id": session.id, "agent": session.agent, "cwd": cwd, "project": project, "path": path}
    return {"ok": True, "dry_run": False, **told, "notes": list(notes)}


def pruned(
    project: str,
    going: Sequence[Going],
    left: Iterable[LeftAlone],
    notes: Sequence[str],
    *,
    kept: int,
    dry_run: bool,
) -> Shape:
    """Return the shape of ``sessions prune``; ``deleted`` and ``kept`` as in Aster, left alone ones kept."""
    return {
        "ok": True,
        "dry_run": dry_run,
        "project": project,
        "deleted": [] if dry_run else [one.candidate.entry.id for one in going],
        "kept": kept,
        "sessions": [
            {
                "id": one.candidate.entry.id,
                "path": str(one.candidate.entry.path),
                "title": one.candidate.entry.title,
                "updated_at": one.candidate.entry.updated_at,
                "why": one.why,
            }
            for one in going
        ],
        "left_alone": [{"path": str(one.path), "why": one.why} for one in left],
        "notes": list(notes),
    }


def history(found: History, *, rebuilt: bool) -> Shape:
    """Return the shape of ``sessions history``: entries as they stand in the file, the oldest first."""
    return {
        "entries": [
            {
                "sessionId": one.session_id,
                "cwd": one.cwd,
                "sessionCreatedAt": one.session_created_at,
                "prompt": one.prompt,
            }
            for one in found.entries
        ],
        "damaged": [{"line": one.line.number, "offset": one.line.offset_bytes} for one in found.damaged],
        "rebuilt": rebuilt,
    }
