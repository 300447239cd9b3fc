"""Writes Aether's session logs: metadata first, then one event, one line, one append (``spec/aether.md`` 2, "Writing").

The line and its newline go out in one write, under the folder's lock, behind a mended tail (``persist.files.append``);
Aether itself does neither, and loses to it (6.8). Nothing stays open in between. Prompts reach the prompt history, and
a history that cannot be written never fails an append.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from persist import history
from persist.aether.log import MetadataError, read_log, trimmed
from persist.agents.aether.agent import SESSIONS
from persist.agents.aether.events import user_text
from persist.agents.aether.records import Metadata
from persist.errors import NotFoundError, RefusedError, StoreError, StoreIOError
from persist.files import LOCK_NAME, append_lines, locked, make_private_folder
from persist.files.create import create_file
from persist.files.remove import refuse_link_outside
from persist.files.rewrite import Span, replace_span
from persist.ids import MAX_SESSION_ID_BYTES
from persist.lines import MAX_LINE_BYTES, decode_line, encode, iter_lines
from persist.regular import open_regular
from persist.sources import Record

SUFFIX: Final = ".jsonl"
_SAFE_ID: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*\Z", re.ASCII)


def log_path(home: Path, session_id: str) -> Path:
    """Return where a new session's log goes; Aether pastes an id into a path unchecked, here it must be a name.

    Raises ``RefusedError`` for an id with anything but ASCII letters, digits, ``_``, ``.`` and ``-``, one that begins
    with a dot or a dash, is over ``MAX_SESSION_ID_BYTES`` or is the prompt history's name.
    """
    if not _SAFE_ID.match(session_id) or len(session_id) > MAX_SESSION_ID_BYTES:
        raise RefusedError("that cannot be a session's id", "use up to 200 letters, digits, '_', '.' and '-'")
    path = home / SESSIONS / f"{session_id}{SUFFIX}"
    if path.name.lower() == history.HISTORY_NAME:
        raise RefusedError(f"a session cannot be called {session_id}, as the prompt history is", "choose another id")
    return path


def create_log(
    home: Path, session_id: str, cwd: str, model: str, selected_mode: str | None = None, created_at: str | None = None
) -> Path:
    """Begin a session: a new file that holds its metadata. ``created_at`` is now where left out.

    Raises ``RefusedError`` when the id is taken, in any case, or cannot name a file; ``BusyError``, ``StoreIOError``.
    """
    path = log_path(home, session_id)
    line = wire_line(
        {
            "sessionId": session_id,
            "cwd": cwd,
            "model": model,
            "selectedMode": selected_mode,
            "createdAt": created_at or datetime.now(UTC).isoformat(),
        }
    )
    make_private_folder(path.parent)
    with locked(path.with_name(LOCK_NAME)):
        if any(other.name.lower() == path.name.lower() for other in path.parent.iterdir()):
            raise RefusedError(f"session {session_id} exists already", "append to it, or choose another id")
        create_file(path, line + b"\n")
    return path


def append_events(path: Path, metadata: Metadata, events: Sequence[dict[str, Record]]) -> str | None:
    """Append checked events (``persist.aether.incoming``) to a log, in order, each in one write.

    Returns why a prompt did not reach the prompt history, null where all did. Raises ``NotFoundError`` when the log was
    deleted, ``RefusedError`` for an event over 64 MB, ``BusyError`` and ``StoreIOError``.
    """
    refuse_link_outside(path, path.parent)
    append_lines(path, [wire_line(event) for event in events], existing="required")
    texts = (user_text(event["data"]) for event in events if _is_prompt(event))
    try:
        history.extend(
            path.with_name(history.HISTORY_NAME), [prompt_entry(metadata, text) for text in texts if text is not None]
        )
    except StoreError as error:
        return str(error)
    return None


def _is_prompt(event: dict[str, Record]) -> bool:
    return bool(event["kind"] == "user" and event["data"]["type"] == "message")


def prompt_entry(metadata: Metadata, text: str) -> history.PromptEntry:
    """Return a prompt as the history keeps it."""
    created_at = metadata.created_at if isinstance(metadata.created_at, str) else ""
    return history.PromptEntry(metadata.session_id, metadata.cwd or "", created_at, text)


def wire_line(record: dict[str, Record]) -> bytes:
    """Return a record as Aether writes it, without newline. Raises ``RefusedError`` over 64 MB."""
    data = encode(json.dumps(record, ensure_ascii=False, separators=(",", ":")))
    if len(data) > MAX_LINE_BYTES:
        raise RefusedError(f"an event of {len(data)} bytes is over the limit of {MAX_LINE_BYTES}", "record it in parts")
    return data


def rewrite_cwd(path: Path, cwd: str) -> None:
    """Replace a log's metadata by the same with another ``cwd``; every other byte stays, in a file renamed over it.

    Under the folder's lock; a log that says so already is left as it is. Raises ``NotFoundError``, ``MetadataError``,
    ``RefusedError`` for a link, ``InUseError`` where another program writes the log, ``BusyError`` and
    ``StoreIOError``; on failure the old file stands. Cost: the file is copied, in pieces.
    """
    if path.is_symlink():
        raise RefusedError(f"{path} is a link, and its place would be taken", "relocate the session where it lies")
    with locked(path.with_name(LOCK_NAME)):
        read_log(path).metadata()
        try:
            with open_regular(path, 0) as file:
                head = next(raw for raw in iter_lines(file) if trimmed(raw.data))
                record = _decoded(path, head.number, trimmed(head.data))
                if record.get("cwd") == cwd:
                    return
                line = wire_line({**record, "cwd": cwd}) + (b"" if head.terminated else b"\n")
                span = Span(head.offset_bytes, head.offset_bytes + len(head.data.rstrip(b"\r")))
                replace_span(path, file, span, line)
        except FileNotFoundError as error:
            raise NotFoundError("Aether session log", str(path)) from error
        except OSError as error:
            raise StoreIOError(path, "write", error.strerror or str(error)) from error


def _decoded(path: Path, number: int, data: bytes) -> dict[str, Record]:
    record = decode_line(data).records[0]
    if not isinstance(record, dict):
        raise MetadataError(path, number, "not metadata")
    return record
