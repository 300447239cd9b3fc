"""Growing copies: an agent that writes one provider message again, longer, told it once (DESIGN 6).

The rule is pure (``outgrown``); ``mark_outgrown`` reads the touched groups and stores what it says.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple


class Growing(NamedTuple):
    """One record of a provider message: its event's id, block type, tool call and text (whole, or its head)."""

    event_id: int
    type_code: int
    tool_call_id: str | None
    text: str
    text_len: int
    is_outgrown: bool


_GROUPS: Final = """SELECT t.source_id, t.message_id, e.id, e.type_code, e.tool_call_id,
  coalesce(p.text, e.arguments_head, ''), coalesce(e.arguments_len, e.text_len), (e.hidden & 2) > 0
FROM touched_growth t
CROSS JOIN event_rows e INDEXED BY event_rows_growing
  ON e.source_id = t.source_id AND e.message_id = t.message_id AND e.may_grow = 1
LEFT JOIN prose p ON p.id = e.id
ORDER BY t.source_id, t.message_id, e.line_number, e.event_index"""
_MARK: Final = "UPDATE event_rows SET hidden = (hidden & ~2) | ? WHERE id = ?"


def outgrown(records: Sequence[Growing]) -> set[int]:
    """Return the ids of records of one message in one source that a longer or equal one replaces.

    Records are in file order; of equal ones the first stays. Only the same block type, and for tools the same
    call, can grow; one text must begin with the other. Does not depend on the order in which copies grew.
    """
    replaced: set[int] = set()
    by_kind: dict[tuple[int, str | None], list[Growing]] = {}
    for record in records:
        by_kind.setdefault((record.type_code, record.tool_call_id), []).append(record)
    for group in by_kind.values():
        longest_first = sorted(group, key=lambda record: -record.text_len)
        kept: list[Growing] = []
        for record in longest_first:
            if any(longer.text.startswith(record.text) for longer in kept):
                replaced.add(record.event_id)
            else:
                kept.append(record)
    return replaced


def mark_outgrown(connection: sqlite3.Connection) -> None:
    """Settle the groups noted in ``touched_growth``. Cost: one group of one message in memory at a time."""
    connection.executemany(_MARK, _changes(connection.execute(_GROUPS)))


def _changes(rows: Iterable[tuple[int, str, int, int, str | None, str, int, int]]) -> Iterator[tuple[int, int]]:
    for _, group in groupby(rows, key=lambda row: row[:2]):
        records = [Growing(*row[2:7], bool(row[7])) for row in group]
        replaced = outgrown(records)
        for record in records:
            if (record.event_id in replaced) != record.is_outgrown:
                yield (2 if record.event_id in replaced else 0, record.event_id)
