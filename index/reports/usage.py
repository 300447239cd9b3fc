"""The reports about tokens and cost. Pure constants.

All but :data:`USAGE` and :data:`COST_BY_AGENT` add up ``llm_calls``, where cached tokens are counted apart from the
input. Those two are of the kinds that Aether documents (spec/aether.md 4.4) and use its ``session_usage``, whose input
includes them, for the sessions that have it.
"""

from __future__ import annotations

from typing import Final

from index.reports.parts import PLACE, TIME, Part, asked, call_totals, fits, top_of, tree_of, unknown
from index.results import Report

_OPTIONS: Final = (*TIME, *PLACE)
_WITH_CHILDREN: Final = (*_OPTIONS, "with_children")
_BY_WORTH: Final = "cost_usd DESC NULLS LAST, output_tokens DESC NULLS LAST, calls DESC"

USAGE: Final = f"""{asked(*_WITH_CHILDREN)},
totals AS (
  SELECT u.agent, u.session_id, 'totals' AS counted_from, count(*) AS calls,
    max(u.total_estimated_cost_usd) AS cost_usd,
    max(u.unpriced_calls) AS unpriced_calls, max(u.total_input_tokens) AS input_tokens,
    max(u.total_output_tokens) AS output_tokens, max(u.total_cache_read_tokens) AS cache_read_tokens,
    max(u.total_cache_creation_tokens) AS cache_write_tokens, max(u.total_reasoning_tokens) AS reasoning_tokens
  FROM asked q CROSS JOIN session_usage u
  WHERE q.since IS NULL AND q.until IS NULL
    AND {fits("u", *PLACE)}
  GROUP BY u.agent, u.session_id
), calls AS (
  SELECT c.agent, c.session_id, 'calls' AS counted_from, count(*) AS calls,
    sum(c.cost_usd) AS cost_usd, sum(c.cost_usd IS NULL) AS unpriced_calls, sum(c.input_tokens) AS input_tokens,
    sum(c.output_tokens) AS output_tokens, sum(c.cache_read_tokens) AS cache_read_tokens,
    sum(c.cache_write_tokens) AS cache_write_tokens, sum(c.reasoning_tokens) AS reasoning_tokens
  FROM asked q CROSS JOIN llm_calls c
  WHERE {fits("c", *_OPTIONS)}
  GROUP BY c.agent, c.session_id
), counted AS (
  SELECT * FROM totals
  UNION ALL
  SELECT c.* FROM calls c LEFT JOIN totals t ON t.agent = c.agent AND t.session_id = c.session_id
  WHERE t.agent IS NULL
), placed AS (
  SELECT c.*, {top_of("c")} AS id
  FROM asked q CROSS JOIN counted c
  {tree_of("c")}
)
SELECT agent, id AS session_id, min(counted_from) || CASE WHEN min(counted_from) <> max(counted_from)
    THEN ' and ' || max(counted_from) ELSE '' END AS counted_from,
  count(*) AS sessions, sum(calls) AS calls, round(sum(cost_usd), 9) AS cost_usd, sum(unpriced_calls) AS unpriced_calls,
  sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, sum(cache_read_tokens) AS cache_read_tokens,
  sum(cache_write_tokens) AS cache_write_tokens, sum(reasoning_tokens) AS reasoning_tokens,
  CASE WHEN sum(unpriced_calls) > 0 AND sum(cost_usd) IS NOT NULL
    THEN 'cost_usd: ' || sum(unpriced_calls) || ' of ' || sum(calls) || ' calls' END AS unknown
FROM placed
GROUP BY agent, id
ORDER BY {_BY_WORTH}, agent, session_id"""

COST_BY_AGENT: Final = f"""{asked(*_OPTIONS)},
samples AS (
  SELECT u.agent, u.session_id, u.agent_name, u.call_purpose, u.estimated_cost_usd AS cost_usd, u.input_tokens,
    u.output_tokens
  FROM asked q CROSS JOIN session_usage u
  WHERE {fits("u", *_OPTIONS)}
), sampled AS (
  SELECT DISTINCT agent, session_id FROM samples
), calls AS (
  SELECT agent, agent_name, call_purpose, cost_usd, input_tokens, output_tokens FROM samples
  UNION ALL
  SELECT c.agent, NULL, NULL, c.cost_usd, c.input_tokens, c.output_tokens
  FROM asked q CROSS JOIN llm_calls c
  LEFT JOIN sampled s ON s.agent = c.agent AND s.session_id = c.session_id
  WHERE s.agent IS NULL AND {fits("c", *_OPTIONS)}
)
SELECT agent, agent_name, call_purpose, count(*) AS calls, round(sum(cost_usd), 9) AS cost_usd,
  sum(cost_usd IS NULL) AS unpriced_calls, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
  {
    unknown(
        [
            Part("cost_usd", "count(cost_usd)", "count(*)", "calls"),
            Part("input_tokens", "count(input_tokens)", "count(*)", "calls"),
            Part("output_tokens", "count(output_tokens)", "count(*)", "calls"),
        ]
    )
}
FROM calls
GROUP BY agent, agent_name, call_purpose
ORDER BY {_BY_WORTH}, agent, agent_name, call_purpose"""


def _usage_by(columns: str, names: str, order: str, joined: str = "") -> str:
    """Return the statement that adds up calls by these columns of ``llm_calls c``, or of what is joined to it."""
    return f"""{asked(*_OPTIONS)}
SELECT {columns}, {call_totals("c")}
FROM asked q CROSS JOIN llm_calls c{joined}
WHERE {fits("c", *_OPTIONS)}
GROUP BY {names}
ORDER BY {order}, {names}"""


_DAY_UNKNOWN: Final = Part("day", "count(c.ts)", "count(*)", "times", is_shown_anyway=True)

USAGE_BY_DAY: Final = f"""{asked(*_OPTIONS)}
SELECT date(c.sort_ts, 'localtime') AS day, {call_totals("c", _DAY_UNKNOWN)}
FROM asked q CROSS JOIN llm_calls c
WHERE {fits("c", *_OPTIONS)}
GROUP BY day
ORDER BY day DESC"""
USAGE_BY_MODEL: Final = _usage_by("c.provider, c.model_name", "c.provider, c.model_name", _BY_WORTH)
USAGE_BY_PROJECT: Final = _usage_by("c.project", "c.project", _BY_WORTH)
USAGE_BY_AGENT: Final = _usage_by("c.agent", "c.agent", _BY_WORTH)
USAGE_BY_BRANCH: Final = _usage_by(
    "c.project, s.git_branch",
    "c.project, s.git_branch",
    _BY_WORTH,
    "\nLEFT JOIN sessions s ON s.agent = c.agent AND s.session_id = c.session_id",
)

REPORTS: Final = (
    Report(
        "usage",
        "Cost and tokens of each session: the highest running totals where the agent keeps them (Aether, whose input "
        "includes cached tokens), else the sum over its calls; of a span of time always that sum.",
        USAGE,
        _WITH_CHILDREN,
    ),
    Report("usage-by-day", "Provider calls, tokens and cost of each day.", USAGE_BY_DAY, _OPTIONS, "output_tokens"),
    Report(
        "usage-by-model", "Provider calls, tokens and cost of each model.", USAGE_BY_MODEL, _OPTIONS, "output_tokens"
    ),
    Report(
        "usage-by-project",
        "Provider calls, tokens and cost of each project.",
        USAGE_BY_PROJECT,
        _OPTIONS,
        "output_tokens",
    ),
    Report(
        "usage-by-agent", "Provider calls, tokens and cost of each agent.", USAGE_BY_AGENT, _OPTIONS, "output_tokens"
    ),
    Report(
        "usage-by-branch",
        "Provider calls, tokens and cost of each project's git branches, by the branch last recorded in a session.",
        USAGE_BY_BRANCH,
        _OPTIONS,
        "output_tokens",
    ),
    Report(
        "cost-by-agent",
        "Cost and tokens by agent, and for Aether by agent name and purpose; unpriced calls are counted apart.",
        COST_BY_AGENT,
        _OPTIONS,
    ),
)
"""In the order in which they are listed."""
