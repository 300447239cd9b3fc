"""A note's description where nobody wrote one: its first sentence on one line; and what one line is. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

MAX_DESCRIPTION_CHARACTERS: Final = 120
_ELLIPSIS: Final = "\u2026"
_BREAKS = re.compile("[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
_MARKUP = re.compile(r"(?:#{1,6}|[-*+>]|\d{1,3}[.)])\s+")
_HEADING = re.compile(r"#{1,6}\s")
_BULLET = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s")
_END = re.compile(r"[.!?\u2026][\"'\u2019\u201d)\]]*(?=\s|\Z)|[\u3002\uff01\uff1f][\u300d\u300f\u201d)]*")
_JOINERS: Final = "\u200d\ufe0e\ufe0f"


def one_line(text: str) -> str:
    """Return a text on one line, trimmed: each run of line breaks becomes a space, everything else stays."""
    return " ".join(part.strip() for part in _BREAKS.split(text) if part.strip())


def first_sentence(note: str, limit: int = MAX_DESCRIPTION_CHARACTERS) -> str:
    """Return the first sentence of a note on one line, at most ``limit`` characters; a longer one ends in an ellipsis.

    A heading is a sentence, and so is a bullet; their marks are left out. An end mark before a small letter
    (``e.g. this``) ends nothing.
    """
    words = " ".join(_first_paragraph(note).split())
    words = _MARKUP.sub("", words, count=1) if _MARKUP.match(words) else words
    for end in _END.finditer(words):
        rest = words[end.end() :].lstrip()
        if not rest or not rest[0].islower():
            words = words[: end.end()]
            break
    return words if len(words) <= limit else _cut(words, limit)


def _first_paragraph(note: str) -> str:
    lines = _BREAKS.sub(lambda run: "\n\n" if run[0].count("\n") > 1 else "\n", note.strip()).split("\n")
    taken: list[str] = []
    for line in lines:
        if taken and (not line.strip() or _BULLET.match(line) or _HEADING.match(taken[-1].strip())):
            break
        taken.append(line)
    return " ".join(taken)


def _cut(text: str, limit: int) -> str:
    """Cut before a character and what combines with it; at a space where one is near."""
    end = limit - 1
    while end > 1 and (unicodedata.combining(text[end]) or text[end] in _JOINERS or text[end - 1] == "\u200d"):
        end -= 1
    space = text.rfind(" ", 0, end + 1)
    return text[: space if space > end * 2 // 3 else end].rstrip() + _ELLIPSIS
