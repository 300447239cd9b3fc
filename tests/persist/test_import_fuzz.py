"""Whatever stands in a source, an import ends in an outcome, and what it writes is a transcript that Aster reads."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.persist.import_world import CODEX_ID, World, strict_records

KEYS = (
    "type", "role", "content", "text", "message", "timestamp", "payload", "id", "call_id", "name", "arguments",
    "output", "tool_use_id", "input", "thinking", "isSidechain", "isMeta", "uuid", "cwd", "sessionId", "state",
    "status", "time", "error", "callID", "tool", "toolFormerData", "result", "rawArgs", "bubbleId",
    "conversation", "summary", "synthetic", "isCompactSummary", "model", "aiTitle", "leafUuid",
    "last_agent_message", "source", "data", "attachment", "prompt", "fullConversationHeadersOnly", "createdAt",
    "images", "function", "modelID", "end", "created", "is_error", "subtype",
)  # fmt: skip
WORDS = (
    "user", "assistant", "text", "tool_use", "tool_result", "thinking", "message", "response_item", "event_msg",
    "tool", "session_meta", "turn_context", "function_call", "function_call_output", "user_message",
    "agent_message", "reasoning", "compacted", "completed", "error", "2026-05-04T08:00:00.000Z", "c1", "m1", "",
    " ", "\ud800", "\x00\x1b[2J", "漢🧾", "{", '{"a":1}', "system", "summary", "ai-title", "attachment",
    "queued_command", "file", "custom_tool_call", "input_text",
)  # fmt: skip
LEAVES = st.one_of(
    st.sampled_from(WORDS), st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.sampled_from([1, 2])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(KEYS), inner, min_size=1, max_size=8)
    ),
    max_leaves=20,
)
RECORDS = st.lists(st.dictionaries(st.sampled_from(KEYS), VALUES, min_size=2, max_size=9), min_size=1, max_size=8)


def _claude(world: World, records: list[Any]) -> None:
    world.claude("-w", "a", b"".join(json.dumps(record).encode() + b"\n" for record in records))


def _codex(world: World, records: list[Any]) -> None:
    world.codex(CODEX_ID, b"".join(json.dumps(record).encode() + b"\n" for record in records))


def _opencode(world: World, records: list[Any]) -> None:
    world.database(
        world.opencode_path,
        """CREATE TABLE session (id, title, model, directory, parent_id, time_created);
        CREATE TABLE message (id, session_id, data, time_created);
        CREATE TABLE part (id, message_id, session_id, data, time_created);
        INSERT INTO session VALUES ('s', NULL, NULL, '/w', NULL, 1751000000000);""",
    )
    with closing(sqlite3.connect(world.opencode_path)) as connection, connection:
        for at, record in enumerate(records):
            role = ("user", "assistant")[at % 2]
            message = (at, "s", json.dumps({**record, "role": role}), at)
            connection.execute("INSERT INTO message VALUES (?, ?, ?, ?)", message)
            for number, part in enumerate(records):
                row = (f"{at}-{number}", at, "s", json.dumps(part), number)
                connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", row)


def _hermes(world: World, records: list[Any]) -> None:
    world.database(
        world.hermes_path,
        """CREATE TABLE sessions (id, title, model, cwd, git_repo_root, started_at, parent_session_id);
        CREATE TABLE messages (id, session_id, role, content, timestamp, active, tool_call_id, tool_calls, reasoning);
        INSERT INTO sessions VALUES ('s', x'ff00', 5, '/w', NULL, 'soon', NULL);""",
    )
    with closing(sqlite3.connect(world.hermes_path)) as connection, connection:
        for at, record in enumerate(records):
            text, role = json.dumps(record), ("user", "assistant", "tool", "system")[at % 4]
            contents = (text, f"\0json:{text}", text.encode(), at)
            row = (at, "s", role, contents[at % 3], 1e300 if at % 2 else at, 1, text, json.dumps([record]), text)
            connection.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


def _cursor(world: World, records: list[Any]) -> None:
    listed = json.dumps({"allComposers": [{"composerId": "a-1"}, *records]})
    path = world.cursor_workspace("w1", "/w", "CREATE TABLE ItemTable (key, value);")
    world.database(world.cursor_global, "CREATE TABLE cursorDiskKV (key, value);")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO ItemTable VALUES ('composer.composerData', ?)", (listed,))
    with closing(sqlite3.connect(world.cursor_global)) as connection, connection:
        told = json.dumps({"conversation": [{**record, "type": at % 3} for at, record in enumerate(records)]})
        connection.execute("INSERT INTO cursorDiskKV VALUES ('composerData:a-1', ?)", (told,))


WRITERS: dict[str, Callable[[World, list[Any]], None]] = {
    "claude-code": _claude, "codex": _codex, "opencode": _opencode, "hermes": _hermes, "cursor": _cursor,
}  # fmt: skip


QUIET = list(HealthCheck)


@pytest.mark.parametrize("agent", WRITERS)
@settings(max_examples=8, deadline=None, suppress_health_check=QUIET)
@given(records=RECORDS, text_only=st.booleans())
def test_any_values_give_an_outcome_and_a_readable_file(agent: str, records: list[Any], text_only: bool) -> None:
    _import_any(agent, records, text_only)


@pytest.mark.soak
@pytest.mark.parametrize("agent", WRITERS)
@settings(max_examples=50, deadline=None, suppress_health_check=QUIET)
@given(records=RECORDS, text_only=st.booleans())
def test_many_values_give_an_outcome_and_a_readable_file(agent: str, records: list[Any], text_only: bool) -> None:
    _import_any(agent, records, text_only)


def _import_any(agent: str, records: list[Any], text_only: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        WRITERS[agent](world, records)
        report = world.run(agent, text_only=text_only)
        imported = [outcome for outcome in report.outcomes if outcome.status == "imported"]
        assert len(world.targets()) == len(imported)
        for path in world.targets():
            strict_records(path)
        assert world.leftovers() == []
        again = world.run(agent, text_only=text_only)
        assert [outcome.status for outcome in again.outcomes].count("existing") == len(imported)
