"""In which rows a word stands, as it is stored: for each word and field the ids of the rows, ascending.

Pure but for two reading statements on plain ``sqlite3``. A list is one value, so that a word of thousands of rows is
read at once: as an index entry for each place, or from FTS5, it took five times as long (``docs/decisions.md``).
"""

from __future__ import annotations

import sqlite3
import sys
from array import array
from collections.abc import Collection, Iterable, Iterator
from json import dumps
from typing import Final, NamedTuple

_PLACES: Final = """SELECT w.word, w.in_aliases, w.in_name, w.in_description, w.in_body
FROM json_each(?) given CROSS JOIN memory_words w ON w.word = given.value"""
_ALIASES: Final = """SELECT w.in_aliases FROM json_each(?) given CROSS JOIN memory_words w ON w.word = given.value
WHERE w.in_aliases <> x''"""


class Places(NamedTuple):
    """The rows that hold a word, each list ascending.

    A row is in one of ``in_name``, ``in_description`` and ``in_body`` at most, the first that fits; in ``in_body`` only
    if it holds the word in no alias either. ``in_aliases`` has every row with the word in an alias.
    """

    in_aliases: array[int]
    in_name: array[int]
    in_description: array[int]
    in_body: array[int]


def places_of(connection: sqlite3.Connection, words: Collection[str]) -> Iterator[tuple[str, Places]]:
    """Yield each of these words that some row holds, with its places; in no order."""
    for word, *lists in connection.execute(_PLACES, (dumps(list(words)),)):
        yield word, Places(*map(ids_of, lists))


def rows_with_alias_words(connection: sqlite3.Connection, words: Collection[str]) -> set[int]:
    """Return the rows that hold one of these words in an alias."""
    rows: set[int] = set()
    for (stored,) in connection.execute(_ALIASES, (dumps(list(words)),)):
        rows.update(ids_of(stored))
    return rows


def ids_of(stored: bytes) -> array[int]:
    """Return the ids that are stored as bytes: eight for each, the lowest first, on every machine."""
    ids = array("q", stored)
    if sys.byteorder == "big":
        ids.byteswap()
    return ids


def stored_ids(ids: Iterable[int]) -> bytes:
    """Return ids as :func:`ids_of` reads them; the order stays."""
    stored = array("q", ids)
    if sys.byteorder == "big":
        stored.byteswap()
    return stored.tobytes()
