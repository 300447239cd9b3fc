"""``asx memory decay``: stale memory blocks move to the archive; says which unless told to do it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli import choices, exits, options, output, shapes
from cli.memory_store import index_follows
from cli.moments import count
from cli.settings import open_places
from cli.tables import Column, table_of_sentences

if TYPE_CHECKING:
    from persist.memory.decaying import Decay

EXAMPLES: Final = (
    "asx memory decay",
    "asx memory decay --yes",
    "asx memory decay --as-of 2027-06-01 --json",
)
_COLUMNS: Final = (Column("name", shrinks_to=16), Column("reason"))


def command(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it; without, only say what would be done.")] = False,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of", metavar="TIME", help="As if it were then: 2027-06-01, also ahead, or 90d for days ago."
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Archive the memory blocks that nobody has needed for long.

    How long depends on a block's kind and on how often it was recalled, edited and marked; a pinned one always stays.
    Without --yes nothing is changed. asx memory restore NAME brings a block back, byte for byte.
    """
    from persist.memory import MemoryStore

    moment = choices.moment(as_of, "--as-of")
    store = MemoryStore(open_places().memory)
    if yes:
        expected = store.decay(as_of=moment)
        with index_follows([store.folder / f"{one.name}.md" for one in expected.archived]):
            done = store.decay(yes=True, as_of=moment)
    else:
        done = store.decay(as_of=moment)
    if json:
        output.emit_json(shapes.memory_decay(done))
    else:
        _print(done)
    for trouble in done.troubles:
        output.talk(f"left: {trouble}")
    for trouble in done.journal_troubles:
        output.talk(f"the journal does not tell of it: {trouble}")
    return exits.PARTLY_DONE if done.troubles else exits.DONE


def _print(done: Decay) -> None:
    rows = [(one.name, one.reason) for one in done.archived]
    if rows:
        for text in table_of_sentences(_COLUMNS, rows, output.table_columns()):
            output.line(text)
    deed = "would be archived" if done.dry_run else "archived"
    told = (
        f"{count(len(rows), 'block')} {deed}, {count(done.staying, 'block')} {'stays' if done.staying == 1 else 'stay'}"
    )
    after = "--yes archives" if done.dry_run else "asx memory restore NAME brings one back"
    output.talk(f"{told}; {after}" if rows else told)
