"""Typed reading of single values from an Aether record: the lenient side of ``spec/aether.md`` 1.1.

Pure; imports only ``persist.errors`` and ``persist.sources``. A value is refused (``ShapeError``) only when reading
on would give up its bytes: an unknown type in a known place. A missing secondary value is ``None``.
Reasons name the key and the JSON type, never the value (DESIGN law 7).
"""

from __future__ import annotations

import json
import math
import re
from typing import Final

from persist.errors import ShapeError
from persist.sources import Record

MAX_COUNT: Final = 2**63 - 1
"""Aether counts in unsigned 64 bits; SQLite holds signed ones, so larger values are capped (4.1)."""

_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,60}\Z", re.ASCII)
_TYPES: Final = {dict: "an object", list: "a list", str: "text", bool: "a boolean", int: "a number", float: "a number"}


def mapping(value: Record, key: str) -> dict[str, Record]:
    """Return an object. Raises ``ShapeError`` for anything else, a missing value included."""
    if isinstance(value, dict):
        return value
    raise ShapeError(f"{key} is {type_of(value)} where an object is expected")


def mapping_or_none(value: Record, key: str) -> dict[str, Record] | None:
    """Return an object, or ``None`` for null and missing."""
    return None if value is None else mapping(value, key)


def text(value: Record, key: str) -> str:
    """Return text. Raises ``ShapeError`` for anything else: what should be there may lie under another name."""
    if isinstance(value, str):
        return value
    raise ShapeError(f"{key} is {type_of(value)} where text is expected")


def text_or_none(value: Record, key: str) -> str | None:
    """Return text, or ``None`` for null and missing; whole numbers are read as their digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None if value is None else text(value, key)


def as_text(value: Record, key: str) -> str | None:
    """Return text as it is and any other JSON value as compact JSON text; ``None`` for null.

    Raises ``ShapeError`` for what is nested too deeply to be written.
    """
    if value is None or isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (RecursionError, ValueError) as error:
        raise ShapeError(f"{key} is nested too deeply") from error


def count(value: Record, key: str) -> int | None:
    """Return a whole number from 0 to ``MAX_COUNT`` (larger ones capped), ``None`` for null, missing, NaN.

    ``1000.0`` is 1000. Raises ``ShapeError`` for negative or broken numbers and for other types.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ShapeError(f"{key} is {type_of(value)} where a whole number is expected")
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        if not value.is_integer():
            raise ShapeError(f"{key} is a broken number where a whole one is expected")
        value = int(value)
    if value < 0:
        raise ShapeError(f"{key} is a negative number")
    return value if value < MAX_COUNT else MAX_COUNT


def number(value: Record, key: str) -> float | None:
    """Return a finite number as a float, ``None`` for null, missing and what a float cannot hold."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ShapeError(f"{key} is {type_of(value)} where a number is expected")
    try:
        converted = float(value)
    except OverflowError:
        return None
    return converted if math.isfinite(converted) else None


def name(value: Record, key: str) -> str:
    """Return the name of a kind, category, type or status.

    Names are counted and shown, so what is not shaped like one comes back as ``?``. Raises ``ShapeError``
    when it is not text.
    """
    given = text(value, key)
    return given if _NAME.match(given) else "?"


def type_of(value: Record) -> str:
    """Return the JSON type of a value in words; ``missing`` for null."""
    return _TYPES.get(type(value), "missing")
