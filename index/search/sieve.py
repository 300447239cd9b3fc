"""Passes over raw lines of JSON that certainly cannot hold a query, before anything is decoded.

Pure; imports ``index.match`` only. It may let a line through that holds nothing, and must never pass over one whose
texts hold the query. That rests on how parsers make texts (``persist.events``): a text is a string of the record, or
several joined by newlines, or a value of the record as compact JSON. So a piece of the query stands in the line as it
stands in the text, if JSON never writes its characters in another way:

- no quote, backslash or control character, and no comma, colon or bracket, around which writers put blanks or not;
- a slash only while the line writes none as ``\\/``;
- something in it that is no part of a number, which may be written differently, or of ``null``, which NaN becomes;
- its first characters left out where they may be the end of an escape that compact JSON wrote (the n of ``\\n``).

A letter written as ``\\uXXXX``, or one outside ASCII that folds to ASCII (ß, the Kelvin sign), lets its line through.
"""

from __future__ import annotations

import re
from typing import Final, Protocol

from index.match.key import search_key
from index.match.query import Query

FOLDING_TO_ASCII: Final = "ßİŉſǰẖẗẘẙẚẞﬀﬁﬂﬃﬄﬅﬆ\u212a\u037e\u1fef"
"""All letters outside ASCII whose form has ASCII characters; a test compares it with every code point."""
_DOT_ABOVE: Final = "\u0307"
"""With an I before it, it becomes İ, whose form is an i alone: the dot vanishes from between two letters."""

_ASCII: Final = bytes(range(128))
_RUN: Final = re.compile(r'[^\x00-\x1f\x7f"\\,:\[\]{}]+')
_ASCII_RUN: Final = re.compile(r"[ !#-+\--9;-Z^-z|~]+")
_ESCAPE_END: Final = re.compile(r"[bfnrt]|u(?:00?[01]?)?\Z|(?:(?:u?0)?0?[01])?[0-9a-f]", re.IGNORECASE)
"""The end of an escape in compact JSON, or all that is typed of one: of ``\\n`` and the like, or of ``\\u001b``."""
_NUMBER: Final = re.compile(r"[0-9eE+.-]*")
_ODD_NUMBER: Final = re.compile(rb"[:,\[]\s*(?:-?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)|-?\d{17,}|-0)\s*[,\]}]")
"""A JSON value that is a number which may be written back with other digits."""
_JSON_BEGINS: Final = frozenset("{[-0123456789")
_ESCAPE_OF_TEXT: Final = re.compile(rb"\\u(?!00[01])")
"""An escape of anything but a control character."""
_ENOUGH: Final = 4
"""Characters of ASCII that are looked for rather than a piece outside ASCII, which costs more."""


class Sieve(Protocol):
    """Tells which raw bytes cannot hold a query."""

    @property
    def is_number(self) -> bool:
        """Whether what is looked for may be a part of a number: then :meth:`may_rewrite` must be asked too."""

    def may_hold_some(self, run: bytes) -> bool:
        """Say whether any of several whole lines may hold the query. Cheap, for most runs have no such line."""

    def may_hold(self, line: bytes) -> bool:
        """Say whether a line may hold the query, but for numbers that are written back in another way."""


class Everything:
    """Lets every line through."""

    is_number = False

    def may_hold_some(self, run: bytes) -> bool:  # noqa: ARG002 (the protocol's name)
        """Return true."""
        return True

    may_hold = may_hold_some


class AsciiSieve:
    """Looks for a piece in ASCII, whatever its case: a few passes in C over the bytes."""

    def __init__(self, piece: str) -> None:
        self._piece = piece.lower().encode()
        letters = [letter for letter in FOLDING_TO_ASCII if _shares(letter, piece)]
        if "i" in piece.lower():
            letters.append(_DOT_ABOVE)
        self._letters = tuple(letter.encode() for letter in letters)
        numbers = "|".join(["00[2-7]", *(f"{ord(letter):04x}" for letter in letters)])
        self._escaped = re.compile(rb"\\u(?:" + numbers.encode() + rb")", re.IGNORECASE)
        self._has_slash = "/" in piece
        self.is_number = _NUMBER.fullmatch(piece) is not None

    def may_hold_some(self, run: bytes) -> bool:
        """See :meth:`Sieve.may_hold_some`."""
        return self.may_hold(run)

    def may_hold(self, raw: bytes) -> bool:
        """See :meth:`Sieve.may_hold`."""
        if self._piece in raw.lower():
            return True
        if self._letters and not raw.isascii():
            foreign = raw.translate(None, _ASCII)
            if any(letter in foreign for letter in self._letters):
                return True
        if self._escaped.search(raw) is not None:
            return True
        return self._has_slash and b"\\/" in raw


class KeySieve:
    """Looks for a piece of the query's key with characters outside ASCII, in the keys of lines that have such too."""

    is_number = False

    def __init__(self, piece: str) -> None:
        self._piece = piece
        self._has_slash = "/" in piece

    def may_hold_some(self, run: bytes) -> bool:
        """See :meth:`Sieve.may_hold_some`."""
        return not run.isascii() or _ESCAPE_OF_TEXT.search(run) is not None

    def may_hold(self, raw: bytes) -> bool:
        """See :meth:`Sieve.may_hold`. Cost: the key of every line that is not ASCII."""
        if _ESCAPE_OF_TEXT.search(raw) is not None:
            return True
        if raw.isascii():
            return False
        if self._has_slash and b"\\/" in raw:
            return True
        return self._piece in search_key(raw.decode("utf-8", "replace"))


def may_rewrite(line: bytes) -> bool:
    """Say whether a line has a number that compact JSON may write with other digits."""
    return _ODD_NUMBER.search(line) is not None


def looks_like_json(head: str) -> bool:
    """Say whether a text that begins so may be compact JSON with a number in it."""
    return head[:1] in _JSON_BEGINS


def sieve_of(query: Query | None) -> Sieve:
    """Return the sieve for a query; one that lets everything through where nothing in the query tells."""
    if query is None:
        return Everything()
    ascii_piece = _longest(_ASCII_RUN.findall(query.form))
    if len(ascii_piece) >= _ENOUGH:
        return AsciiSieve(ascii_piece)
    key_piece = _longest([run for run in _RUN.findall(query.key) if not run.isascii()])
    if key_piece and not key_piece.isascii():
        return KeySieve(key_piece)
    return AsciiSieve(ascii_piece) if ascii_piece else Everything()


def _longest(runs: list[str]) -> str:
    """Return the longest piece that tells, of runs of characters that JSON writes as they are; empty for none."""
    return max((piece for run in runs if (piece := _telling(run))), key=len, default="")


def _telling(run: str) -> str:
    if run.startswith(" ") and "cancelled".startswith(run[1:].lower()):
        run = run[1:]  # Aether's cancelled tasks: the text's ``: cancelled`` is the record's ``task_cancelled``
    escape = _ESCAPE_END.match(run)
    piece = run[escape.end() :] if escape is not None else run
    return "" if piece.lower() in "null" else piece


def _shares(letter: str, piece: str) -> bool:
    return any(part in piece.lower() for part in (*letter.casefold(), *search_key(letter)) if part.isascii())
