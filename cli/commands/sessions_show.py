"""``asx sessions show``: a whole session, event by event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli import choices, exits, options, output, shapes
from cli.session_raw import print_raw
from cli.session_text import print_event, print_folded, print_head, print_totals
from cli.settings import open_settings

if TYPE_CHECKING:
    from index.results import EventRow, SessionRow
    from index.settings import Settings

EXAMPLES: Final = (
    "asx sessions show 01k5p3",
    "asx sessions show 01k5p3 --turn 4 --full",
    "asx sessions show 01k5p3 --preview",
    "asx sessions show claude-code:3f6d2c1e --json",
    "asx sessions show 01k5p3 --raw",
)


def command(
    id_: Annotated[str, typer.Argument(metavar="ID", help="A session's id; 4 characters do where they fit one.")],
    full: Annotated[bool, typer.Option("--full", help="Every text whole, tools' arguments and results too.")] = False,
    turn: Annotated[
        int | None, typer.Option("--turn", metavar="N", min=0, help="Only one turn; the first prompt begins turn 0.")
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="The transcript's own lines, byte for byte.")] = False,
    preview: Annotated[
        bool, typer.Option("--preview", help="Only the first lines of the first 8 turns, from a bounded read.")
    ] = False,
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Print a whole session, event by event.

    What tools were given and gave is folded to a line, other texts are cut to 2,000 characters; in JSON all are whole.
    AGENT:ID tells apart two agents that share an id.
    """
    _refuse_together(full=full, turn=turn, raw=raw, preview=preview, json=json)
    settings = open_settings(index)
    text = choices.typed_text(id_)
    if preview:
        return _print_preview(settings, text, as_json=json)
    from index.sessions import session_totals

    row, events = _find(settings, text)
    chosen = None if turn is None else _of_turn(row, events, turn)
    if raw:
        for path in row.paths:
            lines = None if chosen is None else {event.line_number for event in chosen if event.source_path == path}
            print_raw(settings.places.archive, row.agent, path, lines)
        return exits.DONE
    if chosen is not None:
        events = iter(chosen)
    totals = session_totals(settings, row)
    if json:
        output.emit_json(shapes.whole_session(row, events, totals))
        return exits.DONE
    print_head(row)
    if totals is not None:
        print_totals(totals)
    for event in events:
        output.line()
        if full:
            print_event(event)
        else:
            print_folded(event)
    return exits.DONE


def _refuse_together(*, full: bool, turn: int | None, raw: bool, preview: bool, json: bool) -> None:
    if raw and (json or full):
        raise typer.BadParameter("is the lines as they stand; leave --json and --full out", param_hint="--raw")
    if preview and (raw or full or turn is not None):
        raise typer.BadParameter("is its own short form; leave the other options out", param_hint="--preview")


def _find(settings: Settings, text: str) -> tuple[SessionRow, Iterator[EventRow]]:
    """Return a session and its events; a file of a store without any session in it has neither turns nor events."""
    from index.bare import bare_transcripts, has_index
    from index.sessions import list_sessions, show_session
    from persist.errors import NotFoundError

    try:
        return show_session(settings, text)
    except NotFoundError:
        listed = [] if has_index(settings) else list_sessions(settings)[1]
        bare = bare_transcripts(settings, listed)
        found = [row for row in bare if text in (row.session_id, f"{row.agent}:{row.session_id}")]
        if len(found) != 1:
            raise
        output.talk("there is no session in this file; --raw prints what it holds")
        return found[0], iter(())


def _of_turn(row: SessionRow, events: Iterator[EventRow], turn: int) -> list[EventRow]:
    from persist.errors import NotFoundError

    last = -1
    found = []
    for event in events:
        if event.turn_index is not None:
            last = max(last, event.turn_index)
        if event.turn_index == turn:
            found.append(event)
    if not found:
        there = f"its last one is {last}" if last >= 0 else "it has none"
        raise NotFoundError("turn", f"{turn} of {row.session_id}", there)
    return found


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
