r"""Edits the bytes of a note: a field, the body, and nothing else of a file that somebody wrote by hand.

Pure: bytes in, bytes out. What is not spoken of stays byte for byte: other keys, comments, order, quoting, line ends,
a BOM, bytes that are not UTF-8 (``spec/fault-checks.md`` B89). A value is written as Aster writes it, raw behind
``key: ``, and quoted only where this house's own reading of it would be another text; every edit is read back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from persist.errors import RefusedError
from persist.lines import whole_characters
from persist.memory.frontmatter import Entry, Layout, Value, lay_out, read_entries, read_frontmatter

FIELD_ORDER: Final = (
    "name", "description", "source_session", "created_at", "updated_at",
    "title", "aliases", "kind", "project", "superseded_by", "pinned",
)  # fmt: skip
"""The keys of a new block: Aster's in Aster's order (``spec/aster.md`` 4.1), then those of this store."""

Fields = Mapping[str, Value | None]
"""Values by key; ``None`` takes a key away."""

_EMPTY: Final = b"---\n---\n"


def new_note(fields: Fields, body: str) -> bytes:
    """Return the file of a new block: the keys in ``FIELD_ORDER``, then the body, trimmed. Absent ones are left out."""
    ordered = {key: fields[key] for key in FIELD_ORDER if fields.get(key) is not None}
    return with_body(with_fields(_EMPTY, ordered), body)


def has_header(data: bytes) -> bool:
    """Tell whether a file begins with frontmatter that can be read."""
    return lay_out(data.decode("utf-8", "surrogateescape")) is not None


def with_fields(data: bytes, fields: Fields) -> bytes:
    """Return the file with these fields set, each on the line where it stands, new ones on lines at the header's end.

    A file without readable frontmatter gets one in front of its text. Line breaks in a value are kept by quoting it;
    surrogates become U+FFFD. Raises ``RefusedError`` for a header in which a value cannot be written so that it is
    read again (none is known but a value with control characters where lines end in CRLF).
    """
    text = data.decode("utf-8", "surrogateescape")
    if lay_out(text) is None:
        mark = "\ufeff" if text.startswith("\ufeff") else ""
        eol = "\r\n" if "\r\n" in text else "\n"
        text = f"{mark}---{eol}---{eol}{eol}{text.removeprefix(mark)}"
    for key, value in fields.items():
        text = _with_field(text, key, _clean(value))
    return text.encode("utf-8", "surrogateescape")


def with_body(data: bytes, body: str) -> bytes:
    """Return the file with another body, trimmed, behind its header; without a header the body is the file."""
    text = data.decode("utf-8", "surrogateescape")
    layout = lay_out(text)
    head = "" if layout is None else text[: layout.body_start]
    eol = "\r\n" if head.endswith("\r\n") else "\n"
    if head:
        head += eol if head.endswith("\n") else eol + eol
    return head.encode("utf-8", "surrogateescape") + whole_characters(body.strip() + eol).encode()


def _with_field(text: str, key: str, value: Value | None) -> str:
    layout = lay_out(text)
    if layout is None:
        raise RefusedError("the frontmatter cannot be edited", "see to it by hand")
    header = text[layout.header_start : layout.header_end]
    before = read_entries(header, layout.entries)
    if before.get(key) == value:
        return text
    fits = None
    for edited in _edits(text, layout, header, key, value):
        after, is_whole = _read_header(edited)
        holds = is_whole and (key not in after or after[key] == "" if value is None else after.get(key) == value)
        if holds and _others(after, key) == _others(before, key):
            fits = edited
            break
        fits = edited if holds and fits is None else fits
    if fits is None:
        raise RefusedError(f"'{key}' cannot be written into the frontmatter", "see to it by hand")
    return text[: layout.header_start] + fits + text[layout.header_end :]


def _edits(text: str, layout: Layout, header: str, key: str, value: Value | None) -> Iterator[str]:
    """Yield the header with the field set, the least change first: in its place, then on a line of its own."""
    eol = "\r\n" if "\r\n" in header or (not header and text[: layout.header_start].endswith("\r\n")) else "\n"
    lines = header.split("\n")[:-1]
    entries = [entry for entry in layout.entries if entry.key == key]
    if value is None:
        yield _joined(lines, {number for entry in entries for number in entry.numbers})
    elif entries:
        for rendered in _renderings(key, value, eol):
            yield _replaced(lines, entries[-1], rendered)
    for rendered in _renderings(key, value, eol):
        yield f"{header}{rendered}{eol}"


def _replaced(lines: list[str], entry: Entry, rendered: str) -> str:
    first, *rest = entry.numbers
    end = "\r" if lines[first].endswith("\r") else ""
    return _joined([*lines[:first], rendered + end, *lines[first + 1 :]], set(rest))


def _joined(lines: list[str], left_out: set[int]) -> str:
    return "".join(f"{line}\n" for number, line in enumerate(lines) if number not in left_out)


def _renderings(key: str, value: Value | None, eol: str) -> Iterator[str]:
    """Yield ways to write a value, the plainest first."""
    if value is None:
        yield f"{key}:"
    elif isinstance(value, list):
        yield f"{key}: [{', '.join(value)}]"
        yield f"{key}: [{', '.join(json.dumps(element, ensure_ascii=False) for element in value)}]"
        yield f"{key}: [{', '.join(json.dumps(element) for element in value)}]"
    else:
        if "\n" not in value:
            yield f"{key}: {value}"
            yield f"{key}: '{value.replace(chr(39), chr(39) * 2)}'"
        yield f"{key}: {json.dumps(value, ensure_ascii=False)}"
        yield f"{key}: {json.dumps(value)}"
        if "\n" not in value:
            yield f"{key}: >-{eol}  {value}"
        else:
            yield eol.join([f"{key}: |2-", *(f"  {line}" for line in value.split("\n"))])


def _read_header(header: str) -> tuple[dict[str, Value], bool]:
    """Read a header on its own, and tell whether it still ends where it did."""
    text = f"---\n{header}---\n"
    layout = lay_out(text)
    if layout is None or layout.body_start != len(text):
        return {}, False
    return read_frontmatter(text)[0], True


def _others(values: Mapping[str, Value], key: str) -> dict[str, Value]:
    return {name: value for name, value in values.items() if name != key}


def _clean(value: Value | None) -> Value | None:
    if isinstance(value, list):
        return [whole_characters(element).strip() for element in value]
    return None if value is None else whole_characters(value).strip()
