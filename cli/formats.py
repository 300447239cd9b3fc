"""The forms in which rows are printed: table, TSV, CSV, Markdown, JSONL and JSON; pure, rows in, texts out.

Standard library and ``cli`` only. A null is empty everywhere but in the two forms of JSON. What tells that rows or
cells were cut is in the flags of JSON, else told on stderr.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from cli.cells import cut, head, padded, width
from cli.output import SCHEMA_VERSION, UNLIMITED_COLUMNS, json_text, safe, safe_line
from cli.tables import Column, fits, table
from index.results import Rows

JSON: Final = "json"
TABLE: Final = "table"
TSV: Final = "tsv"
_SHRINKS_TO: Final = 12
_GAP: Final = "  "
_PATHS: Final = ("project", "path")
_TIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}\Z", re.ASCII)
_LINES_OF_A_VALUE: Final = 4
"""In a block a value may go on below itself: a path whole is worth more than a short block."""
_QUOTED: Final = re.compile(r'[",\r\n]|\A\s|\s\Z')
_MARKDOWN: Final = re.compile(r"[\\|`*~\[\]]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
"""What Markdown would read as its own; an underscore only at the edge of a word."""


def table_lines(rows: Rows, cells: int | None) -> Iterator[str]:
    """Give a table at most ``cells`` wide; ``None`` cuts nothing. Numbers stand right.

    A path is cut at its beginning, a local time never. With more columns than have room side by side, numbers move
    closer; where that does not do, each row is a block of lines, one for each value that is not null.
    """
    columns = [_column(rows, at) for at in range(len(rows.columns))]
    if cells is None or fits(columns, rows.rows, cells):
        yield from table(columns, rows.rows, UNLIMITED_COLUMNS if cells is None else cells)
    elif all(column.right or not column.title for column in columns[1:]) and fits(columns, rows.rows, cells, gap=1):
        yield from table(columns, rows.rows, cells, gap=1)
    else:
        yield from _blocks(rows, cells)


def _column(rows: Rows, at: int) -> Column:
    name = safe_line(rows.columns[at])
    is_numeric = _is_numeric(rows, at)
    is_whole = is_numeric or all(isinstance(row[at], str) and _TIME.match(row[at]) for row in rows.rows if row[at])
    shrinks_to = None if is_whole else _SHRINKS_TO
    return Column(name, right=is_numeric, shrinks_to=shrinks_to, keeps_end=name.endswith(_PATHS))


def _blocks(rows: Rows, cells: int) -> Iterator[str]:
    names = [safe_line(name) for name in rows.columns]
    wide = max(map(width, names))
    room = max(cells - wide - len(_GAP), _SHRINKS_TO)
    for number, row in enumerate(rows.rows):
        if number:
            yield ""
        for name, value in zip(names, row, strict=True):
            if value is not None:
                for at, part in enumerate(_folded(safe_line(str(value)), room)):
                    yield f"{padded('' if at else name, wide)}{_GAP}{part}".rstrip()


def _folded(text: str, cells: int) -> Iterator[str]:
    """Give ``text`` in pieces of at most ``cells`` cells, the last of ``_LINES_OF_A_VALUE`` cut."""
    for _ in range(_LINES_OF_A_VALUE - 1):
        piece = head(text, cells)
        yield piece
        text = text[len(piece) :]
        if not text:
            return
    yield cut(text, cells)


def tsv_lines(rows: Rows) -> Iterator[str]:
    r"""Give a header and one line a row; tab, newline, CR, backslash and control characters are ``\t``, ``\x1b`` …"""
    yield "\t".join(map(_tsv_cell, rows.columns))
    for row in rows.rows:
        yield "\t".join(map(_tsv_cell, row))


def csv_lines(rows: Rows, *, for_terminal: bool) -> Iterator[str]:
    """Give RFC 4180 records, newline-ended; an empty text is ``""``, a null nothing at all.

    A cell may hold newlines. Texts are exact, but on a terminal control characters are made visible.
    """
    make_safe: Callable[[str], str] = safe if for_terminal else str
    yield ",".join(make_safe(_csv_cell(name)) for name in rows.columns)
    for row in rows.rows:
        yield ",".join(make_safe(_csv_cell(value)) for value in row)


def markdown_lines(rows: Rows) -> Iterator[str]:
    """Give a pipe table; a newline in a cell is ``<br>``, what Markdown or HTML would read is escaped.

    So a text is shown as it is: it makes no link, and no picture that a viewer would fetch.
    """
    yield _markdown_row(rows.columns)
    yield "|" + "|".join(" ---: " if _is_numeric(rows, at) else " --- " for at in range(len(rows.columns))) + "|"
    for row in rows.rows:
        yield _markdown_row(row)


def jsonl_lines(rows: Rows) -> Iterator[str]:
    """Give one JSON object a row; of equal column names the later ones get ``_2``, ``_3`` …, so that none is lost."""
    names = distinct(rows.columns)
    for row in rows.rows:
        yield json_text(dict(zip(names, row, strict=True)))


def json_pieces(rows: Rows, more: Mapping[str, object] | None = None) -> Iterator[str]:
    """Give the one JSON value of an answer, without its newline, in pieces of one row: never the whole text at once.

    ``more`` stands before the columns. The pieces joined are what ``cli.output.emit_json`` writes of the same value.
    """
    told = {"schema_version": SCHEMA_VERSION, **(more or {}), "columns": list(rows.columns)}
    flags = {"truncated_rows": rows.truncated_rows, "truncated_cells": rows.truncated_cells}
    yield json_text(told)[:-1] + ',"rows":['
    for number, row in enumerate(rows.rows):
        yield ("," if number else "") + json_text({"row": row})[len('{"row":') : -1]
    yield "]," + json_text(flags)[1:]


def distinct(names: Sequence[str]) -> list[str]:
    """Return the names made distinct by numbers at their ends; a name that occurs once is kept."""
    taken = set(names)
    used: set[str] = set()
    result = []
    for name in names:
        free, number = name, 1
        while free in used:
            number += 1
            numbered = f"{name}_{number}"
            free = numbered if numbered not in taken else free
        used.add(free)
        result.append(free)
    return result


FORMATS: Final = (JSON, "jsonl", TSV, "csv", TABLE, "markdown")


def lines_of(rows: Rows, form: str, *, cells: int | None, for_terminal: bool) -> Iterator[str]:
    """Give the lines of ``rows`` in one of ``FORMATS`` but ``json``, which is one value: ``json_pieces``."""
    if form == "jsonl":
        return jsonl_lines(rows)
    if form == TSV:
        return tsv_lines(rows)
    if form == "csv":
        return csv_lines(rows, for_terminal=for_terminal)
    if form == "markdown":
        return markdown_lines(rows)
    return table_lines(rows, cells)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _is_numeric(rows: Rows, at: int) -> bool:
    values = [row[at] for row in rows.rows if row[at] is not None]
    return bool(values) and all(isinstance(value, int | float) for value in values)


def _tsv_cell(value: object) -> str:
    return safe_line(_text(value).replace("\\", "\\\\"))


def _csv_cell(value: object) -> str:
    text = _text(value)
    if value == "" or _QUOTED.search(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def _markdown_row(values: Sequence[object]) -> str:
    return "|" + "|".join(f" {_markdown_cell(value)} " for value in values) + "|"


def _markdown_cell(value: object) -> str:
    text = _text(value).replace("&", "&amp;").replace("<", "&lt;").replace("\r\n", "\n")
    return "<br>".join(safe_line(_MARKDOWN.sub(r"\\\g<0>", line)) for line in text.split("\n"))
