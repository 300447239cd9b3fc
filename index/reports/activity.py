"""The reports about what was done and when: days, hours, turns, projects, prompts. Pure constants.

Days and hours are cut in the time zone of TZ. What has no time of its own is put where ``sort_ts`` puts it, by that of
its session or file; the column ``unknown`` says of how many that is so.
"""

from __future__ import annotations

from typing import Final

from index.reports.parts import PLACE, TIME, Part, asked, first_line, fits, unknown
from index.results import Report

_OPTIONS: Final = (*TIME, *PLACE)

ACTIVITY_BY_DAY: Final = f"""{asked(*_OPTIONS)},
things AS (
  SELECT date(p.sort_ts, 'localtime') AS day, p.ts, p.agent || ':' || p.session_id AS session, 'prompt' AS thing,
    NULL AS tokens
  FROM asked q CROSS JOIN prompts p
  WHERE {fits("p", *_OPTIONS)}
  UNION ALL
  SELECT date(e.sort_ts, 'localtime'), e.ts, e.agent || ':' || e.session_id, e.event_type, NULL
  FROM asked q CROSS JOIN events e
  WHERE e.event_type IN ('message_text', 'tool_call', 'tool_error') AND e.canonical = 1
    AND {fits("e", *_OPTIONS)}
  UNION ALL
  SELECT date(c.sort_ts, 'localtime'), c.ts, c.agent || ':' || c.session_id, 'call',
    c.input_tokens + c.output_tokens + coalesce(c.cache_read_tokens, 0) + coalesce(c.cache_write_tokens, 0)
  FROM asked q CROSS JOIN llm_calls c
  WHERE {fits("c", *_OPTIONS)}
)
SELECT day, sum(thing = 'prompt') AS prompts, count(DISTINCT session) AS sessions,
  sum(thing = 'message_text') AS answers, sum(thing = 'tool_call') AS tool_calls,
  sum(thing = 'tool_error') AS tool_errors, sum(tokens) AS tokens,
  {
    unknown(
        [
            Part("day", "count(ts)", "count(*)", "times", is_shown_anyway=True),
            Part("tokens", "count(tokens)", "sum(thing = 'call')", "calls"),
        ]
    )
}
FROM things
GROUP BY day
ORDER BY day DESC"""

PROMPTS_BY_DAY: Final = f"""{asked(*_OPTIONS)}
SELECT date(p.sort_ts, 'localtime') AS day, p.agent, count(*) AS prompts, count(DISTINCT p.session_id) AS sessions,
  {unknown([Part("day", "count(p.ts)", "count(*)", "times", is_shown_anyway=True)])}
FROM asked q CROSS JOIN prompts p
WHERE {fits("p", *_OPTIONS)}
GROUP BY day, p.agent
ORDER BY day DESC, p.agent"""

_WEEKDAYS: Final = (("mon", 1), ("tue", 2), ("wed", 3), ("thu", 4), ("fri", 5), ("sat", 6), ("sun", 0))

BUSIEST_HOURS: Final = f"""{asked(*_OPTIONS)},
hours AS (
  SELECT column1 AS hour FROM (VALUES {", ".join(f"({hour})" for hour in range(24))})
), typed AS (
  SELECT CAST(strftime('%H', p.sort_ts, 'localtime') AS INTEGER) AS hour,
    CAST(strftime('%w', p.sort_ts, 'localtime') AS INTEGER) AS weekday, p.ts
  FROM asked q CROSS JOIN prompts p
  WHERE {fits("p", *_OPTIONS)}
)
SELECT h.hour, {", ".join(f"count(CASE WHEN t.weekday = {number} THEN 1 END) AS {name}" for name, number in _WEEKDAYS)},
  count(t.hour) AS prompts,
  {unknown([Part("hour", "count(t.ts)", "count(t.hour)", "times", is_shown_anyway=True)])}
FROM hours h LEFT JOIN typed t ON t.hour = h.hour
WHERE EXISTS (SELECT 1 FROM typed)
GROUP BY h.hour
ORDER BY h.hour"""

SESSIONS_BY_PROJECT: Final = f"""{asked(*_OPTIONS)},
typed AS (
  SELECT p.agent, p.session_id, count(*) AS prompts
  FROM prompts p
  WHERE p.from_history = 0
  GROUP BY p.agent, p.session_id
)
SELECT s.project, sum(t.depth = 0) AS sessions, sum(t.depth > 0) AS sub_agents, count(DISTINCT s.agent) AS agents,
  coalesce(sum(p.prompts), 0) AS prompts, min(s.created_at) AS first_at, max(s.updated_at) AS last_at,
  CAST(julianday(date(max(s.updated_at), 'localtime')) - julianday(date(min(s.created_at), 'localtime')) AS INTEGER) + 1
    AS days,
  {
    unknown(
        [
            Part("first_at", "count(s.created_at)", "count(*)", "sessions"),
            Part("last_at", "count(s.updated_at)", "count(*)", "sessions"),
        ]
    )
}
FROM asked q CROSS JOIN sessions s
JOIN session_tree t ON t.agent = s.agent AND t.session_id = s.session_id
LEFT JOIN typed p ON p.agent = s.agent AND p.session_id = s.session_id
WHERE {fits("s", "since", time="updated_at")}
    AND {fits("s", "until", time="created_at")}
    AND {fits("s", *PLACE)}
    AND coalesce(s.imported_from, '') NOT IN (SELECT o.agent || ':' || o.session_id FROM sessions o)
GROUP BY s.project
ORDER BY last_at DESC, s.project"""

LONGEST_TURNS: Final = f"""{asked(*_OPTIONS)},
turns AS (
  SELECT e.agent, e.source_path, e.turn_index, max(e.ts) AS last_at,
    lead(min(CASE WHEN e.event_type = 'user_message' THEN e.ts END)) OVER (
      PARTITION BY e.agent, e.source_path ORDER BY e.turn_index
    ) AS next_at
  FROM asked q CROSS JOIN events e
  WHERE e.canonical = 1 AND e.turn_index IS NOT NULL AND e.ts IS NOT NULL AND {fits("e", *PLACE)}
  GROUP BY e.agent, e.source_path, e.turn_index
)
SELECT round((julianday(CASE WHEN t.next_at > p.ts THEN min(t.next_at, t.last_at) ELSE t.last_at END)
    - julianday(p.ts)) * 86400, 1) AS seconds, p.agent, p.ts AS started_at,
  {first_line("p.text", 80)} AS prompt, p.session_id || ':' || p.event_index AS show, p.source_path
FROM asked q CROSS JOIN prompts p
JOIN turns t ON t.agent = p.agent AND t.source_path = p.source_path AND t.turn_index = p.turn_index
WHERE t.last_at > p.ts AND {fits("p", *_OPTIONS, time="ts")}
ORDER BY seconds DESC, started_at DESC, p.agent, p.source_path, p.event_index"""

REPEATED_PROMPTS: Final = f"""{asked(*_OPTIONS)}
SELECT count(*) AS times, count(DISTINCT p.agent || ':' || p.session_id) AS sessions, max(p.sort_ts) AS last_at,
  min(trim(p.text, char(9, 10, 13, 32))) AS prompt
FROM asked q CROSS JOIN prompts p
WHERE {fits("p", *_OPTIONS)}
GROUP BY lower(trim(p.text, char(9, 10, 13, 32)))
HAVING count(*) > 1
ORDER BY times DESC, last_at DESC, prompt"""

REPORTS: Final = (
    Report(
        "activity-by-day",
        "Prompts, sessions, answers, tool calls and errors, and all tokens of each day, cached ones too.",
        ACTIVITY_BY_DAY,
        _OPTIONS,
        "prompts",
    ),
    Report("prompts-by-day", "How many prompts were typed each day, by agent.", PROMPTS_BY_DAY, _OPTIONS, "prompts"),
    Report(
        "busiest-hours", "How many prompts were typed in each hour of each weekday.", BUSIEST_HOURS, _OPTIONS, "prompts"
    ),
    Report(
        "sessions-by-project",
        "Sessions of each project, their prompts, first and last activity; of a time asked for those active in it. An "
        "import is left out while its original is there.",
        SESSIONS_BY_PROJECT,
        _OPTIONS,
    ),
    Report(
        "longest-turns",
        "How long a turn took from its prompt to the last that was recorded, waiting included; only where both have a "
        "time of their own.",
        LONGEST_TURNS,
        _OPTIONS,
    ),
    Report(
        "repeated-prompts",
        "Prompts typed more than once; those that differ in ASCII case or in blanks around them are one.",
        REPEATED_PROMPTS,
        _OPTIONS,
    ),
)
"""In the order in which they are listed."""
