"""``asx memory archive``: a memory block moves to the archive."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from cli import exits, options
from cli.memory_store import change_block, tell_change

EXAMPLES: Final = ("asx memory archive old-deploy-host", "asx memory archive 'Old deploy host' --json")


def command(
    name: Annotated[list[str], typer.Argument(metavar="NAME", help="The block's title or name.")],
    json: options.Json = False,
) -> int:
    """Put a memory block into the archive.

    It is still found by search and by memory list --archived, but no longer recalled and not in the agent's system
    prompt. asx memory restore NAME brings it back.
    """
    tell_change(change_block(name, lambda store, typed: store.archive(typed)), json=json)
    return exits.DONE
