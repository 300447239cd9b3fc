"""The shapes of what is said of the index itself: ``ingest`` and ``rebuild``, ``verify``, ``status``. Pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from cli.shapes.shape import Shape, paths_and_reasons

if TYPE_CHECKING:
    from index.doctor import Examination
    from index.results import AgentCopies, IngestReport, Problem, Status, VerifyReport


def ingest(report: IngestReport) -> Shape:
    """Return the shape of ``ingest`` and ``rebuild``."""
    return {
        "index": str(report.index),
        "agents": {
            name: {
                "roots": agent.roots,
                "missing_roots": agent.missing_roots,
                "empty_roots": agent.empty_roots,
                "kept": agent.kept,
                "sources": asdict(agent.sources),
            }
            for name, agent in report.agents.items()
        },
        "sessions": report.sessions,
        "events": report.events,
        "lines": {
            "seen": report.lines_seen,
            "indexed": report.lines_indexed,
            "skipped": report.lines_skipped,
            "damaged": report.lines_damaged,
        },
        "bytes_pending": report.bytes_pending,
        "bytes_read": report.bytes_read,
        "skipped_types": {name: agent.skipped_types for name, agent in report.agents.items() if agent.skipped_types},
        "problems": [_problem(problem) for problem in report.problems],
        "problems_total": report.problems_total,
        "notes": report.notes,
        "seconds": round(report.seconds, 3),
    }


def _problem(problem: Problem) -> Shape:
    return {
        "kind": problem.kind,
        "path": problem.path,
        "line": problem.line_number,
        "offset": problem.offset_bytes,
        "message": problem.message,
    }


def verify(report: VerifyReport) -> Shape:
    """Return the shape of ``verify``."""
    return {
        "ok": report.ok,
        "sources_checked": report.sources_checked,
        "apart": paths_and_reasons(report.apart),
        "differences": [asdict(difference) for difference in report.differences],
        "fulltext_ok": report.fulltext_ok,
    }


def status(found: Status) -> Shape:
    """Return the shape of ``status``; ``lines`` are the index's totals."""
    return {
        "index": {
            "path": str(found.path),
            "exists": found.exists,
            "generation": found.generation,
            "size_bytes": found.size_bytes,
            "usable": found.usable,
            "why": found.why,
        },
        "stale": found.stale,
        "last_ingest_at": found.last_ingest_at,
        "agents": {
            name: {
                "sources": agent.sources,
                "sessions": agent.sessions,
                "events": agent.events,
                "damaged_lines": agent.damaged_lines,
                "kept": agent.kept,
                "oldest": agent.oldest,
                "held": paths_and_reasons(agent.held),
                "copies": _copies(agent.copies),
            }
            for name, agent in found.agents.items()
        },
        "memory": {"blocks": found.blocks, "archived": found.archived_blocks},
        "prompt_history": found.prompt_history,
        "lines": dict(found.lines),
        "notes": list(found.notes),
    }


def _copies(copies: AgentCopies | None) -> Shape | None:
    if copies is None:
        return None
    return {"total": copies.total, "missing": len(copies.missing), "older": len(copies.older)}


def doctor(found: Examination) -> Shape:
    """Return the shape of ``doctor``."""
    return {
        "ok": not found.findings,
        "findings": [one._asdict() for one in found.findings],
        "notes": list(found.notes),
    }
