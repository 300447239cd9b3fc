"""Every statement by which rows enter and leave the index, as text; a test prepares each on the current schema.

Pure constants. Values are always bound; names are only ever put together from this module's own.
"""

from __future__ import annotations

from typing import Final

INSERT_EVENT: Final = f"""INSERT INTO event_rows (
  id, source_id, line_number, offset_bytes, event_index, turn_index, ts, sort_ts, ts_source, kind, type_code, outcome,
  is_prompt, text_len, head, tool_call_id, tool_name, arguments_head, arguments_len, model_name, message_id, record_id,
  part, may_grow, identity
) VALUES ({", ".join("?" * 25)})"""
INSERT_MEASURES: Final = f"INSERT INTO measures VALUES ({', '.join('?' * 23)})"
INSERT_USAGE: Final = f"""INSERT INTO usage_rows (
  source_id, line_number, event_id, message_id, request_id, provider, model_name, ts, input_tokens, output_tokens,
  cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_usd
) VALUES ({", ".join("?" * 14)})"""
INSERT_TRAIT: Final = (
    "INSERT INTO trait_rows (source_id, line_number, name, value, rank, target_record_id) VALUES (?, ?, ?, ?, ?, ?)"
)
INSERT_HISTORY: Final = """INSERT INTO history_rows (
  id, source_id, line_number, offset_bytes, session_id, project, ts, display
) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_JOURNAL: Final = """INSERT INTO journal_rows (
  source_id, line_number, ts, op, name, detail, source_session, actor, more, slug_key, title_key
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_BLOCK: Final = f"""INSERT INTO block_rows (
  id, source_id, name, title, description, kind, project, source_session, created_at, updated_at, aliases, body_start,
  archived, superseded_by, pinned
) VALUES ({", ".join("?" * 15)})"""
INSERT_MEMORY_FACT: Final = (
    "INSERT INTO memory_fact_rows (id, source_id, line_number, offset_bytes) VALUES (?, ?, ?, ?)"
)
INSERT_CANDIDATE: Final = """INSERT INTO candidate_rows (
  id, source_id, text_key, name_words, description_words, body_words, name, description, body, aliases,
  kind, project, touched_at, use, pinned, is_superseded, last_mark, latest_at
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_BLOCK_NAME: Final = "INSERT OR IGNORE INTO block_names (key, block_id) VALUES (?, ?)"
TOUCH_NAME: Final = "INSERT OR IGNORE INTO touched_name (key) VALUES (?)"
TOUCH_CANDIDATE: Final = "INSERT OR IGNORE INTO touched_candidate (id, words) VALUES (?, '')"
INSERT_ERROR: Final = """INSERT INTO error_rows (
  source_id, line_number, offset_bytes, error, line_excerpt
) VALUES (?, ?, ?, ?, ?)"""
INSERT_PROSE: Final = "INSERT INTO prose (id, field, source_id, sort_ts, text_hash, text) VALUES (?, ?, ?, ?, ?, ?)"
INSERT_WORDS: Final = "INSERT INTO prose_words (rowid, text) VALUES (?, ?)"
INSERT_PROMPT_KEY: Final = "INSERT INTO prompt_keys (rowid, key) VALUES (?, ?)"
INSERT_PROSE_KEY: Final = "INSERT INTO prose_keys (rowid, key) VALUES (?, ?)"

INSERT_SOURCE: Final = """INSERT INTO source_rows (
  agent_id, kind, path, root, status, size_bytes, mtime_ns, file_time, ctime_ns, inode
) VALUES (?, ?, ?, ?, 'indexed', 0, 0, '', 0, 0)"""
UPDATE_SOURCE: Final = """UPDATE source_rows SET
  kind = :kind, root = :root, status = :status, error = :error, size_bytes = :size_bytes, mtime_ns = :mtime_ns,
  file_time = :file_time, ctime_ns = :ctime_ns, inode = :inode, head_hash = :head_hash, tail_hash = :tail_hash,
  checkpoint = :checkpoint, offset_bytes = :offset_bytes, bytes_pending = :bytes_pending, session_row = :session_row,
  names_parent = :names_parent, head_time = :head_time, earliest_ts = :earliest_ts,
  latest_ts = :latest_ts, active_ts = :active_ts, events = :events,
  lines_seen = :lines_seen, lines_indexed = :lines_indexed, lines_skipped = :lines_skipped,
  lines_damaged = :lines_damaged, bad_times = :bad_times, skipped_types = :skipped_types, indexed_at = :indexed_at
WHERE id = :id"""
HOLD_SOURCE: Final = "UPDATE source_rows SET status = 'held', error = ? WHERE id = ?"
RELEASE_SOURCE: Final = "UPDATE source_rows SET status = 'indexed', error = NULL WHERE id = ?"
FORGET_SOURCE: Final = "DELETE FROM source_rows WHERE id = ?"
KNOWN_SOURCES: Final = """SELECT s.id, a.name, s.kind, s.path, s.root, s.status, s.size_bytes, s.mtime_ns, s.ctime_ns,
  s.inode, s.offset_bytes, s.error
FROM source_rows s JOIN agents a ON a.id = s.agent_id"""
SOURCE_STATE: Final = """SELECT head_hash, tail_hash, checkpoint, session_row, names_parent, head_time
FROM source_rows WHERE id = ?"""

NEXT_ID: Final = """SELECT 1 + max(
  coalesce((SELECT max(id) FROM event_rows), 0), coalesce((SELECT max(id) FROM prose), 0)
)"""
FIND_AGENT: Final = "SELECT id FROM agents WHERE name = ?"
ADD_AGENT: Final = "INSERT INTO agents (name) VALUES (?)"
FIND_SESSION: Final = "SELECT id FROM session_rows WHERE agent_id = ? AND session_id = ?"
ADD_SESSION: Final = "INSERT INTO session_rows (agent_id, session_id) VALUES (?, ?)"

TOUCHED_TABLES: Final = (
    "CREATE TEMP TABLE IF NOT EXISTS touched_identity (identity INTEGER PRIMARY KEY)",
    "CREATE TEMP TABLE IF NOT EXISTS touched_session (id INTEGER PRIMARY KEY)",
    """CREATE TEMP TABLE IF NOT EXISTS touched_growth (
  source_id INTEGER, message_id TEXT, PRIMARY KEY (source_id, message_id)) WITHOUT ROWID""",
    """CREATE TEMP TABLE IF NOT EXISTS touched_message (
  agent_id INTEGER, message_id TEXT, PRIMARY KEY (agent_id, message_id)) WITHOUT ROWID""",
    "CREATE TEMP TABLE IF NOT EXISTS touched_hash (text_hash INTEGER PRIMARY KEY)",
    "CREATE TEMP TABLE IF NOT EXISTS touched_import (id INTEGER PRIMARY KEY)",
    "CREATE TEMP TABLE IF NOT EXISTS touched_tree (id INTEGER PRIMARY KEY)",
    "CREATE TEMP TABLE IF NOT EXISTS touched_name (key INTEGER PRIMARY KEY)",
    "CREATE TEMP TABLE IF NOT EXISTS touched_candidate (id INTEGER PRIMARY KEY, words TEXT)",
)
CLEAR_TOUCHED: Final = (
    "DELETE FROM touched_identity",
    "DELETE FROM touched_session",
    "DELETE FROM touched_growth",
    "DELETE FROM touched_message",
    "DELETE FROM touched_hash",
    "DELETE FROM touched_name",
    "DELETE FROM touched_candidate",
)


def _of_source(alias: str) -> str:
    """Return the condition for a source's rows from a line on."""
    return f"{alias}.source_id = :source_id AND {alias}.line_number >= :line_number"


HELD_WORDS: Final = "name || ' ' || description || ' ' || body || ' ' || aliases"
"""All words of a candidate, with white space between them."""
_OF_SOURCE: Final = "source_id = :source_id AND line_number >= :line_number"
TOUCH_SOURCE: Final = (
    f"INSERT OR IGNORE INTO touched_identity SELECT identity FROM event_rows WHERE {_OF_SOURCE}",
    f"""INSERT OR IGNORE INTO touched_growth
SELECT source_id, message_id FROM event_rows WHERE {_OF_SOURCE} AND may_grow = 1 AND message_id IS NOT NULL""",
    f"""INSERT OR IGNORE INTO touched_message
SELECT s.agent_id, u.message_id FROM usage_rows u JOIN source_rows s ON s.id = u.source_id
WHERE {_of_source("u")} AND u.message_id IS NOT NULL""",
    f"""INSERT OR IGNORE INTO touched_hash
SELECT p.text_hash FROM event_rows e JOIN prose p ON p.id = e.id
WHERE {_of_source("e")} AND e.is_prompt = 1""",
    f"""INSERT OR IGNORE INTO touched_hash
SELECT p.text_hash FROM history_rows h JOIN prose p ON p.id = h.id
WHERE {_of_source("h")}""",
    """INSERT OR IGNORE INTO touched_session
SELECT session_row FROM source_rows WHERE id = :source_id AND session_row IS NOT NULL""",
    """INSERT OR IGNORE INTO touched_name
SELECT n.key FROM block_rows b CROSS JOIN block_names n ON n.block_id = b.id
WHERE b.source_id = :source_id AND 0 >= :line_number""",
    f"""INSERT OR IGNORE INTO touched_candidate
SELECT id, {HELD_WORDS} FROM candidate_rows WHERE source_id = :source_id AND 0 >= :line_number""",
    f"""INSERT OR IGNORE INTO touched_name
SELECT slug_key FROM journal_rows WHERE {_OF_SOURCE} AND slug_key IS NOT NULL
UNION ALL SELECT title_key FROM journal_rows WHERE {_OF_SOURCE} AND title_key IS NOT NULL""",
)
"""Note all whose settled values a source's rows from a line on bear on: before rows go, and after they came."""

TEXT_IDS: Final = f"""SELECT id FROM event_rows WHERE {_OF_SOURCE}
UNION ALL SELECT id FROM history_rows WHERE {_OF_SOURCE}
UNION ALL SELECT id FROM block_rows WHERE source_id = :source_id AND 0 >= :line_number
UNION ALL SELECT id FROM memory_fact_rows WHERE {_OF_SOURCE}
ORDER BY id"""
DELETE_WORDS: Final = "DELETE FROM prose_words WHERE rowid = ?"
"""Before the prose: FTS5 reads there what was indexed (https://www.sqlite.org/fts5.html, "External Content Tables")."""
DELETE_PROSE: Final = "DELETE FROM prose WHERE id = ?"
DELETE_PROMPT_KEY: Final = "DELETE FROM prompt_keys WHERE rowid = ?"
DELETE_PROSE_KEY: Final = "DELETE FROM prose_keys WHERE rowid = ?"
DELETE_MEASURES: Final = "DELETE FROM measures WHERE event_id = ?"
DELETE_OF_SOURCE: Final = (
    f"DELETE FROM event_rows WHERE {_OF_SOURCE}",
    f"DELETE FROM usage_rows WHERE {_OF_SOURCE}",
    f"DELETE FROM trait_rows WHERE {_OF_SOURCE}",
    f"DELETE FROM history_rows WHERE {_OF_SOURCE}",
    f"DELETE FROM journal_rows WHERE {_OF_SOURCE}",
    f"DELETE FROM memory_fact_rows WHERE {_OF_SOURCE}",
    f"DELETE FROM error_rows WHERE {_OF_SOURCE}",
    """DELETE FROM block_names
WHERE block_id IN (SELECT id FROM block_rows WHERE source_id = :source_id AND 0 >= :line_number)""",
    "DELETE FROM candidate_rows WHERE source_id = :source_id AND 0 >= :line_number",
    "DELETE FROM block_rows WHERE source_id = :source_id AND 0 >= :line_number",
)

FULL_TEXT_TABLES: Final = ("prompt_keys", "prose_keys", "prose_words")
BULK_LOADING: Final = (("hashsize", 4 * 1024 * 1024), ("automerge", 0), ("crisismerge", 1999))
"""While loading: no merging, and a hash that fits the processor's cache (a third of the time; docs/decisions.md)."""
AFTER_LOADING: Final = (("hashsize", 1024 * 1024), ("automerge", 4), ("crisismerge", 16))
