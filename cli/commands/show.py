"""``asx show``: one event whole, a session's head, or a block and where it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli import choices, options, output, shapes
from cli.hit_commands import BLOCK_PREFIX
from cli.session_text import MAX_SHOWN_CHARACTERS, print_event, print_head
from cli.settings import open_settings
from cli.shown_block import note_hint, show_block

if TYPE_CHECKING:
    from index.results import EventRow
    from index.settings import Settings

EXAMPLES: Final = (
    "asx show 01k5p3:17",
    "asx show 01k5p3:17 --around 3",
    "asx show claude-code:3f6d2c1e",
    "asx show --block deploy-window",
    "asx show --block ASTER.md:7",
)
_WHAT_IS_SHOWN: Final = "A session's id (4 characters do), an event's number, and the file to count in; or block:NAME."


def command(
    id_: Annotated[str | None, typer.Argument(metavar="ID[:EVENT[:FILE]]", help=_WHAT_IS_SHOWN)] = None,
    block: Annotated[
        str | None,
        typer.Option("--block", metavar="NAME", help="A block, or a fact as ASTER.md:LINE, and the turn it is from."),
    ] = None,
    file: Annotated[
        str | None, typer.Option("--file", metavar="PATH", help="The file to count in, where several tell the session.")
    ] = None,
    around: Annotated[
        int, typer.Option("--around", metavar="N", min=0, help="N events before and after it as well, their texts cut.")
    ] = 0,
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Print one event whole, or a session's head.

    The text is read from the agent's file at this moment, tool results too. AGENT:ID tells apart two
    agents that share an id. asx sessions show prints the whole session. Takes what the first column of
    asx search --lines has.
    """
    if (id_ is None) == (block is None):
        raise typer.BadParameter("give a session's id, or --block and a name", param_hint="ID[:EVENT]")
    if id_ is not None and id_.startswith(BLOCK_PREFIX):
        block = id_.removeprefix(BLOCK_PREFIX)
    if block is not None:
        return show_block(choices.typed_text(block), json=json, index=index)
    from index.errors import NoIndexError
    from persist.errors import NotFoundError

    try:
        return _show(id_ or "", file, around, json=json, index=index)
    except (NotFoundError, NoIndexError) as error:
        is_of_session = isinstance(error, NoIndexError) or error.what == "session"
        hint = note_hint(id_ or "") if is_of_session else None
        if hint is None:
            raise
        raise NotFoundError("session", choices.typed_text(id_ or ""), hint) from None


def _show(id_: str, file: str | None, around: int, *, json: bool, index: str | None) -> int:
    """Print what an id names: a session's head, or one of its events and those around it."""
    settings = open_settings(index)
    session_id, event_index, file_typed = choices.event_id(id_, (agent.name for agent in settings.agents))
    if event_index is None:
        if around:
            raise typer.BadParameter("give an event, ID:EVENT", param_hint="--around")
        from index.sessions import show_session

        row, _events = show_session(settings, session_id)
        if json:
            output.emit_json(shapes.shown(session=shapes.session(row)))
        else:
            print_head(row)
        return 0
    from index.show import show_event

    event = show_event(settings, session_id, event_index, file or file_typed)
    before, after = _neighbours(settings, session_id, event, around) if around else ([], [])
    if json:
        told = shapes.shown(event=shapes.event(event))
        if around:
            told |= {"before": [shapes.event(one) for one in before], "after": [shapes.event(one) for one in after]}
        output.emit_json(told)
        return 0
    for one in before:
        print_event(one, at_most=MAX_SHOWN_CHARACTERS)
        output.line()
    print_event(event, marked=bool(around))
    for one in after:
        output.line()
        print_event(one, at_most=MAX_SHOWN_CHARACTERS)
    return 0


def _neighbours(
    settings: Settings, session_id: str, event: EventRow, around: int
) -> tuple[list[EventRow], list[EventRow]]:
    """Return up to ``around`` events before and after ``event`` in its file. Cost: the session is read whole."""
    from index.sessions import show_session

    _row, events = show_session(settings, session_id)
    first, last = event.event_index - around, event.event_index + around
    near = [one for one in events if one.source_path == event.source_path and first <= one.event_index <= last]
    return (
        [one for one in near if one.event_index < event.event_index],
        [one for one in near if one.event_index > event.event_index],
    )
