"""``asx sessions history``: the newest prompts as the store's own history file has them."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from cli import exits, options, output, session_shapes
from cli.moments import count
from cli.search_words import home_path
from cli.session_store import followed
from cli.settings import open_places, open_settings

EXAMPLES: Final = (
    "asx sessions history",
    "asx sessions history | tail -n 5",
    "asx sessions history --json",
    "asx sessions history --rebuild",
)


def command(
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make it anew from the transcripts, in the order of time.")
    ] = False,
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Print the prompt history of Aster's store, the last prompt at the end.

    It holds the newest 100. The file is derived: the transcripts have it all, and --rebuild makes it anew from them. To
    find a prompt, take asx search.
    """
    from persist.aster.prompts import rebuild_history
    from persist.history import read

    places = open_places()
    if rebuild:
        with followed(open_settings(index)):
            found = rebuild_history(places.data)
    else:
        found = read(places.prompt_history)
    if found.damaged:
        output.talk(f"{count(len(found.damaged), 'line')} of {places.prompt_history} cannot be read")
    if json:
        output.emit_json(session_shapes.history(found, rebuilt=rebuild))
    else:
        for entry in found.entries:
            where = output.styled(output.safe_line(home_path(entry.cwd)), "quiet")
            output.line(f"{output.safe_line(entry.prompt)}  {where}")
    if found.entries:
        return exits.DONE
    if not json:
        output.talk(f"no prompts in {places.prompt_history}")
    return exits.NOTHING_FOUND
