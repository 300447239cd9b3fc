"""Prints the rows of a list of the memory: age, name, and what the block or fact is about.

A name is never cut, for it is typed again: ``asx memory show`` and the commands beside it take what stands here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from cli import output
from cli.moments import age
from cli.tables import Column, table

if TYPE_CHECKING:
    from persist.events import NoteFact
    from persist.memory.blocks import Block

_AGE: Final = Column("age", right=True)
_NAME: Final = Column("name")
_STATE: Final = Column("state", drop=2)
_DESCRIPTION: Final = Column("description", shrinks_to=20, drop=1)


def print_rows(blocks: Sequence[Block], facts: Iterable[NoteFact] = ()) -> bool:
    """Print blocks, and facts behind them; tell whether there was anything to print."""
    from persist.recall.candidate import fact_name

    rows = [
        (
            age(block.note.updated_at or block.note.created_at),
            block.note.name,
            "archived" if block.note.archived else "",
            block.note.description,
        )
        for block in blocks
    ]
    rows += [("", fact_name(fact.line_number), "", fact.text) for fact in facts]
    columns: tuple[Column, ...] = (_AGE, _NAME, _STATE, _DESCRIPTION)
    shown: list[tuple[object, ...]] = list(rows)
    if not any(block.note.archived for block in blocks):
        columns = (_AGE, _NAME, _DESCRIPTION)
        shown = [(when, name, about) for when, name, _, about in rows]
    for text in table(columns, shown, output.table_columns()) if rows else ():
        output.line(text)
    return bool(rows)
