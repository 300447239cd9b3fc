"""Prints the rows of an answer: as one JSON value, or in any form of ``cli.formats`` and what was cut to stderr."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from cli import formats, output
from index.results import Rows


def print_json(rows: Rows, more: Mapping[str, object] | None = None) -> None:
    """Write the one JSON value of an answer to stdout, ``more`` before its columns; what comes later goes to stderr."""
    output.ANSWERED.set(True)
    if sys.stdout is None:  # the caller closed it: the same as a pipe that is gone
        raise BrokenPipeError
    for piece in formats.json_pieces(rows, more):
        sys.stdout.write(piece)
    output.line()


def print_rows(rows: Rows, form: str, limit: int, max_cell: int) -> None:
    """Write rows in any form but JSON to stdout, and what was cut to stderr."""
    on_terminal = output.is_terminal(sys.stdout)
    cells = output.columns() if on_terminal else None
    for text in formats.lines_of(rows, form, cells=cells, for_terminal=on_terminal):
        output.line(text)
    output.flush()
    if not rows.rows and not rows.truncated_rows:
        output.talk("no rows")
    if rows.truncated_rows:
        output.talk(f"there are more than {limit} rows; give --limit for more")
    if rows.truncated_cells:
        output.talk(f"texts were cut to {max_cell} characters; give --max-cell for more")
