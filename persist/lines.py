"""Physical lines of a file, and the JSON values they hold: nothing good is lost to something bad.

Split on LF only, decode line by line, keep byte offsets (``spec/aster.md`` 8: one bad byte must not hide what
follows). Standard library and orjson only; knows no agent and no index.

orjson is the fast way; what it refuses although a value can be read (lone surrogates, NaN, a BOM, numbers
beyond 64 bits, glued records, zero bytes) goes the slow way through ``json``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import IO, Final, NamedTuple

import orjson

from persist.sources import Record

MAX_LINE_BYTES: Final = 64 * 1024 * 1024
"""Longer lines are read past in pieces and counted as damaged (DESIGN law 6)."""
BLOCK_BYTES: Final = 1024 * 1024
_EXCERPT_BYTES: Final = 1024
_MAX_RECOVERY_ATTEMPTS: Final = 200
_MAX_INT_DIGITS: Final = 400


class RawLine(NamedTuple):
    """One physical line: 1-based number, byte offset of its start, its bytes without the LF.

    ``length_bytes`` counts the line without its LF; ``data`` is shorter only when ``oversize``.
    ``terminated`` tells whether the LF was there.
    """

    number: int
    offset_bytes: int
    data: bytes
    terminated: bool
    length_bytes: int
    oversize: bool = False


class Decoded(NamedTuple):
    """The JSON values of one line in order, and what had to be given up to get them (``None``: nothing)."""

    records: list[Record]
    damage: str | None


def iter_lines(
    file: IO[bytes], start: int = 0, number: int = 1, *, max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[RawLine]:
    """Yield the lines of ``file`` from byte ``start`` on, whose line number is ``number``.

    Memory is one block and one line. The last line comes with ``terminated=False`` when no LF ends it;
    an empty remainder is not a line. Raises ``OSError`` where reading fails.
    """
    file.seek(start)
    offset = start
    kept = bytearray()
    oversize_bytes = 0
    while block := file.read(BLOCK_BYTES):
        if b"\n" not in block:
            kept, oversize_bytes = _keep(kept, oversize_bytes, block, max_line_bytes)
            continue
        first, *rest = block.split(b"\n")
        kept, oversize_bytes = _keep(kept, oversize_bytes, first, max_line_bytes)
        tail = rest.pop()
        length = oversize_bytes or len(kept)
        yield RawLine(number, offset, bytes(kept), True, length, oversize_bytes > 0)
        offset += length + 1
        number += 1
        for data in rest:
            length = len(data)
            yield RawLine(number, offset, data, True, length)
            offset += length + 1
            number += 1
        kept = bytearray(tail)
        oversize_bytes = 0
    if kept:
        yield RawLine(number, offset, bytes(kept), False, oversize_bytes or len(kept), oversize_bytes > 0)


def _keep(kept: bytearray, oversize_bytes: int, piece: bytes, limit: int) -> tuple[bytearray, int]:
    """Add a piece to an unfinished line, or only count it once the line is over the limit."""
    if oversize_bytes:
        return kept, oversize_bytes + len(piece)
    kept += piece
    if len(kept) > limit:
        return kept[:_EXCERPT_BYTES], len(kept)
    return kept, 0


def decode(data: bytes) -> Record:
    """Return the one JSON value in ``data``, which may be padded with white space or begin with a BOM.

    Lone surrogates become U+FFFD; NaN and infinities ``None``. Raises ``ValueError`` for anything else.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        decoded = decode_line(data)
    if decoded.damage is not None or len(decoded.records) != 1:
        raise ValueError(decoded.damage or "not exactly one JSON value")
    return decoded.records[0]


def decode_line(data: bytes) -> Decoded:
    """Return every whole JSON value of a line, and one sentence about the bytes given up, if any.

    A blank line gives no record and no damage. Values that stand glued together are all returned, without
    damage when nothing else is on the line. Invalid UTF-8 inside a value is replaced and is damage.
    The sentence tells positions and reasons, never content. Cost: linear but for damaged lines, where
    at most ``_MAX_RECOVERY_ATTEMPTS`` starts are tried.
    """
    try:
        return Decoded([orjson.loads(data)], None)
    except orjson.JSONDecodeError:
        pass
    try:
        text = data.decode("utf-8")
        damage = None
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        damage = f"invalid UTF-8 at byte {error.start} of the line"
    text = text.removeprefix("\ufeff")
    records, lost = _values(text)
    return Decoded(records, lost or damage)


def excerpt(data: bytes, limit_characters: int = 240) -> str:
    """Return the first characters of a damaged line, for ``parse_errors`` only (DESIGN law 7)."""
    return data[: limit_characters * 4].decode("utf-8", "replace").replace("\0", "\ufffd")[:limit_characters]


def _number(text: str) -> int | float | None:
    if len(text) > _MAX_INT_DIGITS:
        return None
    return int(text)


def _float(text: str) -> float | None:
    value = float(text)
    return value if abs(value) != float("inf") else None


_DECODER = json.JSONDecoder(parse_constant=lambda _name: None, parse_int=_number, parse_float=_float, strict=False)
_BETWEEN = re.compile(r"[ \t\r\n]*")
_ZEROS = re.compile(r"[\0 \t\r]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_START = re.compile(r'\{\s*"')


def _values(text: str) -> tuple[list[Record], str | None]:
    """Tile a line with whole values; whatever lies between is given up and named once."""
    records: list[Record] = []
    lost: str | None = None
    position = _blank_end(text, 0)
    end = len(text)
    attempts = 0
    while position < end:
        zeros = _ZEROS.match(text, position)
        if zeros is not None:
            if "\0" in zeros[0]:
                lost = lost or f"{zeros[0].count(chr(0))} zero bytes at character {position} of the line"
            position = zeros.end()
            continue
        value, after, reason = _one(text, position)
        if reason is None and (position == 0 or records or not lost or _ends_well(text, after)):
            records.append(value)
            position = _blank_end(text, after)
            continue
        lost = lost or f"{reason or 'stray text'} at character {position} of the line"
        attempts += 1
        following = _START.search(text, position + 1) if attempts < _MAX_RECOVERY_ATTEMPTS else None
        if following is None:
            break
        position = following.start()
    return records, lost


def _one(text: str, position: int) -> tuple[Record, int, str | None]:
    try:
        value, after = _DECODER.raw_decode(text, position)
    except RecursionError:
        return None, position, "nested too deeply"
    except ValueError:
        return None, position, "not JSON"
    return _without_surrogates(value), after, None


def _ends_well(text: str, after: int) -> bool:
    """Whether a value found behind damage is followed by the end of the line or by another value.

    An object inside a broken record is followed by the rest of that record, and is not one of its own.
    """
    position = _blank_end(text, after)
    return position == len(text) or text[position] in "{\0"


def _blank_end(text: str, position: int) -> int:
    match = _BETWEEN.match(text, position)
    return match.end() if match is not None else position


def _without_surrogates(value: Record) -> Record:
    """Replace lone surrogates in every string of a value (they cannot be stored or printed)."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value) if _SURROGATE.search(value) else value
    if isinstance(value, list):
        return [_without_surrogates(element) for element in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(element) for key, element in value.items()}
    return value
