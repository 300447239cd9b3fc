"""``asx memory context``: what an agent puts into its system prompt."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from cli import choices, exits, options, output, shapes
from cli.memory_store import list_all_blocks, memory_folders
from cli.recall_options import Cwd
from cli.settings import folder_at, open_places

EXAMPLES: Final = (
    "asx memory context",
    "asx memory context --prompt 'why does the export fail'",
    "asx memory context --json | jq -r .text",
)


def command(
    prompt: Annotated[
        str | None,
        typer.Option("--prompt", metavar="TEXT", help="List only the blocks that help with this prompt."),
    ] = None,
    cwd: Cwd = None,
    json: options.Json = False,
) -> int:
    """Print the memory as an agent's system prompt has it.

    ASTER.md whole, then the blocks by name and description, newest first, at most 60. With --prompt only the blocks
    that help with it, the best first, and how many others there are. Exits with 1 when there is nothing to say.
    """
    from persist.memory import blocks_for, build_context, read_project

    if cwd is not None and prompt is None:
        raise typer.BadParameter("says where a --prompt was typed; give one", param_hint="--cwd")
    places = open_places()
    folders = memory_folders(places)
    texts = [text for folder in folders if (text := read_project(folder)) is not None]
    blocks = list_all_blocks(places)
    helpful = None
    if prompt is not None:
        where = None if cwd is None else str(folder_at(cwd))
        helpful = blocks_for(choices.typed_text(prompt), folders, blocks, where)
    found = build_context(texts[0] if texts else None, blocks, helpful=helpful)
    if json:
        output.emit_json(shapes.memory_context(found))
    elif found.text:
        output.line(output.safe(found.text))
    else:
        output.talk(f"no memory in {places.memory}")
    return exits.DONE if found.text else exits.NOTHING_FOUND
