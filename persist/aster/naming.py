"""Gives a session of Aster's store a title that a person chose (``spec/aster.md`` 2.7).

A title event like Aster's, with one key of ours behind its own, ``"by":"person"``. Aster ignores the key and takes the
newest title; here a person's title stays the session's whatever is titled by itself later, also after a rebuild, until
a person gives another.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from persist.agents.aster.shapes import BY_KEY, BY_PERSON, SUPPORTED_VERSION
from persist.aster.listing import describe
from persist.aster.writer import now_text, wire_line
from persist.errors import RefusedError
from persist.files import append_lines
from persist.files.remove import refuse_link_outside, refuse_outside

MAX_TITLE_CHARACTERS: Final = 300


def checked_title(text: str) -> str:
    """Return a title on one line, without blanks around it. Raises ``RefusedError`` for an empty or too long one."""
    title = " ".join(text.split())
    if not title:
        raise RefusedError("a title is empty", "give it at least one character")
    if len(title) > MAX_TITLE_CHARACTERS:
        raise RefusedError(f"a title has {len(title)} characters", f"{MAX_TITLE_CHARACTERS} are the most")
    return title


def rename_file(path: Path, home: Path, title: str) -> None:
    """Append ``title``, as :func:`checked_title` gives it, to the session in ``path``.

    Raises ``RefusedError`` for a transcript of a newer version, for one that holds nothing to be named and for a folder
    that leads out of the store; ``NotFoundError``, ``BusyError``, ``StoreIOError``. Cost: the file is read once.
    """
    refuse_outside(path, home)
    refuse_link_outside(path, home)
    entry = describe(path, home)
    version = SUPPORTED_VERSION if entry.header is None else entry.header.version
    if version is None or version > SUPPORTED_VERSION:
        raise RefusedError(
            f"{path} has format version {version or 'that is no number'}",
            f"this program writes version {SUPPORTED_VERSION}; update it",
        )
    if entry.header is None and not entry.turns:
        raise RefusedError(f"{path} has no header and no prompt", "there is no session in it to name")
    record = {"type": "title", "title": title, "ts": now_text(), BY_KEY: BY_PERSON}
    append_lines(path, [wire_line(record)], existing="required")
