"""The ordinary base tables as SQLAlchemy sees them: for drift tests and for writing the next revision.

Never creates anything (``migrations`` owns every CREATE) and is never imported at run time. A test compares it with
what the revisions make, table by table: columns, types, NOT NULL, defaults, keys and indexes. Full-text tables and
views are not here: Alembic compares neither.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import BLOB, INTEGER, REAL, TEXT, Column, Index, MetaData, Table, UniqueConstraint, text
from sqlalchemy.types import TypeEngine

METADATA: Final = MetaData()


def include_name(name: str | None, type_: str, _parents: object = None) -> bool:
    """Tell Alembic's autogenerate which names to compare: of tables only those of ``METADATA``.

    Without it the full-text tables and their shadow tables are proposed for removal.
    """
    return type_ != "table" or name in METADATA.tables


def _key(name: str = "id") -> Column[Any]:
    return Column(name, INTEGER, primary_key=True, nullable=False)


def _needed(kind: type[TypeEngine[Any]], *names: str, default: str | None = None) -> tuple[Column[Any], ...]:
    value = None if default is None else text(default)
    return tuple(Column(name, kind, nullable=False, server_default=value) for name in names)


def _maybe(kind: type[TypeEngine[Any]], *names: str) -> tuple[Column[Any], ...]:
    return tuple(Column(name, kind) for name in names)


def _table(name: str, *parts: Column[Any] | UniqueConstraint) -> Table:
    return Table(name, METADATA, *parts, sqlite_strict=True)


_table("meta", Column("key", TEXT, primary_key=True, nullable=False), *_needed(TEXT, "value"))
_table("agents", _key(), *_needed(TEXT, "name"), UniqueConstraint("name"))
_table("event_types", _key("code"), *_needed(TEXT, "name"), UniqueConstraint("name"))
_table(
    "project_roots",
    Column("cwd", TEXT, primary_key=True, nullable=False),
    Column("repo_root", TEXT, primary_key=True, nullable=False),
    *_needed(TEXT, "project"),
)
_sessions = _table(
    "session_rows",
    _key(),
    *_needed(INTEGER, "agent_id"),
    *_needed(TEXT, "session_id"),
    *_maybe(TEXT, "project", "cwd", "git_branch", "model", "mode", "title", "first_prompt"),
    *_maybe(TEXT, "created_at", "updated_at", "parent_session_id", "forked_from", "imported_from"),
    *_needed(INTEGER, "turns", "events", "inherited_calls", default="0"),
    *_maybe(INTEGER, "root_row"),
    *_needed(INTEGER, "depth", default="0"),
    UniqueConstraint("agent_id", "session_id"),
)
_sources = _table(
    "source_rows",
    _key(),
    *_needed(INTEGER, "agent_id"),
    *_needed(TEXT, "kind", "path", "root", "status"),
    *_maybe(TEXT, "error"),
    *_needed(INTEGER, "size_bytes", "mtime_ns"),
    *_needed(TEXT, "file_time"),
    *_needed(INTEGER, "ctime_ns", "inode"),
    *_maybe(BLOB, "head_hash", "tail_hash"),
    *_maybe(TEXT, "checkpoint"),
    *_needed(INTEGER, "offset_bytes", "bytes_pending", default="0"),
    *_maybe(INTEGER, "session_row"),
    *_needed(INTEGER, "names_parent", default="0"),
    *_maybe(TEXT, "head_time", "earliest_ts", "latest_ts", "active_ts"),
    *_needed(INTEGER, "events", "lines_seen", "lines_indexed", "lines_skipped", "lines_damaged", default="0"),
    *_needed(INTEGER, "bad_times", default="0"),
    *_needed(TEXT, "skipped_types", default="'{}'"),
    *_maybe(TEXT, "indexed_at"),
    UniqueConstraint("path", "agent_id"),
)
_events = _table(
    "event_rows",
    _key(),
    *_needed(INTEGER, "source_id", "line_number", "offset_bytes", "event_index"),
    *_maybe(INTEGER, "turn_index"),
    *_maybe(TEXT, "ts", "sort_ts"),
    *_maybe(INTEGER, "ts_source"),
    *_needed(INTEGER, "kind", "type_code"),
    *_maybe(TEXT, "outcome"),
    *_needed(INTEGER, "is_prompt"),
    *_needed(INTEGER, "hidden", default="0"),
    *_needed(INTEGER, "text_len"),
    *_maybe(TEXT, "head", "tool_call_id", "tool_name", "arguments_head"),
    *_maybe(INTEGER, "arguments_len"),
    *_maybe(TEXT, "model_name", "message_id", "record_id"),
    *_needed(INTEGER, "part", "may_grow", "identity"),
)
_table(
    "measures",
    _key("event_id"),
    *_maybe(REAL, "usage_ratio"),
    *_maybe(INTEGER, "context_limit", "input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens"),
    *_maybe(INTEGER, "reasoning_tokens", "total_input_tokens", "total_output_tokens", "total_cache_read_tokens"),
    *_maybe(INTEGER, "total_cache_creation_tokens", "total_reasoning_tokens", "usage_sequence"),
    *_maybe(TEXT, "agent_id", "parent_agent_id", "task_id", "agent_name", "call_purpose", "provider"),
    *_maybe(REAL, "estimated_cost_usd", "total_estimated_cost_usd"),
    *_maybe(INTEGER, "unpriced_calls"),
)
_usage = _table(
    "usage_rows",
    _key(),
    *_needed(INTEGER, "source_id", "line_number", "event_id"),
    *_maybe(TEXT, "message_id", "request_id", "provider", "model_name", "ts"),
    *_maybe(INTEGER, "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"),
    *_maybe(REAL, "cost_usd"),
    *_maybe(INTEGER, "call_session"),
)
_facts = _table(
    "trait_rows",
    _key(),
    *_needed(INTEGER, "source_id", "line_number"),
    *_needed(TEXT, "name", "value"),
    *_needed(INTEGER, "rank"),
    *_maybe(TEXT, "target_record_id"),
)
_history = _table(
    "history_rows",
    _key(),
    *_needed(INTEGER, "source_id", "line_number", "offset_bytes"),
    *_maybe(TEXT, "session_id", "project", "ts", "display"),
    *_needed(INTEGER, "in_transcript", default="0"),
)
_journal = _table(
    "journal_rows",
    _key(),
    *_needed(INTEGER, "source_id", "line_number"),
    *_maybe(TEXT, "ts"),
    *_needed(TEXT, "op"),
    *_maybe(TEXT, "name", "detail", "source_session", "actor", "more"),
    *_maybe(INTEGER, "slug_key", "title_key"),
)
_blocks = _table(
    "block_rows",
    _key(),
    *_needed(INTEGER, "source_id"),
    *_needed(TEXT, "name"),
    *_maybe(TEXT, "title"),
    *_needed(TEXT, "description"),
    *_maybe(TEXT, "kind", "project", "source_session", "created_at", "updated_at"),
    *_needed(TEXT, "aliases", default="'[]'"),
    *_needed(INTEGER, "body_start", "archived"),
    *_maybe(TEXT, "superseded_by"),
    *_needed(INTEGER, "pinned"),
)
_memory_facts = _table(
    "memory_fact_rows",
    _key(),
    *_needed(INTEGER, "source_id", "line_number", "offset_bytes"),
)
_candidates = _table(
    "candidate_rows",
    _key(),
    *_needed(INTEGER, "source_id", "text_key", "name_words", "description_words", "body_words"),
    *_needed(TEXT, "name", "description", "body", "aliases", "kind"),
    *_maybe(TEXT, "project", "touched_at"),
    *_needed(REAL, "use"),
    *_needed(INTEGER, "pinned", "is_superseded"),
    *_maybe(TEXT, "last_mark"),
    *_needed(TEXT, "latest_at"),
)
_table(
    "memory_words",
    _key(),
    *_needed(TEXT, "word"),
    *_needed(INTEGER, "texts"),
    *_needed(BLOB, "in_aliases", "in_name", "in_description", "in_body"),
    UniqueConstraint("word"),
)
_table(
    "memory_totals",
    *_needed(INTEGER, "candidates", "texts", "name_words", "description_words", "body_words", "with_aliases"),
)
_names = _table(
    "block_names",
    Column("key", INTEGER, primary_key=True, nullable=False),
    Column("block_id", INTEGER, primary_key=True, nullable=False),
)
_errors = _table(
    "error_rows",
    _key(),
    *_needed(INTEGER, "source_id", "line_number", "offset_bytes"),
    *_needed(TEXT, "error", "line_excerpt"),
)
_prose = _table(
    "prose",
    _key(),
    *_needed(INTEGER, "field", "source_id"),
    *_needed(INTEGER, "hidden", default="0"),
    *_maybe(TEXT, "sort_ts"),
    *_needed(INTEGER, "text_hash"),
    *_needed(TEXT, "text"),
)

Index("session_rows_project", _sessions.c.project)
Index("session_rows_imported", _sessions.c.imported_from, sqlite_where=_sessions.c.imported_from.is_not(None))
Index(
    "session_rows_parent",
    _sessions.c.agent_id,
    _sessions.c.parent_session_id,
    sqlite_where=_sessions.c.parent_session_id.is_not(None),
)
Index("session_rows_root", _sessions.c.root_row)
Index("source_rows_session", _sources.c.session_row)
Index(
    "source_rows_unread_memory",
    _sources.c.path,
    sqlite_where=text("kind IN ('block', 'project_memory') AND status IN ('held', 'failed', 'broken')"),
)
Index("event_rows_place", _events.c.source_id, _events.c.line_number)
Index("event_rows_identity", _events.c.identity)
Index("event_rows_type", _events.c.type_code)
Index(
    "event_rows_prompts",
    _events.c.source_id,
    _events.c.line_number,
    _events.c.event_index,
    _events.c.identity,
    _events.c.record_id,
    sqlite_where=_events.c.is_prompt == 1,
)
Index("event_rows_growing", _events.c.source_id, _events.c.message_id, sqlite_where=_events.c.may_grow == 1)
Index(
    "event_rows_late_arguments",
    _events.c.source_id,
    _events.c.tool_call_id,
    sqlite_where=text("arguments_head IS NOT NULL AND type_code <> 6"),
)
Index("usage_rows_place", _usage.c.source_id, _usage.c.line_number)
Index("usage_rows_message", _usage.c.message_id, sqlite_where=_usage.c.message_id.is_not(None))
Index("usage_rows_told", _usage.c.source_id, _usage.c.message_id, sqlite_where=_usage.c.message_id.is_not(None))
Index("usage_rows_session", _usage.c.call_session, sqlite_where=_usage.c.call_session.is_not(None))
Index("trait_rows_place", _facts.c.source_id, _facts.c.line_number)
Index("history_rows_place", _history.c.source_id, _history.c.line_number)
Index("journal_rows_place", _journal.c.source_id, _journal.c.line_number)
Index("journal_rows_slug", _journal.c.slug_key, sqlite_where=_journal.c.slug_key.is_not(None))
Index("journal_rows_title", _journal.c.title_key, sqlite_where=_journal.c.title_key.is_not(None))
Index("block_rows_source", _blocks.c.source_id)
Index("memory_fact_rows_source", _memory_facts.c.source_id)
Index("candidate_rows_source", _candidates.c.source_id)
Index("candidate_rows_nameless", _candidates.c.id, sqlite_where=_candidates.c.name_words == 0)
Index("candidate_rows_aliases", _candidates.c.id, sqlite_where=_candidates.c.aliases != "")
Index(
    "candidate_rows_text",
    _candidates.c.text_key,
    _candidates.c.name_words,
    _candidates.c.description_words,
    _candidates.c.body_words,
)
Index("block_names_block", _names.c.block_id)
Index("error_rows_place", _errors.c.source_id, _errors.c.line_number)
Index("prose_newest", _prose.c.field, _prose.c.hidden, _prose.c.sort_ts, _prose.c.source_id)
Index("prose_same", _prose.c.text_hash, _prose.c.field)
