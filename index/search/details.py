"""Turns a match into a hit: where it stands, in which session, how often it was said.

Plain ``sqlite3`` on a reading connection. Only canonical texts come this far (``index.search.scope``).
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Final, NamedTuple

from index.fields import BLOCK, FIELD_NAMES, HISTORY_PROMPT, IN_PROMPT_KEYS, MEMORY_FACT
from index.search.found import Hit, Place
from index.search.scope import Scope
from index.search.statements import equal_texts

if TYPE_CHECKING:
    from index.search.matches import Match


class _Row(NamedTuple):
    """What the index knows of a text that matched, in the order in which every statement below selects it."""

    agent: str
    session_id: str | None
    parent_session_id: str | None
    forked_from: str | None
    session_title: str | None
    session_created_at: str | None
    project: str | None
    cwd: str | None
    event_index: int | None
    turn_index: int | None
    ts: str
    ts_source: str
    kind: str
    event_type: str | None
    name: str | None
    path: str
    line_number: int | None
    offset_bytes: int | None
    tool_name: str | None
    session_files: int


_EVENT: Final = """SELECT a.name, n.session_id, n.parent_session_id, n.forked_from, coalesce(n.title, n.first_prompt),
  n.created_at, n.project, n.cwd, e.event_index, e.turn_index, coalesce(e.ts, e.sort_ts, s.file_time),
  CASE WHEN e.ts IS NOT NULL THEN 'record' WHEN e.ts_source = 2 THEN 'previous' WHEN e.ts_source = 3 THEN 'session'
    ELSE 'file' END,
  CASE e.kind WHEN 1 THEN 'user' WHEN 2 THEN 'agent' ELSE 'control' END, t.name, NULL, s.path, e.line_number,
  e.offset_bytes, e.tool_name, (SELECT count(*) FROM source_rows o WHERE o.session_row = s.session_row)
FROM event_rows e
JOIN source_rows s ON s.id = e.source_id
JOIN agents a ON a.id = s.agent_id
JOIN event_types t ON t.code = e.type_code
LEFT JOIN session_rows n ON n.id = s.session_row
WHERE e.id = ?"""
_HISTORY: Final = """SELECT a.name, h.session_id, n.parent_session_id, n.forked_from, coalesce(n.title, n.first_prompt),
  n.created_at, coalesce(n.project, h.project), n.cwd, NULL, NULL, coalesce(h.ts, s.file_time),
  CASE WHEN h.ts IS NOT NULL THEN 'record' ELSE 'file' END,
  'user', NULL, NULL, s.path, h.line_number, h.offset_bytes, NULL, 0
FROM history_rows h
JOIN source_rows s ON s.id = h.source_id
JOIN agents a ON a.id = s.agent_id
LEFT JOIN session_rows n ON n.agent_id = s.agent_id AND n.session_id = h.session_id
WHERE h.id = ?"""
_BLOCK: Final = """SELECT a.name, b.source_session, NULL, NULL, NULL, NULL, b.project, NULL, NULL, NULL,
  coalesce(b.updated_at, b.created_at, s.file_time),
  CASE WHEN coalesce(b.updated_at, b.created_at) IS NULL THEN 'file' ELSE 'record' END,
  'memory', NULL, b.name, s.path, NULL, NULL, NULL, 0
FROM block_rows b
JOIN source_rows s ON s.id = b.source_id
JOIN agents a ON a.id = s.agent_id
WHERE b.id = ?"""
_FACT: Final = """SELECT a.name, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, s.file_time, 'file', 'memory',
  NULL, 'ASTER.md:' || f.line_number, s.path, f.line_number, f.offset_bytes, NULL, 0
FROM memory_fact_rows f
JOIN source_rows s ON s.id = f.source_id
JOIN agents a ON a.id = s.agent_id
WHERE f.id = ?"""

_ORDER_OF_EVENT: Final = """SELECT a.name, coalesce(n.session_id, ''), s.path, e.event_index
FROM event_rows e JOIN source_rows s ON s.id = e.source_id JOIN agents a ON a.id = s.agent_id
LEFT JOIN session_rows n ON n.id = s.session_row WHERE e.id = ?"""
_ORDER_OF_HISTORY: Final = """SELECT a.name, coalesce(h.session_id, ''), s.path, h.line_number
FROM history_rows h JOIN source_rows s ON s.id = h.source_id JOIN agents a ON a.id = s.agent_id WHERE h.id = ?"""
_ORDER_OF_BLOCK: Final = """SELECT a.name, coalesce(b.source_session, ''), s.path, 0
FROM block_rows b JOIN source_rows s ON s.id = b.source_id JOIN agents a ON a.id = s.agent_id WHERE b.id = ?"""
_ORDER_OF_FACT: Final = """SELECT a.name, '', s.path, f.line_number
FROM memory_fact_rows f JOIN source_rows s ON s.id = f.source_id JOIN agents a ON a.id = s.agent_id WHERE f.id = ?"""

_ALIKE: Final = """SELECT p.text_hash, (SELECT count(*) FROM prose q INDEXED BY prose_same
  WHERE q.text_hash = p.text_hash AND q.field IN (1, 2)) FROM prose p WHERE p.id = ?"""

STATEMENTS: Final = (
    _ALIKE, _EVENT, _HISTORY, _BLOCK, _FACT, _ORDER_OF_EVENT, _ORDER_OF_HISTORY, _ORDER_OF_BLOCK, _ORDER_OF_FACT,
)  # fmt: skip
"""Each binds one id; for the test that prepares them all."""

Order = tuple[str, str, str, int]
"""By which texts of one moment are ordered, all descending: agent, session, source, event (or line)."""


def order_of(connection: sqlite3.Connection, id_: int, field: int) -> Order:
    """Return the place of a text among those of its moment (DESIGN 9)."""
    row: Order = connection.execute(
        _of_family(field, _ORDER_OF_EVENT, _ORDER_OF_HISTORY, _ORDER_OF_BLOCK, _ORDER_OF_FACT), (id_,)
    ).fetchone()
    return row


def describe(connection: sqlite3.Connection, match: Match) -> Hit:
    """Return the hit for a match; ``count`` is 1 here, :func:`count_equal` tells it. Cost: a few look-ups."""
    statement = _of_family(match.field, _EVENT, _HISTORY, _BLOCK, _FACT)
    row = _Row(*connection.execute(statement, (match.id,)).fetchone())
    return Hit(
        agent=row.agent,
        session_id=row.session_id,
        parent_session_id=row.parent_session_id,
        forked_from=row.forked_from,
        session_title=row.session_title,
        session_created_at=row.session_created_at,
        project=row.project,
        cwd=row.cwd,
        event_index=row.event_index,
        turn_index=row.turn_index,
        ts=row.ts,
        ts_source=row.ts_source,
        kind=row.kind,
        event_type=row.event_type,
        field=FIELD_NAMES[match.field],
        name=row.name,
        text=match.text,
        spans=match.spans or (),
        count=1,
        place=Place(row.path, row.line_number, row.offset_bytes),
        session_files=row.session_files,
        part=match.part,
        tool_name=row.tool_name,
        whole_length=match.whole_length,
        score=match.score,
    )


def count_equal(connection: sqlite3.Connection, match: Match, scope: Scope) -> int:
    """Return how many prompts of the scope have exactly this text, itself included; 1 for a text that nobody typed."""
    if match.field not in IN_PROMPT_KEYS:
        return 1
    text_hash, alike = connection.execute(_ALIKE, (match.id,)).fetchone()
    if alike == 1:
        return 1  # the rule; what filters say of the others needs no look
    count = 0
    for family in scope.families:
        fields = tuple(field for field in family.fields if field in IN_PROMPT_KEYS)
        if fields:
            statement = equal_texts(family._replace(fields=fields), scope, text_hash, match.text)
            count += connection.execute(*statement).fetchone()[0]
    return count


def _of_family(field: int, event: str, history: str, block: str, fact: str) -> str:
    if field == HISTORY_PROMPT:
        return history
    if field == BLOCK:
        return block
    return fact if field == MEMORY_FACT else event
