"""The reports about what went badly: retries, cancellations, full contexts, damaged lines. Pure constants."""

from __future__ import annotations

from typing import Final

from index.reports.parts import PLACE, TIME, Part, asked, fits, top_of, tree_of, unknown
from index.results import Report

_OPTIONS: Final = (*TIME, *PLACE)
_WITH_CHILDREN: Final = (*_OPTIONS, "with_children")

RETRIES: Final = f"""{asked(*_WITH_CHILDREN)},
things AS (
  SELECT r.agent, r.session_id, r.sort_ts, r.ts, 'retry' AS thing
  FROM asked q CROSS JOIN retries r
  WHERE {fits("r", *_OPTIONS)}
  UNION ALL
  SELECT e.agent, e.session_id, e.sort_ts, e.ts, 'failed_call'
  FROM asked q CROSS JOIN events e
  WHERE e.event_type = 'llm_call_ended' AND e.outcome = 'failed' AND e.canonical = 1
    AND {fits("e", *_OPTIONS)}
  UNION ALL
  SELECT c.agent, c.session_id, c.sort_ts, c.ts, c.event_type
  FROM asked q CROSS JOIN cancellations c
  WHERE {fits("c", *_OPTIONS)}
), placed AS (
  SELECT h.*, {top_of("h")} AS id
  FROM asked q CROSS JOIN things h
  {tree_of("h")}
), counted AS (
  SELECT agent, id AS session_id, sum(thing = 'failed_call') AS failed_calls, sum(thing = 'retry') AS retries,
    sum(thing = 'turn_ended') AS cancelled_turns, sum(thing = 'tool_task_cancelled') AS cancelled_tasks,
    sum(thing NOT IN ('failed_call', 'retry', 'turn_ended', 'tool_task_cancelled')) AS cancelled_others,
    max(sort_ts) AS last_at,
    {unknown([Part("last_at", "count(ts)", "count(*)", "times", is_shown_anyway=True)])}
  FROM placed
  GROUP BY agent, id
)
SELECT c.agent, c.session_id, s.project, c.failed_calls, c.retries, c.cancelled_turns, c.cancelled_tasks,
  c.cancelled_others, c.last_at, c.unknown
FROM counted c LEFT JOIN sessions s ON s.agent = c.agent AND s.session_id = c.session_id
ORDER BY c.failed_calls + c.retries + c.cancelled_turns + c.cancelled_tasks + c.cancelled_others DESC, c.last_at DESC,
  c.agent, c.session_id"""

CONTEXT_PRESSURE: Final = f"""{asked(*_WITH_CHILDREN)},
samples AS (
  SELECT c.agent, {top_of("c")} AS session_id, c.usage_ratio, c.context_limit, c.ts
  FROM asked q CROSS JOIN context_usage c
  {tree_of("c")}
  WHERE {fits("c", *_OPTIONS)}
)
SELECT session_id, agent, max(usage_ratio) AS highest_usage_ratio, max(context_limit) AS context_limit,
  count(*) AS samples, max(ts) AS last_at
FROM samples
GROUP BY agent, session_id
HAVING max(usage_ratio) > 0.8
ORDER BY highest_usage_ratio DESC, agent, session_id"""

COMPACTIONS: Final = f"""{asked(*_WITH_CHILDREN)},
things AS (
  SELECT e.agent, {top_of("e")} AS session_id, e.event_type, e.outcome, e.ts
  FROM asked q CROSS JOIN events e
  {tree_of("e")}
  WHERE e.event_type IN ('context_compaction_result', 'context_compaction_ended', 'context_eviction', 'context_cleared')
    AND e.canonical = 1
    AND {fits("e", *_OPTIONS)}
), counted AS (
  SELECT agent, session_id, max(sum(event_type = 'context_compaction_result'),
      sum(event_type = 'context_compaction_ended' AND outcome = 'completed')) AS compactions,
    sum(event_type = 'context_compaction_ended' AND outcome = 'failed') AS failed_compactions,
    sum(event_type = 'context_eviction') AS evictions, sum(event_type = 'context_cleared') AS clears,
    max(ts) AS last_at
  FROM things
  GROUP BY agent, session_id
)
SELECT c.agent, c.session_id, s.project, s.turns, c.compactions, c.failed_compactions, c.evictions, c.clears, c.last_at
FROM counted c LEFT JOIN sessions s ON s.agent = c.agent AND s.session_id = c.session_id
ORDER BY c.compactions + c.evictions + c.clears DESC, c.agent, c.session_id"""

DAMAGED_LINES: Final = f"""{asked(*PLACE)}
SELECT e.agent, e.source_path, e.session_id, e.line_number, e.byte_offset, e.error, e.line_excerpt
FROM asked q CROSS JOIN parse_errors e
LEFT JOIN sessions s ON q.project IS NOT NULL AND s.agent = e.agent AND s.session_id = e.session_id
WHERE {fits("e", "agent")} AND {fits("s", "project")}
ORDER BY e.id DESC"""

REPORTS: Final = (
    Report(
        "retries",
        "Sessions with provider calls that failed or were tried again, and with what was cancelled in them.",
        RETRIES,
        _WITH_CHILDREN,
    ),
    Report(
        "context-pressure",
        "Sessions that filled more than 0.8 of their context; only agents that record the ratio appear (Aether).",
        CONTEXT_PRESSURE,
        _WITH_CHILDREN,
    ),
    Report(
        "compactions",
        "Sessions whose context was folded, cut or cleared.",
        COMPACTIONS,
        _WITH_CHILDREN,
    ),
    Report(
        "damaged-lines",
        "Lines that could not be read, or only in part, the latest found first.",
        DAMAGED_LINES,
        PLACE,
    ),
)
"""In the order in which they are listed."""
