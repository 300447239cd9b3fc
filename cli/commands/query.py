"""``asx query``: ask the index a question in SQL."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Final

import typer

from cli import choices, formats, options, query_end, query_options, rows_text

EXAMPLES: Final = (
    'asx query "SELECT agent, count(*) FROM prompts GROUP BY agent"',
    'asx query -p tool=Bash "SELECT ts, tool_arguments FROM tool_calls WHERE tool_name = :tool"',
    "asx query --format csv -f question.sql",
    "asx query --json - < question.sql",
)
_STDIN: Final = "-"
_MAX_SQL_BYTES: Final = 400_000
"""More than the longest statement that is run, 100,000 characters."""


def command(
    sql: Annotated[
        list[str] | None,
        typer.Argument(metavar="SQL", help="One statement; several words are joined by spaces, - reads stdin."),
    ] = None,
    file: Annotated[str | None, typer.Option("-f", "--file", metavar="FILE", help="Read the statement there.")] = None,
    parameter: query_options.Parameters = None,
    limit: query_options.RowLimit = 100,
    max_cell: query_options.MaxCell = 1000,
    timeout: query_options.Timeout = 2.0,
    format_: query_options.Format = None,
    timezone: query_options.Timezone = None,
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Ask the index a question in SQL.

    Only reads: whatever else a statement asks for is refused with exit code 7, and so is one that takes too long.
    asx schema prints the views, their columns and examples.
    """
    from index.query import run_query
    from persist.places import current_places

    text = _statement(sql or [], file)
    bound = query_options.read_parameters(parameter)
    form = query_options.chosen_format(format_, json=json)
    as_json = form == formats.JSON
    query_options.use_timezone(timezone)
    with query_end.ending_on_interrupt(as_json=as_json):
        rows = run_query(
            current_places(index).index,
            text,
            bound,
            limit=limit,
            max_cell=max_cell,
            timeout_s=timeout,
            on_overrun=query_end.end_at_limit(timeout, as_json=as_json),
        )
    if as_json:
        rows_text.print_json(rows)
    else:
        rows_text.print_rows(rows, form, limit, max_cell)
    return 0


def _statement(words: list[str], file: str | None) -> str:
    if file is not None and words:
        raise typer.BadParameter("give the statement or a file, not both", param_hint="-f")
    if file is not None and file != _STDIN:
        return _read_file(Path(file))
    if file == _STDIN or words == [_STDIN]:
        data = sys.stdin.buffer.read(_MAX_SQL_BYTES + 1) if sys.stdin is not None else b""
        return _decoded(data, "stdin")
    if not words:
        raise typer.BadParameter("give a statement, -f FILE, or - for stdin", param_hint="SQL")
    return choices.joined(words)


def _read_file(path: Path) -> str:
    with path.open("rb") as opened:
        return _decoded(opened.read(_MAX_SQL_BYTES + 1), str(path))


def _decoded(data: bytes, name: str) -> str:
    if len(data) > _MAX_SQL_BYTES:
        raise typer.BadParameter(f"{name} is longer than {_MAX_SQL_BYTES} bytes", param_hint="SQL")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise typer.BadParameter(f"{name} is not UTF-8", param_hint="SQL") from None
