"""Turns results into the JSON shapes that ``--json`` prints: the output contract, version 1, and the only place for it.

Pure: values in, plain dicts out; ``cli.output`` adds ``schema_version`` and writes. Fields may be added, none renamed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from cli.snippets import snippet
from index import results
from index.search import found as search_found
from persist.memory.blocks import Block

if TYPE_CHECKING:
    from index.freshness import Freshness
    from index.search import Filters
    from index.store_sessions import ResumedSession
    from persist.appending import Appended
    from persist.aster.importing import ImportReport
    from persist.aster.importing import Outcome as ImportOutcome
    from persist.memory.change import Change
    from persist.memory.context import Context
    from persist.memory.journal import Operation

Shape: TypeAlias = dict[str, Any]

STORE_AGENT: Final = "aster"
"""The agent whose memory the store's blocks are."""

_TS_SOURCES: Final = {"previous": "session"}
"""The contract knows three: the time of the record before it is a time of the session."""


def ingest(report: results.IngestReport) -> Shape:
    """Return the shape of ``ingest`` and ``rebuild``."""
    return {
        "index": str(report.index),
        "agents": {
            name: {
                "roots": agent.roots,
                "missing_roots": agent.missing_roots,
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


def _problem(problem: results.Problem) -> Shape:
    return {
        "kind": problem.kind,
        "path": problem.path,
        "line": problem.line_number,
        "offset": problem.offset_bytes,
        "message": problem.message,
    }


def verify(report: results.VerifyReport) -> Shape:
    """Return the shape of ``verify``."""
    return {
        "ok": report.ok,
        "sources_checked": report.sources_checked,
        "apart": _paths_and_reasons(report.apart),
        "differences": [asdict(difference) for difference in report.differences],
        "fulltext_ok": report.fulltext_ok,
    }


def _paths_and_reasons(pairs: Iterable[tuple[str, str]]) -> list[Shape]:
    return [{"path": path, "why": why} for path, why in pairs]


def status(found: results.Status) -> Shape:
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
                "held": _paths_and_reasons(agent.held),
            }
            for name, agent in found.agents.items()
        },
        "memory": {"blocks": found.blocks, "archived": found.archived_blocks},
        "prompt_history": found.prompt_history,
        "lines": dict(found.lines),
        "notes": list(found.notes),
    }


def search(
    result: search_found.SearchResult,
    state: Freshness,
    *,
    limit: int | None,
    snippet_characters: int | None = None,
    with_context: bool = False,
    with_reading: bool = False,
) -> Shape:
    """Return the shape of ``search``; with ``snippet_characters`` the texts are cut around their first span.

    ``limit`` is what was asked for: a page that is not full is the last. ``context`` and ``explain`` are there only
    where they were asked for. ``next_offset`` is null at the end.
    """
    next_offset = result.offset + result.listed
    is_more = result.listed > 0 and next_offset < result.total and not (limit is None or result.listed < limit)
    told = {
        "query": result.query,
        "case": "sensitive" if result.exact_case else "insensitive",
        "mode": result.mode.value,
        "searched": list(result.searched),
        "filters": _filters(result.filters),
        "sort": result.sort.value,
        "total": result.total,
        "total_is_exact": result.total_is_exact,
        "returned": len(result.hits),
        "offset": result.offset,
        "next_offset": next_offset if is_more else None,
        "truncated": next_offset < result.total,
        "index": {
            "stale": state.stale,
            "age_s": state.age_s,
            "refreshed": state.refreshed,
            "sources_behind": state.sources_behind,
            "bytes_behind": state.bytes_behind,
            "why_not": None if state.why_not is None else state.why_not.value,
            "unreadable": None if state.unread is None else state.unread.total,
            "notes": list(state.notes),
        },
        "texts": result.texts,
        "borrowed_times": result.borrowed_times,
        "heads_only": result.heads_only,
        "given_up": result.given_up,
        "unread": _paths_and_reasons(result.unread),
        "hits": [hit(one, snippet_characters=snippet_characters, with_context=with_context) for one in result.hits],
        "elsewhere": dict(result.elsewhere),
        "misses": [
            {"kind": miss.kind, "name": miss.name, "total": miss.total, "total_is_exact": miss.is_exact}
            for miss in result.misses
        ],
    }
    return {**told, "explain": _reading(result.reading)} if with_reading else told


def _filters(filters: Filters) -> Shape:
    """Return the filters that were given, by their names."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(filters).items()
        if value not in ((), None, False)
    }


def _reading(reading: search_found.Reading) -> Shape:
    """Return how the query was read; what is said twice under one name is joined."""
    told: Shape = {}
    for name, value in reading.lines:
        told[name] = f"{told[name]}; {value}" if name in told else value
    return told


def hit(one: search_found.Hit, *, snippet_characters: int | None = None, with_context: bool = False) -> Shape:
    """Return one hit. ``field`` is which text of its event it is, ``in`` the name under which that is searched."""
    length = len(one.text) if snippet_characters is None else snippet_characters
    shown = snippet(one.text, one.spans, length)
    start, end = one.spans[0] if one.spans else (0, 0)
    told = {
        "agent": one.agent,
        "session_id": one.session_id,
        "parent_session_id": one.parent_session_id,
        "forked_from": one.forked_from,
        "session_title": one.session_title,
        "project": one.project,
        "cwd": one.cwd,
        "event_index": one.event_index,
        "turn": one.turn_index,
        "ts": one.ts,
        "ts_source": _TS_SOURCES.get(one.ts_source, one.ts_source),
        "kind": one.kind,
        "event_type": one.event_type,
        "field": one.part,
        "in": one.field,
        "name": one.name,
        "tool_name": one.tool_name,
        "score": one.score,
        "text": shown.text,
        "text_length": max(one.whole_length, len(one.text)),
        "text_offset": shown.offset_bytes,
        "match_start": start,
        "match_end": end,
        "spans": [list(span) for span in one.spans],
        "count": one.count,
        "more_in_session": one.more_in_session,
        "source": _place(one.place),
    }
    return {**told, "context": [_near(text) for text in one.context]} if with_context else told


def _near(near: search_found.ContextText) -> Shape:
    return {
        "turn": near.turn_index,
        "event_index": near.event_index,
        "kind": near.kind,
        "event_type": near.event_type,
        "ts": near.ts,
        "text": near.text,
        "is_hit": near.is_hit,
    }


def recent(query: str, hits: Iterable[search_found.Hit], *, truncated: bool) -> Shape:
    """Return Aether's response of its prompt search: the first span of each prompt (``search --recent``)."""
    return {
        "query": query,
        "results": [
            {
                "sessionId": hit.session_id,
                "cwd": hit.cwd or hit.project,
                "sessionCreatedAt": hit.session_created_at,
                "prompt": hit.text,
                "matchStart": hit.spans[0][0],
                "matchEnd": hit.spans[0][1],
            }
            for hit in hits
        ],
        "truncated": truncated,
    }


def _place(place: search_found.Place) -> Shape:
    return {"path": place.path, "line": place.line_number, "offset": place.offset_bytes}


def sessions(total: int, rows: Iterable[results.SessionRow]) -> Shape:
    """Return the shape of ``sessions list``."""
    return {"total": total, "sessions": [session(row) for row in rows]}


def session_trees(total: int, pairs: Iterable[tuple[results.SessionRow, results.SessionTotals]]) -> Shape:
    """Return the shape of ``sessions list --with-children``."""
    return {
        "total": total,
        "sessions": [{**session(row), "with_children": with_children(totals)} for row, totals in pairs],
    }


def with_children(totals: results.SessionTotals) -> Shape:
    """Return what a session came to with its sub-agents; ``partial`` counts the calls that a sum leaves out."""
    return {
        "sub_agents": totals.sub_agents,
        "turns": totals.turns,
        "events": totals.events,
        "tool_calls": totals.tool_calls,
        "calls": totals.calls,
        **totals.sums,
        "partial": dict(totals.unknown),
    }


def session(row: results.SessionRow) -> Shape:
    """Return one session as it is listed."""
    agent, colon, session_id = (row.imported_from or "").partition(":")
    return {
        "id": row.session_id,
        "agent": row.agent,
        "project": row.project,
        "cwd": row.cwd,
        "title": row.title,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "model": row.model,
        "turns": row.turns,
        "events": row.events,
        "parent_id": row.parent_id,
        "forked_from": row.forked_from,
        "paths": list(row.paths),
        "size_bytes": row.size_bytes,
        "imported_from": {"agent": agent, "id": session_id} if colon else None,
    }


def preview(found: results.Preview) -> Shape:
    """Return Aether's shape of a preview (``spec/aether.md`` 2); ``selectedMode`` is left out where there is none."""
    row = found.session
    mode = {} if found.selected_mode is None else {"selectedMode": found.selected_mode}
    return {
        "sessionId": row.session_id,
        "cwd": row.cwd,
        "createdAt": row.created_at,
        "model": row.model,
        **mode,
        "transcript": [{"role": role, "text": text} for role, text in found.turns],
        "toolCallCount": found.tool_call_count,
        "truncated": found.truncated,
    }


def whole_session(
    row: results.SessionRow, events: Iterable[results.EventRow], totals: results.SessionTotals | None
) -> Shape:
    """Return the shape of ``sessions show``: the session's object with its events in the place of their number."""
    return {
        **session(row),
        "with_children": None if totals is None else with_children(totals),
        "events": [event(one) for one in events],
    }


def event(row: results.EventRow) -> Shape:
    """Return one event."""
    return {
        "index": row.event_index,
        "line": row.line_number,
        "offset": row.offset_bytes,
        "turn": row.turn_index,
        "ts": row.ts,
        "kind": row.kind,
        "event_type": row.event_type,
        "outcome": row.outcome,
        "text": row.text,
        "text_length": row.text_len,
        "tool_call_id": row.tool_call_id,
        "tool_name": row.tool_name,
        "tool_arguments": row.tool_arguments,
        "model": row.model_name,
        "message_id": row.message_id,
        "canonical": row.canonical,
        "source_path": row.source_path,
    }


def stored_session(agent: str, session_id: str, path: Path) -> Shape:
    """Return the shape of ``sessions start`` and ``sessions latest``."""
    return {"id": session_id, "agent": agent, "path": str(path)}


def appended(session_id: str, done: Appended) -> Shape:
    """Return the shape of ``sessions append``; ``transient`` counts events that the format never keeps."""
    return {"id": session_id, "appended": done.appended, "transient": done.transient}


def resumed(found: ResumedSession) -> Shape:
    """Return the shape of ``sessions resume``; ``turns_shown`` counts the prompts among the messages."""
    return {
        "id": found.session.session_id,
        "agent": found.session.agent,
        "path": str(found.session.path),
        "title": found.title,
        "turns": found.turns,
        "turns_shown": found.turns_shown,
        "messages": [message._asdict() for message in found.messages],
        "notes": list(found.notes),
    }


def shown(*, event: Shape | None = None, block: Shape | None = None, session: Shape | None = None) -> Shape:
    """Return the shape of ``show``."""
    return {"event": event, "block": block, "session": session}


def block(found: Block) -> Shape:
    """Return the shape of ``recall NAME`` and ``memory show NAME``."""
    note = found.note
    return {
        "name": note.name,
        "title": found.title,
        "description": note.description,
        "body": note.body,
        "kind": note.kind,
        "project": note.project,
        "aliases": list(note.aliases),
        "path": str(found.path),
        "source_session": note.source_session,
        "created_at": note.created_at,
        "updated_at": note.updated_at,
        "archived": note.archived,
        "superseded_by": note.superseded_by,
        "pinned": note.pinned,
    }


def memory_list(folder: Path, project: tuple[Path, str] | None, blocks: Iterable[Block]) -> Shape:
    """Return the shape of ``memory list``; ``project`` is the path and the text of ASTER.md."""
    listed = []
    for found in blocks:
        whole = block(found)
        del whole["body"], whole["aliases"]
        listed.append({"name": whole.pop("name"), "agent": STORE_AGENT, **whole})
    return {
        "dir": str(folder),
        "project": {"path": str(project[0]), "text": project[1]} if project else None,
        "blocks": listed,
    }


def memory_log(operations: Iterable[Operation]) -> Shape:
    """Return the shape of ``memory log``, in the order given (newest first)."""
    return {
        "entries": [
            {
                **one.entry._asdict(),
                "title": one.title,
                "version": one.version,
                "path": one.path,
                "sha256": one.sha256,
                "restored": one.restored,
            }
            for one in operations
        ]
    }


def memory_change(change: Change) -> Shape:
    """Return the shape of every command that changes the memory; ``path`` is null where the block is gone."""
    return {
        "ok": True,
        "kind": "project" if change.name is None else "block",
        "name": change.name,
        "path": None if change.path is None else str(change.path),
        "is_new": change.is_new,
        "version": change.version,
        "version_path": None if change.version_path is None else str(change.version_path),
        "superseded": change.superseded,
        "held_again": change.held_again,
        "restored": change.restored,
        "near": list(change.near),
        "journal_error": change.journal_trouble,
    }


def memory_context(found: Context) -> Shape:
    """Return the shape of ``memory context``."""
    return {"text": found.text, "blocks": found.blocks, "left_out": found.left_out}


def memory_tools(tools: Iterable[Mapping[str, Any]]) -> Shape:
    """Return the shape of ``memory tools``."""
    return {"tools": [dict(tool) for tool in tools]}


def rows(found: results.Rows) -> Shape:
    """Return the shape of ``query``: blobs by their length, infinities and not-a-number null, integers exact."""
    return {
        "columns": list(found.columns),
        "rows": [[cell(value) for value in row] for row in found.rows],
        "truncated_rows": found.truncated_rows,
        "truncated_cells": found.truncated_cells,
    }


def cell(value: object) -> object:
    """Return one value of SQLite as JSON has it."""
    if isinstance(value, bytes):
        return f"<blob {len(value)} bytes>"
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def reports(found: Iterable[results.Report]) -> Shape:
    """Return the shape of ``report`` without a name."""
    return {
        "reports": [
            {"name": report.name, "about": report.about, "parameters": list(report.parameters)} for report in found
        ]
    }


def schema(found: results.SchemaDescription) -> Shape:
    """Return the shape of ``schema``."""
    return {
        "generation": found.generation,
        "tables": [
            {
                "name": table.name,
                "kind": table.kind,
                "about": table.about,
                "columns": [{"name": one.name, "type": one.type, "about": one.about} for one in table.columns],
            }
            for table in found.tables
        ],
        "examples": [{"name": one.name, "about": one.about, "sql": one.sql} for one in found.examples],
    }


def paths(places: Mapping[str, Path | Sequence[Path]], agents: Mapping[str, Sequence[Path]]) -> Shape:
    """Return the shape of ``paths``: one place or several by name, and the roots of each agent."""
    told: Shape = {
        name: str(place) if isinstance(place, Path) else [str(one) for one in place] for name, place in places.items()
    }
    told["agents"] = {name: [str(root) for root in roots] for name, roots in agents.items()}
    return told


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


def _imported(outcome: ImportOutcome) -> Shape:
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
