"""The order of what is worth saying: score, with age and the last mark as mild factors, then use.

Pure; imports ``persist.recall`` only.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Final

from persist.recall.candidate import Candidate
from persist.recall.tuning import TUNING, Tuning

_DAY_S: Final = 86_400.0


def recency(candidate: Candidate, as_of: str, tuning: Tuning = TUNING) -> float:
    """Return the factor for age: 1 when touched now or later, or pinned; ``recency_floor`` when very old or unknown."""
    if candidate.pinned:
        return 1.0
    if candidate.touched_at is None:
        return tuning.recency_floor
    days = max(0.0, _days_between(candidate.touched_at, as_of))
    return tuning.recency_floor + (1 - tuning.recency_floor) * math.exp2(-days / tuning.half_life_days)


def marked(candidate: Candidate, tuning: Tuning = TUNING) -> float:
    """Return the factor for the last mark: 1 where there is none."""
    if candidate.last_mark is None:
        return 1.0
    return tuning.harmful if candidate.last_mark == "harmful" else tuning.helpful


def order(candidate: Candidate, rank: float) -> tuple[float, float, float, tuple[str, str]]:
    """Return what candidates are sorted by: the rank, the more used, the newer, the name."""
    newest_first = math.inf if candidate.touched_at is None else -_moment(candidate.touched_at).timestamp()
    return (-rank, -candidate.use, newest_first, candidate.key)


def _days_between(earlier: str, later: str) -> float:
    return (_moment(later) - _moment(earlier)).total_seconds() / _DAY_S


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
