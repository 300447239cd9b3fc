"""Tables of text that fit a width: pure, standard library only.

A narrow width first takes from the columns that may shrink, then leaves out the columns that matter least.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from cli.cells import cut, padded, width
from cli.output import safe_line

_GAP: Final = "  "


class Column(NamedTuple):
    """A column's title, and how it behaves where there is no room.

    ``shrinks_to`` is the least number of cells a column may be cut to, ``None`` for one that is never cut (an id).
    ``drop`` orders columns that may be left out, the highest first; 0 stays always.
    """

    title: str
    right: bool = False
    shrinks_to: int | None = None
    drop: int = 0


def table(columns: Sequence[Column], rows: Sequence[Sequence[object]], cells: int) -> list[str]:
    """Return the lines of a table, titles first, each at most ``cells`` wide where the columns allow it.

    Values are made safe and put on one line; ``None`` is empty.
    """
    texts = [["" if value is None else safe_line(str(value)) for value in row] for row in rows]
    natural = [max([width(column.title), *(width(row[at]) for row in texts)]) for at, column in enumerate(columns)]
    kept = list(range(len(columns)))
    while _least(columns, natural, kept) > cells and any(columns[at].drop for at in kept):
        kept.remove(max(kept, key=lambda at: columns[at].drop))
    widths = _fitted(columns, natural, kept, cells)
    lines = [[columns[at].title for at in range(len(columns))], *texts]
    return [
        _GAP.join(padded(cut(row[at], widths[at]), widths[at], right=columns[at].right) for at in kept).rstrip()
        for row in lines
    ]


def _least(columns: Sequence[Column], natural: Sequence[int], kept: Sequence[int]) -> int:
    least = 0
    for at in kept:
        shrunk = columns[at].shrinks_to
        least += natural[at] if shrunk is None else min(natural[at], shrunk)
    return least + len(_GAP) * (len(kept) - 1)


def _fitted(columns: Sequence[Column], natural: Sequence[int], kept: Sequence[int], cells: int) -> dict[int, int]:
    """Return the width of each kept column; what is too much is taken from the widest that may shrink."""
    widths = {at: natural[at] for at in kept}
    over = sum(widths.values()) + len(_GAP) * (len(kept) - 1) - cells
    while over > 0:
        shrinking = [at for at in kept if widths[at] > (columns[at].shrinks_to or natural[at])]
        if not shrinking:
            break
        widest = max(shrinking, key=lambda at: widths[at])
        widths[widest] -= 1
        over -= 1
    return widths
