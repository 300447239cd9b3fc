"""Tables of text that fit a width: pure, standard library only.

A narrow width first takes from the columns that may shrink, then leaves out the columns that matter least.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from cli.cells import cut, cut_front, padded, width, wrapped
from cli.output import safe_line

_GAP: Final = 2
_LEAST_SENTENCE: Final = 28
"""Cells that a sentence has at least: a version's ULID and the word before it fit."""


class Column(NamedTuple):
    """A column's title, and how it behaves where there is no room.

    ``shrinks_to`` is the least number of cells a column may be cut to, ``None`` for one that is never cut (an id).
    ``drop`` orders columns that may be left out, the highest first; 0 stays always. ``keeps_end`` cuts the beginning,
    as suits a path.
    """

    title: str
    right: bool = False
    shrinks_to: int | None = None
    drop: int = 0
    keeps_end: bool = False


def table(columns: Sequence[Column], rows: Sequence[Sequence[object]], cells: int, gap: int = _GAP) -> list[str]:
    """Return the lines of a table, titles first, each at most ``cells`` wide where the columns allow it.

    ``gap`` cells stand between columns. Values are made safe and put on one line; ``None`` is empty.
    """
    texts = _texts(rows)
    natural = _natural(columns, texts)
    kept = list(range(len(columns)))
    while _least(columns, natural, kept, gap) > cells and any(columns[at].drop for at in kept):
        kept.remove(max(kept, key=lambda at: columns[at].drop))
    widths = _fitted(columns, natural, kept, cells, gap)
    lines = [[columns[at].title for at in range(len(columns))], *texts]
    return [
        (" " * gap)
        .join(padded(_cut(row[at], columns[at], widths[at]), widths[at], right=columns[at].right) for at in kept)
        .rstrip()
        for row in lines
    ]


def table_of_sentences(columns: Sequence[Column], rows: Sequence[Sequence[object]], cells: int) -> list[str]:
    """Return the lines of a table whose last column is a sentence: where it has no room it goes on below, never cut.

    The other columns are those of :func:`table`; a word that is longer than the room has a line of its own.
    """
    sentences = [columns[-1].title, *(row[-1] for row in _texts(rows))]
    heads = table(columns[:-1], [row[:-1] for row in rows], cells - _GAP - _LEAST_SENTENCE)
    beside = max(width(head) for head in heads) + _GAP
    room = max(cells - beside, _LEAST_SENTENCE)
    lines: list[str] = []
    for head, sentence in zip(heads, sentences, strict=True):
        first, *more = [sentence] if width(sentence) <= room else wrapped(sentence, room)
        lines.append(f"{padded(head, beside)}{first}".rstrip())
        lines += [" " * beside + part for part in more]
    return lines


def _cut(text: str, column: Column, cells: int) -> str:
    return cut_front(text, cells) if column.keeps_end else cut(text, cells)


def fits(columns: Sequence[Column], rows: Sequence[Sequence[object]], cells: int, gap: int = _GAP) -> bool:
    """Return whether :func:`table` can keep every column within ``cells``."""
    return _least(columns, _natural(columns, _texts(rows)), range(len(columns)), gap) <= cells


def _texts(rows: Sequence[Sequence[object]]) -> list[list[str]]:
    return [["" if value is None else safe_line(str(value)) for value in row] for row in rows]


def _natural(columns: Sequence[Column], texts: Sequence[Sequence[str]]) -> list[int]:
    return [max([width(column.title), *(width(row[at]) for row in texts)]) for at, column in enumerate(columns)]


def _least(columns: Sequence[Column], natural: Sequence[int], kept: Sequence[int], gap: int) -> int:
    least = 0
    for at in kept:
        shrunk = columns[at].shrinks_to
        least += natural[at] if shrunk is None else min(natural[at], shrunk)
    return least + gap * (len(kept) - 1)


def _fitted(
    columns: Sequence[Column], natural: Sequence[int], kept: Sequence[int], cells: int, gap: int
) -> dict[int, int]:
    """Return the width of each kept column; what is too much is taken from the widest that may shrink."""
    widths = {at: natural[at] for at in kept}
    over = sum(widths.values()) + gap * (len(kept) - 1) - cells
    while over > 0:
        shrinking = [at for at in kept if widths[at] > (columns[at].shrinks_to or natural[at])]
        if not shrinking:
            break
        widest = max(shrinking, key=lambda at: widths[at])
        widths[widest] -= 1
        over -= 1
    return widths
