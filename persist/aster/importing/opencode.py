"""opencode's sessions for an import, from its database (``spec/aster.md`` 5.5).

Reads the database, writes nothing. Sessions with a parent are sub-agents and are left out. A message's parts become
one reply: thoughts, words, calls with their results; what the program put into a person's message is steering.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from persist import times
from persist.agents.folders import named_path
from persist.agents.values import compact_json, read_id
from persist.aster.importing.candidates import OPENCODE, Candidate, Group, Groups, Look, Offer, SubAgent, Told, Unread
from persist.aster.importing.database import MAX_CELL_BYTES, ForeignDatabase, ForeignFile, foreign_file
from persist.aster.importing.database_sessions import json_object, problem_of, read_again
from persist.aster.importing.injected import BETWEEN_PARTS, is_injected, is_kept
from persist.errors import ShapeError
from persist.events import AGENT, USER, Event
from persist.sources import Environment

DATABASE: Final = "opencode.db"
_SESSION_COLUMNS: Final = ("id", "directory", "title", "model", "parent_id", "time_created", "time_updated")
_NEEDED: Final = ("id", "directory")


def offers(look: Look) -> Iterator[Offer]:
    """Yield the sessions in opencode's database, oldest first."""
    named = [folder / DATABASE if folder.is_dir() else folder for folder in look.folders]
    for path in named or [locate(look.environment)]:
        with foreign_file(path) as file:
            yield from _offers(file, look.text_only)


def locate(environment: Environment) -> Path:
    """Return the database: ``$OPENCODE_DB``, else below ``$XDG_DATA_HOME`` or ``~/.local/share``."""
    variables = environment.variables
    named, data = variables.get("OPENCODE_DB", ""), variables.get("XDG_DATA_HOME", "")
    folder = Path(data) if data.startswith("/") else environment.home / ".local" / "share"
    at_home = folder / "opencode"
    if not named:
        return at_home / DATABASE
    return named_path(named, environment.home) if named.startswith(("/", "~")) else at_home / named


def _offers(file: ForeignFile, text_only: bool) -> Iterator[Offer]:
    try:
        with file.open() as database:
            sessions = _sessions(database)
    except FileNotFoundError:
        return
    except (OSError, sqlite3.Error) as error:
        yield Unread(OPENCODE, str(file.path), problem_of(error))
        return
    for session in sessions:
        session_id = read_id(session["id"])
        if session_id is None:
            yield Unread(OPENCODE, str(file.path), "a session has no id")
        elif session["parent_id"] is not None:
            yield SubAgent(OPENCODE, f"{file.path}#{session_id}")
        else:
            yield _candidate(file, session_id, session, text_only)


def _candidate(file: ForeignFile, session_id: str, session: dict[str, Any], text_only: bool) -> Candidate:
    told = Told(
        session_id=session_id,
        cwd=session["directory"] if isinstance(session["directory"], str) else None,
        created_at=times.from_any(session["time_created"]),
        title=session["title"] if isinstance(session["title"], str) else None,
        model=_model(session["model"]),
    )
    return read_again(
        OPENCODE,
        file,
        told,
        lambda database, told: _stream(database, session_id, told, text_only),
        changed_at=times.from_any(session["time_updated"]),
    )


def _sessions(database: ForeignDatabase) -> list[dict[str, Any]]:
    there = database.columns("session")
    missing = [name for name in _NEEDED if name not in there]
    if missing:
        raise sqlite3.DatabaseError(f"it is no database of opencode: session.{missing[0]} is missing")
    chosen = ", ".join(name if name in there else f"NULL AS {name}" for name in _SESSION_COLUMNS)
    order = "time_created, id" if "time_created" in there else "id"
    rows = database.rows(f"SELECT {chosen} FROM session ORDER BY {order}")
    return [dict(zip(_SESSION_COLUMNS, row, strict=True)) for row in rows]


def _stream(database: ForeignDatabase, session_id: str, told: Told, text_only: bool) -> Groups:
    parts_of = _statement(database, "part", "message_id")
    for message_id, data, time_created in database.rows(_statement(database, "message", "session_id"), (session_id,)):
        message = json_object(data)
        if message is None:
            told.damaged += 1
            continue
        written = message.get("time")
        created = written.get("created") if isinstance(written, dict) else None
        ts = times.from_any(time_created) or times.from_any(created)
        told.model = told.model or _model(message.get("model")) or _model(message)
        parts = []
        for _part_id, part_data, _time_created in database.rows(parts_of, (message_id,)):
            part = json_object(part_data)
            told.damaged += part is None
            if part is not None:
                parts.append(part)
        if message.get("role") == "user":
            yield _said(parts, ts, text_only)
        elif message.get("role") == "assistant":
            yield _reply(message, str(message_id), parts, ts, text_only)


def _statement(database: ForeignDatabase, table: str, key: str) -> str:
    """Return the statement for a session's messages or a message's parts, in order: older versions keep no times."""
    has_time = "time_created" in database.columns(table)
    chosen, order = ("time_created", "time_created, id") if has_time else ("NULL", "id")
    data = f"CASE WHEN length(data) <= {MAX_CELL_BYTES} THEN data END"
    return f"SELECT id, {data}, {chosen} FROM {table} WHERE {key} = ? ORDER BY {order}"


def _said(parts: list[dict[str, Any]], ts: str | None, text_only: bool) -> Group:
    events: list[Event] = []
    typed: list[str] = []
    for part in parts:
        text = part.get("text")
        if part.get("type") != "text" or not isinstance(text, str) or (text_only and not is_kept(text)):
            continue
        if not text_only and (part.get("synthetic") is True or part.get("ignored") is True or is_injected(text)):
            events.append(Event(USER, "user_notice", text, ts))
        else:
            typed.append(text)
    has_file = not text_only and any(part.get("type") == "file" for part in parts)
    if typed or has_file:
        text = BETWEEN_PARTS.join(typed) if typed else None
        events.append(Event(USER, "user_message", text, ts, is_prompt=True))
    return events


def _reply(
    message: dict[str, Any], message_id: str, parts: list[dict[str, Any]], ts: str | None, text_only: bool
) -> Group:
    is_summary = message.get("summary") is True and not text_only
    events: list[Event] = []
    for part in parts:
        kind, text = part.get("type"), part.get("text")
        if kind == "text" and isinstance(text, str) and not (text_only and not is_kept(text)):
            event_type = "context_compaction_result" if is_summary else "message_text"
            events.append(Event(AGENT, event_type, text, ts, message_id=message_id))
        elif kind == "reasoning" and isinstance(text, str) and not text_only:
            events.append(Event(AGENT, "message_thought", text, ts, message_id=message_id))
        elif kind == "tool" and not text_only:
            events += _tool(part, message_id, ts)
    failure = message.get("error")
    if isinstance(failure, dict) and not text_only:
        data = failure.get("data")
        words = data.get("message") if isinstance(data, dict) else failure.get("message")
        events.append(Event(AGENT, "llm_call_ended", words if isinstance(words, str) else None, ts, "failed"))
    return events


def _tool(part: dict[str, Any], message_id: str, ts: str | None) -> list[Event]:
    found = part.get("state")
    state: dict[str, Any] = found if isinstance(found, dict) else {}
    call_id, name = read_id(part.get("callID")), read_id(part.get("tool"))
    try:
        arguments = compact_json(state["input"], "a tool's input") if "input" in state else None
    except ShapeError:
        arguments = None
    call = Event(
        AGENT,
        "tool_call",
        None,
        ts,
        tool_call_id=call_id,
        tool_name=name,
        tool_arguments=arguments,
        message_id=message_id,
    )
    status = state.get("status")
    if status not in ("completed", "error"):
        return [call]
    text = state.get("output" if status == "completed" else "error")
    span = state.get("time")
    ended = times.from_any(span.get("end")) if isinstance(span, dict) else None
    result = Event(
        AGENT,
        "tool_result" if status == "completed" else "tool_error",
        text if isinstance(text, str) else None,
        ended or ts,
        tool_call_id=call_id,
    )
    return [call, result]


def _model(value: object) -> str | None:
    """Return a model's name: a text, or ``provider/model`` of an object (or of an object as text)."""
    if isinstance(value, str) and value.startswith("{"):
        value = json_object(value)
    if isinstance(value, str):
        return value or None
    if not isinstance(value, dict):
        return None
    model = read_id(value.get("modelID")) or (read_id(value.get("id")) if "role" not in value else None)
    provider = read_id(value.get("providerID"))
    return f"{provider}/{model}" if provider and model else model
