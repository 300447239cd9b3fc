"""Tells what was read before in one session, in bounded memory. Pure."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final


class Seen:
    """Things that were read, as hashes; all are forgotten at once beyond a million (some 64 MB)."""

    _MAX: Final = 1_000_000

    def __init__(self) -> None:
        self._hashes: set[int] = set()

    def __contains__(self, thing: Hashable) -> bool:
        return hash(thing) in self._hashes

    def is_new(self, thing: Hashable) -> bool:
        """Note a thing; whether it was not there before."""
        value = hash(thing)
        if value in self._hashes:
            return False
        if len(self._hashes) >= self._MAX:
            self._hashes.clear()
        self._hashes.add(value)
        return True
