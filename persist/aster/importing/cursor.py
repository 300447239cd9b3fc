"""Cursor's conversations for an import, from its databases (``spec/aster.md`` 5.4).

Reads the databases, writes nothing. Which conversations there are, and in which folder, stands in each workspace's
database; what was said, in one for all. A message of the older form stands in its conversation, of the newer one
(a bubble) by itself. Most bubbles have no time: they take that of the one before, or the conversation's.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from persist import times
from persist.agents.values import compact_json, read_id
from persist.aster.importing.candidates import CURSOR, Candidate, Group, Groups, Look, Offer, Told, Unread
from persist.aster.importing.database import MAX_CELL_BYTES, ForeignDatabase, ForeignFile, foreign_file, open_foreign
from persist.aster.importing.database_sessions import json_object, problem_of, read_again
from persist.aster.importing.injected import is_injected, is_kept
from persist.errors import ShapeError
from persist.events import AGENT, USER, Event
from persist.lines import decode
from persist.regular import open_regular
from persist.sources import Environment

STATE: Final = "state.vscdb"
_MAX_WORKSPACE_BYTES: Final = 1024 * 1024
_COMPOSERS: Final = "composer.composerData"
_ITEM: Final = f"SELECT CASE WHEN length(value) <= {MAX_CELL_BYTES} THEN value END FROM ItemTable WHERE key = ?"
_DISK: Final = f"SELECT CASE WHEN length(value) <= {MAX_CELL_BYTES} THEN value END FROM cursorDiskKV WHERE key = ?"
_ID: Final = re.compile(r"[0-9A-Fa-f-]{1,200}\Z", re.ASCII)
_PERSON: Final = 1
_AGENT: Final = 2
_FAILED: Final = ("error", "cancelled", "rejected")


def offers(look: Look) -> Iterator[Offer]:
    """Yield the conversations of each workspace, in the order of the workspaces' folders."""
    for user_folder in look.folders or locate(look.environment)[:1]:
        database = user_folder / "globalStorage" / STATE
        if database.exists():
            with foreign_file(database) as file:
                yield from _offers(user_folder, file, look.text_only)


def locate(environment: Environment) -> list[Path]:
    """Return the user folders that exist, macOS' first, as Aster looks for them."""
    config = environment.variables.get("XDG_CONFIG_HOME", "")
    folders = [
        environment.home / "Library" / "Application Support",
        Path(config) if config.startswith("/") else environment.home / ".config",
    ]
    return [user for folder in folders if (user := folder / "Cursor" / "User").is_dir()]


def _offers(user_folder: Path, database: ForeignFile, text_only: bool) -> Iterator[Offer]:
    offered: set[str] = set()
    for workspace in sorted(user_folder.glob(f"workspaceStorage/*/{STATE}")):
        try:
            composers = _composers(workspace)
        except (OSError, sqlite3.Error) as error:
            yield Unread(CURSOR, str(workspace), problem_of(error))
            continue
        cwd = _folder(workspace.with_name("workspace.json"))
        for composer in composers:
            composer_id = read_id(composer.get("composerId"))
            if composer_id is None or not _ID.match(composer_id):
                yield Unread(CURSOR, str(workspace), "a conversation's id is none")
            elif composer_id not in offered:
                offered.add(composer_id)
                yield _candidate(database, composer_id, composer, cwd, text_only)


def _candidate(
    database: ForeignFile, composer_id: str, composer: dict[str, Any], cwd: str | None, text_only: bool
) -> Candidate:
    name = composer.get("name")
    told = Told(
        session_id=composer_id,
        cwd=cwd,
        created_at=times.from_any(composer.get("createdAt")),
        title=name if isinstance(name, str) else None,
    )
    return read_again(
        CURSOR,
        database,
        told,
        lambda opened, told: _stream(opened, composer_id, told, text_only),
        changed_at=times.from_any(composer.get("lastUpdatedAt")),
    )


def _composers(workspace: Path) -> list[dict[str, Any]]:
    with open_foreign(workspace) as database:
        if not database.columns("ItemTable"):
            raise sqlite3.DatabaseError("it is no database of Cursor: ItemTable is missing")
        data = next((json_object(value) for (value,) in database.rows(_ITEM, (_COMPOSERS,))), None)
    listed = data.get("allComposers") if data is not None else None
    return [composer for composer in listed if isinstance(composer, dict)] if isinstance(listed, list) else []


def _folder(path: Path) -> str | None:
    """Return the folder that a workspace is of; ``None`` for several folders, another machine's, or no such file."""
    try:
        with open_regular(path) as file:
            found = decode(file.read(_MAX_WORKSPACE_BYTES))
    except (OSError, ValueError):
        return None
    uri = found.get("folder") if isinstance(found, dict) else None
    if not isinstance(uri, str) or not uri.startswith("file://"):
        return None
    return unquote(uri.removeprefix("file://")) or None


def _stream(database: ForeignDatabase, composer_id: str, told: Told, text_only: bool) -> Groups:
    if not database.columns("cursorDiskKV"):
        raise sqlite3.DatabaseError("it is no database of Cursor: cursorDiskKV is missing")
    composer = _value(database, f"composerData:{composer_id}")
    if composer is None:
        return
    told.created_at = told.created_at or times.from_any(composer.get("createdAt"))
    settings = composer.get("modelConfig")
    told.model = told.model or (read_id(settings.get("modelName")) if isinstance(settings, dict) else None)
    headers = composer.get("fullConversationHeadersOnly")
    if isinstance(headers, list) and headers:
        for header in headers:
            bubble_id = read_id(header.get("bubbleId")) if isinstance(header, dict) else None
            bubble = _value(database, f"bubbleId:{composer_id}:{bubble_id}") if bubble_id is not None else None
            if bubble is None:
                told.damaged += 1
            else:
                yield _group(bubble, text_only)
        return
    conversation = composer.get("conversation")
    for bubble in conversation if isinstance(conversation, list) else []:
        if isinstance(bubble, dict):
            yield _group(bubble, text_only)
        else:
            told.damaged += 1


def _value(database: ForeignDatabase, key: str) -> dict[str, Any] | None:
    return next((json_object(value) for (value,) in database.rows(_DISK, (key,))), None)


def _group(bubble: dict[str, Any], text_only: bool) -> Group:
    words, ts = bubble.get("text"), times.from_any(bubble.get("createdAt"))
    text = words if isinstance(words, str) and words.strip() else None
    if text is not None and text_only and not is_kept(text):
        text = None
    kind = bubble.get("type")
    if kind == _PERSON:
        if text is None:
            return (Event(USER, "user_message", None, ts, is_prompt=bool(bubble.get("images")) and not text_only),)
        if not text_only and is_injected(text):
            return (Event(USER, "user_notice", text, ts),)
        return (Event(USER, "user_message", text, ts, is_prompt=True),)
    if kind != _AGENT:
        return ()
    events: list[Event] = []
    thinking = bubble.get("thinking")
    thought = thinking.get("text") if isinstance(thinking, dict) else None
    if isinstance(thought, str) and not text_only:
        events.append(Event(AGENT, "message_thought", thought, ts))
    if text is not None:
        events.append(Event(AGENT, "message_text", text, ts))
    tool = bubble.get("toolFormerData")
    if isinstance(tool, dict) and not text_only:
        events += _tool(tool, read_id(bubble.get("bubbleId")), ts)
    return events


def _tool(tool: dict[str, Any], bubble_id: str | None, ts: str | None) -> list[Event]:
    name = read_id(tool.get("name")) or read_id(tool.get("tool"))
    if name is None:
        return []
    call_id = read_id(tool.get("toolCallId")) or bubble_id
    given = next((tool[key] for key in ("rawArgs", "params", "args") if tool.get(key) is not None), None)
    call = Event(AGENT, "tool_call", None, ts, tool_call_id=call_id, tool_name=name, tool_arguments=_written(given))
    status, error = tool.get("status"), tool.get("error")
    has_failed = error is not None or status in _FAILED
    result = tool.get("result") if tool.get("result") is not None else error
    if result is None and not has_failed:
        return [call]
    text = _written(result) if result is not None else str(status)
    return [call, Event(AGENT, "tool_error" if has_failed else "tool_result", text, ts, tool_call_id=call_id)]


def _written(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    try:
        return compact_json(value, "a tool's value")
    except ShapeError:
        return None
