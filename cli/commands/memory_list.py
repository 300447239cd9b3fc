"""``asx memory list``: memory blocks, newest first."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from cli import choices, exits, options, output, shapes
from cli.memory_rows import print_rows
from cli.memory_store import list_all_blocks, memory_folders
from cli.moments import count
from cli.session_memory import print_of_session
from cli.settings import open_places

EXAMPLES: Final = (
    "asx memory list",
    "asx memory list --archived --json",
    "asx memory list --session 01k5p3",
)


def command(
    archived: Annotated[bool, typer.Option("--archived", help="Archived blocks too.")] = False,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="Only what this session wrote, by the blocks and the journal."),
    ] = None,
    json: options.Json = False,
) -> int:
    """List memory blocks, newest first.

    Reads the files and needs no index. Exits with 1 when there are none.
    """
    from persist.memory.blocks import PROJECT_FILE, misnamed_paths
    from persist.memory.known_blocks import known_blocks
    from persist.memory.project import read_project

    places = open_places()
    if session is not None:
        return print_of_session(places, choices.typed_text(session), archived=archived, json=json)
    blocks = list_all_blocks(places, archived=archived)
    texts = [(folder / PROJECT_FILE, text) for folder in memory_folders(places) if (text := read_project(folder))]
    project = texts[0] if texts else None
    if json:
        output.emit_json(shapes.memory_list(places.memory, project, known_blocks(blocks)))
    else:
        if project is not None:
            output.line(f"{output.safe_line(str(project[0]))}  {count(len(project[1]), 'character')}")
        if not print_rows(blocks):
            output.talk(f"no memory blocks in {places.memory}")
        for block in blocks:
            if block.problem:
                output.talk(f"{output.safe_line(str(block.path))} {block.problem}")
        for path in (path for folder in memory_folders(places) for path in misnamed_paths(folder)):
            told = "is called like a fact of ASTER.md and was left out; give the file another name"
            output.talk(f"{output.safe_line(str(path))} {told}")
    return exits.DONE if blocks or project else exits.NOTHING_FOUND
