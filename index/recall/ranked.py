"""Which candidates hold most of what a prompt is about, by the stored places of its words alone: no text is read.

For each word is stored in which rows and fields it stands (``postings.py``); what those are worth together is near the
score that ``persist.recall.evidence`` gives, but knows no lengths and no repetitions. Words that stand in very many
rows come last, and only for as long as they can change which rows matter; what they may add at most is exact.
"""

from __future__ import annotations

import heapq
import sqlite3
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
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


_WORTHS: Final = Worths.of()


class Wanted(NamedTuple):
    """What rows are looked for by: the words of a prompt, the heaviest first, and the ``least_total`` of its reading.

    ``nameless`` tells which rows have no name: facts.
    """

    terms: Sequence[Term]
    least_total: float
    nameless: Set[int]


class _Rows(NamedTuple):
    """The rows that hold a word in one field, and what a word is worth there.

    ``counts_as_head`` tells name and description, where all that an identifier has counts too.
    """

    term: Term
    rows: Collection[int]
    worth: float
    counts_as_head: bool


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
        self._read: list[_Rows] = []
        self._has_identifiers = any(term.is_identifier for term in wanted.terms)
        self.worth: dict[int, float] = {}
        self.is_cut = False

    def read(self, terms: Sequence[Term]) -> None:
        """Look up where these words stand, of the rows that can matter."""
        places = dict(places_of(self._connection, [term.word for term in terms]))
        for term in terms:
            for found in self._holding(term, places.get(term.word, _NONE)):
                self._read.append(found)
                self._add(found.rows, term.weight * found.worth)

    def _holding(self, term: Term, places: Places) -> list[_Rows]:
        """Return where a word stands in rows that can matter, each of these rows once."""
        is_head = term.is_identifier
        found: list[tuple[Collection[int], float, bool]] = [
            (places.in_name, _WORTHS.name, True),
            (places.in_description, _WORTHS.description, True),
            (places.in_body, _WORTHS.body, is_head),
        ]
        if places.in_aliases:
            alone = set(places.in_aliases).difference(places.in_name, places.in_description)
            found.append((alone, _WORTHS.alias, is_head))
        whole = [_Rows(term, *one) for one in found if one[0]]
        return _among(self.worth, whole) if self.is_cut else whole

    def _add(self, rows: Collection[int], value: float) -> None:
        worth = self.worth
        for row in rows:
            if row in worth:
                worth[row] += value
            else:
                worth[row] = value

    def leave_out(self, left: float, enough: int) -> None:
        """Drop rows that cannot matter, if that can be told: ``left`` is the weight of what was not read.

        All of them where there are few: else those that can be told at a glance.
        """
        most = left * _WORTHS.name
        least_first = self._least_first() - most - _ROUNDING
        if not self.is_cut and least_first <= 0.0:
            return
        kept = self._that_are_worth(left, least_first)
        if len(kept) <= _FEW_TIMES * enough:
            self._read = _among(dict.fromkeys(kept), self._read)
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
        least = self._least_passing(left, 1.0 if self._has_identifiers else 1 / _WORTHS.description)
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

    def _masses(self, rows: Sequence[int]) -> tuple[dict[int, float], dict[int, float]]:
        """Return the weight that rows hold in name and description, and that elsewhere, of the words that were read."""
        in_head = dict.fromkeys(rows, 0.0)
        elsewhere = in_head.copy()
        for term, holding, _, counts_as_head in self._read:
            part = in_head if counts_as_head else elsewhere
            for row in part.keys() & holding:
                part[row] += term.weight
        return in_head, elsewhere

    def _least_passing(self, left: float, in_head: float) -> float:
        """Return the least worth with which a row may pass, of whose worth at most this share is weight that counts.

        Found by halving: evidence grows with what a row is worth. A little less than exact, for rounding.
        """
        floor, least_total, enough = TUNING.coverage_floor, self._wanted.least_total, TUNING.evidence - _ROUNDING
        low, high = 0.0, TUNING.evidence / (floor * in_head)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            covered = min(1.0, (middle + left) / least_total) if least_total else 1.0
            if (middle * in_head + left) * (floor + (1 - floor) * covered) >= enough:
                high = middle
            else:
                low = middle
        return low - _ROUNDING


def _among(kept: Mapping[int, object], found: Iterable[_Rows]) -> list[_Rows]:
    """Return what these rows alone hold of it."""
    held = ((kept.keys() & rows, term, worth, is_head) for term, rows, worth, is_head in found)
    return [_Rows(term, rows, worth, is_head) for rows, term, worth, is_head in held if rows]
