"""How many rows the word table has, and how many words in each field, as SQLite keeps them for itself.

Plain ``sqlite3``. FTS5 has the record for its own ranking (``bm25``), brings it up to date in the transaction that
writes the words, and its ``integrity-check``, which ``verify`` runs, compares it with every row
(https://www.sqlite.org/src/file/ext/fts5/fts5_index.c, "averages record"). A sum over all rows took a millisecond of
every recall from 10,000 notes.
"""

from __future__ import annotations

import sqlite3
from typing import Final, NamedTuple

_RECORD: Final = "SELECT block FROM memory_words_data WHERE id = 1"
_SUMS: Final = """SELECT count(*), coalesce(sum(c.name_words), 0), coalesce(sum(c.description_words), 0),
  coalesce(sum(c.body_words), 0), coalesce(sum(w.c3 <> ''), 0)
FROM candidate_rows c CROSS JOIN memory_words_content w ON w.id = c.id"""
_MORE: Final = 0x80
_BITS: Final = 7


class Totals(NamedTuple):
    """The number of rows, and of words in each field of all of them together; ``aliases`` is 0 where there are none."""

    rows: int
    name: int
    description: int
    body: int
    aliases: int


def read_totals(connection: sqlite3.Connection) -> Totals:
    """Return the totals; where the record is none that is understood, they are summed up."""
    found = connection.execute(_RECORD).fetchone()
    numbers = _numbers(found[0]) if found is not None else []
    if len(numbers) != len(Totals._fields):
        return Totals(*connection.execute(_SUMS).fetchone())
    return Totals(*numbers)


def _numbers(record: bytes) -> list[int]:
    """Return the numbers of a record, of which each byte has seven bits, the highest first, and whether one follows.

    (https://www.sqlite.org/fileformat2.html, "varint"; none of them is so large that it takes nine bytes.)
    """
    numbers: list[int] = []
    number = 0
    for byte in record:
        number = number << _BITS | byte & ~_MORE
        if not byte & _MORE:
            numbers.append(number)
            number = 0
    return numbers
