"""A candidate: what may be recalled for a prompt, as words and as what is known of it.

Pure; imports nothing of ours. Files (``from_files.py``) and the index make candidates alike; nothing that scores them
sees a text. Words are those of ``persist.recall.words``, in the order of the text, without any that it leaves out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DEFAULT_KIND: Final = "fact"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A block, a fact of ASTER.md or another agent's note.

    ``name`` is the block's slug, ``ASTER.md:LINE`` for a fact; ``path`` the absolute path of its file, with ``name``
    unique. ``name_words`` are those of ``words.name_words``, of the slug and then of the title. Each
    of ``aliases`` is one alias as its words, in order, never empty. ``project`` is the folder that the candidate is
    limited to, as written in it; ``None`` means everywhere. ``touched_at`` (when created, edited, given out or found
    helpful last) is in the index's form, ``None`` when unknown. ``use`` and ``last_mark`` are those of
    ``persist.memory.standing``.
    """

    name: str
    path: str
    name_words: tuple[str, ...] = ()
    description_words: tuple[str, ...] = ()
    body_words: tuple[str, ...] = ()
    aliases: tuple[tuple[str, ...], ...] = ()
    kind: str = DEFAULT_KIND
    project: str | None = None
    touched_at: str | None = None
    use: float = 0.0
    pinned: bool = False
    superseded_by: str | None = None
    agent: str = "aster"
    last_mark: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        """What tells this candidate from every other one, and settles the order of equals."""
        return (self.name, self.path)


def fact_name(line_number: int) -> str:
    """Return the name of the fact that begins on this line (from 1) of the project file."""
    return f"ASTER.md:{line_number}"
