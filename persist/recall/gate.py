"""Whether a candidate is worth saying: its evidence, its share of the best score, or an alias in the prompt.

Pure; imports ``persist.recall`` only. Knows no dates: age never silences and freshness never admits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from persist.recall.evidence import Evidence
from persist.recall.tuning import TUNING, Tuning


class Best(NamedTuple):
    """The most that any candidate has that may be recalled: each on its own; 0 where there is none."""

    score: float
    evidence: float


def best_of(found: Sequence[Evidence]) -> Best:
    """Return the best of candidates that may be recalled."""
    return Best(max((one.score for one in found), default=0.0), max((one.evidence for one in found), default=0.0))


def refusal(found: Evidence, best: Best, tuning: Tuning = TUNING) -> str | None:
    """Return why a candidate is refused, as one clause, ``None`` when it is worth saying."""
    if found.alias is not None:
        return None
    if not found.matched:
        return "shares no word with the prompt"
    if found.evidence < tuning.evidence:
        return f"evidence {found.evidence:.1f} is under {tuning.evidence:g}"
    if not found.telling:
        return "shares only words that tell little"
    if found.words == 1:
        covers_all = found.coverage >= tuning.all_of_it and len(found.matched) > 1
        if found.head < tuning.head and not covers_all:
            return "one word alone, and not in its name or description"
        if found.evidence < tuning.alone * best.evidence:
            return f"one word alone, and another one has evidence {best.evidence:.1f}"
    if found.score < tuning.relative * best.score:
        return f"score {found.score:.1f} is under {tuning.relative:g} of the best, {best.score:.1f}"
    return None


def is_dominated(found: Evidence, better: Evidence) -> bool:
    """Tell whether all that a candidate has of a prompt, another one has too, and more: a word, or an alias."""
    if found.alias is not None:
        return False
    if better.alias is not None:
        return found.telling <= better.telling
    return found.telling < better.telling and found.score < better.score
