"""Cuts a text around its first span: pure, standard library only.

Spans and offsets are UTF-8 bytes into the whole text; widths are characters. Nothing is ever cut inside a character.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

MARKED_SPANS: Final = 64
"""Spans that are marked in an excerpt; nobody looks for the next one in the same lines."""


class Snippet(NamedTuple):
    """A part of a text, and the byte offset in the whole text at which it begins."""

    text: str
    offset_bytes: int


def snippet(text: str, spans: Sequence[tuple[int, int]], characters: int) -> Snippet:
    """Return at most ``characters`` characters of ``text`` around its first span.

    The span stands in the middle where it fits; a longer one is shown from its beginning. A text that is short
    enough is whole, one without spans is shown from its beginning.
    """
    if len(text) <= characters:
        return Snippet(text, 0)
    start, end = character_span(text, spans[0]) if spans else (0, 0)
    spare = characters - (end - start)
    begin = start if spare <= 0 else max(0, min(start - spare // 2, len(text) - characters))
    return Snippet(text[begin : begin + characters], len(text[:begin].encode("utf-8", "surrogatepass")))


def hit_line(text: str, spans: Sequence[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """Return the line of the first span, with those that the span goes on to, and that span in it.

    Of a text without spans it is the first line that is not blank.
    """
    if not spans:
        return text.lstrip("\r\n\t ").partition("\n")[0], []
    data = text.encode("utf-8", "surrogatepass")
    start, end = spans[0]
    first = data.rfind(b"\n", 0, start) + 1
    last = data.find(b"\n", end)
    line = data[first:] if last < 0 else data[first:last]
    return line.decode("utf-8", "surrogatepass"), [(start - first, end - first)]


def character_span(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """Return a span of bytes as one of characters."""
    return character_spans(text, [span])[0]


def character_spans(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans of bytes, in order and apart from each other, as spans of characters. Cost: the text once."""
    data = text.encode("utf-8", "surrogatepass")
    found = []
    at_byte = at = 0
    for start, end in spans:
        begin = at + _characters(data, at_byte, start)
        at = begin + _characters(data, start, end)
        at_byte = end
        found.append((begin, at))
    return found


def _characters(data: bytes, start: int, end: int) -> int:
    return len(data[start:end].decode("utf-8", "surrogatepass"))


class Excerpt(NamedTuple):
    """Lines to show: pieces in order, each with whether it is part of a span, and what lies outside.

    ``below`` are the lines that follow in the text, whole, as many as were asked for.
    """

    pieces: list[tuple[str, bool]]
    cut_before: bool
    cut_after: bool
    below: list[str]


def excerpt(text: str, spans: Sequence[tuple[int, int]], characters: int, lines: int = 3, below: int = 0) -> Excerpt:
    """Return the line of the first span, and those that the span goes on to: at most ``lines``.

    Longer than ``characters``, it is cut around the beginning of the span.
    """
    places = character_spans(text, spans[:MARKED_SPANS])
    start, end = places[0] if places else (0, 0)
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    last = len(text) if last < 0 else last
    last = first + len("\n".join(text[first:last].split("\n")[:lines]))
    following = text[last + 1 :].split("\n", below)[:below]
    if last - first > characters:
        first = max(first, min(start - (characters - (end - start)) // 2, start))
        last = min(last, first + characters)
    pieces = []
    at = first
    for from_, to in places:
        if from_ >= last or to <= at:
            continue
        pieces += [(text[at : max(at, from_)], False), (text[max(at, from_) : min(to, last)], True)]
        at = min(to, last)
    pieces.append((text[at:last], False))
    return Excerpt([piece for piece in pieces if piece[0]], first > 0, last < len(text), following)
