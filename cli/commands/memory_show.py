"""``asx memory show``: one memory block."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from cli import choices, options, output, shapes
from cli.memory_store import get_block, note_recall
from cli.settings import open_places

EXAMPLES: Final = ("asx memory show deploy-window", "asx memory show 'Deploy window' --json")


def command(
    name: Annotated[list[str], typer.Argument(metavar="NAME", help="The block's title or name.")],
    json: options.Json = False,
) -> int:
    """Print one memory block.

    Counts as a recall in the memory journal, as with the agent itself.
    """
    from persist.memory.known_blocks import known_block

    places = open_places()
    block = get_block(places, choices.joined(name))
    if json:
        output.emit_json(shapes.block(known_block(block)))
    else:
        output.line(output.safe(block.note.body.rstrip("\n")))
    note_recall(places, block)
    return 0
