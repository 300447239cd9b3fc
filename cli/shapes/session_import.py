"""The shape of ``sessions import``. Pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from cli.shapes.shape import Shape

if TYPE_CHECKING:
    from persist.aster.importing import ImportReport, Outcome


def sessions_import(report: ImportReport) -> Shape:
    """Return the shape of ``sessions import``: counts by source as Aster has them, and every session by itself."""
    return {
        "ok": not any(outcome.status == "failed" for outcome in report.outcomes),
        "dry_run": report.dry_run,
        "sources": [
            {
                "source": source,
                "imported": [outcome.session_id for outcome in report.of(source, "imported")],
                "skipped_existing": len(report.of(source, "existing")),
                "empty": len(report.of(source, "empty")),
                "failed": len(report.of(source, "failed")),
                **asdict(passed),
                "dry_run": report.dry_run,
            }
            for source, passed in report.passed.items()
        ],
        "sessions": [_imported(outcome) for outcome in report.outcomes],
    }


def _imported(outcome: Outcome) -> Shape:
    return {
        "source": outcome.agent,
        "status": outcome.status,
        "id": outcome.session_id,
        "original_id": outcome.original_id,
        "path": None if outcome.target is None else str(outcome.target),
        "source_path": outcome.source_path,
        "title": outcome.title,
        "created_at": outcome.created_at,
        "cwd": outcome.cwd,
        "messages": outcome.messages,
        "damaged": outcome.damaged,
        "changed_since": outcome.changed_since,
        "reason": outcome.reason,
    }
