"""``asx memory mark``: a memory block helped, or did harm."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from cli import choices, exits, options
from cli.memory_store import change_block, tell_change

EXAMPLES: Final = (
    "asx memory mark deploy-window helpful",
    "asx memory mark 'Retry fixes flake' harmful --session 01m3y9fha0vhf161j4dztyjypy",
)
MISSING: Final = "give two things: the block's name, and behind it what it was, helpful or harmful"


def command(
    name: Annotated[list[str], typer.Argument(metavar="NAME", help="The block's title or name.")],
    mark: Annotated[str, typer.Argument(metavar="helpful|harmful", help="What it was.")],
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="The session in which it was so, noted as it is given."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Say that a memory block was helpful or harmful.

    The last mark shows in the next recall: a helpful block comes before others that fit a prompt as well, a harmful one
    behind them, whatever their age; neither is silenced by it. A helpful block decays more slowly. One that harmed
    twice, and was neither recalled nor helpful, is archived by the next asx memory decay --yes; a day on which it was
    recalled weighs a third of a mark against that. Writing the block anew or restoring it forgives what harmed before.
    """
    from persist.memory.marking import VERDICTS

    if mark not in VERDICTS:
        first = f"; the name stands before {name[0]}" if name[0] in VERDICTS else ""
        raise typer.BadParameter(f"{mark!r} is neither {' nor '.join(VERDICTS)}{first}", param_hint="the last word")
    source = None if session is None else choices.typed_text(session)
    change = change_block(name, lambda store, typed: store.mark(typed, mark, source), moves=False)
    tell_change(change, json=json)
    return exits.DONE
