"""Physical lines of a file, and the JSON values they hold: nothing good is lost to something bad.

Split on LF only, decode line by line, keep byte offsets (``spec/aster.md`` 8: one bad byte must not hide what
follows). Imports the standard library, orjson and a type of ``persist.sources``; knows no agent and no index.

orjson is the fast way (it reads integers beyond 64 bits as floats); what it refuses although a value can be read
(lone surrogates, NaN, numbers beyond a float, a BOM, raw control characters, glued records, zero bytes) goes the slow
way through ``json``.

A torn last line is only marked here (``terminated``); what becomes of it is decided in ``persist.reading``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import IO, Any, Final, NamedTuple

import orjson

from persist.sources import Record

MAX_LINE_BYTES: Final = 64 * 1024 * 1024
"""Longer lines are read past in pieces and counted as damaged (DESIGN law 6)."""
BLOCK_BYTES: Final = 1024 * 1024
_EXCERPT_BYTES: Final = 1024
_MAX_FAILURES: Final = 200
"""Each costs the standard decoder a look over the line up to there, for its message."""
_MAX_ENCLOSING: Final = 8
"""Unfinished objects around a swallowed record that are looked into: each costs reading up to the failure again."""
_MAX_INT_DIGITS: Final = 400
_TOO_DEEP: Final = "nested too deeply"


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

    @property
    def is_object(self) -> bool:
        """Whether the line is one whole JSON object: only such a last line is used before its LF is there."""
        return self.damage is None and len(self.records) == 1 and isinstance(self.records[0], dict)


def iter_lines(
    file: IO[bytes], start: int = 0, number: int = 1, *, max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[RawLine]:
    """Yield the lines of ``file`` from byte ``start`` on, whose line number is ``number``.

    Memory is one block and one line. The last line comes with ``terminated=False`` when no LF ends it;
    an empty remainder is not a line. Raises ``OSError`` where reading fails.
    """
    # A block no larger than the limit: a line that lies inside one need not be measured.
    block_bytes = max(1, min(BLOCK_BYTES, max_line_bytes))
    file.seek(start)
    offset = start
    kept = bytearray()
    oversize_bytes = 0
    while block := file.read(block_bytes):
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

    A line of white space (Unicode's White_Space, as Aether trims it) gives no record and no damage. Values that stand
    glued together are all returned, without damage when nothing else is on the line. Behind a broken record, values
    are returned that cannot be a part of it (see ``_next_start``). Invalid UTF-8 inside a value is replaced and is
    damage. The sentence tells positions and reasons, never content. Cost: linear, but for each of at most
    ``_MAX_FAILURES`` failures the line is scanned once more.
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


def encode(text: str) -> bytes:
    """Return text as UTF-8; lone surrogates, which cannot be written, become U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return whole_characters(text).encode()


def whole_characters(text: str) -> str:
    """Return text in which the two halves of a character (surrogates) are one, and a lone half is U+FFFD.

    Text without halves is returned as it is. The one rule for whatever reads escapes: JSON joins halves itself, YAML
    does not.
    """
    if _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


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
_WHITE_SPACE: Final = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_BLANK = re.compile(f"[{_WHITE_SPACE}]*")
_ZEROS = re.compile(f"\0[\0{_WHITE_SPACE}]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_START = re.compile(r'\{\s*"')
_REASONS: Final = (
    ("Invalid \\u", "invalid \\u escape"),
    ("Invalid \\", "invalid escape"),
    ("Unterminated string", "string without an end"),
    ("Expecting ',' delimiter", "comma expected"),
    ("Expecting ':' delimiter", "colon expected"),
    ("Expecting property name", "key expected"),
    ("Expecting value", "value expected"),
    ("Illegal trailing comma", "comma before the end"),
)
"""The decoder's messages by how they begin, and what is said for them: its own words may hold a piece of the line."""
_FIRST_KEY = re.compile(r'\{\s*"(?:[^"\\]|\\.)*"', re.DOTALL)


def _values(text: str) -> tuple[list[Record], str | None]:
    """Tile a line with whole values; whatever lies between is given up and named once."""
    records: list[Record] = []
    lost: str | None = None
    position = _blank_end(text, 0)
    is_border = True
    has_surrogates = _SURROGATE_ESCAPE.search(text) is not None
    failures = 0
    while position < len(text):
        zeros = _ZEROS.match(text, position) if is_border else None
        if zeros is not None:
            many = zeros[0].count("\0")
            lost = lost or f"{many} zero byte{'s' * (many != 1)} at character {position} of the line"
            position = zeros.end()
            continue
        value, after, reason = _one(text, position)
        if reason is None and (is_border or _ends_well(text, after)):
            records.append(_without_surrogates(value) if has_surrogates else value)
            is_border = True
            position = _blank_end(text, after)
            continue
        lost = lost or reason or f"stray text at character {position} of the line"
        is_border = False
        failures += reason is not None
        if failures > _MAX_FAILURES or (reason is not None and reason.startswith(_TOO_DEEP)):
            break
        following = _next_start(text, position, after)
        if following is None:
            break
        position = following
    return records, lost


def _one(text: str, position: int) -> tuple[Record, int, str | None]:
    """Return the value that begins at ``position`` and its end; or ``None``, where reading failed, and why."""
    try:
        value, after = _DECODER.raw_decode(text, position)
    except RecursionError:
        return None, position, f"{_TOO_DEEP} at character {position} of the line"
    except json.JSONDecodeError as error:
        return None, error.pos, _not_json(text, position, error)
    return value, after, None


def _not_json(text: str, position: int, error: json.JSONDecodeError) -> str:
    """Return where a value that begins at ``position`` stops being JSON, and why where it began as JSON."""
    place = f"not JSON at character {error.pos} of the line"
    if error.pos == position:
        return place
    if error.pos >= len(text):
        return f"{place}: cut off"
    reason = next((told for beginning, told in _REASONS if error.msg.startswith(beginning)), None)
    return place if reason is None else f"{place}: {reason}"


def _next_start(text: str, broken: int, failed: int) -> int | None:
    """Return where, behind the broken text at ``broken`` whose grammar failed at ``failed``, a record may begin.

    What was read without complaint before ``failed`` belongs to the broken text, and objects nested there are no
    records. A record glued onto a torn one makes the grammar fail at its brace or, within a string that it
    closes, behind its first quote. Only one torn where a value was due swallows the next record whole.
    """
    swallowed = _swallowed(text, broken, failed)
    if swallowed is not None:
        return swallowed
    found = _START.search(text, max(broken + 1, failed - 3))  # room for a brace, a blank and a quote
    return found.start() if found is not None else None


def _swallowed(text: str, broken: int, failed: int) -> int | None:
    """Return the start of an object that reads as the last value before ``failed`` and may be a record.

    By grammar it cannot be told from a nested one, so it must begin with the same key as the broken record,
    as the records of one file mostly do and nested ones mostly do not.
    """
    closing = text.rfind("}", broken, failed)
    first_key = _FIRST_KEY.match(text, broken)
    if closing < 0 or first_key is None or _blank_end(text, closing + 1) != failed:
        return None
    position = text.find(first_key[0], broken + 1, failed)
    enclosing = 0
    while position >= 0 and enclosing < _MAX_ENCLOSING:
        _, after, reason = _one(text, position)
        if reason is None and after == closing + 1:
            return position
        enclosing += reason is not None
        position = text.find(first_key[0], after if reason is None else position + 1, failed)
    return None


def _ends_well(text: str, after: int) -> bool:
    """Whether a value found behind damage is followed by the end of the line or by another value.

    An object inside a broken record is followed by the rest of that record, and is not one of its own.
    """
    position = _blank_end(text, after)
    return position == len(text) or text[position] in "{\0"


def _blank_end(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match is not None else position


def _without_surrogates(value: Record) -> Record:
    """Replace lone surrogates in every string of a value, in place (they cannot be stored or printed).

    Not recursive: values nested as deeply as the decoder allows would end at Python's own limit.
    """
    whole = [value]
    unseen: list[Any] = [whole]
    while unseen:
        holder = unseen.pop()
        for place in range(len(holder)) if isinstance(holder, list) else list(holder):
            element = holder[place]
            if isinstance(element, str):
                if _SURROGATE.search(element):
                    holder[place] = whole_characters(element)
            elif isinstance(element, list | dict):
                unseen.append(element)
        if isinstance(holder, dict) and any(map(_SURROGATE.search, holder)):
            replaced = {whole_characters(key): element for key, element in holder.items()}
            holder.clear()
            holder.update(replaced)
    return whole[0]
