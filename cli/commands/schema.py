"""``asx schema``: print the views that a query can read."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli import choices, options, output, shapes
from cli.cells import padded, width, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from index.results import Report, Table

EXAMPLES: Final = ("asx schema --list", "asx schema prompts", "asx schema --json")
_LEAST_ROOM: Final = 20


def command(
    name: Annotated[str | None, typer.Argument(metavar="VIEW", help="Print this one alone.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="Only the views' names, each with its sentence.")] = False,
    json: options.Json = False,
) -> int:
    """Print the views that a query can read.

    Each with a sentence, each column with its type and what it holds, then examples that run as they are, and the
    names of the reports on it. Needs no index. The views are the contract; the tables behind them may change with any
    version.
    """
    import re
    from dataclasses import replace

    from index.describe import describe
    from index.reports.statements import REPORTS
    from persist.errors import NotFoundError

    described = describe()
    if name is not None:
        wanted = choices.typed_text(name)
        tables = tuple(table for table in described.tables if table.name == wanted)
        if not tables:
            raise NotFoundError("view", wanted, "asx schema lists them")
        examples = tuple(one for one in described.examples if wanted in re.findall(r"\w+", one.sql))
        described = replace(described, tables=tables, examples=examples)
    if list_:
        names = tuple(replace(table, columns=()) for table in described.tables)
        described = replace(described, tables=names, examples=())
    if json:
        output.emit_json(shapes.schema(described))
        return 0
    if list_:
        _print_names(described.tables)
        return 0
    output.line(f"-- generation {described.generation}")
    for table in described.tables:
        _print_table(table)
    reports = [example for example in described.examples if example in REPORTS]
    for example in described.examples:
        if example not in reports:
            _print_example(example)
    if reports:
        output.line()
        told = ", ".join(example.name for example in reports)
        _print_beside("-- reports:", f"{told} (asx report NAME --sql prints one)")
    if name is None and output.is_terminal(sys.stdout):
        output.talk("\nasx schema --list prints the names alone, asx schema VIEW one view")
    return 0


def _print_names(tables: Sequence[Table]) -> None:
    names = max(width(table.name) for table in tables)
    for table in tables:
        _print_beside(padded(table.name, names), table.about, "strong")


def _print_beside(left: str, text: str, style: str | None = None) -> None:
    """Print ``text`` beside ``left``, below itself where it takes more than the width; in a pipe on one line."""
    room = max(output.table_columns() - width(left) - 2, _LEAST_ROOM)
    for number, part in enumerate(wrapped(text, room)):
        shown = output.styled(left, style) if style else left
        output.line(f"{' ' * width(left) if number else shown}  {part}")


def _print_table(table: Table) -> None:
    output.line()
    output.line(f"{output.styled(table.name, 'strong')} ({table.kind}): {table.about}")
    names = max(width(column.name) for column in table.columns)
    types = max(width(column.type) for column in table.columns)
    for column in table.columns:
        _print_beside(f"  {padded(column.name, names)}  {padded(column.type, types)}", column.about)


def _print_example(example: Report) -> None:
    output.line()
    output.line(f"-- {example.name}: {example.about}")
    output.line(f"{example.sql};")
