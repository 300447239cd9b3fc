"""The names that other programs may rely on: the design's views and columns, and Aether's, written down by hand."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

_USAGE: Final = (
    "usage_ratio context_limit input_tokens output_tokens cache_read_tokens cache_creation_tokens reasoning_tokens "
    "total_input_tokens total_output_tokens total_cache_read_tokens total_cache_creation_tokens total_reasoning_tokens "
    "usage_sequence agent_id parent_agent_id task_id agent_name call_purpose provider estimated_cost_usd "
    "total_estimated_cost_usd unpriced_calls"
)
DESIGN: Final = {
    "events": "session_id agent source_path event_index line_number byte_offset turn_index ts sort_ts ts_source kind "
    "event_type outcome is_prompt canonical text text_len content content_len tool_call_id tool_name tool_arguments "
    f"model_name message_id {_USAGE}",
    "prompts": "agent session_id ts text",
    "answers": "agent session_id ts text",
    "thinking": "agent session_id ts text",
    "user_messages": "content",
    "agent_messages": "content",
    "tool_calls": "tool_name tool_arguments tool_call_id",
    "tool_results": "tool_name content",
    "tool_errors": "tool_name content",
    "context_usage": "session_id usage_ratio",
    "session_usage": "session_id total_estimated_cost_usd unpriced_calls total_input_tokens total_output_tokens "
    "agent_name call_purpose estimated_cost_usd",
    "retries": "session_id",
    "cancellations": "session_id outcome",
    "sessions": "session_id agent project cwd git_branch model title created_at updated_at parent_session_id turns",
    "session_tree": "agent session_id root_session_id parent_session_id depth",
    "session_files": "source_path session_id",
    "llm_calls": "session_id agent ts provider model_name message_id request_id input_tokens output_tokens "
    "cache_read_tokens cache_write_tokens reasoning_tokens cost_usd",
    "prompt_history": "agent source_path line_number byte_offset session_id project ts text in_transcript",
    "memory_blocks": "name agent description body kind project source_session created_at updated_at archived "
    "superseded_by pinned path",
    "memory_journal": "ts op name detail source_session by line_number",
    "parse_errors": "id agent source_path session_id line_number byte_offset error line_excerpt",
    "sources": "path agent status error size_bytes mtime_ns indexed_at",
}
AETHER: Final = {
    "session_files": "source_path session_id cwd model selected_mode created_at file_size file_mtime_ns indexed_at "
    "status error event_count parse_error_count",
    "events": f"source_path event_index session_id line_number turn_index content content_len kind event_type outcome "
    f"tool_call_id tool_name tool_arguments model_name message_id {_USAGE}",
    "parse_errors": "id source_path session_id line_number error line_excerpt",
    "session_usage": _USAGE,
    "context_usage": "usage_ratio context_limit input_tokens",
}
CASES: Final = [(source, name) for source, views in (("design", DESIGN), ("aether", AETHER)) for name in views]


@pytest.fixture(scope="module")
def schema(empty_index: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(f"file:{empty_index}?mode=ro", uri=True)) as connection:
        yield connection


@pytest.mark.parametrize(("source", "name"), CASES, ids=[f"{name} of {source}" for source, name in CASES])
def test_a_view_has_the_columns_that_are_promised(source: str, name: str, schema: sqlite3.Connection) -> None:
    wanted = (DESIGN if source == "design" else AETHER)[name].split()
    found = [column for _, column, *_ in schema.execute(f"PRAGMA table_info({name})")]
    assert [column for column in wanted if column not in found] == []
    assert schema.execute("SELECT type FROM sqlite_schema WHERE name = ?", (name,)).fetchall() == [("view",)]


@pytest.mark.parametrize("columns", ["project", "*", "count(*)"])
def test_the_view_of_prompts_looks_a_session_up_by_its_id(columns: str, schema: sqlite3.Connection) -> None:
    """A history's prompt has its session's project: one look-up for each prompt."""
    plan = [detail for *_, detail in schema.execute(f"EXPLAIN QUERY PLAN SELECT {columns} FROM prompts")]
    of_sessions = [detail for detail in plan if " n " in detail]
    assert len(of_sessions) == 2
    assert all("USING INTEGER PRIMARY KEY" in one or "(agent_id=? AND session_id=?)" in one for one in of_sessions)


def test_base_tables_are_strict(schema: sqlite3.Connection) -> None:
    tables = schema.execute(
        """SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'
        AND name NOT LIKE 'sqlite_%' AND name <> 'alembic_version'"""
    ).fetchall()
    shadow = {"data", "idx", "content", "docsize", "config"}
    loose = [name for name, sql in tables if "STRICT" not in sql and name.rpartition("_")[2] not in shadow]
    assert loose == []
    assert len(tables) > 10


def test_the_pages_are_of_8192_bytes_and_the_mark_is_in_the_header(empty_index: Path) -> None:
    head = empty_index.read_bytes()[:100]
    assert int.from_bytes(head[16:18]) == 8192
    assert head[68:72] not in (b"", bytes(4))
