"""``asx memory context``: what an agent puts into its system prompt."""

from __future__ import annotations

from typing import Final

from cli import exits, options, output, shapes
from cli.memory_store import list_all_blocks, memory_folders
from cli.settings import open_places

EXAMPLES: Final = ("asx memory context", "asx memory context --json")


def command(json: options.Json = False) -> int:
    """Print the memory as an agent's prompt has it.

    ASTER.md whole, then the blocks by name and description, newest first, at most 60. Exits with 1 when there is
    nothing to say.
    """
    from persist.memory import build_context, read_project

    places = open_places()
    texts = [text for folder in memory_folders(places) if (text := read_project(folder)) is not None]
    found = build_context(texts[0] if texts else None, list_all_blocks(places))
    if json:
        output.emit_json(shapes.memory_context(found))
    elif found.text:
        output.line(output.safe(found.text))
    else:
        output.talk(f"no memory in {places.memory}")
    return exits.DONE if found.text else exits.NOTHING_FOUND
