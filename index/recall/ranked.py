"""Which candidates hold most of what a prompt is about, by the word table alone: no text is read.

Plain ``sqlite3``. For each word the table tells in which rows and fields it stands; what those are worth together is
near the score that ``persist.recall.evidence`` gives, but knows no lengths and no repetitions.
"""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from persist.recall.evidence import Term, most_evidence
from persist.recall.tuning import TUNING, Tuning

FEW_ROWS: Final = 1500
"""A word that stands in no more rows is looked up whatever it may add."""
_ROUNDING: Final = 1e-6

_PLACES: Final = "SELECT doc, col FROM memory_places WHERE term = ?"
_IN_ALIASES: Final = "SELECT rowid, aliases FROM memory_words WHERE memory_words MATCH ?"


class Ranked(NamedTuple):
    """Rows with what the words they hold are worth; of these, the weight in name and description, and elsewhere.

    Identifiers count as in the name. What was left out counts nowhere but in ``left_out``: any row may hold it.
    """

    worth: dict[int, float]
    in_head: dict[int, float]
    elsewhere: dict[int, float]
    left_out: float

    @property
    def least_worth(self) -> float:
        """A row that is worth less cannot pass: no word is worth less than its weight."""
        return TUNING.evidence - self.left_out - _ROUNDING

    def may_pass(self, row: int, least_total: float, *, has_name: bool) -> bool:
        """Tell whether the evidence for a row can be as much as the gate asks for."""
        in_head = self.in_head.get(row, 0.0) + self.left_out
        most = most_evidence(in_head, self.elsewhere.get(row, 0.0), least_total, has_name=has_name)
        return most >= TUNING.evidence - _ROUNDING


class Field(NamedTuple):
    """What a word is worth in a field, where it stands there once, as a multiple of its weight."""

    worth: float
    is_head: bool


def fields(tuning: Tuning = TUNING) -> Mapping[str, Field]:
    """Return the fields of the word table."""
    counts = {"name": tuning.name, "description": tuning.description, "body": tuning.body, "aliases": tuning.alias}
    return {
        field: Field(count * (tuning.k1 + 1) / (count + tuning.k1), field in ("name", "description"))
        for field, count in counts.items()
    }


def ranked_rows(connection: sqlite3.Connection, terms: Sequence[Term], enough: int) -> Ranked:
    """Return rows with what they are worth; at least the ``enough`` best, if there are so many.

    ``terms`` come the heaviest first. A word that stands in many rows is left out where all that is left cannot lift a
    row that holds none of the words before among those. Cost: the places of the words.
    """
    of_field = fields()
    most = max(field.worth for field in of_field.values())
    left = sum(term.weight for term in terms)
    left_out = 0.0
    worth: dict[int, float] = {}
    in_head: dict[int, float] = {}
    elsewhere: dict[int, float] = {}
    for word, weight, frequency, _, is_identifier, *_ in terms:
        if frequency > FEW_ROWS and len(worth) >= enough:
            lowest = heapq.nlargest(enough, worth.values())[-1]
            if lowest >= left * most:
                left_out += weight
                continue
        left -= weight
        best: dict[int, Field] = {}
        for row, name in connection.execute(_PLACES, (word,)):
            field = of_field[name]
            if row not in best or field > best[row]:
                best[row] = field
        for row, field in best.items():
            worth[row] = worth.get(row, 0.0) + weight * field.worth
            part = in_head if is_identifier or field.is_head else elsewhere
            part[row] = part.get(row, 0.0) + weight
    return Ranked(worth, in_head, elsewhere, left_out)


def rows_by_alias(
    connection: sqlite3.Connection, words: Collection[str], holds: Callable[[str], bool]
) -> Iterator[int]:
    """Yield the rows of which ``holds`` is true of the stored aliases, among those whose aliases hold a word."""
    if words:
        quoted = " OR ".join(f'"{word}"' for word in sorted(words))
        for row, aliases in connection.execute(_IN_ALIASES, (f"aliases : ({quoted})",)):
            if holds(aliases):
                yield row
