"""``asx sessions show``: a whole session, event by event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli import choices, options, output, shapes
from cli.session_text import MAX_SHOWN_CHARACTERS, print_event, print_head, print_totals
from cli.settings import open_settings

if TYPE_CHECKING:
    from index.settings import Settings

EXAMPLES: Final = (
    "asx sessions show 01k5p3",
    "asx sessions show 01k5p3 --preview",
    "asx sessions show claude-code:3f6d2c1e --json",
)


def command(
    id_: Annotated[str, typer.Argument(metavar="ID", help="A session's id; 4 characters do where they fit one.")],
    preview: Annotated[
        bool, typer.Option("--preview", help="Only the first lines of the first 8 turns, from a bounded read.")
    ] = False,
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Print a whole session, event by event.

    Texts are cut to 2,000 characters each, in JSON they are whole. AGENT:ID tells apart two agents that share an id.
    """
    from index.sessions import session_totals, show_session

    if preview:
        return _print_preview(open_settings(index), choices.typed_text(id_), as_json=json)
    settings = open_settings(index)
    row, events = show_session(settings, choices.typed_text(id_))
    totals = session_totals(settings, row)
    if json:
        output.emit_json(shapes.whole_session(row, events, totals))
        return 0
    print_head(row)
    if totals is not None:
        print_totals(totals)
    for event in events:
        output.line()
        print_event(event, at_most=MAX_SHOWN_CHARACTERS)
    return 0


def _print_preview(settings: Settings, text: str, *, as_json: bool) -> int:
    from index.preview import preview_session

    found = preview_session(settings, text)
    if as_json:
        output.emit_json(shapes.preview(found))
        return 0
    print_head(found.session)
    output.line()
    for role, line in found.turns:
        output.line(output.safe_line(f"{role}: {line}"))
    if found.truncated:
        output.talk("there is more; without --preview all of it is shown")
    return 0
