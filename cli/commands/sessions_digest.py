"""``asx sessions digest``: a session cut to what a model can read at once."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from cli import choices, exits, options, output, shapes
from cli.moments import count
from cli.settings import current_folder, folder_at, open_settings

EXAMPLES: Final = (
    "asx sessions digest 01k5p3",
    "asx sessions digest claude-code:3f6d2c1e --json | jq -r .text",
)


def command(
    id_: Annotated[str, typer.Argument(metavar="ID", help="The session's id; 4 characters do where they fit one.")],
    project: Annotated[
        str | None,
        typer.Option("--project", metavar="PATH", help="Whose, where several projects have the id; else this one's."),
    ] = None,
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Print a session in at most 24,000 bytes, for a model to learn from.

    Prompts and answers whole, tool calls on a line, tool results cut to 600 characters; the oldest is left out first,
    and the first line says so. Read from the files; of any agent. What a model makes of it goes to asx memory apply.
    Exits with 1 when nothing was said.
    """
    from index.digest import digest_session

    settings = open_settings(index)
    folder = current_folder() if project is None else folder_at(project)
    found = digest_session(settings, choices.typed_text(id_), choices.typed_text(str(folder)))
    if json:
        output.emit_json(shapes.digested(found))
    elif found.digest.text:
        output.line(output.safe(found.digest.text.rstrip("\n")))
    named = output.safe_line(f"{found.head.agent}:{found.head.session_id}")
    if found.digest.damaged_lines:
        output.talk(f"{count(found.digest.damaged_lines, 'line')} of {named} could not be read, or not whole")
    if not found.digest.text:
        what = "nothing that can be read" if found.digest.damaged_lines else "nothing"
        output.talk(f"{what} was said in {named}")
        return exits.NOTHING_FOUND
    if found.digest.are_copies:
        output.talk(f"all of {named} is a copy of what another session holds")
    if found.digest.left_out:
        output.talk(f"the oldest {count(found.digest.left_out, 'entry', 'entries')} left out")
    return exits.DONE
