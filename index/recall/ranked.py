"""Which candidates hold most of what a prompt is about, by the word table alone: no text is read.

Plain ``sqlite3``. For each word the table tells in which rows and fields it stands; what those are worth together is
near the score that ``persist.recall.evidence`` gives, but knows no lengths and no repetitions. Words that stand in very
many rows come last, and only for as long as they can change which rows matter; what they may add at most is exact.
"""

from __future__ import annotations

import heapq
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from json import dumps
from typing import Final, NamedTuple

from persist.recall.evidence import Term, most_evidence
from persist.recall.tuning import TUNING, Tuning

FEW_ROWS: Final = 200
"""A word that stands in no more rows is looked up whatever it may add."""
_ROUNDING: Final = 1e-6
_HALVINGS: Final = 24
_FEW_TIMES: Final = 4
_SELECTED: Final = 5

_ROWS_WITH: Final = """(SELECT group_concat(rowid) FROM memory_words
  WHERE memory_words MATCH '{field} : "' || given.value || '"'{among})"""
_AMONG: Final = " AND +rowid IN (SELECT value FROM json_each(:rows))"
_FIELDS: Final = ("name", "description", "body")


def _places(among: str) -> str:
    fields = ", ".join(_ROWS_WITH.format(field=field, among=among) for field in _FIELDS)
    return f"SELECT {fields} FROM json_each(:words) given"


_ALL_PLACES: Final = _places("")
_PLACES_IN_ROWS: Final = _places(_AMONG)
"""One text for each field: a row of the answer for each place took three times as long."""
_IN_ALIASES: Final = "SELECT rowid, aliases FROM memory_words WHERE memory_words MATCH ?"


class Worths(NamedTuple):
    """What a word is worth in a field, where it stands there once, as a multiple of its weight: 1 or more."""

    name: float
    description: float
    body: float
    alias: float

    @classmethod
    def of(cls, tuning: Tuning = TUNING) -> Worths:
        """Return the worths that these constants make."""
        counts = (tuning.name, tuning.description, tuning.body, tuning.alias)
        return cls(*(count * (tuning.k1 + 1) / (count + tuning.k1) for count in counts))


class Wanted(NamedTuple):
    """What rows are looked for by: the words of a prompt, the heaviest first, and the ``least_total`` of its reading.

    ``in_aliases`` tells for a word the rows that hold it in an alias, ``nameless`` which rows have no name: facts.
    """

    terms: Sequence[Term]
    least_total: float
    in_aliases: Mapping[str, Set[int]]
    nameless: Set[int]


def ranked_rows(connection: sqlite3.Connection, wanted: Wanted, first: int, enough: int) -> Iterator[tuple[float, int]]:
    """Yield rows with what they are worth, the most first, of equals the last row.

    Those are the ``first`` ones, and every other one whose evidence can be as much as the gate asks for. Where no more
    than ``enough`` rows can be either, they are all there, but what words of many rows add to them may be missing.
    Cost: the places of the words.
    """
    held = _Held(connection, wanted, first)
    waiting = _put_off(wanted.terms)
    held.read([term for term in wanted.terms if term not in waiting])
    while waiting:
        held.leave_out(sum(term.weight for term in waiting), enough)
        if held.is_cut and len(held.worth) <= enough:
            return held.all_rows()
        held.read([waiting.pop(0)])
    return held.ranked(enough)


def find_aliases(connection: sqlite3.Connection, words: Collection[str]) -> Iterable[tuple[int, str]]:
    """Return the rows whose aliases hold one of these words, with their aliases as stored."""
    if not words:
        return ()
    quoted = " OR ".join(f'"{word}"' for word in sorted(words))
    return connection.execute(_IN_ALIASES, (f"aliases : ({quoted})",)).fetchall()


def _put_off(terms: Sequence[Term]) -> list[Term]:
    """Return the words of most rows, as many as cannot let a row pass that holds no other one, the heaviest first."""
    chosen: list[Term] = []
    left = 0.0
    for term in sorted(terms, key=lambda term: -term.frequency):
        if term.frequency > FEW_ROWS and left + term.weight < TUNING.evidence - _ROUNDING:
            left += term.weight
            chosen.append(term)
    return sorted(chosen, key=lambda term: -term.weight)


class _Held:
    """What rows hold of the words that were read; in ``worth`` are those that can matter.

    Beside it the weight in name and description, and that elsewhere; identifiers count as in the name. Once ``is_cut``
    no other row than these can matter.
    """

    def __init__(self, connection: sqlite3.Connection, wanted: Wanted, first: int) -> None:
        self._connection = connection
        self._wanted = wanted
        self._first = first
        self._worths = Worths.of()
        self._in_head: defaultdict[int, float] = defaultdict(float)
        self._elsewhere: defaultdict[int, float] = defaultdict(float)
        self._has_identifiers = any(term.is_identifier for term in wanted.terms)
        self.worth: dict[int, float] = defaultdict(float)
        self.is_cut = False

    def read(self, terms: Sequence[Term]) -> None:
        """Look up where these words stand, of the rows that can matter."""
        for term, texts in zip(terms, self._places(terms), strict=True):
            name, description, body = (set(map(int, text.split(","))) if text else set() for text in texts)
            alias = self._wanted.in_aliases.get(term.word, frozenset())
            worths = self._worths
            body -= name
            body -= description
            self._add(term, name, worths.name, is_head=True)
            self._add(term, description - name, worths.description, is_head=True)
            self._add(term, alias - name - description, worths.alias)
            self._add(term, body - alias if alias else body, worths.body)

    def _places(self, terms: Sequence[Term]) -> Iterable[Sequence[str | None]]:
        """Return for each word the rows of each field, as texts; of common words only those that can matter."""
        words = dumps([term.word for term in terms])
        frequency = sum(term.frequency for term in terms)
        if self.is_cut and len(self.worth) * _SELECTED < frequency:
            given = {"words": words, "rows": dumps(list(self.worth))}
            return self._connection.execute(_PLACES_IN_ROWS, given)
        return self._connection.execute(_ALL_PLACES, {"words": words})

    def _add(self, term: Term, rows: Set[int], worth: float, *, is_head: bool = False) -> None:
        weight, value = term.weight, term.weight * worth
        total, part = self.worth, self._in_head if is_head or term.is_identifier else self._elsewhere
        for row in rows & total.keys() if self.is_cut else rows:
            total[row] += value
            part[row] += weight

    def leave_out(self, left: float, enough: int) -> None:
        """Drop rows that cannot matter, if that can be told: ``left`` is the weight of what was not read.

        All of them where there are few: else those that can be told at a glance.
        """
        most = left * self._worths.name
        least_first = self._least_first() - most - _ROUNDING
        if not self.is_cut and least_first <= 0.0:
            return
        kept = self._that_are_worth(left, least_first)
        if len(kept) <= _FEW_TIMES * enough:
            kept = [row for row in kept if self.worth[row] >= least_first or self._may_pass(row, left)]
        self.worth = defaultdict(float, {row: self.worth[row] for row in kept})
        self.is_cut = True

    def all_rows(self) -> Iterator[tuple[float, int]]:
        """Yield the rows that were left, the most worth first."""
        yield from sorted(((value, row) for row, value in self.worth.items()), reverse=True)

    def ranked(self, enough: int) -> Iterator[tuple[float, int]]:
        """Yield the rows that matter, the most worth first; every word was read."""
        least_first = self._least_first()
        left = self._first if len(self.worth) > enough else len(self.worth)
        for value, row in sorted(
            ((self.worth[row], row) for row in self._that_are_worth(0.0, least_first)), reverse=True
        ):
            if (left > 0 and value >= least_first) or self._may_pass(row, 0.0):
                yield value, row
            left -= 1

    def _least_first(self) -> float:
        """Return what the last of the first rows is worth, less than any where there are not so many."""
        if len(self.worth) < self._first:
            return -1.0
        return heapq.nlargest(self._first, self.worth.values())[-1]

    def _that_are_worth(self, left: float, least_first: float) -> list[int]:
        """Return the rows that are worth so much, and those that are worth enough to pass, as far as that tells."""
        least = self._least_passing(left, 1.0 if self._has_identifiers else 1 / self._worths.description)
        least = min(least, least_first)
        rows = [row for row, value in self.worth.items() if value >= least]
        nameless = self._wanted.nameless & self.worth.keys()
        if nameless:
            least_nameless = self._least_passing(left, 1.0)
            rows += [row for row in nameless if least_nameless <= self.worth[row] < least]
        return rows

    def _may_pass(self, row: int, left: float) -> bool:
        """Tell whether a row's evidence can be as much as the gate asks for, if it holds all that is ``left``."""
        head, elsewhere = self._in_head.get(row, 0.0) + left, self._elsewhere.get(row, 0.0)
        has_name = row not in self._wanted.nameless
        most = most_evidence(head, elsewhere, self._wanted.least_total, has_name=has_name)
        return most >= TUNING.evidence - _ROUNDING

    def _least_passing(self, left: float, in_head: float) -> float:
        """Return the least worth with which a row may pass, of whose worth at most this share is weight that counts.

        Found by halving: evidence grows with what a row is worth. A little less than exact, for rounding.
        """
        low, high = 0.0, TUNING.evidence / (TUNING.coverage_floor * in_head)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            covered = min(1.0, (middle + left) / self._wanted.least_total) if self._wanted.least_total else 1.0
            most = (middle * in_head + left) * (TUNING.coverage_floor + (1 - TUNING.coverage_floor) * covered)
            low, high = (low, middle) if most >= TUNING.evidence - _ROUNDING else (middle, high)
        return low - _ROUNDING
