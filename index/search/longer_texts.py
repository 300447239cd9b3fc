"""Which texts of a source are longer than the heads that the index keeps, and which of them were not read so far.

Knows as well up to where the file still is what was indexed, and so which of its lines may be passed over unread. Reads
the index with plain ``sqlite3`` and of the file its edges; never imports SQLAlchemy, pydantic or the command line.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from typing import IO, Final

from index.projection import TYPE_CODES
from index.search.scope import Condition, Scope
from index.search.sieve import looks_like_json, may_rewrite
from index.search.tools import IS_LONGER, Row, ToolSource, rows_of
from persist.fingerprint import edges, stat_of
from persist.sources import Stat

_LATE_ARGUMENTS: Final = """SELECT 1 FROM event_rows INDEXED BY event_rows_late_arguments
WHERE source_id = ? AND arguments_head IS NOT NULL AND type_code <> 6 LIMIT 1"""
_KNOWN: Final = """SELECT size_bytes, mtime_ns, ctime_ns, inode, offset_bytes, head_hash, tail_hash
FROM source_rows WHERE id = ?"""


class LongerTexts:
    """The texts of one source that are longer than their heads, and which of them have not been read so far."""

    def __init__(self, connection: sqlite3.Connection, scope: Scope, source: ToolSource, minds_numbers: bool) -> None:
        self.source = source
        self.holds_nothing = False
        """Whether nothing in the file can hold the query, and so no text of it that the index has either."""
        self._minds_numbers = minds_numbers
        self._connection = connection
        self._scope = scope
        self._rows: dict[int, list[Row]] | None = None
        self._borrowing: frozenset[int] = frozenset()
        self._numbered: frozenset[int] = frozenset()
        self._left_unread: list[Row] = []
        self._indexed_bytes = 1
        self._trusted_bytes = 0
        self._read_bytes = 0
        self._met: set[int] = set()
        self._is_over = False

    def begin(self, file: IO[bytes]) -> None:
        """Begin to read the file, and see up to where it still is what was indexed. Raises ``OSError`` as it does."""
        indexed_bytes, trusted_bytes = self._known_bytes(file)
        self._indexed_bytes = max(indexed_bytes, 1)
        self._trusted_bytes = trusted_bytes
        self.holds_nothing = trusted_bytes >= indexed_bytes and not self._minds_numbers
        if self._connection.execute(_LATE_ARGUMENTS, (self.source.id,)).fetchone() is not None:
            self._borrowing = self._offsets_of(_may_borrow)
            self.holds_nothing = False
        if self._minds_numbers:
            self._numbered = self._offsets_of(_may_have_numbers)

    def may_pass_over(self, start_bytes: int, end_bytes: int) -> bool:
        """Tell whether the bytes of a stretch of lines alone say what it holds.

        Not so where the file may have changed, nor on the lines that :meth:`must_read` knows.
        """
        if end_bytes > self._trusted_bytes:
            return False
        return not any(start_bytes <= at < end_bytes for lines in (self._borrowing, self._numbered) for at in lines)

    def must_read(self, offset_bytes: int, line: bytes) -> bool:
        """Tell whether a line must be read whatever its bytes are."""
        return (
            offset_bytes + len(line) > self._trusted_bytes
            or offset_bytes in self._borrowing
            or (offset_bytes in self._numbered and may_rewrite(line))
        )

    def _offsets_of(self, is_such: Callable[[Row], bool]) -> frozenset[int]:
        return frozenset(offset for offset, rows in self._loaded().items() if any(map(is_such, rows)))

    def rows_at(self, offset_bytes: int) -> list[Row]:
        """Return the events to be read of the line at an offset."""
        rows = self._loaded().get(offset_bytes, [])
        if rows:
            self._met.add(offset_bytes)
        return rows

    def has_read_to(self, offset_bytes: int) -> None:
        """Say that the file was read, or passed over, up to an offset."""
        self._read_bytes = offset_bytes

    def leave_unread(self, rows: Sequence[Row]) -> None:
        """Say that these were not there as indexed."""
        self._left_unread.extend(rows)

    def finish(self) -> list[Row]:
        """Say that the whole file was read; return the events whose lines were not met."""
        missing = self._not_met()
        self._left_unread.extend(missing)
        self._is_over = True
        return missing

    def unread(self) -> list[Row]:
        """Return the events of which only heads can be searched."""
        return self._left_unread if self._is_over else [*self._left_unread, *self._not_met()]

    def _not_met(self) -> list[Row]:
        passed_over = min(self._trusted_bytes, self._read_bytes)
        return [
            row
            for offset, rows in self._loaded_if_needed(passed_over).items()
            if offset >= passed_over and offset not in self._met
            for row in rows
        ]

    def _loaded_if_needed(self, passed_over: int) -> dict[int, list[Row]]:
        """Spare a look at the index where all of a file that did not change was passed over."""
        if self._rows is None and passed_over >= self._indexed_bytes:
            return {}
        return self._loaded()

    def _loaded(self) -> dict[int, list[Row]]:
        if self._rows is None:
            self._rows = {}
            for row in rows_of(self._connection, self._scope, self.source, Condition(IS_LONGER)):
                if row.is_longer():
                    self._rows.setdefault(row.offset_bytes, []).append(row)
        return self._rows

    def _known_bytes(self, file: IO[bytes]) -> tuple[int, int]:
        """Return how long a file was when it was indexed, and up to where it still is what it was (DESIGN 8)."""
        *known, offset_bytes, head_hash, tail_hash = self._connection.execute(_KNOWN, (self.source.id,)).fetchone()
        indexed, now = Stat(*known), stat_of(os.fstat(file.fileno()))
        if now == indexed:
            return indexed.size_bytes, indexed.size_bytes
        if now.inode != indexed.inode or now.size_bytes < indexed.size_bytes:
            return indexed.size_bytes, 0
        is_same = edges(file, offset_bytes) == (head_hash, tail_hash)
        return indexed.size_bytes, offset_bytes if is_same else 0


def _may_borrow(row: Row) -> bool:
    """Tell whether an event may have arguments from earlier lines: answers in old logs do."""
    return row.type_code != TYPE_CODES["tool_call"] and row.arguments_head is not None


def _may_have_numbers(row: Row) -> bool:
    return any(looks_like_json(head) for _, head, _ in row.texts())
