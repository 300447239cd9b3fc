"""The shapes of sessions and their events: listed, shown, begun, gone on with. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from cli.shapes.shape import Shape

if TYPE_CHECKING:
    from index.digest import SessionDigest
    from index.results import EventRow, Preview, SessionRow, SessionTotals
    from index.store_sessions import ResumedSession
    from persist.appending import Appended


def session_trees(total: int, pairs: Iterable[tuple[SessionRow, SessionTotals]]) -> Shape:
    """Return the shape of ``sessions list --with-children``."""
    return {
        "total": total,
        "sessions": [{**session(row), "with_children": with_children(totals)} for row, totals in pairs],
    }


def with_children(totals: SessionTotals) -> Shape:
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


def session(row: SessionRow) -> Shape:
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


def preview(found: Preview) -> Shape:
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


def whole_session(row: SessionRow, events: Iterable[EventRow], totals: SessionTotals | None) -> Shape:
    """Return the shape of ``sessions show``: the session's object with its events in the place of their number."""
    return {
        **session(row),
        "with_children": None if totals is None else with_children(totals),
        "events": [event(one) for one in events],
    }


def event(row: EventRow) -> Shape:
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


def digested(found: SessionDigest) -> Shape:
    """Return the shape of ``sessions digest``; ``left_out`` counts the oldest entries that did not fit."""
    return {
        "id": found.head.session_id,
        "agent": found.head.agent,
        "title": found.head.title,
        "project": found.head.project,
        "entries": found.digest.entries,
        "left_out": found.digest.left_out,
        "damaged_lines": found.digest.damaged_lines,
        "text": found.digest.text,
    }


def shown(*, event: Shape | None = None, block: Shape | None = None, session: Shape | None = None) -> Shape:
    """Return the shape of ``show``."""
    return {"event": event, "block": block, "session": session}
