"""Measures the recall: ``python -m bench.evals`` prints each set's figures and ends with 1 where a threshold is missed.

The two public sets are read from where they lie (``--public``); without them the others are measured.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench.evals.sets import HALVES, EvalSet, Figures, measure, missed, our_sets, outcomes, public_sets, read_thresholds

REPOSITORY: Final = Path(__file__).resolve().parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and tell whether every threshold is met."""
    parser = argparse.ArgumentParser(description="Measure what the memory recalls, and where it stays silent.")
    shared = Path(os.environ.get("ASTER_SHARED") or REPOSITORY.parent / "shared")
    parser.add_argument("--public", type=Path, default=shared / "evals", help="the folder with the public sets")
    parser.add_argument("--failures", action="store_true", help="print each case that is not as it should be")
    chosen = parser.parse_args(arguments)
    thresholds = read_thresholds()
    troubles = 0
    sets = [*our_sets(), *public_sets(chosen.public)]
    for one in sets:
        told = measure(one)
        _line(f"{one.name}", told)
        for which in HALVES:
            _line(f"  {which} half", measure(one.half(which)))
        if chosen.failures and not one.is_ranked:
            _failures(one)
        for sentence in missed(told, thresholds.get(one.name, {})):
            troubles += 1
            sys.stdout.write(f"  MISSED: {sentence}\n")
    for name in sorted(thresholds.keys() - {one.name for one in sets}):
        sys.stdout.write(f"{name:<22}not measured: it is not in {chosen.public}\n")
    return 1 if troubles else 0


def _line(name: str, told: Figures) -> None:
    cells = [
        f"{figure} {value:g}" if value == int(value) and value > 1 else f"{figure} {value:.3f}"
        for figure, value in told.items()
    ]
    sys.stdout.write(f"{name:<22}{'  '.join(cells)}\n")


def _failures(one: EvalSet) -> None:
    for outcome in outcomes(one.prepared):
        if not outcome.holds:
            expected = outcome.case.expected
            wanted, came = (", ".join(names) or "nothing" for names in (sorted(expected.recall), outcome.names))
            prompt = " ".join(outcome.case.prompt.split())[:80]
            sys.stdout.write(f"    {outcome.case.id}: {prompt!r} wants {wanted}, got {came}\n")


if __name__ == "__main__":
    sys.exit(main())
