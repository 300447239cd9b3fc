"""``asx memory remove`` and ``asx forget``: a memory block goes, and its text is kept aside."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from cli import exits, options
from cli.memory_store import change_block, tell_change

EXAMPLES: Final = ("asx memory remove deploy-window", "asx memory remove 'Deploy window' --json")


def command(
    name: Annotated[list[str], typer.Argument(metavar="NAME", help="The block's title or name.")],
    json: options.Json = False,
) -> int:
    """Take a memory block away; its text is kept aside.

    Search, recall and the agent's system prompt no longer have it, and asx memory restore brings it back. A fact is no
    block: it is a line of ASTER.md in the folder that asx paths memory names, and is taken out there by hand.
    """
    tell_change(change_block(name, lambda store, typed: store.forget(typed)), json=json)
    return exits.DONE
