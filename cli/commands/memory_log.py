"""``asx memory log``: the memory journal, newest first."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli import exits, options, output, shapes
from cli.memory_store import memory_folders
from cli.moments import count, local
from cli.settings import open_places
from cli.tables import Column, table_of_sentences

if TYPE_CHECKING:
    from persist.memory.journal import Operation

EXAMPLES: Final = ("asx memory log", "asx memory log --limit 5 --json")
_COLUMNS: Final = (
    Column("time"),
    Column("op"),
    Column("name", shrinks_to=16),
    Column("session", drop=1),
    Column("detail"),
)
_SHORT_ID: Final = 12
"""A ULID's milliseconds and two drawn characters: one of a block's versions, or of the steps, begins so."""


def command(
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="At most N, newest first.")] = None,
    json: options.Json = False,
) -> int:
    """Print the memory journal, newest first.

    What a change put aside is a version (was ULID): asx memory restore NAME --at ULID brings it back. A plan that was
    applied is a step: asx memory apply --revert ULID takes it back. Exits with 1 when nothing was ever noted.
    """
    from persist.memory.journal import JOURNAL_FILE, read_operations

    places = open_places()
    operations = []
    for folder in memory_folders(places):
        found, damaged = read_operations(folder)
        operations += [one._replace(path=str(folder / one.path)) if one.path else one for one in found]
        if damaged:
            output.talk(f"{folder / JOURNAL_FILE}: {count(damaged, 'line')} cannot be read")
    operations.sort(key=lambda one: one.entry.ts or "", reverse=True)
    shown = operations[:limit]
    if json:
        output.emit_json(shapes.memory_log(shown))
    elif shown:
        rows = [
            (local(one.entry.ts), one.entry.op, one.entry.name, one.entry.source_session, _detail(one)) for one in shown
        ]
        for text in table_of_sentences(_COLUMNS, rows, output.table_columns()):
            output.line(text)
    else:
        output.talk(f"the journal in {places.memory} has no entries")
    return exits.DONE if operations else exits.NOTHING_FOUND


def _detail(one: Operation) -> str:
    """Return what is known beside the name: a fact's text, a successor, and the version by which it is undone.

    A terminal shows the beginning of a version or step, which is enough to name it.
    """
    at_most = _SHORT_ID if output.is_terminal(sys.stdout) else None
    by = f"by {one.entry.by}" if one.entry.by else None
    back = f"back to {one.restored[:at_most]}" if one.restored else None
    kept = f"was {one.version[:at_most]}" if one.version else None
    step = f"step {one.step[:at_most]}" if one.step and one.step != one.version else None
    beside = ", ".join(part for part in (by, back, kept, step) if part)
    return f"{one.entry.detail} ({beside})" if one.entry.detail and beside else one.entry.detail or beside
