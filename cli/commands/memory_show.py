"""``asx memory show``: one memory block."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from cli import exits, options
from cli.memory_store import print_note, typed_name
from cli.settings import open_places

EXAMPLES: Final = (
    "asx memory show deploy-window",
    "asx memory show 'Deploy window' --json",
    "asx memory show ASTER.md:7",
)


def command(
    name: Annotated[
        list[str], typer.Argument(metavar="NAME", help="The block's title or name, ASTER.md, or ASTER.md:LINE.")
    ],
    json: options.Json = False,
) -> int:
    """Print one memory block, or a fact.

    A block counts as recalled in the memory journal, as with the agent itself. ASTER.md prints all facts.
    """
    places = open_places()
    print_note(places, typed_name(places, name), json=json)
    return exits.DONE
