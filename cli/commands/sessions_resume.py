"""``asx sessions resume``: the chat of a session, for whoever goes on with it."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from cli import choices, options, output, shapes
from cli.moments import count
from cli.settings import current_folder, folder_at, open_settings

EXAMPLES: Final = (
    "asx sessions resume 01k5p3",
    "asx sessions resume 01k5p3 --json | jq .messages",
    "asx sessions resume claude-code:3f6d2c1e",
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
    """Print the chat of a session, for its next turn.

    The last summary, if there is one, and the words that stand behind it: prompts and answers, without tools, steering
    and thinking. Read from the files; of any agent.
    """
    from index.store_sessions import resume_session

    settings = open_settings(index)
    folder = current_folder() if project is None else folder_at(project)
    found = resume_session(settings, choices.typed_text(id_), choices.typed_text(str(folder)))
    if json:
        output.emit_json(shapes.resumed(found))
        return 0
    for number, message in enumerate(found.messages):
        if number:
            output.line()
        output.line(f"{output.styled(message.role, 'strong')}: {output.safe(message.content)}")
    behind = f", {found.turns_shown} of them in these messages" if found.turns_shown != found.turns else ""
    output.talk(f"resumed {count(found.turns, 'previous turn')}{behind}")
    for note in found.notes:
        output.talk(f"{output.safe_line(found.session.session_id)}: {note}")
    return 0
