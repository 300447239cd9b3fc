"""``asx sessions latest``: the session to go on with."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from cli import choices, options, output, shapes
from cli.settings import current_folder, folder_at, open_settings

EXAMPLES: Final = (
    "asx sessions latest",
    "asx sessions latest --project ~/src/tidewatch --agent claude-code --json",
    "asx sessions latest | cut -f1",
)


def command(
    project: Annotated[
        str | None,
        typer.Option("--project", metavar="PATH", help="The project of this folder, else the current one's."),
    ] = None,
    agent: Annotated[
        str, typer.Option("--agent", metavar="NAME", help="Of this agent, by its name in asx paths.")
    ] = "aster",
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Print the session last used in a project.

    Its id and path, with a tab between: the newest last activity of a session that has a prompt, was not imported and
    is no sub-agent's. Exits with 1 where there is none.
    """
    from index.store_sessions import latest_session

    settings = open_settings(index)
    choices.names([agent], [known.name for known in settings.agents], "--agent")
    folder = current_folder() if project is None else folder_at(project)
    found = latest_session(settings, choices.typed_text(str(folder)), agent)
    if json:
        output.emit_json(shapes.stored_session(*found))
    else:
        output.line(f"{output.safe_line(found.session_id)}\t{output.safe_line(str(found.path))}")
    return 0
