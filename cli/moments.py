"""Times and sizes as people read them: local time, ages like ``5h`` and ``3d``, ``1.2 MB``; pure but for the time zone.

Standard library only. JSON never uses these: it has UTC times and plain numbers.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

_AGES: Final = ((365 * 86400, "y"), (7 * 86400, "w"), (86400, "d"), (3600, "h"), (60, "m"))
_WEEKS_UNTIL_DAYS: Final = 14


def local(ts: str | None) -> str:
    """Return an index time as ``2026-03-29 02:30`` in the machine's time zone; empty for none."""
    return f"{_moment(ts):%Y-%m-%d %H:%M}" if ts else ""


def age(ts: str | None, now: datetime | None = None) -> str:
    """Return how long ago a time is: ``now`` (under a minute, or to come), ``5m``, ``5h``, ``3d``, ``6w``, ``2y``."""
    if not ts:
        return ""
    return age_of((now or datetime.now(UTC)).timestamp() - _moment(ts).timestamp())


def age_of(seconds: float) -> str:
    """Return a duration as :func:`age` does: the largest unit that fits, cut, with days up to two weeks."""
    for unit_s, letter in _AGES:
        if letter == "w" and seconds < _WEEKS_UNTIL_DAYS * 86400:
            continue
        if seconds >= unit_s:
            return f"{int(seconds // unit_s)}{letter}"
    return "now"


def size(size_bytes: int) -> str:
    """Return a number of bytes as ``812 B``, ``1.2 kB``, ``34 MB``: powers of 1000, two digits at most."""
    value = float(size_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 10 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def count(number: int, one: str, many: str | None = None) -> str:
    """Return ``1 session``, ``1,204 sessions``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _moment(ts: str) -> datetime:
    return datetime.fromisoformat(ts).astimezone()
