"""Converts the texts of options that Typer leaves as they are: times, sizes, roots, lists of names.

Imports Typer for its usage error and, inside functions, ``persist``; every mistake names the option and says what fits.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

import typer

_AGO: Final = re.compile(r"([0-9]{1,5})([mhdwy])\Z", re.ASCII)
_UNIT_S: Final = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400, "y": 365 * 86400}
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z", re.ASCII)
_SIZE: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,3})?)\s*([kmg]?)i?b?\Z", re.ASCII | re.IGNORECASE)
_EVENT: Final = re.compile(r"(?P<id>.+):(?P<event>[0-9]{1,12})\Z", re.ASCII | re.DOTALL)


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


def names(values: Sequence[str] | None, known: Iterable[str], option: str) -> tuple[str, ...]:
    """Return the names of an option given several times or with commas, each once, in the order typed."""
    allowed = list(known)
    chosen: dict[str, None] = {}
    for value in values or ():
        for name in value.split(","):
            stripped = name.strip()
            if stripped not in allowed:
                raise _wrong(option, f"{stripped!r} is none of {', '.join(allowed)}")
            chosen[stripped] = None
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


def moment(value: str | None, option: str, now: datetime | None = None) -> str | None:
    """Return a time in the index's form: RFC 3339, a local day (its beginning), or an age like ``5h`` and ``3d``."""
    if value is None:
        return None
    from persist import times

    text = value.strip()
    ago = _AGO.match(text)
    if ago is not None:
        ago_s = int(ago[1]) * _UNIT_S[ago[2]]
        found = times.from_epoch_ms(((now or datetime.now(UTC)).timestamp() - ago_s) * 1000)
    elif _DAY.match(text):
        found = _beginning_of_day(text)
    else:
        found = times.from_text(text)
    if found is None:
        raise _wrong(option, f"{value!r} is not a time like 2026-03-29, 2026-03-29T12:00:00Z or 3d")
    return found


def _beginning_of_day(text: str) -> str | None:
    from persist import times

    try:
        return times.from_epoch_ms(datetime.fromisoformat(text).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def size_bytes(value: str | None, option: str) -> int | None:
    """Return a size like ``500``, ``64k``, ``1.5 MB`` in bytes; k, M and G are powers of 1024."""
    if value is None:
        return None
    found = _SIZE.match(value.strip())
    if found is None:
        raise _wrong(option, f"{value!r} is not a size like 500, 64k or 1.5M")
    power = {"": 0, "k": 1, "m": 2, "g": 3}[found[2].lower()]
    return int(float(found[1]) * 1024**power)


def event_id(text: str, agents: Iterable[str] = ()) -> tuple[str, int | None]:
    """Return ``ID[:EVENT]`` as the session's id and the event's number; ``AGENT:ID`` is an id, digits or not."""
    typed = typed_text(text)
    found = _EVENT.match(typed)
    if found is None or found["id"] in set(agents):
        return typed, None
    return found["id"], int(found["event"])


def _wrong(option: str, message: str) -> typer.BadParameter:
    return typer.BadParameter(message, param_hint=option)
