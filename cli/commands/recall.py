"""``asx recall NAME``: one memory block by its name."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from cli import choices, options, output, shapes
from cli.memory_store import get_block, note_recall
from cli.settings import open_places

EXAMPLES: Final = ("asx recall deploy-window", "asx recall 'Deploy window' --json", "asx recall -- -x")


def command(
    name: Annotated[list[str], typer.Argument(metavar="NAME", help="The block's name; several words are one name.")],
    no_journal: Annotated[bool, typer.Option("--no-journal", help="Do not note it in the memory journal.")] = False,
    json: options.Json = False,
) -> int:
    """Print one memory block by its name.

    Reads the block's file at this moment and needs no index. Notes the recall in the memory journal.
    """
    places = open_places()
    block = get_block(places, choices.joined(name))
    if json:
        output.emit_json(shapes.block(block))
    else:
        output.line(output.safe(block.note.body.rstrip("\n")))
    if not no_journal:
        note_recall(places, block)
    return 0
