"""Which session of the two stores a typed id means, for commands that change it: one, or none at all.

Pure: compares texts and joins no path, so that an id like ``../x`` can only fail to fit. Stricter than reading is
(``persist.aster.places.find_in_folder``): whoever deletes by a wrong guess cannot look again.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from persist.errors import RefusedError
from persist.ids import MIN_PREFIX_CHARACTERS, checked_session_id, slug

_PATTERN: Final = re.compile(r"[*?%\[\]]")
_PLAIN: Final = re.compile(r"[0-9A-Za-z-]+\Z", re.ASCII)


class StoredFile(NamedTuple):
    """One transcript of a store: the agent, the id under which it is listed, its path and its data home."""

    agent: str
    id: str
    path: Path
    home: Path


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session of a store with every file that tells it, at least one, in path order."""

    agent: str
    id: str
    files: tuple[StoredFile, ...]

    @property
    def label(self) -> str:
        """The id as it can be typed anywhere, ``agent:id``."""
        return f"{self.agent}:{self.id}"


def sessions_of(files: Sequence[StoredFile]) -> list[StoredSession]:
    """Group files by agent and id, in that order."""
    groups: dict[tuple[str, str], list[StoredFile]] = {}
    for file in files:
        groups.setdefault((file.agent, file.id), []).append(file)
    return [
        StoredSession(agent, id_, tuple(sorted(group, key=lambda file: str(file.path))))
        for (agent, id_), group in sorted(groups.items())
    ]


class Fit(NamedTuple):
    """The sessions that a typed text means, and whether it is the whole id of each."""

    sessions: list[StoredSession]
    is_whole: bool


def fitting(sessions: Sequence[StoredSession], typed: str) -> Fit:
    """Return the sessions that ``typed`` means: those of the first rule that any of them fits.

    The listed id as it stands; a file's name as it stands; either without regard to case and normal form, and as
    Aster slugs it (``conv_1`` for ``conv-1``); a beginning of at least ``MIN_PREFIX_CHARACTERS`` letters, digits and
    dashes. More than one is for the caller to refuse. Raises ``RefusedError`` for a text that is no id: empty, a
    pattern, with a path separator, too long.
    """
    exact = [session for session in sessions if session.id == typed]
    if exact:
        return Fit(exact, True)
    named = [session for session in sessions if any(file.path.stem == typed for file in session.files)]
    if named:
        return Fit(named, True)
    if not typed.strip():
        raise RefusedError("the id is empty", "asx sessions list prints the ids")
    if _PATTERN.search(typed):
        raise RefusedError(f"{typed!r} is a pattern and names no session", "give an id, as asx sessions list prints it")
    checked = checked_session_id(typed)
    form = _form(typed)
    alike = [session for session in sessions if form in {_form(name) for name in _names(session)}]
    if not alike and typed.isascii():
        alike = [session for session in sessions if checked in _slugs(session)]
    if alike or not is_prefix(typed):
        return Fit(alike, True)
    begun = [session for session in sessions if any(_form(name).startswith(form) for name in _names(session))]
    return Fit(begun, False)


def is_prefix(typed: str) -> bool:
    """Whether a text may stand for the ids that begin with it."""
    return len(typed) >= MIN_PREFIX_CHARACTERS and _PLAIN.match(typed) is not None


def _names(session: StoredSession) -> set[str]:
    return {session.id, *(file.path.stem for file in session.files)}


def _slugs(session: StoredSession) -> set[str]:
    return {slug(name) for name in _names(session) if name.isascii()}


def _form(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
