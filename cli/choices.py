"""Converts the texts of options that Typer leaves as they are: times, sizes, roots, lists of names.

Imports Typer for its usage error and, inside functions, ``persist``; every mistake names the option and says what fits.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

import typer

_AGO: Final = re.compile(r"([0-9]{1,5})([mhdwy])\Z", re.ASCII)
_UNIT_S: Final = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "y": 365 * 86400}
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z", re.ASCII)
_DAYS_AGO: Final = {"today": 0, "yesterday": 1}
_WITHOUT_OFFSET: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9:]+([.,][0-9]+)?\Z", re.ASCII)
_SIZE: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,3})?)\s*([kmg]?)i?b?\Z", re.ASCII | re.IGNORECASE)
_EVENT: Final = re.compile(r"(?P<id>.+?):(?P<event>[0-9]{1,12})(?::(?P<file>/.+))?\Z", re.ASCII | re.DOTALL)


def typed_text(text: str) -> str:
    """Return an argument as the person typed it: UTF-8 even where the locale made bytes of it."""
    if text.isascii():
        return text
    try:
        return os.fsencode(text).decode("utf-8", "replace")
    except UnicodeEncodeError:  # not from a command line: those are bytes
        return text


def joined(words: Iterable[str]) -> str:
    """Return several arguments as one text, joined by spaces."""
    return " ".join(typed_text(word) for word in words)


def split(values: Iterable[str] | None) -> list[str]:
    """Return the parts of values with commas, without the blanks around them."""
    return [part.strip() for value in values or () for part in value.split(",")]


def names(values: Iterable[str] | None, known: Iterable[str], option: str) -> tuple[str, ...]:
    """Return the names of an option given several times or with commas, each once, in the order typed."""
    allowed = list(known)
    chosen = dict.fromkeys(split(values))
    for name in chosen:
        if name not in allowed:
            raise _wrong(option, f"{name!r} is none of {', '.join(allowed)}")
    return tuple(chosen)


def roots(values: Sequence[str] | None, known: Iterable[str], option: str = "--root") -> list[tuple[str, str]]:
    """Return roots written as ``AGENT=PATH`` as pairs; the agent is one of ``known``, the path as typed."""
    agents = list(known)
    found = []
    for value in values or ():
        agent, equals, path = value.partition("=")
        if not (equals and path):
            raise _wrong(option, f"{value!r} is not AGENT=PATH, like claude-code=~/laptop/.claude")
        if agent not in agents:
            raise _wrong(option, f"{agent!r} is none of {', '.join(agents)}")
        found.append((agent, path))
    return found


def moment(value: str | None, option: str, now: datetime | None = None, *, until: bool = False) -> str | None:
    """Return a time in the index's form, as the border it is: the beginning of a span, or with ``until`` its end.

    An age (``5h``, ``3d``, ``2w``) is counted from now; a day (``2026-03-29``, ``today``, ``yesterday``) is a whole
    local day, so that its end is where the next one begins; a time without an offset is local, one with an offset or
    ``Z`` exact. Where clocks go back, a local time that comes twice is the first for a beginning, the second for an
    end; one that the clock skipped is the moment of the change. Raises ``typer.BadParameter`` for anything else and
    for times outside of ``persist.times``' years.
    """
    if value is None:
        return None
    text = value.strip()
    clock = now or datetime.now(UTC)
    try:
        found = _age(text, clock) or _day(text, clock, until=until) or _time(text, until=until)
    except (ValueError, OverflowError):
        found = None
    if found is None:
        raise _wrong(
            option, f"{value!r} is not a time like 7d, 2w, today, 2026-03-29, 2026-03-29T12:00 or 2026-03-29T12:00Z"
        )
    return found


def _age(text: str, now: datetime) -> str | None:
    from persist import times

    ago = _AGO.match(text)
    return ago and times.from_epoch_ms((now.timestamp() - int(ago[1]) * _UNIT_S[ago[2]]) * 1000)


def _day(text: str, now: datetime, *, until: bool) -> str | None:
    """Return the local midnight at which a day begins or ends; the last day that is read ends with its year."""
    from persist import times

    days_ago = _DAYS_AGO.get(text.lower())
    if days_ago is not None:
        day = now.astimezone().date() - timedelta(days=days_ago)
    elif _DAY.match(text):
        day = date.fromisoformat(text)
    else:
        return None
    if not times.EARLIEST_YEAR <= day.year < times.LATEST_YEAR:
        return None
    border = day + timedelta(days=1) if until else day
    midnight = datetime(border.year, border.month, border.day)
    return times.from_epoch_ms(midnight.timestamp() * 1000) or f"{times.LATEST}-01-01T00:00:00.000Z"


def _time(text: str, *, until: bool) -> str | None:
    from persist import times

    if not _WITHOUT_OFFSET.match(text):
        return times.from_text(text)
    local = datetime.fromisoformat(text.replace(",", "."))
    first, second = local.replace(fold=0).timestamp(), local.replace(fold=1).timestamp()
    if first > second:  # a time that the clock skipped: either way the border is the moment of the change
        return times.from_epoch_ms(_change_between(second, first) * 1000)
    return times.from_epoch_ms((second if until else first) * 1000)


def _change_between(before: float, after: float) -> float:
    """Return the second in which local time begins to differ from what it is ``before``; ``after`` it does."""
    low, high = int(before), int(after)
    offset = datetime.fromtimestamp(low).astimezone().utcoffset()
    while high - low > 1:
        middle = (low + high) // 2
        if datetime.fromtimestamp(middle).astimezone().utcoffset() == offset:
            low = middle
        else:
            high = middle
    return high


def size_bytes(value: str | None, option: str) -> int | None:
    """Return a size like ``500``, ``64k``, ``1.5 MB`` in bytes; k, M and G are powers of 1024."""
    if value is None:
        return None
    found = _SIZE.match(value.strip())
    if found is None:
        raise _wrong(option, f"{value!r} is not a size like 500, 64k or 1.5M")
    power = {"": 0, "k": 1, "m": 2, "g": 3}[found[2].lower()]
    return int(float(found[1]) * 1024**power)


class EventId(NamedTuple):
    """What ``ID[:EVENT[:FILE]]`` names: a session, an event's number, and the file in which it is counted."""

    session_id: str
    event_index: int | None = None
    file: str | None = None


def event_id(text: str, agents: Iterable[str] = ()) -> EventId:
    """Read ``ID[:EVENT[:FILE]]``; ``AGENT:ID`` is an id, digits or not, and a file an absolute path."""
    typed = typed_text(text)
    found = _EVENT.match(typed)
    if found is None or found["id"] in set(agents):
        return EventId(typed)
    return EventId(found["id"], int(found["event"]), found["file"])


def _wrong(option: str, message: str) -> typer.BadParameter:
    return typer.BadParameter(message, param_hint=option)
