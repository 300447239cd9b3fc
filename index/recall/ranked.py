"""Which candidates hold most of what a prompt is about, by the stored places of its words alone: no text is read.

For each word is stored in which rows and fields it stands (``postings.py``); what those are worth together is near the
score that ``persist.recall.evidence`` gives, but knows no lengths and no repetitions. Words that stand in very many
rows come last, and only for as long as they can change which rows matter; what they may add at most is exact.
"""

from __future__ import annotations

import heapq
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Final, NamedTuple

from index.recall.postings import Places, places_of
from persist.recall.evidence import Term, most_evidence
from persist.recall.tuning import TUNING, Tuning

FEW_ROWS: Final = 200
"""A word that stands in no more rows is looked up whatever it may add."""
_ROUNDING: Final = 1e-6
_HALVINGS: Final = 24
_FEW_TIMES: Final = 4
_NONE: Final = Places(array("q"), array("q"), array("q"), array("q"))


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

    ``nameless`` tells which rows have no name: facts.
    """

    terms: Sequence[Term]
    least_total: float
    nameless: Set[int]


class _Found(NamedTuple):
    """A word that was read: its rows in name and description, and all others, each with what it is worth there."""

    term: Term
    head: tuple[tuple[Iterable[int], float], ...]
    elsewhere: tuple[tuple[Iterable[int], float], ...]


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

    Once ``is_cut`` no other row than these can matter. Their weight in name and description, where identifiers count
    as in the name, and that elsewhere are added up when they are asked for.
    """

    def __init__(self, connection: sqlite3.Connection, wanted: Wanted, first: int) -> None:
        self._connection = connection
        self._wanted = wanted
        self._first = first
        self._worths = Worths.of()
        self._read: list[_Found] = []
        self._has_identifiers = any(term.is_identifier for term in wanted.terms)
        self.worth: dict[int, float] = {}
        self.is_cut = False

    def read(self, terms: Sequence[Term]) -> None:
        """Look up where these words stand, of the rows that can matter."""
        places = dict(places_of(self._connection, [term.word for term in terms]))
        for term in terms:
            found = self._found(term, places.get(term.word, _NONE))
            self._read.append(found)
            for rows, value in (*found.head, *found.elsewhere):
                self._add(rows, term.weight * value)

    def _found(self, term: Term, places: Places) -> _Found:
        worths = self._worths
        head = ((places.in_name, worths.name), (places.in_description, worths.description))
        body = (places.in_body, worths.body)
        if not places.in_aliases:
            return _Found(term, head, (body,))
        alone = set(places.in_aliases).difference(places.in_name, places.in_description)
        return _Found(term, head, ((alone, worths.alias), body))

    def _add(self, rows: Iterable[int], value: float) -> None:
        worth = self.worth
        if self.is_cut:
            for row in worth.keys() & rows:
                worth[row] += value
            return
        both = [(row, worth[row] + value) for row in worth.keys() & rows]
        worth.update(dict.fromkeys(rows, value))
        worth.update(both)

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
            passing = self._may_pass([row for row in kept if self.worth[row] < least_first], left)
            kept = [row for row in kept if self.worth[row] >= least_first or row in passing]
        self.worth = {row: self.worth[row] for row in kept}
        self.is_cut = True

    def all_rows(self) -> Iterator[tuple[float, int]]:
        """Yield the rows that were left, the most worth first."""
        yield from sorted(((value, row) for row, value in self.worth.items()), reverse=True)

    def ranked(self, enough: int) -> Iterator[tuple[float, int]]:
        """Yield the rows that matter, the most worth first; every word was read."""
        least_first = self._least_first()
        left = self._first if len(self.worth) > enough else len(self.worth)
        rows = self._that_are_worth(0.0, least_first)
        passing = self._may_pass(rows, 0.0)
        for value, row in sorted(((self.worth[row], row) for row in rows), reverse=True):
            if (left > 0 and value >= least_first) or row in passing:
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

    def _may_pass(self, rows: Sequence[int], left: float) -> set[int]:
        """Return those whose evidence can be as much as the gate asks for, if they hold all that is ``left``."""
        if not rows:
            return set()
        in_head, elsewhere = self._masses(rows)
        nameless, least_total = self._wanted.nameless, self._wanted.least_total
        return {
            row
            for row in rows
            if most_evidence(in_head[row] + left, elsewhere[row], least_total, has_name=row not in nameless)
            >= TUNING.evidence - _ROUNDING
        }

    def _masses(self, rows: Iterable[int]) -> tuple[dict[int, float], dict[int, float]]:
        """Return the weight that rows hold in name and description, and that elsewhere, of the words that were read."""
        in_head = dict.fromkeys(rows, 0.0)
        elsewhere = in_head.copy()
        for term, head, others in self._read:
            for places, part in ((head, in_head), (others, in_head if term.is_identifier else elsewhere)):
                for holding, _ in places:
                    for row in part.keys() & holding:
                        part[row] += term.weight
        return in_head, elsewhere

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
