"""A column of bars beside a table: numbers as lengths, the largest as long as there is room.

Blocks of an eighth of a cell where the terminal has them, else ``#``. Pure but for :func:`has_blocks`, which asks the
process's locale and stdout. Standard library only.
"""

from __future__ import annotations

import locale
import sys
from collections.abc import Sequence
from typing import Final

EIGHTHS: Final = " ▏▎▍▌▋▊▉"
FULL: Final = "█"
ASCII: Final = "#"
LEAST_CELLS: Final = 4
MOST_CELLS: Final = 40
"""Longer bars tell no more and lead the eye away from their row."""


def bars(values: Sequence[object], cells: int, *, ascii_only: bool) -> list[str]:
    """Return a bar of at most ``cells`` cells for each value; nothing for none, for zero and for less.

    A number above zero has at least the smallest bar, so that it never looks like none.
    """
    numbers = [float(value) if isinstance(value, int | float) else 0.0 for value in values]
    most = max(numbers, default=0.0)
    steps = cells if ascii_only else cells * len(EIGHTHS)
    lengths = [max(1, round(number / most * steps)) if number > 0 else 0 for number in numbers]
    return [ASCII * length if ascii_only else _blocks(length) for length in lengths]


def _blocks(eighths: int) -> str:
    whole, rest = divmod(eighths, len(EIGHTHS))
    return FULL * whole + (EIGHTHS[rest] if rest else "")


def has_blocks() -> bool:
    """Return whether stdout and the locale's encoding have the blocks: the program writes UTF-8 whatever it says."""
    for encoding in (locale.getencoding(), getattr(sys.stdout, "encoding", None)):
        try:
            (EIGHTHS + FULL).encode(encoding or "ascii")
        except (UnicodeEncodeError, LookupError):
            return False
    return True
