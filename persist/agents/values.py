"""Values in the records of agents that promise no schema: ids, counts, contents, arguments.

Pure; imports the standard library, orjson and ``persist.errors``, never an agent. Anything may stand anywhere in such a
record (``spec/fault-checks.md`` B17): what is not of the form that is asked for gives ``None`` or nothing, and no
exception but the :class:`ShapeError` of :func:`compact_json`.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Final

import orjson

from persist.errors import ShapeError

MAX_ID_CHARS: Final = 200
MAX_COUNT: Final = 2**53
"""Token counts above are absurd: JSON numbers of other programs are not exact there."""
_WORD: Final = re.compile(r"[A-Za-z0-9_.-]{1,60}\Z")


def read_id(value: object) -> str | None:
    """Return an id, or ``None`` for what is no text of 1 to 200 characters."""
    return value if isinstance(value, str) and 0 < len(value) <= MAX_ID_CHARS else None


def read_count(value: object) -> int | None:
    """Return a count of tokens, or ``None`` for what is no whole number from 0 to ``MAX_COUNT``."""
    return value if type(value) is int and 0 <= value <= MAX_COUNT else None


def read_cost(value: object) -> float | None:
    """Return a cost in the unit that it is written in, or ``None`` for what is no number from 0 up."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < MAX_COUNT else None


def as_list(content: object) -> list[Any]:
    """Return the parts of a content: a list's, or a lone text or object; what is no content has none."""
    if isinstance(content, list):
        return content
    return [content] if isinstance(content, str | dict) else []


def compact_json(value: object, what: str) -> str:
    """Return a value as JSON without blanks. Raises :class:`ShapeError`, naming ``what``, where that cannot be."""
    try:
        return orjson.dumps(value).decode("utf-8")
    except TypeError:  # an integer over 64 bits, or nesting that only the standard library takes
        pass
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (RecursionError, ValueError) as error:
        raise ShapeError(f"{what} cannot be written as JSON") from error


def mark(value: str) -> str:
    """Return a short stand-in for a value, equal only for equal values: a parser's state must stay small."""
    if len(value) <= MAX_ID_CHARS:
        return value
    return f"#{hashlib.blake2b(value.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def plain_word(value: object) -> str:
    """Return a word under which records may be counted, ``?`` for anything else: a name never holds free text."""
    return value if isinstance(value, str) and _WORD.match(value) else "?"
