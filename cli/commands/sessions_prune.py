"""``asx sessions prune``: thins out a project's sessions; says what it would do unless told to do it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli import choices, exits, options, output, session_shapes
from cli.moments import age, count
from cli.session_store import ASTER, followed, homes_of
from cli.session_text import shown_title
from cli.settings import current_folder, folder_at, open_settings

if TYPE_CHECKING:
    from persist.aster.retention import Going, LeftAlone

EXAMPLES: Final = (
    "asx sessions prune --older-than 90d",
    "asx sessions prune --keep 20 --empty --yes",
    "asx sessions prune --empty --project ~/src/tidewatch --json",
)

_UNITS: Final = ("h", "d", "w", "y")
"""No ``m``: it is minutes elsewhere, and who thinks of months would lose a month."""


def command(
    keep: Annotated[
        int | None, typer.Option("--keep", metavar="N", min=1, help="Only the N last used ones stay.")
    ] = None,
    older_than: Annotated[
        str | None,
        typer.Option("--older-than", metavar="AGE", help="Those unused for so long go: 30d, 12w, 1y; days if no unit."),
    ] = None,
    empty: Annotated[bool, typer.Option("--empty", help="Those in which nobody said anything go.")] = False,
    project: Annotated[
        str | None, typer.Option("--project", metavar="PATH", help="Of the project that this folder belongs to.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it; without, only say what would be done.")] = False,
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Delete sessions of Aster's store that are old, surplus or empty.

    Of the project of the current folder, and of no other whose path looks alike. Without --yes nothing is deleted. What
    cannot be read, or is being written now, is left alone and named.
    """
    from persist.aster.retention import LeftAlone as Left
    from persist.aster.retention import Rules, candidates_of, chosen, is_locked, why_left
    from persist.projects import project_of

    if keep is None and older_than is None and not empty:
        raise typer.BadParameter("say what is to go: --keep N, --older-than 30d or --empty", param_hint="prune")
    rules = Rules(keep, _border(older_than), empty)
    settings = open_settings(index)
    wanted = project_of(str(current_folder() if project is None else folder_at(project)))
    candidates, left = candidates_of(homes_of(settings, ASTER), wanted)
    going: list[Going] = []
    for one in chosen(candidates, rules):
        why = why_left(one.candidate)
        if why is None and is_locked(one.candidate):
            why = "another program writes in its folder"
        if why is None:
            going.append(one)
        else:
            left.append(Left(one.candidate.entry.path, why))
    notes: list[str] = []
    if yes and going:
        with followed(settings, [file.path for one in going for file in one.candidate.files]):
            going = _remove(going, left, notes)
    kept = len(candidates) - len(going)
    if json:
        output.emit_json(session_shapes.pruned(wanted, going, left, notes, kept=kept, dry_run=not yes))
    else:
        _print(going, left, notes, kept=kept, project=wanted, done=yes)
    return exits.PARTLY_DONE if notes else exits.DONE


def _border(older_than: str | None) -> str | None:
    """Return the time before which a session is old; an age alone is one, 0 none."""
    if older_than is None:
        return None
    text = older_than.strip()
    age_text = f"{text}d" if text.isascii() and text.isdecimal() else text
    digits = age_text[:-1]
    if age_text[-1:] not in _UNITS or not (digits.isascii() and digits.isdecimal() and int(digits) > 0):
        raise typer.BadParameter(f"{older_than!r} is not an age like 30d, 12w or 1y", param_hint="--older-than")
    return choices.moment(age_text, "--older-than")


def _remove(going: list[Going], left: list[LeftAlone], notes: list[str]) -> list[Going]:
    """Remove what goes; return what went. What was taken up meanwhile joins ``left``."""
    from persist.aster.retention import LeftAlone, remove

    gone = []
    for one in going:
        outcome = remove(one.candidate)
        if outcome.left is None:
            gone.append(one)
        else:
            left.append(LeftAlone(one.candidate.entry.path, outcome.left))
        if outcome.history_trouble is not None:
            notes.append(f"prompts of {one.candidate.entry.id} are still in the history: {outcome.history_trouble}")
    return gone


def _print(going: list[Going], left: list[LeftAlone], notes: list[str], *, kept: int, project: str, done: bool) -> None:
    for one in going:
        entry = one.candidate.entry
        facts = [one.why, age(entry.updated_at), entry.id, shown_title(entry.title)]
        output.line(output.safe_line("  ".join(fact for fact in facts if fact)))
    for other in left:
        output.talk(f"left alone: {output.safe_line(str(other.path))}: {other.why}")
    for note in notes:
        output.talk(note)
    deed = "deleted" if done else "would be deleted"
    stay = "stay" if kept != 1 else "stays"
    told = f"{count(len(going), 'session')} of {output.safe_line(project)} {deed}, {count(kept, 'session')} {stay}"
    output.talk(told if done or not going else f"{told}; --yes deletes")
