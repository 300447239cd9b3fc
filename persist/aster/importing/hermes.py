"""Hermes' sessions for an import, from its databases (``spec/aster.md`` 5.6).

Reads the databases, writes nothing. A session with a parent is a sub-agent or a branch and is left out, unless it goes
on where its parent was closed to compact it. Messages that a compaction set aside are read, those that a person took
back are not; what a compaction kept word for word is told again behind its summary, with its time, and read once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from persist import times
from persist.agents.folders import named_path
from persist.agents.values import read_id
from persist.aster.importing.candidates import HERMES, Candidate, Group, Groups, Look, Offer, SubAgent, Told, Unread
from persist.aster.importing.database import MAX_CELL_BYTES, ForeignDatabase, ForeignFile, foreign_file
from persist.aster.importing.database_sessions import json_object, problem_of, read_again
from persist.aster.importing.injected import content_text, is_injected, is_kept
from persist.aster.importing.seen import Seen
from persist.events import AGENT, CONTROL, USER, Event
from persist.lines import decode
from persist.sources import Environment

DATABASE: Final = "state.db"
_SESSION_COLUMNS: Final = ("id", "title", "model", "cwd", "git_repo_root", "started_at", "parent_session_id")
_MESSAGE_COLUMNS: Final = (
    "role", "content", "timestamp", "active", "compacted", "tool_call_id", "tool_calls", "reasoning",
    "reasoning_content",
)  # fmt: skip
_PARTS_PREFIX: Final = "\0json:"
"""Begins a content that is a list of parts."""
_GOES_ON: Final = """SELECT 1 FROM sessions WHERE id = ? AND end_reason = 'compression'
AND (ended_at IS NULL OR ? >= ended_at)"""


def offers(look: Look) -> Iterator[Offer]:
    """Yield the sessions in the databases of Hermes' home and its profiles, in order of their beginning."""
    for home in look.folders or [locate(look.environment)]:
        paths = [home] if home.is_file() else [home / DATABASE, *sorted(home.glob(f"profiles/*/{DATABASE}"))]
        for path in paths:
            with foreign_file(path) as file:
                yield from _offers(file, look.text_only)


def locate(environment: Environment) -> Path:
    """Return Hermes' home: ``$HERMES_HOME``, else ``~/.hermes``."""
    named = environment.variables.get("HERMES_HOME", "").strip()
    return named_path(named, environment.home) if named else environment.home / ".hermes"


def _offers(file: ForeignFile, text_only: bool) -> Iterator[Offer]:
    try:
        with file.open() as database:
            sessions = [(session, _stands_alone(database, session)) for session in _sessions(database)]
    except FileNotFoundError:
        return
    except (OSError, sqlite3.Error) as error:
        yield Unread(HERMES, str(file.path), problem_of(error))
        return
    for session, stands_alone in sessions:
        session_id = read_id(session["id"])
        if session_id is None:
            yield Unread(HERMES, str(file.path), "a session has no id")
        elif not stands_alone:
            yield SubAgent(HERMES, f"{file.path}#{session_id}")
        else:
            yield _candidate(file, session_id, session, text_only)


def _candidate(file: ForeignFile, session_id: str, session: dict[str, Any], text_only: bool) -> Candidate:
    told = Told(
        session_id=session_id,
        cwd=_text(session["cwd"]),
        root=_text(session["git_repo_root"]),
        created_at=times.from_any(session["started_at"]),
        title=_text(session["title"]),
        model=_text(session["model"]),
    )
    return read_again(HERMES, file, told, lambda database, told: _stream(database, session_id, told, text_only))


def _sessions(database: ForeignDatabase) -> list[dict[str, Any]]:
    there = database.columns("sessions")
    if "id" not in there:
        raise sqlite3.DatabaseError("it is no database of Hermes: sessions.id is missing")
    chosen = ", ".join(name if name in there else f"NULL AS {name}" for name in _SESSION_COLUMNS)
    rows = database.rows(f"SELECT {chosen} FROM sessions ORDER BY started_at, id")
    return [dict(zip(_SESSION_COLUMNS, row, strict=True)) for row in rows]


def _stands_alone(database: ForeignDatabase, session: dict[str, Any]) -> bool:
    parent = session["parent_session_id"]
    if parent is None:
        return True
    if not {"end_reason", "ended_at"} <= database.columns("sessions"):
        return False
    return any(database.rows(_GOES_ON, (parent, session["started_at"])))


def _stream(database: ForeignDatabase, session_id: str, told: Told, text_only: bool) -> Groups:
    seen = Seen()
    for message in _messages(database, session_id):
        if message["active"] == 0 and (text_only or not message["compacted"]):
            continue
        told_before = (message["role"], message["content"], message["tool_calls"], message["tool_call_id"])
        if not seen.is_new((*told_before, message["timestamp"])):
            continue
        yield _old_group(message) if text_only else _group(message, told)


def _messages(database: ForeignDatabase, session_id: str) -> Iterator[dict[str, Any]]:
    there = database.columns("messages")
    large = ("content", "tool_calls", "reasoning", "reasoning_content")
    chosen = [
        f"NULL AS {name}"
        if name not in there
        else f"CASE WHEN length({name}) <= {MAX_CELL_BYTES} THEN {name} END"
        if name in large
        else name
        for name in _MESSAGE_COLUMNS
    ]
    statement = f"SELECT {', '.join(chosen)} FROM messages WHERE session_id = ? ORDER BY id"
    for row in database.rows(statement, (session_id,)):
        yield dict(zip(_MESSAGE_COLUMNS, row, strict=True))


def _group(message: dict[str, Any], told: Told) -> Group:
    role, ts = message["role"], times.from_any(message["timestamp"])
    text = _content(message["content"])
    if role == "user":
        if text is not None and is_injected(text):
            return (Event(USER, "user_notice", text, ts),)
        return (Event(USER, "user_message", text, ts, is_prompt=True),)
    if role == "system":
        return (Event(CONTROL, "system_message", text, ts),)
    if role == "tool":
        event_type = "tool_error" if _has_failed(text) else "tool_result"
        return (Event(AGENT, event_type, text, ts, tool_call_id=read_id(message["tool_call_id"])),)
    if role != "assistant":
        return ()
    thought = _text(message["reasoning"]) or _text(message["reasoning_content"])
    events = [] if thought is None else [Event(AGENT, "message_thought", thought, ts)]
    if text is not None and text.strip():
        events.append(Event(AGENT, "message_text", text, ts))
    calls = _calls(message["tool_calls"], ts)
    if calls is None:
        told.damaged += 1
        calls = []
    return [*events, *calls]


def _old_group(message: dict[str, Any]) -> Group:
    text, ts = _content(message["content"]), times.from_any(message["timestamp"])
    if message["tool_call_id"] is not None or text is None or not is_kept(text):
        return ()
    if message["role"] == "user":
        return (Event(USER, "user_message", text, ts, is_prompt=True),)
    return (Event(AGENT, "message_text", text, ts),) if message["role"] == "assistant" else ()


def _calls(value: object, ts: str | None) -> list[Event] | None:
    """Return the calls of a message; ``None`` where they cannot be read."""
    if value is None or value == "":
        return []
    try:
        found = decode(value.encode("utf-8", "replace")) if isinstance(value, str) else None
    except ValueError:
        return None
    if not isinstance(found, list):
        return None
    events = []
    for call in found:
        holder = call.get("function") if isinstance(call, dict) else None
        function: dict[str, Any] = holder if isinstance(holder, dict) else {}
        arguments = function.get("arguments")
        events.append(
            Event(
                AGENT,
                "tool_call",
                None,
                ts,
                tool_call_id=read_id(call.get("id")) if isinstance(call, dict) else None,
                tool_name=read_id(function.get("name")),
                tool_arguments=arguments if isinstance(arguments, str) else None,
            )
        )
    return events


def _content(value: object) -> str | None:
    """Return a content's words: plain text, or the texts of its parts."""
    text = _text(value)
    if text is None or not text.startswith(_PARTS_PREFIX):
        return text
    try:
        return content_text(decode(text.removeprefix(_PARTS_PREFIX).encode("utf-8", "replace")))
    except ValueError:
        return None


def _has_failed(text: str | None) -> bool:
    """Whether a result is an object that says so: Hermes' tools answer in JSON."""
    if text is None or not text.lstrip().startswith("{"):
        return False
    answer = json_object(text)
    if answer is None:
        return False
    code = answer.get("exit_code")
    return bool(answer.get("error")) or answer.get("success") is False or (type(code) is int and code != 0)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
