"""Rows in pieces, so that neither a statement nor memory grows with their number. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

_T = TypeVar("_T")


def in_pieces(rows: Iterable[_T], size: int) -> Iterator[list[_T]]:
    """Yield the rows in order, ``size`` at once; the last piece may have fewer."""
    left = iter(rows)
    while piece := list(islice(left, size)):
        yield piece


def with_equals(ranked: Iterable[tuple[float, int]], size: int) -> Iterator[dict[int, float]]:
    """Yield pieces of about ``size``, of row ids with what each is worth; those worth the same are in one piece.

    What is worth the same must come in a row.
    """
    piece: dict[int, float] = {}
    last = 0.0
    for value, row in ranked:
        if len(piece) >= size and value != last:
            yield piece
            piece = {}
        piece[row] = last = value
    if piece:
        yield piece
