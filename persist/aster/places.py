"""Where a session's file stands below a data home, and how an id finds it (``spec/aster.md`` 2.1 and 2.5).

Looks at folders; opens no file. An id is compared with the names that are there and never joined to a path unchecked
(``spec/aster.md`` 8, 18).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from persist.errors import AmbiguousError, StoreIOError
from persist.history import HISTORY_NAME
from persist.ids import checked_session_id, project_slug, slug

SESSIONS: Final = "sessions"
SUFFIX: Final = ".jsonl"


def project_folder(home: Path, repo_root: str) -> Path:
    """Return the folder of a project's sessions, whether it exists or not."""
    return home / SESSIONS / project_slug(repo_root)


def new_session_path(home: Path, repo_root: str, session_id: str) -> Path:
    """Return where a new session's file goes. Raises ``RefusedError`` for an id that cannot name a file."""
    return project_folder(home, repo_root) / f"{checked_session_id(session_id)}{SUFFIX}"


def transcripts_in(folder: Path) -> list[Path]:
    """Return the transcripts directly in a project's folder, by name; none where it is missing.

    Raises ``StoreIOError`` where the folder cannot be read.
    """
    try:
        return sorted(path for path in folder.iterdir() if is_transcript(path))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StoreIOError(folder, "read folder", error.strerror or str(error)) from error


def is_transcript(path: Path) -> bool:
    """Whether a path is a file with a transcript's name."""
    return path.suffix == SUFFIX and not path.name.startswith(".") and path.name != HISTORY_NAME and path.is_file()


def find_in_folder(folder: Path, session_id: str) -> Path | None:
    """Return the file that an id names in one project's folder, or ``None``.

    First the name exactly as typed, so that an old upper-case file is never hidden by a younger lower-case
    one; then the slugged name, as Aster since 0.6; then any name with that slug. Raises ``AmbiguousError``
    when the last step finds several, ``RefusedError`` for an id that names no file, ``StoreIOError`` where the
    folder cannot be read.
    """
    checked = checked_session_id(session_id)
    return choose(transcripts_in(folder), session_id, checked)


def choose(paths: Iterable[Path], typed: str, checked: str) -> Path | None:
    """Return the one of ``paths`` that an id names, by the order of :func:`find_in_folder`; pure.

    Raises ``AmbiguousError`` when several fit equally well.
    """
    alike = [path for path in paths if slug(path.stem) == checked]
    for name in (typed, checked):
        exact = [path for path in alike if path.stem == name]
        if exact:
            alike = exact
            break
    if len(alike) > 1:
        raise AmbiguousError("session", typed, tuple(str(path) for path in alike))
    return alike[0] if alike else None
