"""Which blocks are stale at a moment, and why (``spec/recall.md`` 4): retention by kind and use. Pure.

Retention halves with each half-life that passes since the last touch; use makes the half-life longer. A block whose
every date is unreadable is never stale: nothing tells how old it is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from persist.memory.standing import DEFAULT_KIND, MAX_USE, Standing

HALF_LIFE_DAYS: Final[Mapping[str, float]] = {
    "preference": 180,
    "decision": 180,
    "gotcha": 120,
    "howto": 120,
    DEFAULT_KIND: 90,
    "note": 30,
}
"""By kind, of a block that was never used; a kind that is another word has a fact's."""
MIN_RETENTION: Final = 0.10
MIN_UNTOUCHED_DAYS: Final = 45.0
HARMFUL_USE: Final = -3.0
"""Use at or below which a block is archived however young it is: two harmful marks and nothing good."""
_DAY_S: Final = 86_400


class Stale(NamedTuple):
    """A block that is to be archived, by slug, and the reason in one line."""

    name: str
    reason: str


def half_life_days(kind: str, use: float) -> float:
    """Return the days in which a block's retention halves; ``use`` counts from 0 to ``MAX_USE``."""
    base = HALF_LIFE_DAYS.get(kind.strip().casefold(), HALF_LIFE_DAYS[DEFAULT_KIND])
    return base * (1 + 0.5 * min(MAX_USE, max(0.0, use)))


def retention(days: float, half_life: float) -> float:
    """Return how much of a block is retained, from 1 down to 0, ``days`` after its last touch."""
    return math.exp2(-max(0.0, days) / half_life)


def untouched_days(standing: Standing, as_of: str) -> float | None:
    """Return the days since the last touch, at least 0; ``None`` where nothing tells."""
    if standing.touched_at is None:
        return None
    passed = datetime.fromisoformat(as_of) - datetime.fromisoformat(standing.touched_at)
    return max(0.0, passed.total_seconds() / _DAY_S)


def stale_reason(standing: Standing, as_of: str) -> str | None:
    """Return why a block is stale at ``as_of``, ``None`` when it is not. A pinned one never is."""
    days = untouched_days(standing, as_of)
    if standing.pinned or days is None:
        return None
    if standing.use <= HARMFUL_USE:
        good = f" against {standing.helpful} helpful" if standing.helpful else ""
        return f"marked harmful {standing.harmful} times{good}, use {standing.use:g}"
    half_life = half_life_days(standing.kind, standing.use)
    retained = retention(days, half_life)
    if retained < MIN_RETENTION and days >= MIN_UNTOUCHED_DAYS:
        return (
            f"{standing.kind}, untouched for {int(days)} days: retention {_cut(retained)} "
            f"at a half-life of {half_life:g} days"
        )
    return None


def stale_blocks(standings: Mapping[str, Standing], as_of: str) -> list[Stale]:
    """Return what is stale at ``as_of``, by name."""
    judged = ((name, stale_reason(standings[name], as_of)) for name in sorted(standings))
    return [Stale(name, reason) for name, reason in judged if reason is not None]


def _cut(retained: float) -> str:
    """Write a retention below ``MIN_RETENTION`` so that it never reads as that."""
    return f"{int(retained * 1000) / 1000:.3f}"
