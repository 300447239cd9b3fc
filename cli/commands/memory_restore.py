"""``asx memory restore``: an archived, removed or overwritten block comes back."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from cli import exits, options
from cli.memory_store import change_block, tell_change

EXAMPLES: Final = (
    "asx memory restore deploy-window",
    "asx memory restore 'Deploy window' --at 01KBVGBANK",
)


def command(
    name: Annotated[list[str], typer.Argument(metavar="NAME", help="The block's title or name.")],
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="ULID", help="This version, or the beginning of one; asx memory log names them."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Bring a memory block back, or an older version of it.

    Without --at it is what was put aside last. A block that is there is kept aside first, so that nothing is lost and
    restoring again undoes it.
    """
    change = change_block(name, lambda store, typed: store.restore(typed, at))
    tell_change(change, json=json)
    return exits.DONE
