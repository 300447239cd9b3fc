"""Builds real files of each agent in a home folder, for tests that index them.

Records are made by plain functions, files by :class:`HomeBuilder`. ``index`` is reached only through
:meth:`HomeBuilder.settings`, so that tests of parsers can use the records alone.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from index.settings import Settings, load_settings
from persist.sources import Environment

Record: TypeAlias = dict[str, Any]

_BEGIN = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)


def at(minute: float) -> str:
    """Return the time so many minutes after an arbitrary morning, as agents write it."""
    return (_BEGIN + timedelta(minutes=minute)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def lines(*records: Record | bytes) -> bytes:
    """Return records as lines; bytes are a line of their own, as they are."""
    return b"".join((one if isinstance(one, bytes) else json.dumps(one, ensure_ascii=False).encode()) + b"\n"
                    for one in records)  # fmt: skip


def aster_header(session_id: str, minute: float, **keys: Any) -> Record:
    """Return the header of an Aster transcript; ``parent`` and ``imported_from`` are keys like the others."""
    return {"type": "session", "id": session_id, "v": 1, "created_at": at(minute), "cwd": "/w/alpha", **keys}


def aster_prompt(text: Any, minute: float) -> Record:
    """Return what a person typed."""
    return {"type": "message", "role": "user", "content": text, "ts": at(minute)}


def aster_answer(text: str, minute: float, tokens: tuple[int, int] | None = None) -> Record:
    """Return an answer; ``tokens`` are those of the prompt and of the completion."""
    record: Record = {"type": "message", "role": "assistant", "content": text, "ts": at(minute)}
    if tokens is not None:
        record["usage"] = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    return record


def aster_title(text: str, minute: float) -> Record:
    """Return a title that a person gave."""
    return {"type": "title", "title": text, "ts": at(minute)}


def aether_metadata(session_id: str, minute: float) -> Record:
    """Return the first line of an Aether log."""
    return {"sessionId": session_id, "cwd": "/w/beta", "model": "acme:m-1", "selectedMode": "Coder",
            "createdAt": at(minute)}  # fmt: skip


def aether_prompt(text: str, message_id: str | None = None) -> Record:
    """Return what a person typed; Aether's events have no time of their own."""
    data: Record = {"type": "message", "content": [{"type": "text", "text": text}]}
    return {"kind": "user", "data": data if message_id is None else {**data, "message_id": message_id}}


def aether_answer(text: str, message_id: str) -> Record:
    """Return a complete answer."""
    event = {"type": "text", "message_id": message_id, "chunk": text, "is_complete": True}
    return {"kind": "agent", "data": {"category": "message", "event": event}}


def aether_context(used: int) -> Record:
    """Return how full the context is."""
    usage = {"usage_ratio": used / 1000, "context_limit": 1000, "input_tokens": used}
    return {"kind": "agent", "data": {"category": "context", "event": {"type": "usage_updated", "usage": usage}}}


def claude_prompt(text: Any, session_id: str, uuid: str, minute: float, **keys: Any) -> Record:
    """Return what a person typed."""
    return {"type": "user", "sessionId": session_id, "uuid": uuid, "timestamp": at(minute), "cwd": "/w/gamma",
            "message": {"role": "user", "content": text}, **keys}  # fmt: skip


def claude_answer(
    text: str, session_id: str, uuid: str, minute: float, *, message_id: str | None = None,
    request_id: str | None = None, output_tokens: int | None = None, **keys: Any,
) -> Record:  # fmt: skip
    """Return an answer; with ``output_tokens`` it reports usage (3 tokens of input, 7 read from the cache)."""
    message: Record = {"role": "assistant", "model": "m-2", "content": [{"type": "text", "text": text}]}
    if message_id is not None:
        message["id"] = message_id
    if output_tokens is not None:
        message["usage"] = {"input_tokens": 3, "output_tokens": output_tokens, "cache_read_input_tokens": 7}
    record: Record = {"type": "assistant", "sessionId": session_id, "uuid": uuid, "timestamp": at(minute),
                      "cwd": "/w/gamma", "message": message, **keys}  # fmt: skip
    return record if request_id is None else {**record, "requestId": request_id}


def claude_tool_call(call_id: str, session_id: str, uuid: str, minute: float, **arguments: Any) -> Record:
    """Return a call of the tool ``Bash``."""
    block = {"type": "tool_use", "id": call_id, "name": "Bash", "input": arguments}
    message = {"role": "assistant", "model": "m-2", "content": [block]}
    return {"type": "assistant", "sessionId": session_id, "uuid": uuid, "timestamp": at(minute), "message": message}


def claude_tool_result(call_id: str, text: str, session_id: str, uuid: str, minute: float) -> Record:
    """Return what the tool answered."""
    return claude_prompt([{"type": "tool_result", "tool_use_id": call_id, "content": text}], session_id, uuid, minute)


def claude_history_entry(text: str, session_id: str | None, minute: float) -> Record:
    """Return a line of ``history.jsonl``, its time in milliseconds."""
    stamp = int((_BEGIN + timedelta(minutes=minute)).timestamp() * 1000)
    entry: Record = {"display": text, "pastedContents": {}, "timestamp": stamp, "project": "/w/gamma"}
    return entry if session_id is None else {**entry, "sessionId": session_id}


def pi_header(session_id: str, minute: float, **keys: Any) -> Record:
    """Return the header of a transcript of pi or omp; ``parentSession`` is a key like the others."""
    return {"type": "session", "version": 3, "id": session_id, "timestamp": at(minute), "cwd": "/w/delta", **keys}


def pi_prompt(text: Any, entry_id: str, minute: float) -> Record:
    """Return what a person typed."""
    return {"type": "message", "id": entry_id, "timestamp": at(minute), "message": {"role": "user", "content": text}}


def pi_answer(
    text: str, entry_id: str, minute: float, *, tokens: int | None = None, response_id: str | None = None
) -> Record:
    """Return an answer; with ``tokens`` it reports usage (so many of input and of output, a tenth of a dollar each)."""
    message: Record = {"role": "assistant", "content": [{"type": "text", "text": text}], "provider": "acme",
                       "model": "m-3", "stopReason": "stop"}  # fmt: skip
    if tokens is not None:
        message["usage"] = {"input": tokens, "output": tokens, "cacheRead": 0, "cacheWrite": 0,
                            "cost": {"total": tokens / 10}}  # fmt: skip
    if response_id is not None:
        message["responseId"] = response_id
    return {"type": "message", "id": entry_id, "timestamp": at(minute), "message": message}


def codex_header(session_id: str, minute: float, **keys: Any) -> Record:
    """Return the header of a rollout; ``forked_from_id`` and ``source`` are keys like the others."""
    payload = {"id": session_id, "timestamp": at(minute), "cwd": "/w/delta", "cli_version": "0.147.0", **keys}
    return {"timestamp": at(minute), "type": "session_meta", "payload": payload}


def codex_prompt(text: str, minute: float) -> Record:
    """Return what a person typed."""
    return {"timestamp": at(minute), "type": "event_msg", "payload": {"type": "user_message", "message": text}}


def codex_answer(text: str, minute: float) -> Record:
    """Return an answer."""
    return {"timestamp": at(minute), "type": "event_msg", "payload": {"type": "agent_message", "message": text}}


def history_entry(text: str, session_id: str, minute: float) -> Record:
    """Return a line of Aster's and Aether's ``prompt-history.jsonl``."""
    return {"sessionId": session_id, "cwd": "/w/alpha", "sessionCreatedAt": at(minute), "prompt": text}


def journal_entry(op: str, name: str, minute: float) -> Record:
    """Return a line of the memory journal."""
    return {"ts": at(minute), "op": op, "name": name}


@dataclass(frozen=True, slots=True)
class HomeBuilder:
    """Writes sources where each agent keeps them below ``home``; every method returns the file's path.

    A method that writes replaces the file. ``end`` is what stands behind the last record's newline.
    """

    home: Path

    @property
    def aster_home(self) -> Path:
        """Return Aster's data home."""
        return self.home / ".local" / "share" / "aster"

    @property
    def claude_home(self) -> Path:
        """Return Claude Code's configuration folder."""
        return self.home / ".claude"

    def settings(self, index: Path | None = None, **variables: str) -> Settings:
        """Return the settings of a program that runs in this home; the index lies at ``index`` or its default."""
        environment = Environment(variables, self.home)
        return load_settings(environment, self.home, None if index is None else str(index))

    def aster(self, session_id: str, *records: Record | bytes, project: str = "alpha", end: bytes = b"") -> Path:
        """Write an Aster transcript."""
        return self._write(self.aster_home / "sessions" / project / f"{session_id}.jsonl", records, end)

    def aether(self, session_id: str, *records: Record | bytes, end: bytes = b"") -> Path:
        """Write an Aether log."""
        return self._write(self.home / ".aether" / "sessions" / f"{session_id}.jsonl", records, end)

    def claude(self, name: str, *records: Record | bytes, project: str = "-w-gamma", end: bytes = b"") -> Path:
        """Write a Claude Code transcript; ``name`` is the file's stem, as a rule the session's id."""
        return self._write(self.claude_home / "projects" / project / f"{name}.jsonl", records, end)

    def claude_agent(self, parent_id: str, agent_id: str, *records: Record | bytes, end: bytes = b"") -> Path:
        """Write the transcript of a sub-agent of a Claude Code session."""
        folder = self.claude_home / "projects" / "-w-gamma" / parent_id / "subagents"
        return self._write(folder / f"agent-{agent_id}.jsonl", records, end)

    def claude_history(self, *entries: Record | bytes, end: bytes = b"") -> Path:
        """Write Claude Code's prompt history."""
        return self._write(self.claude_home / "history.jsonl", entries, end)

    def prompt_history(self, agent: str, *entries: Record | bytes, end: bytes = b"") -> Path:
        """Write the prompt history of ``aster`` or ``aether``."""
        home = self.aster_home if agent == "aster" else self.home / ".aether"
        return self._write(home / "sessions" / "prompt-history.jsonl", entries, end)

    def block(self, name: str, body: str, description: str = "a note", *, archived: bool = False) -> Path:
        """Write a memory block."""
        folder = self.aster_home / "memory" / (".archive" if archived else "")
        text = f"---\nname: {name}\ndescription: {description}\ncreated_at: {at(0)}\n---\n\n{body}\n"
        return self._write_bytes(folder / f"{name}.md", text.encode())

    def facts(self, *bullets: str) -> Path:
        """Write ``ASTER.md``."""
        text = "# Project memory\n\n" + "".join(f"- {bullet}\n" for bullet in bullets)
        return self._write_bytes(self.aster_home / "memory" / "ASTER.md", text.encode())

    def journal(self, *entries: Record | bytes, end: bytes = b"") -> Path:
        """Write the memory journal."""
        return self._write(self.aster_home / "memory" / "journal.jsonl", entries, end)

    def _write(self, path: Path, records: Iterable[Record | bytes], end: bytes) -> Path:
        return self._write_bytes(path, lines(*records) + end)

    def _write_bytes(self, path: Path, data: bytes) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path


def make_unreadable(path: Path) -> None:
    """Put in a file's place one that can be looked at and not read, by root neither: a process's memory at 0."""
    if not Path("/proc/self/mem").exists():
        pytest.skip("there is no file here that root cannot read")
    path.unlink(missing_ok=True)
    path.symlink_to(f"/proc/{os.getpid()}/mem")


def is_above_permissions() -> bool:
    """Return whether this process reads and writes whatever the mode bits say, as root usually does."""
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).chmod(0)
        return os.access(file.name, os.R_OK | os.W_OK)
