"""Tool calls whose arguments arrive in pieces (eras A to D of ``spec/aether.md`` 1.6), in bounded memory.

Pure; imports the standard library, ``persist.lines`` and a type of ``persist.sources`` only. Old logs write a call
before its arguments are known, then one line per piece, then a result that usually repeats them whole. The parser keeps
what is open at a line border in its state; readers of a whole log use :func:`best_arguments` without a bound.
"""

from __future__ import annotations

import json
from typing import Final, NamedTuple

from persist.lines import decode
from persist.sources import Record

MAX_OPEN_CALLS: Final = 64
MAX_OPEN_BYTES: Final = 40 * 1024
"""What all open calls may take in the saved state, as ASCII JSON; a state has to stay under 64 KiB."""


class OpenCall(NamedTuple):
    """A call without an answer so far: what it said itself, the pieces that followed, their size as JSON."""

    initial: str
    pieces: str
    size_bytes: int

    def arguments(self) -> str:
        """Return the arguments as far as they are known."""
        return best_arguments(self.initial, self.pieces)


class OpenCalls:
    """Open calls by id, oldest first; the oldest leave when there are too many or they take too much.

    A call that is too large on its own is not kept: half of its arguments would pass for the whole.
    """

    def __init__(self, saved: list[Record] | None = None) -> None:
        self._calls = {call_id: OpenCall(*rest) for call_id, *rest in saved or []}
        self._size_bytes = sum(call.size_bytes for call in self._calls.values())

    def open(self, call_id: str, initial: str | None) -> None:
        """Begin a call; one of the same id that was left open is forgotten."""
        self.close(call_id)
        size_bytes = _size(call_id) + _size(initial or "")
        self._keep(call_id, OpenCall(initial or "", "", size_bytes))

    def add(self, call_id: str, piece: str) -> None:
        """Add a piece to the arguments of a call; unknown calls are passed over."""
        call = self._calls.get(call_id)
        if call is None:
            return
        size_bytes = call.size_bytes + _size(piece)
        self._size_bytes -= call.size_bytes
        self._keep(call_id, OpenCall(call.initial, call.pieces + piece, size_bytes))

    def arguments(self, call_id: str | None) -> str | None:
        """Return the arguments known for an open call, ``None`` when it is not open or has none."""
        call = self._calls.get(call_id) if call_id is not None else None
        return (call.arguments() or None) if call is not None else None

    def close(self, call_id: str | None) -> None:
        """Forget a call."""
        call = self._calls.pop(call_id, None) if call_id is not None else None
        if call is not None:
            self._size_bytes -= call.size_bytes

    def save(self) -> list[Record]:
        """Return what the constructor takes, as JSON values."""
        return [[call_id, *call] for call_id, call in self._calls.items()]

    def _keep(self, call_id: str, call: OpenCall) -> None:
        self._calls[call_id] = call
        self._size_bytes += call.size_bytes
        if call.size_bytes > MAX_OPEN_BYTES:
            self.close(call_id)
        while len(self._calls) > MAX_OPEN_CALLS or self._size_bytes > MAX_OPEN_BYTES:
            self.close(next(iter(self._calls)))


def best_arguments(initial: str, pieces: str) -> str:
    """Return the likeliest arguments of a call that began with ``initial`` and went on with ``pieces``.

    Both joined when that is one whole JSON value, else the longer one that is (providers differ in whether
    the first line already holds a part, all, or a placeholder); where none is whole, both joined.
    """
    if not pieces:
        return initial
    joined = initial + pieces
    for candidate in (joined, *sorted((initial, pieces), key=len, reverse=True)):
        if _is_whole(candidate):
            return candidate
    return joined


def _is_whole(text: str) -> bool:
    try:
        decode(text.encode("utf-8", "replace"))
    except ValueError:
        return False
    return True


def _size(text: str) -> int:
    return len(json.dumps(text))
