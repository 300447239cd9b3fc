"""``asx sessions rename``: a title that a person gives."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from cli import choices, options, output, session_shapes
from cli.session_store import ASTER, find_stored, followed
from cli.settings import open_settings

EXAMPLES: Final = (
    "asx sessions rename 01k5p3 Midnight readings in the buoy parser",
    "asx sessions rename 01k5p3 -- --strict mode",
)


def command(
    id_: Annotated[str, typer.Argument(metavar="ID", help="A session's id; 4 characters do where they fit one.")],
    title: Annotated[list[str], typer.Argument(metavar="TITLE", help="The title; several words are one title.")],
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Give a session of Aster's store a title.

    It stays the title whatever Aster names the session later, until you give another. Aether's format has no titles,
    and other agents' files are never written: those are refused.
    """
    from persist.aster.naming import checked_title, rename_file
    from persist.errors import RefusedError

    settings = open_settings(index)
    chosen = checked_title(choices.joined(title))
    session = find_stored(settings, id_, "rename")
    if session.agent != ASTER:
        raise RefusedError(
            f"{session.label} cannot be renamed: Aether's format has no titles", "its first prompt is its title"
        )
    with followed(settings):
        newest = max(session.files, key=lambda file: file.path.stat().st_mtime_ns)
        rename_file(newest.path, newest.home, chosen)
    if json:
        output.emit_json(session_shapes.renamed(session, chosen))
    else:
        output.line(output.safe_line(f"{session.id}  {chosen}"))
    return 0
