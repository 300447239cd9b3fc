"""The reports about memory: what was written, recalled and archived, by day and by block. Pure constants.

The journal holds names as they were asked for (``Deploy window``), so they are folded towards a block's own name: lower
case, blanks and underscores as hyphens (spec/aster.md 4.6).
"""

from __future__ import annotations

from typing import Final

from index.reports.parts import PLACE, TIME, asked, fits
from index.results import Report

_FOLDED: Final = "lower(replace(replace(trim({0}), ' ', '-'), '_', '-'))"
_WRITTEN: Final = "'remember', 'append_project'"
_ARCHIVED: Final = "'archive', 'forget', 'supersede'"

MEMORY_BY_DAY: Final = f"""{asked(*TIME)}
SELECT date(j.ts, 'localtime') AS day, sum(j.op IN ({_WRITTEN})) AS written, sum(j.op = 'recall') AS recalled,
  sum(j.op IN ({_ARCHIVED})) AS archived, sum(j.op = 'restore') AS restored,
  sum(j.op NOT IN ({_WRITTEN}, {_ARCHIVED}, 'recall', 'restore')) AS other
FROM asked q CROSS JOIN memory_journal j
WHERE {fits("j", *TIME, time="ts")}
GROUP BY day
ORDER BY day DESC"""

_JOURNAL: Final = f"""told AS (
  SELECT {_FOLDED.format("j.name")} AS name, sum(j.op IN ({_WRITTEN})) AS written, sum(j.op = 'recall') AS recalled,
    sum(j.op IN ({_ARCHIVED})) AS archived, max(CASE WHEN j.op = 'recall' THEN j.ts END) AS last_recalled_at,
    max(j.ts) AS last_at
  FROM asked q CROSS JOIN memory_journal j
  WHERE j.name IS NOT NULL AND {fits("j", *TIME, time="ts")}
  GROUP BY 1
)"""
_BLOCKS: Final = f"""blocks AS (
  SELECT {_FOLDED.format("b.name")} AS name, b.agent, b.kind, b.project, b.description, min(b.archived) AS archived,
    b.updated_at
  FROM asked q CROSS JOIN memory_blocks b
  WHERE {fits("b", *PLACE)}
  GROUP BY b.agent, 1, b.project
)"""

_OF_THE_JOURNAL: Final = f"""blocks AS (
  SELECT {_FOLDED.format("b.name")} AS name, min(b.archived) AS archived, max(b.description) AS description
  FROM memory_blocks b
  WHERE b.agent = 'aster'
  GROUP BY 1
)"""
"""The blocks that the journal tells of, each name once: only Aster's memory has one."""
_STATE: Final = "CASE WHEN b.name IS NULL THEN 'gone' WHEN b.archived = 1 THEN 'archived' ELSE 'kept' END AS state"

MEMORY_BY_BLOCK: Final = f"""{asked(*TIME, *PLACE)},
{_JOURNAL}, {_BLOCKS}
SELECT b.name, b.agent, b.kind, b.project, b.archived AS is_archived, coalesce(t.written, 0) AS written,
  coalesce(t.recalled, 0) AS recalled, coalesce(t.archived, 0) AS archived, t.last_recalled_at, b.updated_at
FROM blocks b LEFT JOIN told t ON t.name = b.name AND b.agent = 'aster'
ORDER BY b.name, b.agent, b.project"""

MEMORY_RECALLED: Final = f"""{asked(*TIME)},
{_JOURNAL}, {_OF_THE_JOURNAL}
SELECT t.recalled, t.name, t.last_recalled_at, b.description, {_STATE}
FROM told t LEFT JOIN blocks b ON b.name = t.name
WHERE t.recalled > 0
ORDER BY t.recalled DESC, t.last_recalled_at DESC, t.name"""

MEMORY_ARCHIVED: Final = f"""{asked(*TIME)},
{_OF_THE_JOURNAL}
SELECT j.ts, j.op, j.name, j.detail, j.by, j.source_session, b.description, {_STATE}
FROM asked q CROSS JOIN memory_journal j
LEFT JOIN blocks b ON b.name = {_FOLDED.format("j.name")}
WHERE j.op IN ({_ARCHIVED}) AND {fits("j", *TIME, time="ts")}
ORDER BY j.ts DESC, j.source_path, j.line_number DESC, j.op, j.name"""

REPORTS: Final = (
    Report(
        "memory-by-day",
        "What was written to the memory, recalled and archived each day, as its journal tells.",
        MEMORY_BY_DAY,
        TIME,
    ),
    Report(
        "memory-by-block",
        "Every block and how often it was written, recalled and archived.",
        MEMORY_BY_BLOCK,
        (*TIME, *PLACE),
    ),
    Report("memory-recalled", "What was recalled most, and whether it is still there.", MEMORY_RECALLED, TIME),
    Report(
        "memory-archived",
        "What was archived, forgotten or replaced, and why where the journal tells, the latest first.",
        MEMORY_ARCHIVED,
        TIME,
    ),
)
"""In the order in which they are listed."""
