"""The reports that come with the program: one documented statement each, over the public views only.

Pure constants. The first seven are the kinds of question that Aether documents for its own index (spec/aether.md 4.4).
None binds a parameter, so that the printed SQL runs as it is with ``asx query``; each ends in an order without ties.
"""

from __future__ import annotations

from typing import Final

from index.results import Report

FAILING_TOOLS: Final = """SELECT tool_name, count(*) AS errors, count(DISTINCT agent || ':' || session_id) AS sessions,
  max(ts) AS last_at
FROM tool_errors
GROUP BY tool_name
ORDER BY errors DESC, tool_name"""

TOOLS: Final = """SELECT tool_name, count(*) AS calls, count(DISTINCT agent || ':' || session_id) AS sessions,
  max(ts) AS last_at
FROM tool_calls
GROUP BY tool_name
ORDER BY calls DESC, tool_name"""

TOOL_ERROR_RATE: Final = """SELECT tool_name, calls, answers, errors,
  round(1.0 * errors / nullif(answers, 0), 4) AS error_rate
FROM (
  SELECT tool_name, sum(event_type = 'tool_call') AS calls, sum(event_type <> 'tool_call') AS answers,
    sum(event_type = 'tool_error') AS errors
  FROM events
  WHERE event_type IN ('tool_call', 'tool_result', 'tool_error') AND canonical = 1
  GROUP BY tool_name
)
ORDER BY error_rate DESC, errors DESC, tool_name"""

CONTEXT_PRESSURE: Final = """SELECT session_id, agent, max(usage_ratio) AS highest_usage_ratio,
  max(context_limit) AS context_limit, count(*) AS samples, max(ts) AS last_at
FROM context_usage
GROUP BY agent, session_id
HAVING max(usage_ratio) > 0.8
ORDER BY highest_usage_ratio DESC, agent, session_id"""

USAGE: Final = """WITH totals AS (
  SELECT agent, session_id, 'totals' AS counted_from, max(total_estimated_cost_usd) AS cost_usd,
    max(unpriced_calls) AS unpriced_calls, max(total_input_tokens) AS input_tokens,
    max(total_output_tokens) AS output_tokens, max(total_cache_read_tokens) AS cache_read_tokens,
    max(total_cache_creation_tokens) AS cache_write_tokens, max(total_reasoning_tokens) AS reasoning_tokens
  FROM session_usage
  GROUP BY agent, session_id
), calls AS (
  SELECT agent, session_id, 'calls' AS counted_from, sum(cost_usd) AS cost_usd,
    sum(cost_usd IS NULL) AS unpriced_calls, sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens, sum(cache_read_tokens) AS cache_read_tokens,
    sum(cache_write_tokens) AS cache_write_tokens, sum(reasoning_tokens) AS reasoning_tokens
  FROM llm_calls
  GROUP BY agent, session_id
)
SELECT * FROM totals
UNION ALL
SELECT * FROM calls c
WHERE NOT EXISTS (SELECT 1 FROM totals t WHERE t.agent = c.agent AND t.session_id IS c.session_id)
ORDER BY cost_usd DESC NULLS LAST, output_tokens DESC, agent, session_id"""

COST_BY_AGENT: Final = """WITH samples AS (
  SELECT agent, session_id, agent_name, call_purpose, estimated_cost_usd AS cost_usd, input_tokens, output_tokens
  FROM session_usage
), sampled AS (
  SELECT DISTINCT agent, session_id FROM samples
), calls AS (
  SELECT agent, agent_name, call_purpose, cost_usd, input_tokens, output_tokens FROM samples
  UNION ALL
  SELECT agent, NULL, NULL, cost_usd, input_tokens, output_tokens
  FROM llm_calls c
  WHERE NOT EXISTS (SELECT 1 FROM sampled s WHERE s.agent = c.agent AND s.session_id IS c.session_id)
)
SELECT agent, agent_name, call_purpose, count(*) AS calls, sum(cost_usd) AS cost_usd,
  sum(cost_usd IS NULL) AS unpriced_calls, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens
FROM calls
GROUP BY agent, agent_name, call_purpose
ORDER BY cost_usd DESC NULLS LAST, calls DESC, agent, agent_name, call_purpose"""

DAMAGED_LINES: Final = """SELECT agent, source_path, session_id, line_number, byte_offset, error, line_excerpt
FROM parse_errors
ORDER BY id DESC"""

PROMPTS_BY_DAY: Final = """SELECT date(ts, 'localtime') AS day, agent, count(*) AS prompts,
  count(DISTINCT session_id) AS sessions
FROM prompts
WHERE ts IS NOT NULL
GROUP BY day, agent
ORDER BY day DESC, agent"""

REPORTS: Final = (
    Report("failing-tools", "The tools that failed most often.", FAILING_TOOLS),
    Report("tools", "The tools that were called most often.", TOOLS),
    Report(
        "tool-error-rate",
        "How often each tool failed, of the times it answered; null for a tool that never did.",
        TOOL_ERROR_RATE,
    ),
    Report(
        "context-pressure",
        "Sessions that filled more than 0.8 of their context; only agents that record the ratio appear (Aether).",
        CONTEXT_PRESSURE,
    ),
    Report(
        "usage",
        "Cost and tokens of each session: the highest running totals where the agent keeps them (Aether, whose input "
        "includes cached tokens), else the sum over its calls.",
        USAGE,
    ),
    Report(
        "cost-by-agent",
        "Cost and tokens by agent, and for Aether by agent name and purpose; unpriced calls are counted apart.",
        COST_BY_AGENT,
    ),
    Report("damaged-lines", "Lines that could not be read, or only in part, the latest found first.", DAMAGED_LINES),
    Report("prompts-by-day", "How many prompts were typed each day, in the time zone of TZ.", PROMPTS_BY_DAY),
)
"""In the order in which they are listed."""
