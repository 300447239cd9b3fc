"""Marks a block as helpful or harmful: one line of the journal, from which its use is counted (DESIGN 10).

Nothing of the block itself changes. The line is all that a mark is, so one that cannot be written is an error.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal, get_args

from persist.aster.writer import now_text
from persist.errors import RefusedError
from persist.files import LOCK_NAME, append_lines, locked
from persist.files.remove import refuse_link_outside
from persist.memory.block_file import existing_block
from persist.memory.change import Change
from persist.memory.journal import JOURNAL_FILE
from persist.memory.journal_writer import journal_line

Verdict = Literal["helpful", "harmful"]
VERDICTS: Final[tuple[str, ...]] = get_args(Verdict)


def mark(folder: Path, name: str, verdict: str, source_session: str | None = None) -> Change:
    """Note that a block, named by title or slug, was helpful or harmful.

    Raises ``RefusedError`` for another verdict and for a journal that is a link out of the folder, ``NotFoundError``
    (an archived block is none), ``BusyError``, ``StoreIOError``; then nothing is noted.
    """
    if verdict not in VERDICTS:
        raise RefusedError(f"{verdict!r} is no mark", f"use {' or '.join(VERDICTS)}")
    journal = folder / JOURNAL_FILE
    with locked(folder / LOCK_NAME):
        path = existing_block(folder, name).path
        refuse_link_outside(journal, folder)
        values = {"ts": now_text(), "op": verdict, "name": path.stem, "source_session": source_session}
        append_lines(journal, [journal_line(values)], already_locked=True)
    return Change(verdict, path.stem, path)
