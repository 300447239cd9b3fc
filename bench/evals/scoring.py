"""What a run came to: exact sets, precision and recall, silence, states and ranks, each apart. Pure.

One number would hide the trade: a gate that always answers has the best recall.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bench.evals.case import Case


class Outcome(NamedTuple):
    """What came back for a case, in order, and which of its blocks were archived and active by then."""

    case: Case
    names: tuple[str, ...]
    archived: frozenset[str] = frozenset()
    active: frozenset[str] = frozenset()

    @property
    def is_exact(self) -> bool:
        """The expected ones, at most those beside them that may, the first one first."""
        expected, names = self.case.expected, set(self.names)
        if expected.first is not None and self.names[:1] != (expected.first,):
            return False
        return expected.recall <= names <= expected.recall | expected.may

    @property
    def holds(self) -> bool:
        """Exact, and decay did what it must."""
        expected = self.case.expected
        return self.is_exact and expected.archived <= self.archived and expected.active <= self.active


class Figures(NamedTuple):
    """Shares of 0 to 1; 1 where there is nothing to share. Micro-averaged precision and recall."""

    cases: int
    exact: int
    asked: int
    asked_exact: int
    silent: int
    silent_kept: int
    precision: float
    recall: float

    @property
    def exact_share(self) -> float:
        """Of all cases, those that are as they should be."""
        return _share(self.exact, self.cases)

    @property
    def asked_share(self) -> float:
        """Of the cases that expect something, the exact ones."""
        return _share(self.asked_exact, self.asked)

    @property
    def silent_share(self) -> float:
        """Of the cases that expect nothing, those where nothing came."""
        return _share(self.silent_kept, self.silent)


def figures(outcomes: Sequence[Outcome]) -> Figures:
    """Return the figures of a set of cases; what ``may`` come counts neither for nor against."""
    told = good = wanted = 0
    for outcome in outcomes:
        names = set(outcome.names) - outcome.case.expected.may
        told += len(names)
        good += len(names & outcome.case.expected.recall)
        wanted += len(outcome.case.expected.recall)
    silent = [outcome for outcome in outcomes if outcome.case.expected.is_silent]
    asked = [outcome for outcome in outcomes if not outcome.case.expected.is_silent]
    return Figures(
        cases=len(outcomes),
        exact=sum(outcome.holds for outcome in outcomes),
        asked=len(asked),
        asked_exact=sum(outcome.holds for outcome in asked),
        silent=len(silent),
        silent_kept=sum(not outcome.names for outcome in silent),
        precision=_share(good, told),
        recall=_share(good, wanted),
    )


class Ranks(NamedTuple):
    """Means over queries: the share of the wanted among the first ``k``, and the normalised discounted gain there."""

    recall: float
    gain: float


def ranks(ranked: Iterable[tuple[Sequence[str], frozenset[str]]], k: int = 5) -> Ranks:
    """Return the means over pairs of what came, best first, and what is wanted."""
    recalls, gains = [], []
    for names, gold in ranked:
        hits = [place for place, name in enumerate(names[:k]) if name in gold]
        recalls.append(len(hits) / len(gold))
        ideal = sum(1 / math.log2(place + 2) for place in range(min(k, len(gold))))
        gains.append(sum(1 / math.log2(place + 2) for place in hits) / ideal)
    return Ranks(_mean(recalls), _mean(gains))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
