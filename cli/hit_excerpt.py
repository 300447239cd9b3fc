"""Lays out the lines of a text around what was found in it, within a width: the span marked, nothing raw.

Pure but for the colours, which depend on the terminal.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from cli import cells, output
from cli.snippets import excerpt, hit_line, snippet

_ROOM_FOR_ELLIPSES: Final = 2
_CHARACTERS_A_CELL: Final = 4
"""Of a long text so much is looked at: marks and blanks take more characters than cells."""
_BLANKS: Final = re.compile("[ \\t\\r\\n]+")


def shown_text(text: str, whole_length: int) -> str:
    """Return a text as it is shown: with an ellipsis at its end where the index keeps only its beginning."""
    return f"{text}…" if whole_length > len(text) else text


def excerpt_lines(text: str, spans: Sequence[tuple[int, int]], wide: int, below: int = 0) -> list[str]:
    """Return the lines of the first span, and ``below`` lines after them, none wider than ``wide`` cells.

    They are cut where escapes or wide characters take more room.
    """
    shown = excerpt(text, spans, wide - _ROOM_FOR_ELLIPSES, below=below)
    lines: list[list[str]] = [["…" if shown.cut_before else ""]]
    room = wide - 1 - len(lines[0][0])
    for piece, is_hit in shown.pieces:
        for number, part in enumerate(piece.replace("\r\n", "\n").split("\n")):
            if number:
                lines.append([""])
                room = wide - 1
            fitting = cells.head(output.safe_line(part), max(room, 0))
            room -= cells.width(fitting)
            lines[-1].append(output.styled(fitting, "hit") if is_hit else fitting)
    following = [cells.cut(output.safe_line(line), wide) for line in shown.below if line.strip()]
    lines[-1].append("…" if shown.cut_after and not following else "")
    return ["".join(line).rstrip() for line in lines] + following


def one_line(text: str, spans: Sequence[tuple[int, int]], characters: int) -> str:
    """Return the line of the first span, at most ``characters`` characters around it, nothing raw.

    Each run of blanks is one space, and so are the ends of lines where the span goes on to further ones.
    """
    line, places = hit_line(text, spans)
    shown = snippet(line, places, characters)
    before = "…" if shown.offset_bytes else ""
    after = "…" if shown.offset_bytes + len(shown.text.encode("utf-8", "surrogatepass")) < _size(line) else ""
    return before + output.safe_line(_BLANKS.sub(" ", shown.text).strip(" ")) + after


def first_line(text: str, wide: int) -> str:
    """Return the beginning of a text on one line of at most ``wide`` cells."""
    return cells.cut(output.safe_line(_BLANKS.sub(" ", text[: wide * _CHARACTERS_A_CELL]).strip(" ")), wide)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
