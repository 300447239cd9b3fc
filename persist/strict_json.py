"""Reads one line of JSON as Aster and Aether do when they read it again: whatever they would refuse is refused first.

Standard library and the error tree only. The opposite of ``persist.lines``, which saves what can be saved of what is
there: this is for what another program hands in to be written (``spec/aster.md`` 1.2, ``spec/aether.md`` 1.1).
"""

from __future__ import annotations

import json
import math
from typing import Final, NoReturn

from persist.errors import ShapeError
from persist.sources import Record

MAX_DEPTH: Final = 127
"""Lists and objects within each other; both agents' reader gives up at 128."""


def decode_strictly(data: bytes) -> Record:
    """Return the one JSON value of a line. Raises ``ShapeError``, which tells where and what, never the content.

    Refused are bytes that are no UTF-8, a byte order mark, a key that comes twice, NaN and infinities, and nesting
    deeper than ``MAX_DEPTH``. Half a surrogate pair stays: programs that cut a text make it, and the writers put U+FFFD
    in its place (``persist.lines.encode``).
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ShapeError(f"not UTF-8 at byte {error.start}") from None
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise ShapeError(f"not JSON at character {error.pos}: {error.msg}") from None
    except RecursionError:
        raise ShapeError("nested too deeply") from None
    except ValueError:
        raise ShapeError("a number has too many digits") from None
    _check_depth(value)
    return value


def _unique(pairs: list[tuple[str, Record]]) -> dict[str, Record]:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ShapeError("a key comes twice in one object")
    return record


def _constant(_name: str) -> NoReturn:
    raise ShapeError("NaN or an infinity, which is no JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ShapeError("a number is too large")
    return value


def _check_depth(value: Record) -> None:
    """Refuse deep nesting; not recursive, so that no depth ends at Python's own limit."""
    level = [value]
    depth = 0
    while holders := [one for one in level if isinstance(one, dict | list)]:
        depth += 1
        if depth > MAX_DEPTH:
            raise ShapeError("nested too deeply")
        level = [inner for one in holders for inner in (one.values() if isinstance(one, dict) else one)]
