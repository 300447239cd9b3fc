"""A note's description where nobody wrote one: its first sentence on one line; and what one line is. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import takewhile
from typing import Final

MAX_DESCRIPTION_CHARACTERS: Final = 120
_ELLIPSIS: Final = "\u2026"
_BREAKS = re.compile("[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
_MARKUP = re.compile(r"(?:#{1,6}|[-*+>]|\d{1,3}[.)])\s+")
_HEADING = re.compile(r"#{1,6}\s")
_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s")
_END = re.compile(r"[.!?\u2026][\"'\u2019\u201d)\]]*(?=\s|\Z)|[\u3002\uff01\uff1f][\u300d\u300f\u201d)]*")
_NEEDS_NO_SIGN: Final = frozenset(":;,.!?\u2026\u3002\uff01\uff1f")
"""Behind one of these the next item of a list needs none in between."""
_JOINERS: Final = "\u200d\ufe0e\ufe0f"


def one_line(text: str) -> str:
    """Return a text on one line, trimmed: each run of line breaks becomes a space, everything else stays."""
    return " ".join(part.strip() for part in _BREAKS.split(text) if part.strip())


def first_sentence(note: str, limit: int = MAX_DESCRIPTION_CHARACTERS) -> str:
    """Return the first sentence of a note on one line, at most ``limit`` characters; a longer one ends in an ellipsis.

    A heading is a sentence, and so is a bullet; their marks are left out. A list at the beginning, or behind a line
    that ends in a colon, is told by as many of its items as fit: the first alone (``tag``) says too little. An end
    mark before a small letter (``e.g. this``) ends nothing.
    """
    paragraphs = _paragraphs(note)
    lead = next(paragraphs, "")
    words = _sentence(lead)
    if _BULLET.match(lead) or words.endswith(":"):
        for item in takewhile(_BULLET.match, paragraphs):
            longer = f"{words}{' ' if words[-1:] in _NEEDS_NO_SIGN else '; '}{_sentence(item)}"
            if len(longer) >= limit:
                return f"{words}{_ELLIPSIS}" if len(words) < limit else _cut(words, limit)
            words = longer
    return words if len(words) <= limit else _cut(words, limit)


def _sentence(paragraph: str) -> str:
    """Return the first sentence of a paragraph without its mark."""
    words = " ".join(paragraph.split())
    words = _MARKUP.sub("", words, count=1) if _MARKUP.match(words) else words
    for end in _END.finditer(words):
        rest = words[end.end() :].lstrip()
        if not rest or not rest[0].islower():
            return words[: end.end()]
    return words


def _paragraphs(note: str) -> Iterator[str]:
    """Yield the paragraphs of a note, headings and items of lists being some of their own."""
    lines = _BREAKS.sub(lambda run: "\n\n" if run[0].count("\n") > 1 else "\n", note.strip()).split("\n")
    taken: list[str] = []
    for line in lines:
        if taken and (not line.strip() or _BULLET.match(line) or _HEADING.match(taken[-1].strip())):
            yield " ".join(taken)
            taken = []
        if line.strip():
            taken.append(line)
    if taken:
        yield " ".join(taken)


def _cut(text: str, limit: int) -> str:
    """Cut before a character and what combines with it; at a space where one is near."""
    end = limit - 1
    while end > 1 and (unicodedata.combining(text[end]) or text[end] in _JOINERS or text[end - 1] == "\u200d"):
        end -= 1
    space = text.rfind(" ", 0, end + 1)
    return text[: space if space > end * 2 // 3 else end].rstrip() + _ELLIPSIS
