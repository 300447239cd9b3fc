"""A home with the sources of an import in it, and a reader as strict as Aster's for what an import writes."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from persist.aster.importing import AGENTS, ImportReport, Look, Wanted, import_sessions
from persist.sources import Environment
from tests.builders import Record, lines
from tests.conftest import REPOSITORY

SAMPLES: Final = REPOSITORY / "tests" / "data" / "import" / "notes-site"
PROJECT: Final = "/home/mira/notes-site"
CLAUDE_ID: Final = "3f6d2c1e-58ab-4d0f-9c77-0e5b1a2c3d4e"
CODEX_ID: Final = "0197d3aa-1111-7222-8333-444455556666"
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3}|\.\d{6}|\.\d{9})?Z\Z")
_MESSAGE_KEYS: Final = ["type", "role", "content", "tool_calls", "tool_call_id", "ts", "reasoning"]
_HEADER_KEYS: Final = ["type", "id", "v", "created_at", "cwd", "repo_root", "model", "title", "imported_from"]


class World:
    """A home folder with the five agents' places, and Aster's data home in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.data = home / ".local" / "share" / "aster"
        self.cursor_user = home / ".config" / "Cursor" / "User"

    def samples(self) -> World:
        """Put every sample in its place."""
        self.claude("-home-mira-notes-site", CLAUDE_ID, SAMPLES.joinpath("claude-code.jsonl").read_bytes())
        self.codex(CODEX_ID, SAMPLES.joinpath("codex.jsonl").read_bytes())
        self.cursor_workspace("w1", PROJECT, SAMPLES.joinpath("cursor-workspace.sql").read_text())
        self.database(self.cursor_global, SAMPLES.joinpath("cursor-global.sql").read_text())
        self.database(self.opencode_path, SAMPLES.joinpath("opencode.sql").read_text())
        self.database(self.hermes_path, SAMPLES.joinpath("hermes.sql").read_text())
        return self

    @property
    def cursor_global(self) -> Path:
        return self.cursor_user / "globalStorage" / "state.vscdb"

    @property
    def opencode_path(self) -> Path:
        return self.home / ".local" / "share" / "opencode" / "opencode.db"

    @property
    def hermes_path(self) -> Path:
        return self.home / ".hermes" / "state.db"

    def claude(self, project: str, name: str, data: bytes) -> Path:
        """Write a transcript of Claude Code."""
        return _written(self.home / ".claude" / "projects" / project / f"{name}.jsonl", data)

    def codex(self, session_id: str, data: bytes, suffix: str = ".jsonl", day: str = "2026/07/04") -> Path:
        """Write a rollout of Codex."""
        name = f"rollout-2026-07-04T09-00-00-{session_id}{suffix}"
        return _written(self.home / ".codex" / "sessions" / day / name, data)

    def cursor_workspace(self, name: str, folder: str, script: str) -> Path:
        """Write a workspace of Cursor: its database and the folder that it is of."""
        state = self.cursor_user / "workspaceStorage" / name / "state.vscdb"
        self.database(state, script)
        state.with_name("workspace.json").write_text(json.dumps({"folder": f"file://{folder}"}))
        return state

    def database(self, path: Path, script: str) -> Path:
        """Make a database of a script."""
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(path)
        connection.executescript(script)
        connection.commit()
        connection.close()
        return path

    def run(self, *agents: str, text_only: bool = False, **wanted: Any) -> ImportReport:
        """Import from ``agents`` (all, if none is named), of all projects unless ``project`` says which."""
        chosen = agents or AGENTS
        environment = Environment({}, self.home)
        looks = {agent: Look(environment, text_only=text_only) for agent in chosen}
        return import_sessions(self.data, [self.data], Wanted(agents=chosen, **wanted), looks)

    def targets(self) -> list[Path]:
        """Return every transcript of the store, by name."""
        return sorted((self.data / "sessions").glob("*/*.jsonl"), key=lambda path: path.name)

    def leftovers(self) -> list[Path]:
        """Return what an import that ended by itself must not leave."""
        return sorted((self.data / "sessions").glob("**/.tmp-*"))


def strict_records(path: Path) -> list[Record]:
    """Return a transcript's records, checked as Aster's reader does (``spec/aster.md`` 1.2); the header comes first."""
    data = path.read_bytes()
    assert data.endswith(b"\n")
    records = []
    for number, line in enumerate(data[:-1].split(b"\n"), start=1):
        record = json.loads(line.decode("utf-8"), object_pairs_hook=_once)
        line.decode("utf-8").encode("utf-8")
        _check(record, number)
        assert json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() == line
        records.append(record)
    return records


def said(records: Iterable[Record]) -> list[tuple[str, str]]:
    """Return (role, content) of the messages of a person and of the agent that have words."""
    return [
        (record["role"], record["content"])
        for record in records
        if record.get("role") in ("user", "assistant") and "content" in record
    ]


def claude_lines(*records: Record | bytes) -> bytes:
    """Return records of a transcript as lines."""
    return lines(*records)


def files_below(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return every file below a folder with its bytes and time of change."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def set_changed(path: Path, seconds: float) -> None:
    """Give a file a time of change, in seconds from now."""
    moment = path.stat().st_mtime + seconds
    os.utime(path, (moment, moment))


def _once(pairs: list[tuple[str, Any]]) -> Record:
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), "a key twice"
    return dict(pairs)


def _check(record: Record, number: int) -> None:
    assert None not in record.values()
    kind = record["type"]
    assert (kind == "session") == (number == 1)
    if kind == "session":
        assert list(record) == [key for key in _HEADER_KEYS if key in record]
        assert record["v"] == 1
        assert all(isinstance(record[key], str) for key in ("id", "cwd", "repo_root", "imported_from"))
        assert _TIME.match(record["created_at"])
        return
    assert _TIME.match(record["ts"])
    if kind == "summary":
        assert isinstance(record["content"], str)
        assert record["replaces_through"] >= 0
        return
    assert kind == "message"
    assert list(record) == [key for key in _MESSAGE_KEYS if key in record]
    assert record["role"] in ("user", "assistant", "tool", "system")
    assert isinstance(record.get("content", ""), str)
    for call in record.get("tool_calls", []):
        assert list(call) == ["id", "type", "function"]
        assert call["id"]
        assert call["type"] == "function"
        assert call["function"]["name"]
        assert isinstance(json.loads(call["function"]["arguments"]), dict)


def _written(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
