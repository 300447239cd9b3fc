"""How many cells of a terminal a text takes, and cutting it to a number of them; pure, standard library only.

Wide characters (East Asian, most emoji) take two cells, combining marks and joiners none. Texts are already
safe (``cli.output.safe``).
"""

from __future__ import annotations

import unicodedata
from typing import Final

ELLIPSIS: Final = "…"
_NO_CELL: Final = frozenset({"Mn", "Me", "Cf"})


def width(text: str) -> int:
    """Return the cells that one line takes."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def cut(text: str, cells: int) -> str:
    """Return ``text`` in at most ``cells`` cells, ended by an ellipsis where it was cut."""
    if width(text) <= cells:
        return text
    if cells < 1:
        return ""
    return head(text, cells - 1).rstrip() + ELLIPSIS


def cut_front(text: str, cells: int) -> str:
    """Return ``text`` in at most ``cells`` cells, its end kept: a path tells most there."""
    if width(text) <= cells:
        return text
    if cells < 1:
        return ""
    backwards = head(text[::-1], cells - 1)
    return ELLIPSIS + text[len(text) - len(backwards) :]


def wrapped(text: str, cells: int) -> list[str]:
    """Return the words of one line as lines of at most ``cells`` cells; a longer word has a line of its own."""
    lines: list[str] = []
    for word in text.split():
        if lines and width(lines[-1]) + 1 + width(word) <= cells:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines or [""]


def head(text: str, cells: int) -> str:
    """Return the longest beginning of ``text`` that takes at most ``cells`` cells."""
    taken = 0
    for position, character in enumerate(text):
        taken += _cells(character)
        if taken > cells:
            return text[:position]
    return text


def padded(text: str, cells: int, *, right: bool = False) -> str:
    """Return ``text`` filled with spaces to ``cells`` cells, on its left when it is to stand ``right``."""
    space = " " * (cells - width(text))
    return space + text if right else text + space


def _cells(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.category(character) in _NO_CELL:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
