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
    "parse_errors": ("agent", "source_path", "line_number", "byte_offset", "error"),
}
"""Each dumped view with the columns by which its rows are found again and ordered."""

LEFT_OUT: Final = frozenset({"event_id", "prompt_id", "block_id", "fact_id", "id", "indexed_at"})
"""Columns that tell about the index alone."""


def columns_of(connection: sqlite3.Connection, view: str) -> tuple[str, ...]:
    """Return the dumped columns of a view, its natural key first."""
    names = [row[1] for row in connection.execute(f"PRAGMA table_info({view})")]
    key = NATURAL_KEYS[view]
    return (*key, *(name for name in names if name not in key and name not in LEFT_OUT))


def dump_view(connection: sqlite3.Connection, view: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one view in the order of its natural key, then of all columns."""
    columns = ", ".join(f'"{name}"' for name in columns_of(connection, view))
    order = ", ".join(str(number) for number in range(1, columns.count(",") + 2))
    yield from connection.execute(f"SELECT {columns} FROM {view} ORDER BY {order}")


def dump(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield the whole index as text, one line for each row, view after view."""
    for view in NATURAL_KEYS:
        for row in dump_view(connection, view):
            yield f"{view}: {row!r}"
