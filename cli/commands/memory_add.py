"""``asx memory add`` and ``asx remember``: a note becomes a memory block, or a fact of ASTER.md."""

from __future__ import annotations

import sys
from typing import Annotated, Final

import typer

from cli import choices, exits, options
from cli.memory_store import index_follows, tell_change
from cli.settings import chosen_project, open_places

EXAMPLES: Final = (
    "asx memory add 'Deploys leave from the main branch only'",
    "asx memory add --title 'Deploy window' 'Tuesday to Thursday before 15:00 UTC.'",
    "asx memory add --title 'Deploy window' --kind decision --pin --here - < note.md",
    "asx memory add --title uv --supersedes pip --alias 'package manager' 'uv installs the packages.'",
)
MISSING: Final = (
    "give the note's text, or - to read it from stdin; an alias is added by writing its block with its text"
)
STDIN: Final = "-"

_Words = Annotated[
    list[str], typer.Argument(metavar="TEXT", help="The note; several words are one text, and - is stdin.")
]
_Title = Annotated[
    str | None, typer.Option("--title", metavar="TEXT", help="Make it a block; the same title writes over it.")
]
_Description = Annotated[
    str | None, typer.Option("--description", metavar="TEXT", help="Its line in lists, else the first sentence.")
]
_Session = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="The session that it comes from, noted as it is given.")
]
_Kind = Annotated[
    str | None, typer.Option("--kind", metavar="KIND", help="preference, decision, gotcha, howto, fact, note or yours.")
]
_Project = Annotated[str | None, typer.Option("--project", metavar="PATH", help="The project that it is about.")]
_Here = Annotated[bool, typer.Option("--here", help="It is about this project.")]
_Aliases = Annotated[
    list[str] | None,
    typer.Option("--alias", metavar="WORD", help="A prompt with this word or text recalls it too; may be given again."),
]
_Pin = Annotated[bool, typer.Option("--pin", help="It never fades with time.")]
_Supersedes = Annotated[
    str | None,
    typer.Option(
        "--supersedes", metavar="NAME", help="The block that no longer holds because of it; it must be there."
    ),
]


def command(
    text: _Words,
    title: _Title = None,
    description: _Description = None,
    session: _Session = None,
    kind: _Kind = None,
    project: _Project = None,
    here: _Here = False,
    alias: _Aliases = None,
    pin: _Pin = False,
    supersedes: _Supersedes = None,
    json: options.Json = False,
) -> int:
    """Keep a note: a block with a title, without one a fact of ASTER.md.

    A fact stands whole in the agent's system prompt, of a block only its name and one line; asx recall --prompt finds
    both, asx recall NAME prints a block. The same title again writes over the block: its kind, project, aliases and pin
    stay, its old text is kept aside, and asx memory restore brings it back. A superseded block is marked and no prompt
    recalls it; it is still listed, and asx recall NAME prints it.
    """
    if title is None:
        _refuse_without_title(
            {
                "--description": description is not None, "--kind": kind is not None, "--alias": bool(alias),
                "--project": project is not None, "--here": here, "--pin": pin, "--supersedes": supersedes is not None,
            }
        )  # fmt: skip
    if project is not None and here:
        raise typer.BadParameter("is given beside --project; choose one", param_hint="--here")
    from persist.memory import MemoryStore

    note, about = _note(text), chosen_project(project, here=here)
    with index_follows():
        change = MemoryStore(open_places().memory).remember(
            note,
            _typed(title),
            description=_typed(description),
            session=_typed(session),
            kind=_typed(kind),
            project=about,
            aliases=[choices.typed_text(one) for one in alias or ()],
            pin=pin,
            supersedes=_typed(supersedes),
        )
    tell_change(change, json=json)
    return exits.DONE


def _refuse_without_title(given: dict[str, bool]) -> None:
    for option, is_given in given.items():
        if is_given:
            raise typer.BadParameter("needs --title; without one the note is a fact of ASTER.md", param_hint=option)


def _typed(text: str | None) -> str | None:
    return None if text is None else choices.typed_text(text)


def _note(words: list[str]) -> str:
    """Return the note as typed, or as stdin has it; one byte over the limit is enough for the store to refuse it."""
    if words != [STDIN]:
        return choices.joined(words)
    from persist.memory.remember import MAX_NOTE_BYTES

    if sys.stdin is None:
        raise typer.BadParameter("there is no stdin to read the note from", param_hint="TEXT")
    data = sys.stdin.buffer.read(4 * MAX_NOTE_BYTES)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise typer.BadParameter(f"stdin is not UTF-8 at byte {error.start}", param_hint="TEXT") from None
