"""What a piece of work took: wall time, processor time and the peak memory of this process.

Standard library only; imports nothing of ours.
"""

from __future__ import annotations

import resource
import sys
import time
from typing import Final, NamedTuple

_MAXRSS_BYTES: Final = 1 if sys.platform == "darwin" else 1024
"""``ru_maxrss`` counts kibibytes on Linux and bytes on macOS."""


class Spent(NamedTuple):
    """Seconds of wall and of processor time, and the process's peak memory so far in bytes."""

    wall_s: float
    cpu_s: float
    peak_bytes: int

    @classmethod
    def now(cls) -> Spent:
        """Return the clocks as they stand."""
        usage = resource.getrusage(resource.RUSAGE_SELF)
        cpu_s = usage.ru_utime + usage.ru_stime
        return cls(time.perf_counter(), cpu_s, usage.ru_maxrss * _MAXRSS_BYTES)


def spent_since(started: Spent) -> Spent:
    """Return what was spent since ``started``; the peak is that of the whole process."""
    now = Spent.now()
    return Spent(now.wall_s - started.wall_s, now.cpu_s - started.cpu_s, now.peak_bytes)


def percentile(values: list[float], share: float) -> float:
    """Return the smallest value that at least ``share`` (0 to 1) of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, min(len(ordered) - 1, -(-int(share * 100) * len(ordered) // 100) - 1))]
