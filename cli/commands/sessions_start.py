"""``asx sessions start``: a new session in Aster's or Aether's store."""

from __future__ import annotations

import os
from typing import Annotated, Final

import typer

from cli import choices, options, output, shapes
from cli.session_store import followed
from cli.settings import current_folder, folder_at, open_settings

EXAMPLES: Final = (
    "asx sessions start --model acme/large",
    "asx sessions start --id telegram-48151623 --cwd ~/src/tidewatch --json",
    "asx sessions start --title 'High water at station 417'",
    "asx sessions start --aether --model acme:large",
    "asx sessions start | cut -f1",
)


def command(
    id_: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="The session's id, where it is not to be a new one.")
    ] = None,
    cwd: Annotated[
        str | None, typer.Option("--cwd", metavar="PATH", help="The folder it works in, else the current one.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="The model that answers, as your program calls it.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="A title to begin with.")] = None,
    aether: Annotated[bool, typer.Option("--aether", help="In Aether's store and format; needs --model.")] = False,
    mode: Annotated[
        str | None, typer.Option("--mode", metavar="NAME", help="With --aether: the agent or mode it begins with.")
    ] = None,
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Begin a session in Aster's or Aether's store and print its id and path.

    Prints them on one line with a tab between. It belongs to the project of its folder, the root of the git repository
    there. An id that the project has already is refused: append to it. asx sessions append takes what is said.
    """
    from index.store_sessions import aether_store, aster_store
    from persist.agents.aether.agent import NAME as AETHER
    from persist.agents.aster.agent import NAME as ASTER

    if aether and not model:
        raise typer.BadParameter(
            "is needed with --aether: Aether names the model of every session", param_hint="--model"
        )
    if aether and title is not None:
        raise typer.BadParameter("cannot be kept with --aether: its format has none", param_hint="--title")
    if mode is not None and not aether:
        raise typer.BadParameter("is Aether's; give --aether too", param_hint="--mode")
    settings = open_settings(index)
    typed_id = None if id_ is None else choices.typed_text(id_)
    folder = choices.typed_text(os.path.normpath(current_folder() if cwd is None else folder_at(cwd)))
    with followed(settings):
        if aether:
            path = aether_store(settings).create(folder, model or "", session_id=typed_id, selected_mode=mode)
            session_id, agent = path.stem, AETHER
        else:
            writer = aster_store(settings).create(folder, model, session_id=typed_id, title=title)
            path, session_id, agent = writer.path, writer.session_id, ASTER
    if json:
        output.emit_json(shapes.stored_session(agent, session_id, path))
    else:
        output.line(f"{output.safe_line(session_id)}\t{output.safe_line(str(path))}")
    return 0
