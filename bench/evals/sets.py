"""The sets of evaluation cases, measured: figures by name, for all cases, for the half that tuned and for the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from bench.evals.public_sets import PRECISION, TOON, precision_cases, toon_cases
from bench.evals.scoring import Outcome, figures, ranks
from bench.evals.world import Prepared, prepare_all
from bench.evals.yaml_cases import read_cases
from persist.recall.tuning import TUNING, Tuning

OURS: Final = Path(__file__).resolve().parents[2] / "tests" / "evals"
THRESHOLDS: Final = OURS / "thresholds.yaml"
OUR_SETS: Final = ("memory-evals", "own-cases", "fresh-cases")
"""Files beside the thresholds; of the last neither half chose anything."""
HALVES: Final = ("tuned", "other")
"""Cases by their place in the file: the even ones chose the constants, the odd ones never did."""

Figures = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class EvalSet:
    """A set's cases, prepared; ``is_ranked`` when its wanted names are looked for in the order, not in what passes."""

    name: str
    prepared: Sequence[Prepared]
    is_ranked: bool = False

    def half(self, which: str) -> EvalSet:
        """Return every second case: the ``tuned`` half or the ``other``."""
        return EvalSet(self.name, self.prepared[HALVES.index(which) :: 2], self.is_ranked)


def our_sets() -> list[EvalSet]:
    """Return the sets that lie in this repository."""
    return [EvalSet(name, prepare_all(read_cases(OURS / f"{name}.yaml"))) for name in OUR_SETS]


def public_sets(folder: Path) -> list[EvalSet]:
    """Return the public sets that lie in a folder; none where it has none."""
    found = []
    if (folder / PRECISION).is_dir():
        found.append(EvalSet(PRECISION, prepare_all(precision_cases(folder / PRECISION))))
    if (folder / TOON).is_dir():
        found.append(EvalSet(TOON, prepare_all(toon_cases(folder / TOON)), is_ranked=True))
    return found


def outcomes(prepared: Iterable[Prepared], tuning: Tuning = TUNING) -> list[Outcome]:
    """Return what came back for each case."""
    return [
        Outcome(
            one.case,
            tuple(verdict.candidate.name for verdict in one.ask(tuning).chosen),
            one.archived,
            one.active,
        )
        for one in prepared
    ]


def measure(one: EvalSet, tuning: Tuning = TUNING) -> Figures:
    """Return a set's figures by name; shares are 0 to 1."""
    if one.is_ranked:
        told = ranks((_order(each, tuning), frozenset(each.case.gold)) for each in one.prepared)
        return {"cases": len(one.prepared), "recall_at_5": told.recall, "gain_at_5": told.gain}
    came = outcomes(one.prepared, tuning)
    told_figures = figures(came)
    groups = {
        f"group_{group}": figures([outcome for outcome in came if outcome.case.group == group]).exact_share
        for group in ("supersede", "decay")
        if any(outcome.case.group == group for outcome in came)
    }
    return {
        "cases": told_figures.cases,
        "exact": told_figures.exact,
        "asked_exact": told_figures.asked_share,
        "silent": told_figures.silent_share,
        "precision": told_figures.precision,
        "recall": told_figures.recall,
        **groups,
    }


def read_thresholds() -> dict[str, dict[str, float]]:
    """Return what each set must reach, by its name and the figure's."""
    told: dict[str, dict[str, float]] = yaml.safe_load(THRESHOLDS.read_text(encoding="utf-8"))
    return told


def missed(figures_of_set: Figures, least: Mapping[str, float]) -> list[str]:
    """Return the figures under their threshold, a sentence each."""
    return [
        f"{name} is {figures_of_set[name]:.3f} and must be {wanted:g}"
        for name, wanted in least.items()
        if figures_of_set[name] < wanted
    ]


def _order(one: Prepared, tuning: Tuning) -> list[str]:
    """Return every candidate's name in the order of the answer, whatever the gate says of it."""
    answer = one.ask(tuning)
    ranked = sorted((*answer.chosen, *answer.refused), key=lambda verdict: -verdict.rank)
    return [verdict.candidate.name for verdict in ranked]
