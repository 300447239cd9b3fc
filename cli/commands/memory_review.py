"""``asx memory review``: what in the memory a person should see to."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Final

import typer

from cli import choices, exits, options, output, shapes
from cli.moments import count
from cli.settings import open_places, open_settings
from cli.tables import Column, table_of_sentences

EXAMPLES: Final = ("asx memory review", "asx memory review --json")
_COLUMNS: Final = (Column("name", shrinks_to=16), Column("finding"), Column("reason"))


def command(
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="TIME", help="As if it were then: 2027-06-01, or 90d for days ago."),
    ] = None,
    json: options.Json = False,
) -> int:
    """List what in the memory wants to be looked at.

    Near duplicates, blocks never recalled, without a date or too long, links to sessions that are gone, blocks
    superseded in a circle, and facts that do not belong in ASTER.md. What looks secret or personal is named by its line
    and never printed. Changes nothing; exits with 1 when there is nothing to see to.
    """
    from persist.memory import MemoryStore

    moment = choices.moment(as_of, "--as-of")
    store = MemoryStore(open_places().memory)
    found = store.review(missing_sessions=_missing, as_of=moment)
    if json:
        output.emit_json(shapes.memory_review(found))
    else:
        rows = [(one.name, one.finding, one.reason) for one in found.findings]
        if rows:
            for text in table_of_sentences(_COLUMNS, rows, output.table_columns()):
                output.line(text)
        looked = (
            f"{count(found.blocks, 'block')} and {count(found.facts, 'fact')} in {output.safe_line(str(store.folder))}"
        )
        output.talk(f"{count(len(rows), 'finding')} in {looked}" if rows else f"nothing to see to in {looked}")
    return exits.DONE if found.findings else exits.NOTHING_FOUND


def _missing(ids: Collection[str]) -> Collection[str]:
    """Return the sessions that nothing knows; where that cannot be told, none of them, and say so."""
    from index.session_links import missing_sessions
    from persist.errors import ConfigError

    try:
        missing, trouble = missing_sessions(open_settings(), ids)
    except ConfigError as error:
        output.talk(f"links to sessions were not looked at: {error}")
        return ()
    if trouble is not None and missing:
        output.talk(f"sessions were looked for among the files only: {trouble}")
    return missing
