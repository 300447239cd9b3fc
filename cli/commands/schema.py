"""``asx schema``: print the views that a query can read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli import choices, options, output, shapes
from cli.cells import padded, width

if TYPE_CHECKING:
    from index.results import Report, Table

EXAMPLES: Final = ("asx schema", "asx schema prompts", "asx schema --json")


def command(
    name: Annotated[str | None, typer.Argument(metavar="VIEW", help="Print this one alone.")] = None,
    json: options.Json = False,
) -> int:
    """Print the views that a query can read.

    Each with a sentence, each column with its type and what it holds, then examples that run as they are. Needs no
    index. The views are the contract; the tables behind them may change with any version.
    """
    from dataclasses import replace

    from index.describe import describe
    from persist.errors import NotFoundError

    described = describe()
    if name is not None:
        wanted = choices.typed_text(name)
        tables = tuple(table for table in described.tables if table.name == wanted)
        if not tables:
            raise NotFoundError("view", wanted, "asx schema lists them")
        examples = tuple(example for example in described.examples if wanted in example.sql.split())
        described = replace(described, tables=tables, examples=examples)
    if json:
        output.emit_json(shapes.schema(described))
        return 0
    output.line(f"-- generation {described.generation}")
    for table in described.tables:
        _print_table(table)
    for example in described.examples:
        _print_example(example)
    return 0


def _print_table(table: Table) -> None:
    output.line()
    output.line(f"{output.styled(table.name, 'strong')} ({table.kind}): {table.about}")
    names = max(width(column.name) for column in table.columns)
    types = max(width(column.type) for column in table.columns)
    for column in table.columns:
        output.line(f"  {padded(column.name, names)}  {padded(column.type, types)}  {column.about}")


def _print_example(example: Report) -> None:
    output.line()
    output.line(f"-- {example.name}: {example.about}")
    output.line(f"{example.sql};")
