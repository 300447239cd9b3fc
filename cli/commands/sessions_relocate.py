"""``asx sessions relocate``: a session follows its project to another folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli import choices, exits, options, output, session_shapes
from cli.session_store import AETHER, find_stored, followed
from cli.settings import folder_at, open_settings

if TYPE_CHECKING:
    from persist.known_sessions import StoredSession

EXAMPLES: Final = (
    "asx sessions relocate 01k5p3 ~/src/tidewatch",
    "asx sessions relocate 01k5p3 . --json",
)


def command(
    id_: Annotated[str, typer.Argument(metavar="ID", help="A session's id; 4 characters do where they fit one.")],
    path: Annotated[str, typer.Argument(metavar="PATH", help="The folder that it belongs to from now on.")],
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Make another folder the one that a session belongs to.

    Aster's header is replaced and its file moved to the new project's folder, Aether's metadata is replaced; all the
    rest stays byte for byte. A session that another program is writing is refused: end it there first.
    """
    from persist.projects import project_of

    settings = open_settings(index)
    if not path.strip():
        raise typer.BadParameter("is empty; give a folder", param_hint="PATH")
    cwd = os.path.normpath(folder_at(choices.typed_text(path)))
    session = find_stored(settings, id_, "relocate")
    if not Path(cwd).is_dir():
        output.talk(f"there is no folder {output.safe_line(cwd)} on this machine; it is recorded all the same")
    notes: list[str] = []
    with followed(settings, [] if session.agent == AETHER else [file.path for file in session.files]):
        moved = _relocate(session, cwd, notes)
    project = project_of(cwd)
    if json:
        output.emit_json(session_shapes.relocated(session, cwd, project, str(moved), notes))
    else:
        output.line(output.safe_line(f"{session.id}  {cwd}  {moved}"))
        for note in notes:
            output.talk(note)
    return exits.PARTLY_DONE if notes else exits.DONE


def _relocate(session: StoredSession, cwd: str, notes: list[str]) -> Path:
    """Relocate a session's file, and those of the same name in older homes; return where the first stands now."""
    from persist.errors import RefusedError, StoreError

    first = session.files[0]
    below = {file.path.relative_to(file.home) for file in session.files}
    if len(below) > 1:
        told = ", ".join(str(file.path) for file in session.files)
        raise RefusedError(
            f"session {session.id} is told by several files: {told}", "remove those that are copies first"
        )
    if session.agent == AETHER:
        from persist.aether.store import SessionStore

        trouble = SessionStore.from_path(first.home).relocate(first.path.stem, cwd)
        if trouble is not None:
            notes.append(f"the prompt history still names the old folder: {trouble}")
        return first.path
    from persist.aster.prompts import change_folder
    from persist.aster.relocation import relocate_file

    moved = [relocate_file(file.path, file.home, cwd) for file in session.files]
    for file in session.files:
        try:
            change_folder(file.home, session.id, cwd)
        except StoreError as error:
            notes.append(f"the prompt history still names the old folder: {error}")
    return moved[0]
