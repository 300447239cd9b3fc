"""Takes events from a stream as they come, each checked before anything of it is written: ``sessions append``.

I/O is the caller's: one function gives bytes, one writes what was checked. Knows no format. What is there is written
before more is waited for, so a program may keep the stream open for as long as its session lasts; what arrives together
is written together, under one lock. The first bad line ends it: the lines before it are written, none behind it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, TypeVar

from persist.errors import ShapeError
from persist.lines import MAX_LINE_BYTES

CHUNK_BYTES: Final = 64 * 1024
_BLANK: Final = b" \t\r"

Checked = TypeVar("Checked")


class BadLine(NamedTuple):
    """The line that ended it, counted from 1, and why; never its content."""

    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class Appended:
    """How many events were written, how many were left out by the format's own rule, and what ended it early."""

    appended: int
    transient: int
    bad: BadLine | None


@dataclass(frozen=True, slots=True)
class Format(Generic[Checked]):
    """What one store does with a line: ``check`` raises ``ShapeError``, and gives null for what is never stored.

    ``write`` writes events in order, each whole, and raises the store's errors; those before a failure stay.
    """

    check: Callable[[bytes], Checked | None]
    write: Callable[[list[Checked]], object]


def append_from(read: Callable[[int], bytes], of: Format[Checked], *, max_line_bytes: int = MAX_LINE_BYTES) -> Appended:
    """Read lines until the stream ends and write their events. ``read`` gives what is there, ``b""`` at the end.

    Blank lines are passed over and counted as lines. A last line without newline is a line. Memory is one line and
    what arrived with it. Raises what ``read`` and ``write`` raise.
    """
    unfinished = bytearray()
    number = appended = transient = 0
    bad: BadLine | None = None
    while bad is None:
        chunk = read(CHUNK_BYTES)
        unfinished += chunk
        if chunk and b"\n" not in chunk:
            if len(unfinished) > max_line_bytes:
                return Appended(appended, transient, BadLine(number + 1, _too_long(max_line_bytes)))
            continue
        lines = bytes(unfinished).split(b"\n")
        unfinished = bytearray(lines.pop() if chunk else b"")
        checked: list[Checked] = []
        for line in lines:
            number += 1
            try:
                event = _check(line, of, max_line_bytes)
            except ShapeError as error:
                bad = BadLine(number, str(error))
                break
            if event is not None:
                checked.append(event)
            elif line.strip(_BLANK):
                transient += 1
        if checked:
            of.write(checked)
            appended += len(checked)
        if not chunk:
            break
    return Appended(appended, transient, bad)


def _check(line: bytes, of: Format[Checked], max_line_bytes: int) -> Checked | None:
    if len(line) > max_line_bytes:
        raise ShapeError(_too_long(max_line_bytes))
    return of.check(line) if line.strip(_BLANK) else None


def _too_long(max_line_bytes: int) -> str:
    return f"the line is over {max_line_bytes} bytes"
