"""Sentences that several commands say in the same words.

Pure but for the clock; imports the standard library only.
"""

from __future__ import annotations

import time
from typing import Final

_DAY_NS: Final = 86_400_000_000_000


def deletion_notice(title: str, after_days: int, oldest_mtime_ns: int | None) -> str:
    """Return the one line about an agent that deletes its own transcripts (DESIGN 8)."""
    age = ""
    if oldest_mtime_ns is not None:
        age = f"; the oldest here is {max(0, (time.time_ns() - oldest_mtime_ns) // _DAY_NS)} days old"
    return f"{title} deletes its transcripts after about {after_days} days{age}: copy what you want to keep"
