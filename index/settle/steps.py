"""Computes the values that depend on more than one source, always from local rows, never by adding to what stood there.

DESIGN 8: canonical events, sessions, provider calls and ``in_transcript`` are computed again for exactly the
identities, sessions, messages and texts that added or removed rows touch; a rebuild runs the same statements over all.
So any history of ingests ends where a rebuild ends. Runs inside the caller's transaction on plain ``sqlite3``.

Statements begin with what was touched and say CROSS JOIN, which SQLite takes in the order written
(https://www.sqlite.org/optoverview.html, "Manual Control Of Query Plans Using CROSS JOIN"): left to itself it scans all
events and looks each up among the touched ones, and a run's time would grow with what is there.

``event_rows.hidden`` is 0 for a canonical event, else a sum: 1 a copy, 2 outgrown by a longer copy of the same
provider message, 4 of a session that was imported from one which the index has.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from index import statements
from index.recall.settling import TOUCH_ALL, settle_blocks
from index.recall.word_settling import TOUCH_ALL_CANDIDATES, settle_words
from index.settle import calls, outgrown, sessions

_ALL_TOUCHED: Final = (
    """INSERT OR IGNORE INTO touched_identity
SELECT identity FROM event_rows GROUP BY identity HAVING count(*) > 1""",
    """INSERT OR IGNORE INTO touched_growth
SELECT source_id, message_id FROM event_rows WHERE may_grow = 1 AND message_id IS NOT NULL
GROUP BY source_id, message_id HAVING count(*) > 1""",
    """INSERT OR IGNORE INTO touched_message
SELECT s.agent_id, u.message_id FROM usage_rows u JOIN source_rows s ON s.id = u.source_id
WHERE u.message_id IS NOT NULL""",
    "INSERT OR IGNORE INTO touched_hash SELECT p.text_hash FROM history_rows h JOIN prose p ON p.id = h.id",
    "INSERT OR IGNORE INTO touched_session SELECT id FROM session_rows",
    TOUCH_ALL,
    TOUCH_ALL_CANDIDATES,
)

_MARK_COPIES: Final = """WITH ranked AS (
  SELECT e.id, e.identity, e.hidden, e.line_number, e.event_index, s.names_parent, s.head_time, n.session_id, s.path,
    CASE WHEN e.record_id IS NULL
      THEN row_number() OVER (PARTITION BY e.identity, e.source_id ORDER BY e.line_number, e.event_index)
      ELSE 0 END AS number_among_equals
  FROM touched_identity t
  CROSS JOIN event_rows e ON e.identity = t.identity
  JOIN source_rows s ON s.id = e.source_id
  LEFT JOIN session_rows n ON n.id = s.session_row
), chosen AS (
  SELECT id, hidden, row_number() OVER (
    PARTITION BY identity, number_among_equals
    ORDER BY names_parent, head_time IS NULL, head_time, session_id, path, line_number, event_index
  ) > 1 AS is_copy
  FROM ranked
)
UPDATE event_rows SET hidden = (chosen.hidden & ~1) | chosen.is_copy
FROM chosen WHERE event_rows.id = chosen.id AND (chosen.hidden & 1) <> chosen.is_copy"""
"""One canonical row for each identity: the first by (head names a parent, head time, session, path, line). A record
without an id counts by its number among equal ones in its source, so that two separate ``yes`` stay two."""

_TOUCH_SHARED: Final = """INSERT OR IGNORE INTO touched_session
SELECT s.session_row FROM touched_identity t
CROSS JOIN event_rows e ON e.identity = t.identity
CROSS JOIN source_rows s ON s.id = e.source_id
WHERE s.session_row IS NOT NULL"""
"""What is a copy bears on when a fork began."""

_MARK_IN_TRANSCRIPT: Final = """WITH found AS MATERIALIZED (
  SELECT h.id, h.in_transcript, EXISTS (
    SELECT 1 FROM prose q
    JOIN event_rows e ON e.id = q.id AND e.is_prompt = 1
    JOIN source_rows o ON o.id = e.source_id AND o.agent_id = s.agent_id
    LEFT JOIN session_rows n ON n.id = o.session_row
    WHERE q.field IN (1, 2) AND q.text_hash = p.text_hash AND q.text = p.text
      AND (h.session_id IS NULL OR h.session_id = n.session_id)
  ) AS known
  FROM touched_hash t
  CROSS JOIN prose p INDEXED BY prose_same ON p.text_hash = t.text_hash AND p.field IN (1, 2)
  CROSS JOIN history_rows h ON h.id = p.id
  CROSS JOIN source_rows s ON s.id = h.source_id
)
UPDATE history_rows SET in_transcript = found.known
FROM found WHERE history_rows.id = found.id AND history_rows.in_transcript <> found.known"""


def settle_touched(connection: sqlite3.Connection, resolve_project: sessions.ResolveProject) -> None:
    """Settle what was noted in the ``touched_*`` tables since the last call, and empty them."""
    connection.execute(_MARK_COPIES)
    connection.execute(_TOUCH_SHARED)
    outgrown.mark_outgrown(connection)
    calls.choose_calls(connection)
    sessions.settle_sessions(connection, resolve_project)
    connection.execute(_MARK_IN_TRANSCRIPT)
    settle_blocks(connection)
    settle_words(connection)
    for statement in statements.CLEAR_TOUCHED:
        connection.execute(statement)


def settle_all(connection: sqlite3.Connection, resolve_project: sessions.ResolveProject) -> None:
    """Settle everything: what a rebuild does. Cost: linear in the rows that have company, and in the sessions."""
    for statement in (*statements.TOUCHED_TABLES, *_ALL_TOUCHED):
        connection.execute(statement)
    settle_touched(connection, resolve_project)
