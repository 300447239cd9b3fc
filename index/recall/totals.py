"""How many candidates the index has, of how many texts, and how many words: what settling added up.

Plain ``sqlite3``. Added up for every prompt it was a millisecond of each recall from 10,000 notes.
"""

from __future__ import annotations

import sqlite3
from typing import Final, NamedTuple

_TOTALS: Final = """SELECT candidates, texts, name_words, description_words, body_words, with_aliases
FROM memory_totals"""


class Totals(NamedTuple):
    """The number of candidates, of their texts (copies are one), of words in each field of all texts together, of
    copies those of the longest; and how many candidates have an alias."""

    candidates: int
    texts: int
    name: int
    description: int
    body: int
    with_aliases: int

    @property
    def have_copies(self) -> bool:
        """Tell whether some text is there more than once."""
        return self.texts < self.candidates


def read_totals(connection: sqlite3.Connection) -> Totals:
    """Return the totals; all zero where the index has no memory yet."""
    found = connection.execute(_TOTALS).fetchone()
    return Totals(*found) if found is not None else Totals(0, 0, 0, 0, 0, 0)
