"""``asx sessions show``: a whole session, event by event."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from cli import choices, options, output, shapes
from cli.session_text import MAX_SHOWN_CHARACTERS, print_event, print_head
from cli.settings import open_settings

EXAMPLES: Final = ("asx sessions show 01k5p3", "asx sessions show claude-code:3f6d2c1e --json")


def command(
    id_: Annotated[str, typer.Argument(metavar="ID", help="A session's id; 4 characters do where they fit one.")],
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Print a whole session, event by event.

    Texts are cut to 2,000 characters each, in JSON they are whole. AGENT:ID tells apart two agents that share an id.
    """
    from index.sessions import show_session

    row, events = show_session(open_settings(index), choices.typed_text(id_))
    if json:
        output.emit_json(shapes.whole_session(row, events))
        return 0
    print_head(row)
    for event in events:
        output.line()
        print_event(event, at_most=MAX_SHOWN_CHARACTERS)
    return 0
