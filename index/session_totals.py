"""What sessions came to together with the sub-agents that worked for them: turns, events, tool calls, tokens, cost.

Reads only, on plain ``sqlite3``. Nothing is counted twice: tool calls and provider calls are canonical ones, and a
fork is no sub-agent. A call that does not tell a number leaves the sum of the others partial, and that is said.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from index.projection import TYPE_CODES
from index.results import SessionTotals

COUNTS: Final = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "cost_usd",
)
"""What a provider call may tell, by the names of ``llm_calls``."""

_BELOW: Final = """RECURSIVE below (top, id, root_row, depth) AS (
  SELECT n.id, n.id, n.root_row, n.depth FROM json_each(:sessions) g CROSS JOIN session_rows n ON n.id = g.value
  UNION ALL
  SELECT b.top, c.id, c.root_row, c.depth FROM below b
  CROSS JOIN session_rows p ON p.id = b.id
  CROSS JOIN session_rows c INDEXED BY session_rows_parent
    ON c.agent_id = p.agent_id AND c.parent_session_id = p.session_id
  WHERE c.root_row = b.root_row AND c.depth = b.depth + 1
)"""
"""Each session with all below it; the settled depth ends at a cycle, whose sessions all have depth 0."""
_SESSIONS: Final = f"""WITH {_BELOW}
SELECT b.top, count(*) - 1, sum(n.turns), sum(n.events)
FROM below b CROSS JOIN session_rows n ON n.id = b.id GROUP BY b.top"""
_TOOL_CALLS: Final = f"""WITH {_BELOW}
SELECT b.top, count(*) FROM below b
CROSS JOIN source_rows s INDEXED BY source_rows_session ON s.session_row = b.id
CROSS JOIN event_rows e INDEXED BY event_rows_place ON e.source_id = s.id AND e.type_code = {TYPE_CODES["tool_call"]}
  AND e.hidden = 0
GROUP BY b.top"""
_CALLS: Final = f"""WITH {_BELOW}, called AS (
  SELECT b.top, u.* FROM below b
  CROSS JOIN usage_rows u INDEXED BY usage_rows_session ON u.call_session = b.id
  UNION ALL
  SELECT b.top, u.* FROM below b
  CROSS JOIN source_rows s INDEXED BY source_rows_session ON s.session_row = b.id
  CROSS JOIN usage_rows u INDEXED BY usage_rows_place ON u.source_id = s.id AND u.message_id IS NULL
  CROSS JOIN event_rows e ON e.id = u.event_id AND e.hidden = 0
)
SELECT top, count(*), {", ".join(f"sum({name}), count({name})" for name in COUNTS)} FROM called GROUP BY top"""
"""The calls of the view ``llm_calls``, found by session instead of one after the other."""


class _Calls(NamedTuple):
    """The provider calls of one tree, as ``SessionTotals`` tells them."""

    calls: int
    sums: Mapping[str, float | None]
    unknown: Mapping[str, int]


def totals_of(connection: sqlite3.Connection, sessions: Iterable[int]) -> dict[int, SessionTotals]:
    """Return what each of these session rows came to with all below it. Cost: their events and usage records."""
    values = {"sessions": json.dumps(list(sessions))}
    tool_calls = dict(connection.execute(_TOOL_CALLS, values))
    told: dict[int, _Calls] = {}
    for top, calls, *pairs in connection.execute(_CALLS, values):
        sums = dict(zip(COUNTS, pairs[::2], strict=True))
        unknown = {name: calls - known for name, known in zip(COUNTS, pairs[1::2], strict=True) if 0 < known < calls}
        told[top] = _Calls(calls, sums, unknown)
    none = _Calls(0, dict.fromkeys(COUNTS), {})
    return {
        top: SessionTotals(sub_agents, turns, events, tool_calls.get(top, 0), *told.get(top, none))
        for top, sub_agents, turns, events in connection.execute(_SESSIONS, values)
    }
