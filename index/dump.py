"""The whole index as ordered rows of its public views: what ``verify`` and the tests compare.

Two indexes of the same files give the same dump, whatever happened to them before. Row ids and times of indexing are
left out: they tell about the index, not about the files. Views that only select from ``events`` are left out too,
since they cannot differ while ``events`` is equal. Plain ``sqlite3``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any, Final

NATURAL_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "sources": ("agent", "path"),
    "sessions": ("agent", "session_id"),
    "session_tree": ("agent", "session_id"),
    "session_files": ("agent", "source_path"),
    "events": ("agent", "source_path", "event_index"),
    "tool_calls": ("agent", "source_path", "event_index"),
    "prompts": ("agent", "source_path", "line_number", "event_index"),
    "llm_calls": ("agent", "source_path", "line_number", "message_id", "request_id", "output_tokens"),
    "prompt_history": ("agent", "source_path", "line_number"),
    "memory_blocks": ("agent", "path"),
    "memory_facts": ("agent", "source_path", "line_number"),
    "memory_journal": ("source_path", "line_number", "op"),
    "memory_provenance": ("path", "name"),
    "parse_errors": ("agent", "source_path", "line_number", "byte_offset", "error"),
    "recall words": ("agent", "path", "line_number"),
    "recall places": ("word",),
    "recall totals": ("candidates",),
    "recall lines": ("path", "line_number", "op"),
}
"""Each dumped view with the columns by which its rows are found again and ordered."""

_UNSEEN: Final[Mapping[str, str]] = {
    "recall words": """SELECT a.name AS agent, s.path AS path, f.line_number AS line_number, c.text_key AS text_key,
  c.name_words AS name_words, c.description_words AS description_words, c.body_words AS body_words, c.name AS name,
  c.description AS description, c.body AS body, c.aliases AS aliases, c.kind AS kind, c.project AS project,
  c.touched_at AS touched_at, c.use AS use, c.pinned AS pinned, c.is_superseded AS is_superseded,
  c.last_mark AS last_mark, c.latest_at AS latest_at
FROM candidate_rows c
JOIN source_rows s ON s.id = c.source_id
JOIN agents a ON a.id = s.agent_id
LEFT JOIN memory_fact_rows f ON f.id = c.id""",
    "recall places": """SELECT word, texts, length(in_aliases) AS in_aliases, length(in_name) AS in_name,
  length(in_description) AS in_description, length(in_body) AS in_body FROM memory_words""",
    "recall totals": "SELECT * FROM memory_totals",
    "recall lines": """SELECT s.path AS path, j.line_number AS line_number, j.op AS op, j.more AS more
FROM journal_rows j JOIN source_rows s ON s.id = j.source_id WHERE j.more IS NOT NULL""",
}
"""What no view shows and answers rest on all the same, under names that are no view's."""

LEFT_OUT: Final = frozenset({"event_id", "prompt_id", "block_id", "fact_id", "id", "indexed_at"})
"""Columns that tell about the index alone."""


def columns_of(connection: sqlite3.Connection, view: str) -> tuple[str, ...]:
    """Return the dumped columns of a view, its natural key first."""
    names = [column[0] for column in connection.execute(f"SELECT * FROM {_rows_of(view)} LIMIT 0").description]
    key = NATURAL_KEYS[view]
    return (*key, *(name for name in names if name not in key and name not in LEFT_OUT))


def dump_view(connection: sqlite3.Connection, view: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one view in the order of its natural key, then of all columns."""
    columns = ", ".join(f'"{name}"' for name in columns_of(connection, view))
    order = ", ".join(str(number) for number in range(1, columns.count(",") + 2))
    yield from connection.execute(f"SELECT {columns} FROM {_rows_of(view)} ORDER BY {order}")


def _rows_of(view: str) -> str:
    return f"({_UNSEEN[view]})" if view in _UNSEEN else view


def dump(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield the whole index as text, one line for each row, view after view."""
    for view in NATURAL_KEYS:
        for row in dump_view(connection, view):
            yield f"{view}: {row!r}"
