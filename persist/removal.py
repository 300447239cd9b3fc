"""Deletes a session of one of the two stores: its files and what the prompt history holds of it.

Both stores keep their history beside their sessions in one format, so one way does for both. The history goes first:
killed in between, prompts are missing there that the transcript still has, and a rebuild of the history brings them
back; the other way round a deleted prompt would still be found. Whether the files can be locked is asked before that:
a removal that is refused as busy has changed nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from persist import history
from persist.errors import StoreError
from persist.files import LOCK_NAME, locked
from persist.files.redo import forget_left
from persist.files.remove import refuse_outside, remove_inside
from persist.known_sessions import StoredFile, StoredSession

SESSIONS: Final = "sessions"


class Removed(NamedTuple):
    """What became of a session: the files removed, and why its prompts are still in a history, if they are."""

    files: tuple[StoredFile, ...]
    history_trouble: str | None


def remove_session(session: StoredSession) -> Removed:
    """Remove every file of a session under its folder's lock, and its prompts from the histories of their homes.

    What a link in the place of a file points to stays. A history that cannot be written hinders nothing and is told.
    Raises ``RefusedError`` before anything is changed where a folder leads out of the store; ``BusyError``,
    ``StoreIOError``; files removed before a failure stay removed.
    """
    for file in session.files:
        refuse_outside(file.path, file.home)
    for lock in locks_of(session):
        with locked(lock):
            pass
    trouble = forget_prompts(session)
    removed = []
    for file in session.files:
        with locked(file.path.with_name(LOCK_NAME)):
            forget_left(file.path)
            if remove_inside(file.path, file.home):
                removed.append(file)
    return Removed(tuple(removed), trouble)


def locks_of(session: StoredSession) -> list[Path]:
    """Return the lock files of the folders that a session's files lie in, each once."""
    return list(dict.fromkeys(file.path.with_name(LOCK_NAME) for file in session.files))


def forget_prompts(session: StoredSession) -> str | None:
    """Take a session's prompts out of the histories of its homes; return why one could not be written."""
    trouble = None
    for home in histories_of(session):
        try:
            history.change(home, lambda entry: None if entry.session_id == session.id else entry)
        except StoreError as error:
            trouble = str(error)
    return trouble


def histories_of(session: StoredSession) -> list[Path]:
    """Return where the prompt histories of a session's homes stand, whether they exist or not."""
    return [home / SESSIONS / history.HISTORY_NAME for home in dict.fromkeys(file.home for file in session.files)]
