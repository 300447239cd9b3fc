"""``asx memory log``: the memory journal, newest first."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from cli import exits, options, output, shapes
from cli.memory_store import memory_folders
from cli.moments import count, local
from cli.settings import open_places
from cli.tables import Column, table

EXAMPLES: Final = ("asx memory log", "asx memory log --limit 5 --json")
_COLUMNS: Final = (
    Column("time"),
    Column("op"),
    Column("name", shrinks_to=16),
    Column("detail", shrinks_to=20),
    Column("session", drop=1),
)


def command(
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="At most N, newest first.")] = None,
    json: options.Json = False,
) -> int:
    """Print the memory journal, newest first.

    Exits with 1 when nothing was ever noted.
    """
    from persist.memory.journal import JOURNAL_FILE, read_journal

    places = open_places()
    entries = []
    for folder in memory_folders(places):
        found, damaged = read_journal(folder / JOURNAL_FILE)
        entries += found
        if damaged:
            output.talk(f"{folder / JOURNAL_FILE}: {count(damaged, 'line')} cannot be read")
    entries.sort(key=lambda entry: entry.ts or "", reverse=True)
    shown = entries[:limit]
    if json:
        output.emit_json(shapes.memory_log(shown))
    elif shown:
        rows = [(local(one.ts), one.op, one.name, one.detail, one.source_session) for one in shown]
        for text in table(_COLUMNS, rows, output.table_columns()):
            output.line(text)
    else:
        output.talk(f"the journal in {places.memory} has no entries")
    return exits.DONE if entries else exits.NOTHING_FOUND
