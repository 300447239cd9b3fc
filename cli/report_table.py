"""A built-in report's rows for the eye: local times, no empty columns, notes for what is unknown, bars beside numbers.

On a terminal only; what goes into a pipe or is JSON is never changed. Standard library and ``cli`` only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from cli import moments
from cli.bars import LEAST_CELLS, MOST_CELLS, bars, has_blocks
from cli.cells import width
from cli.formats import table_lines
from index.results import Rows

UNKNOWN: Final = "unknown"
MARK: Final = "*"
MOST_NOTES: Final = 10
_TOKENS: Final = "_tokens"
_SHORTER: Final = {"cache_read": "read", "cache_write": "written"}
_SHOW: Final = "show"
_FILE: Final = "source_path"
_TIME: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{12}Z\Z", re.ASCII)
_ID: Final = re.compile(r"([^/:]{8})[^/:]*(:[0-9]+)\Z")
_GAP: Final = 2


class Shown(NamedTuple):
    """Rows as they are to be shown, and what is to be said below them."""

    rows: Rows
    notes: tuple[str, ...]


def for_the_eye(rows: Rows, cells: int, drawn: str | None = None) -> Shown:
    """Return the rows of a built-in report as a table ``cells`` wide shows them best.

    What is unknown of a row becomes a mark and a note. Where the columns do not fit side by side, their names lose
    ``_tokens`` and ``cache_``, ids of sessions all but the 8 characters that ``asx show`` is content with, and a file
    gives way to what ``asx show`` finds it by. Bars of the column ``drawn`` stand beside the others only where these
    are all whole and ``LEAST_CELLS`` are left.
    """
    if not rows.rows:
        return Shown(rows, ())
    shown, notes = _without_unknown(_with_local_times(rows))
    shown, empty = _without_empty(shown)
    for shorten in (_short_names, _short_ids, _without_file):
        if _natural_width(shown) > cells:
            shown = shorten(shown)
    return Shown(_with_bars(shown, rows, cells, drawn), (*notes, *empty))


def _with_local_times(rows: Rows) -> Rows:
    return replace(rows, rows=tuple(tuple(map(_local, row)) for row in rows.rows))


def _local(value: object) -> object:
    return moments.local(value) if isinstance(value, str) and _TIME.match(value) else value


def _without_unknown(rows: Rows) -> tuple[Rows, list[str]]:
    """Return rows with a mark in place of what is unknown of them, which is told in notes."""
    if UNKNOWN not in rows.columns:
        return rows, []
    at = rows.columns.index(UNKNOWN)
    notes = [f"{MARK} {_name_of(row)}: not known: {row[at]}" for row in rows.rows if row[at]]
    if len(notes) > MOST_NOTES:
        notes = [*notes[:MOST_NOTES], f"{MARK} and {len(notes) - MOST_NOTES} more; --format tsv tells all"]
    columns = tuple("" if column == UNKNOWN else column for column in rows.columns)
    marked = tuple((*row[:at], MARK if row[at] else None, *row[at + 1 :]) for row in rows.rows)
    return replace(rows, columns=columns, rows=marked), notes


def _name_of(row: Sequence[object]) -> str:
    """Return what tells a row from the others: its texts before the first number, else its first value."""
    texts = []
    for value in row:
        if isinstance(value, int | float):
            break
        texts += [str(value)] if value else []
    return " ".join(texts) or str(row[0])


def _without_empty(rows: Rows) -> tuple[Rows, list[str]]:
    kept = [at for at in range(len(rows.columns)) if any(row[at] is not None for row in rows.rows)]
    empty = [column for at, column in enumerate(rows.columns) if column and at not in kept]
    shown = tuple(tuple(row[at] for at in kept) for row in rows.rows)
    told = [f"nothing is known of any row's {', '.join(empty)}"] if empty else []
    return replace(rows, columns=tuple(rows.columns[at] for at in kept), rows=shown), told


def _short_names(rows: Rows) -> Rows:
    short = (column.removesuffix(_TOKENS) for column in rows.columns)
    return replace(rows, columns=tuple(_SHORTER.get(column, column) for column in short))


def _short_ids(rows: Rows) -> Rows:
    if _SHOW not in rows.columns:
        return rows
    at = rows.columns.index(_SHOW)
    short = tuple((*row[:at], _ID.sub(r"\1\2", row[at] or ""), *row[at + 1 :]) for row in rows.rows)
    return replace(rows, rows=short)


def _without_file(rows: Rows) -> Rows:
    if _SHOW not in rows.columns or _FILE not in rows.columns:
        return rows
    kept = [at for at, column in enumerate(rows.columns) if column != _FILE]
    fewer = tuple(tuple(row[at] for at in kept) for row in rows.rows)
    return replace(rows, columns=tuple(rows.columns[at] for at in kept), rows=fewer)


def _with_bars(shown: Rows, rows: Rows, cells: int, drawn: str | None) -> Rows:
    """Return ``shown`` with bars of a column of ``rows``, from which it may have gone or lost its name."""
    room = min(cells - _natural_width(shown) - _GAP, MOST_CELLS)
    if drawn is None or drawn not in rows.columns or room < LEAST_CELLS:
        return shown
    at = rows.columns.index(drawn)
    column = bars([row[at] for row in rows.rows], room, ascii_only=not has_blocks())
    with_bars = tuple((*row, bar) for row, bar in zip(shown.rows, column, strict=True))
    return replace(shown, columns=(*shown.columns, ""), rows=with_bars)


def _natural_width(rows: Rows) -> int:
    return max(map(width, table_lines(rows, None)))
