"""``asx sessions delete``: a session's file goes, and the index and the prompt history follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli import exits, options, output, session_shapes
from cli.asking import is_agreed
from cli.moments import age, count
from cli.session_store import ASTER, find_stored, followed
from cli.session_text import shown_title
from cli.settings import open_settings

if TYPE_CHECKING:
    from persist.known_sessions import StoredSession

EXAMPLES: Final = (
    "asx sessions delete 01k5p3",
    "asx sessions delete --yes 01k5p3 01k5p4",
    "asx sessions delete --dry-run aether:5b0c7f1e",
)


def command(
    ids: Annotated[
        list[str], typer.Argument(metavar="ID", help="Ids, or beginnings of 4 characters that fit one session each.")
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; needed where there is no terminal.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be deleted, change nothing.")] = False,
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Delete sessions of Aster's or Aether's store, for good.

    Each ID means exactly one session; if any of them does not, nothing is deleted. The prompt history and the index
    follow at once. A link is removed, never what it points to. Other agents' sessions are refused.
    """
    settings = open_settings(index)
    found = {session.label: session for session in (find_stored(settings, id_, "delete") for id_ in ids)}
    sessions = list(found.values())
    for session in sessions:
        _talk_of_writer(session)
    if not dry_run and not is_agreed(_question(sessions), yes=yes, what=f"deleting {count(len(sessions), 'session')}"):
        output.talk("nothing was deleted")
        return exits.REFUSED
    failed: list[tuple[StoredSession, str]] = []
    notes: list[str] = []
    if not dry_run:
        with followed(settings, [file.path for session in sessions for file in session.files]):
            failed = _remove(sessions, notes)
    gone = [session for session in sessions if session not in [one for one, _ in failed]]
    if json:
        output.emit_json(session_shapes.deleted(gone, failed, notes, dry_run=dry_run))
    else:
        for session in gone:
            output.line(output.safe_line(f"{'would delete' if dry_run else 'deleted'} {_told(session)}"))
        for session, why in failed:
            output.talk(f"{session.label} was not deleted: {why}")
        for note in notes:
            output.talk(note)
    return exits.PARTLY_DONE if failed or notes else exits.DONE


def _talk_of_writer(session: StoredSession) -> None:
    """Say that a running program goes on to write a session: what it writes after the deletion is in no file."""
    from persist.files.in_use import is_open_elsewhere

    for file in session.files:
        if is_open_elsewhere(file.path):
            output.talk(f"another program has {file.path} open; what it writes there after a deletion is lost")


def _remove(sessions: list[StoredSession], notes: list[str]) -> list[tuple[StoredSession, str]]:
    """Remove each session; return those that could not be, and why. One that fails hinders no other."""
    from persist.errors import StoreError
    from persist.removal import remove_session

    failed: list[tuple[StoredSession, str]] = []
    for session in sessions:
        try:
            removed = remove_session(session)
        except StoreError as error:
            if len(sessions) == 1:
                raise
            failed.append((session, str(error)))
            continue
        if not removed.files:
            failed.append((session, "it is gone already"))
        if removed.history_trouble is not None:
            notes.append(f"its prompts are still in the prompt history: {removed.history_trouble}")
    return failed


def _question(sessions: list[StoredSession]) -> str:
    told = "\n".join(f"  {_described(session)}" for session in sessions)
    return f"{told}\ndelete {'this session' if len(sessions) == 1 else f'these {len(sessions)} sessions'} for good?"


def _told(session: StoredSession) -> str:
    return f"{session.label}  {'  '.join(str(file.path) for file in session.files)}"


def _described(session: StoredSession) -> str:
    """Return a session on one line: its id, title, turns and age where its file can be read, and its files."""
    from persist.aster.listing import describe
    from persist.errors import StoreError

    facts = [session.label]
    if session.agent == ASTER:
        try:
            entry = describe(session.files[0].path, session.files[0].home)
        except StoreError as error:
            facts.append(str(error))
        else:
            facts += [shown_title(entry.title), count(entry.turns, "turn"), age(entry.updated_at)]
    facts += [str(file.path) for file in session.files]
    return output.safe_line("  ".join(fact for fact in facts if fact))
