"""The reports about tools: which were used, which failed, with what errors, and in turns of what cost. Pure constants.

The first three are of the kinds that Aether documents for its own index (spec/aether.md 4.4).
"""

from __future__ import annotations

from typing import Final

from index.reports.parts import PLACE, TIME, asked, call_totals, first_line, fits
from index.results import Report

_OPTIONS: Final = (*TIME, *PLACE)
_ERROR_CHARACTERS: Final = 200

FAILING_TOOLS: Final = f"""{asked(*_OPTIONS)}
SELECT t.tool_name, count(*) AS errors, count(DISTINCT t.agent || ':' || t.session_id) AS sessions, max(t.ts) AS last_at
FROM asked q CROSS JOIN tool_errors t
WHERE {fits("t", *_OPTIONS)}
GROUP BY t.tool_name
ORDER BY errors DESC, t.tool_name"""

TOOLS: Final = f"""{asked(*_OPTIONS)}
SELECT t.tool_name, count(*) AS calls, count(DISTINCT t.agent || ':' || t.session_id) AS sessions, max(t.ts) AS last_at
FROM asked q CROSS JOIN tool_calls t
WHERE {fits("t", *_OPTIONS)}
GROUP BY t.tool_name
ORDER BY calls DESC, t.tool_name"""

TOOL_ERROR_RATE: Final = f"""{asked(*_OPTIONS)},
told AS (
  SELECT e.tool_name, sum(e.event_type = 'tool_call') AS calls, sum(e.event_type <> 'tool_call') AS answers,
    sum(e.event_type = 'tool_error') AS errors
  FROM asked q CROSS JOIN events e
  WHERE e.event_type IN ('tool_call', 'tool_result', 'tool_error') AND e.canonical = 1
    AND {fits("e", *_OPTIONS)}
  GROUP BY e.tool_name
), texts AS (
  SELECT t.tool_name, {first_line("t.text", _ERROR_CHARACTERS)} AS error, count(*) AS times
  FROM asked q CROSS JOIN tool_errors t
  WHERE {fits("t", *_OPTIONS)}
  GROUP BY t.tool_name, error
), commonest AS (
  SELECT tool_name, error
  FROM (
    SELECT tool_name, error, row_number() OVER (PARTITION BY tool_name ORDER BY times DESC, error) AS place
    FROM texts
  )
  WHERE place = 1
)
SELECT t.tool_name, t.calls, t.answers, t.errors, round(1.0 * t.errors / nullif(t.answers, 0), 4) AS error_rate,
  c.error AS commonest_error
FROM told t LEFT JOIN commonest c ON c.tool_name IS t.tool_name
ORDER BY error_rate DESC, t.errors DESC, t.tool_name"""

TOOL_ERRORS: Final = f"""{asked(*_OPTIONS)},
failed AS (
  SELECT t.tool_name, {first_line("t.text", _ERROR_CHARACTERS)} AS error, t.agent || ':' || t.session_id AS session,
    t.ts, t.session_id || ':' || t.event_index AS show,
    row_number() OVER (
      PARTITION BY t.tool_name, {first_line("t.text", _ERROR_CHARACTERS)}
      ORDER BY t.sort_ts DESC, t.agent, t.source_path, t.event_index DESC
    ) AS place
  FROM asked q CROSS JOIN tool_errors t
  WHERE {fits("t", *_OPTIONS)}
)
SELECT tool_name, count(*) AS errors, count(DISTINCT session) AS sessions, max(ts) AS last_at, error,
  max(CASE WHEN place = 1 THEN show END) AS show
FROM failed
GROUP BY tool_name, error
ORDER BY errors DESC, tool_name, error"""

FAILING_TURNS: Final = f"""{asked(*_OPTIONS)},
failed AS (
  SELECT t.tool_name, t.agent, t.source_path, coalesce(t.turn_index, -1) AS turn, count(*) AS errors
  FROM asked q CROSS JOIN tool_errors t
  WHERE {fits("t", *_OPTIONS)}
  GROUP BY t.tool_name, t.agent, t.source_path, turn
), sources AS (
  SELECT DISTINCT agent, source_path FROM failed
), calls AS (
  SELECT c.*, coalesce((
      SELECT max(e.turn_index) FROM events e
      WHERE e.source_path = c.source_path AND e.agent = c.agent AND e.line_number = c.line_number
    ), -1) AS turn
  FROM llm_calls c JOIN sources s ON s.agent = c.agent AND s.source_path = c.source_path
), turns AS (
  SELECT tool_name, count(*) AS turns, sum(errors) AS errors FROM failed GROUP BY tool_name
), costs AS (
  SELECT f.tool_name, {call_totals("c")}
  FROM failed f JOIN calls c ON c.agent = f.agent AND c.source_path = f.source_path AND c.turn = f.turn
  GROUP BY f.tool_name
)
SELECT t.tool_name, t.errors, t.turns, coalesce(c.calls, 0) AS calls, c.input_tokens, c.output_tokens,
  c.cache_read_tokens, c.cache_write_tokens, c.reasoning_tokens, c.cost_usd, c.unknown
FROM turns t LEFT JOIN costs c ON c.tool_name IS t.tool_name
ORDER BY t.errors DESC, t.tool_name"""

REPORTS: Final = (
    Report("failing-tools", "The tools that failed most often.", FAILING_TOOLS, _OPTIONS, "errors"),
    Report("tools", "The tools that were called most often.", TOOLS, _OPTIONS, "calls"),
    Report(
        "tool-error-rate",
        "How often each tool failed, of the times it answered (null for one that never did), with its commonest error.",
        TOOL_ERROR_RATE,
        _OPTIONS,
    ),
    Report(
        "tool-errors",
        "The errors of tools by their first line, the commonest first, with the latest of each to show.",
        TOOL_ERRORS,
        _OPTIONS,
    ),
    Report(
        "failing-turns",
        "What turns cost in which a tool failed: all provider calls of those turns, not of the failure alone; a turn "
        "counts for each tool that failed in it.",
        FAILING_TURNS,
        _OPTIONS,
    ),
)
"""In the order in which they are listed."""
