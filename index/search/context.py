"""The turns around a hit: what was asked and answered before and after it, in the same transcript.

Plain ``sqlite3``. A turn is a prompt and all that follows up to the next (DESIGN 2).
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any, Final

from index.fields import ANSWER, BLOCK, HISTORY_PROMPT, MEMORY_FACT, PROMPT
from index.search.found import ContextText
from index.search.matches import Match

OUTGROWN: Final = 2
"""The bit of ``event_rows.hidden`` of an answer that was written again, longer (``index.settle``)."""
_PLACE: Final = "SELECT source_id, line_number FROM event_rows WHERE id = ?"
_PROMPTS: Final = """SELECT identity, record_id, line_number FROM event_rows INDEXED BY event_rows_prompts
WHERE source_id = ? AND is_prompt = 1 ORDER BY line_number, event_index"""
_TEXTS: Final = f"""SELECT e.identity, e.record_id, e.turn_index, e.event_index,
  CASE e.kind WHEN 1 THEN 'user' WHEN 2 THEN 'agent' ELSE 'control' END, t.name, coalesce(e.ts, e.sort_ts),
  coalesce(p.text, e.head, e.arguments_head, ''), e.id = :id
FROM event_rows e INDEXED BY event_rows_place
JOIN event_types t ON t.code = e.type_code
LEFT JOIN prose p ON p.id = e.id
WHERE e.source_id = :source_id AND e.line_number >= :first AND e.line_number < :end
  AND ((p.field IN ({PROMPT}, {ANSWER}) AND NOT e.hidden & {OUTGROWN}) OR e.id = :id)
ORDER BY e.event_index"""
"""Copies of what another file tells belong here: a fork's beginning is what was said before."""
STATEMENTS: Final = (_PLACE, _PROMPTS, _TEXTS)
_NO_END: Final = 2**62


def context_of(connection: sqlite3.Connection, match: Match, turns: int) -> tuple[ContextText, ...]:
    """Return prompts and answers of the match's turn and of ``turns`` before and after it, in the file's order.

    The match itself is among them, marked. Empty for what stands in no transcript: memory, and prompts that only a
    history knows. Cost: the prompts of one source and the lines of those turns.
    """
    if match.field in (HISTORY_PROMPT, BLOCK, MEMORY_FACT):
        return ()
    source_id, line_number = connection.execute(_PLACE, (match.id,)).fetchone()
    beginnings = [line for (line,) in _told_once(connection.execute(_PROMPTS, (source_id,)))]
    own = bisect_right(beginnings, line_number) - 1  # -1: before the first prompt
    first, behind = own - turns, own + turns + 1
    values = {
        "id": match.id,
        "source_id": source_id,
        "first": beginnings[first] if first >= 0 else 0,
        "end": beginnings[behind] if behind < len(beginnings) else _NO_END,
    }
    return tuple(
        ContextText(turn_index, event_index, kind, event_type, ts, text, bool(is_hit))
        for turn_index, event_index, kind, event_type, ts, text, is_hit in _told_once(
            connection.execute(_TEXTS, values)
        )
    )


def _told_once(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Yield rows without their first two values, identity and record id, and without copies in the same file."""
    seen: set[int] = set()
    for identity, record_id, *row in rows:
        if record_id is None or identity not in seen:  # without an id, two equal ones are two (DESIGN 6)
            yield tuple(row)
        seen.add(identity)
