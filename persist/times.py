"""Times as the index keeps them: TEXT of 24 characters, UTC, milliseconds (DESIGN 6, "Time").

Pure. ``2026-03-29T00:30:00.000Z``: text order is time order. What cannot be read, is zero, negative
or absurd is ``None``; the caller counts it. Fractions are cut, not rounded, so that equal instants
written with more digits stay equal and nothing moves into the next second.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import Final

EARLIEST_YEAR: Final = 2000
"""Agents did not exist before; older times are broken clocks or wrong units."""
LATEST_YEAR: Final = 2100
EARLIEST: Final = str(EARLIEST_YEAR)
LATEST: Final = str(LATEST_YEAR)

_PLAIN = re.compile(r"(20\d\d-\d\d-\d\d)(T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d{1,9}))?(?:Z|\+00:00)\Z", re.ASCII)
_ANY = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,12}))?)?\s?(Z|z|[+-]\d\d:?\d\d|UTC)?\Z",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS_ABOVE: Final = 10**11
"""Numbers above are milliseconds, below seconds: 10**11 s is the year 5138, 10**11 ms is 1973."""


def from_text(value: str) -> str | None:
    """Read an RFC 3339 time (any offset, ``T`` or a space, 0 to 12 fraction digits; none is UTC)."""
    if len(value) >= 24 and value[-1] == "Z" and value[19] == "." and value[10] == "T" and value[5] in "01":
        # What agents write; the date and the clock are checked in C, and the digits kept are those written.
        try:
            datetime.fromisoformat(value)
        except ValueError:
            return None
        return value[:23] + "Z" if EARLIEST <= value < LATEST else None
    plain = _PLAIN.match(value)
    if plain is not None:
        day, clock, fraction = plain.groups()
        if not _is_calendar(day):
            return None
        return f"{day}{clock}.{fraction[:3]:0<3}Z" if fraction else f"{day}{clock}.000Z"
    match = _ANY.match(value.strip())
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    offset = UTC if zone in (None, "Z", "z", "UTC") else _offset(zone)
    if offset is None:
        return None
    try:
        moment = datetime(
            int(year), int(month), int(day), int(hour), int(minute), int(second or 0),
            int(f"{(fraction or '')[:6]:0<6}"), tzinfo=offset,
        )  # fmt: skip
        return _format(moment.astimezone(UTC))
    except (ValueError, OverflowError):
        return None


def from_epoch_ms(value: float) -> str | None:
    """Read milliseconds since 1970 (an integer or a float)."""
    try:
        return _format(_EPOCH + timedelta(milliseconds=value))
    except (OverflowError, ValueError):
        return None


def from_any(value: object) -> str | None:
    """Read what agents write for a time: RFC 3339 text, or seconds or milliseconds since 1970."""
    if isinstance(value, str):
        return from_text(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return from_epoch_ms(value if abs(value) >= _MS_ABOVE else value * 1000)


def now() -> str:
    """Return this moment in the index's form."""
    return from_epoch_ms(datetime.now(UTC).timestamp() * 1000) or ""


def from_ns(value: int) -> str | None:
    """Read a file time in nanoseconds since 1970."""
    return from_epoch_ms(value // 1_000_000)


def _offset(zone: str) -> timezone | None:
    digits = zone[1:].replace(":", "")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if hours > 23 or minutes > 59:
        return None
    delta = timedelta(hours=hours, minutes=minutes)
    return timezone(delta if zone[0] == "+" else -delta)


@lru_cache(maxsize=4096)
def _is_calendar(day: str) -> bool:
    try:
        return EARLIEST_YEAR <= datetime.fromisoformat(day).year < LATEST_YEAR
    except ValueError:
        return False


def _format(moment: datetime) -> str | None:
    if not EARLIEST_YEAR <= moment.year < LATEST_YEAR:
        return None
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"
