"""Turns a text that matched into a hit: where it stands, in which session, how often it was typed.

Plain ``sqlite3`` on a reading connection. A text that is a copy, or a history entry that a transcript also has, is no
hit: ``describe`` returns null for it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Final, NamedTuple

from index.fields import BLOCK, HISTORY_PROMPT, IN_PROMPT_KEYS, MEMORY_FACT, SEARCHED
from index.match.spans import Span
from index.search.candidates import Candidate
from index.search.found import Hit, Place

FIELD_NAMES: Final[Mapping[int, str]] = {field: name for name, fields in SEARCHED.items() for field in fields}


class Described(NamedTuple):
    """A hit and the key by which hits of one group are ordered: time, agent, session, source, event (or line)."""

    hit: Hit
    order: tuple[str, str, str, str, int]


class _Row(NamedTuple):
    """What the index knows of a text that matched, in the order in which every statement below selects it."""

    agent: str
    session_id: str | None
    parent_session_id: str | None
    session_title: str | None
    session_created_at: str | None
    project: str | None
    cwd: str | None
    event_index: int | None
    turn_index: int | None
    ts: str | None
    ts_source: str
    kind: str
    event_type: str | None
    name: str | None
    path: str
    line_number: int | None
    offset_bytes: int | None
    session_files: int


_EVENT: Final = """SELECT a.name, n.session_id, n.parent_session_id, coalesce(n.title, n.first_prompt), n.created_at,
  n.project, n.cwd, e.event_index, e.turn_index, coalesce(e.ts, e.sort_ts, s.file_time),
  CASE WHEN e.ts IS NOT NULL THEN 'record' WHEN e.ts_source = 2 THEN 'previous' WHEN e.ts_source = 3 THEN 'session'
    ELSE 'file' END,
  CASE e.kind WHEN 1 THEN 'user' WHEN 2 THEN 'agent' ELSE 'control' END, t.name, NULL, s.path, e.line_number,
  e.offset_bytes, (SELECT count(*) FROM source_rows o WHERE o.session_row = s.session_row)
FROM event_rows e
JOIN source_rows s ON s.id = e.source_id
JOIN agents a ON a.id = s.agent_id
JOIN event_types t ON t.code = e.type_code
LEFT JOIN session_rows n ON n.id = s.session_row
WHERE e.id = ? AND e.hidden = 0"""
_HISTORY: Final = """SELECT a.name, h.session_id, NULL, coalesce(n.title, n.first_prompt), n.created_at,
  coalesce(h.project, n.project), n.cwd, NULL, NULL, coalesce(h.ts, s.file_time),
  CASE WHEN h.ts IS NOT NULL THEN 'record' ELSE 'file' END,
  'user', NULL, NULL, s.path, h.line_number, h.offset_bytes, 0
FROM history_rows h
JOIN source_rows s ON s.id = h.source_id
JOIN agents a ON a.id = s.agent_id
LEFT JOIN session_rows n ON n.agent_id = s.agent_id AND n.session_id = h.session_id
WHERE h.id = ? AND h.in_transcript = 0"""
_BLOCK: Final = """SELECT a.name, b.source_session, NULL, NULL, NULL, b.project, NULL, NULL, NULL,
  coalesce(b.updated_at, b.created_at, s.file_time),
  CASE WHEN coalesce(b.updated_at, b.created_at) IS NULL THEN 'file' ELSE 'record' END,
  'memory', NULL, b.name, s.path, NULL, NULL, 0
FROM block_rows b
JOIN source_rows s ON s.id = b.source_id
JOIN agents a ON a.id = s.agent_id
WHERE b.id = ?"""
_FACT: Final = """SELECT a.name, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, s.file_time, 'file', 'memory', NULL,
  'ASTER.md:' || f.line_number, s.path, f.line_number, f.offset_bytes, 0
FROM memory_fact_rows f
JOIN source_rows s ON s.id = f.source_id
JOIN agents a ON a.id = s.agent_id
WHERE f.id = ?"""
_COPIES: Final = """SELECT count(*) FROM prose p
LEFT JOIN event_rows e ON e.id = p.id
LEFT JOIN history_rows h ON h.id = p.id
WHERE p.field IN (1, 2) AND p.text_hash = (SELECT text_hash FROM prose WHERE id = ?) AND p.text = ?
  AND coalesce(e.hidden, h.in_transcript) = 0"""


def describe(connection: sqlite3.Connection, candidate: Candidate, spans: list[Span]) -> Described | None:
    """Return the hit for a text that matched, null when its canonical self is another row.

    ``count`` is 1 here; ``count_equal`` tells it for prompts.
    """
    row = connection.execute(_statement(candidate.field), (candidate.id,)).fetchone()
    if row is None:
        return None
    hit = _hit(_Row(*row), candidate, spans)
    number = hit.place.line_number or 0 if hit.event_index is None else hit.event_index
    order = (hit.ts or "", hit.agent, hit.session_id or "", hit.place.path, number)
    return Described(hit, order)


def count_equal(connection: sqlite3.Connection, candidate: Candidate) -> int:
    """Return how many canonical prompts have exactly this text, this one included."""
    if candidate.field not in IN_PROMPT_KEYS:
        return 1
    return int(connection.execute(_COPIES, (candidate.id, candidate.text)).fetchone()[0])


def _statement(field: int) -> str:
    if field == HISTORY_PROMPT:
        return _HISTORY
    if field == BLOCK:
        return _BLOCK
    return _FACT if field == MEMORY_FACT else _EVENT


def _hit(row: _Row, candidate: Candidate, spans: list[Span]) -> Hit:
    return Hit(
        agent=row.agent,
        session_id=row.session_id,
        parent_session_id=row.parent_session_id,
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
        field=FIELD_NAMES[candidate.field],
        name=row.name,
        text=candidate.text,
        spans=tuple(spans),
        count=1,
        place=Place(row.path, row.line_number, row.offset_bytes),
        session_files=row.session_files,
    )
