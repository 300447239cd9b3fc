"""Sentences that several commands say in the same words.

Pure but for the clock; imports the standard library only.
"""

from __future__ import annotations

import time
from typing import Final

_DAY_NS: Final = 86_400_000_000_000


def keeping_notice(title: str, copies: int, gone: int) -> str:
    """Return the one line about an agent whose transcripts are kept: how many copies, how many without an original."""
    many = "1 transcript" if copies == 1 else f"{copies:,} transcripts"
    read = f"; the originals of {gone:,} are gone" if gone else ""
    return f"{many} of {title} {'is' if copies == 1 else 'are'} kept in the archive{read}"


def unkept_notice(title: str, missing: int, older: int, cure: str) -> str:
    """Return the one line about transcripts that are not in the archive as they are; not both numbers are 0."""
    of = "1 transcript" if (missing or older) == 1 else f"{missing or older:,} transcripts"
    told = f"{of} of {title} {_have(missing or older)}"
    if missing:
        told += " no copy in the archive yet"
        told += f", {older:,} {_have(older)} an older one" if older else ""
    else:
        told += " an older copy in the archive"
    return f"{told}: {cure} copies {'it' if missing + older == 1 else 'them'}"


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def deletion_notice(title: str, after_days: int, oldest_mtime_ns: int | None) -> str:
    """Return the one line about an agent that deletes its own transcripts (DESIGN 8)."""
    days = 0 if oldest_mtime_ns is None else (time.time_ns() - oldest_mtime_ns) // _DAY_NS
    age = f"; the oldest here is {days} day{'s' * (days != 1)} old" if days > 0 else ""
    return f"{title} deletes its transcripts after about {after_days} days{age}: asx ingest --keep copies them"
