"""What applying a plan, or taking it back, came to: plain values, which import nothing of ours but a limit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from persist.memory.journal_writer import MAX_DETAIL_CHARACTERS

FACT: Final = "append_project"
"""The journal's word for a fact that was added."""


@dataclass(frozen=True, slots=True)
class Done:
    """One thing that a plan does, or that taking it back undoes.

    ``op`` is the journal's word, ``name`` the block's slug, ``None`` for a fact, ``path`` where it is afterwards,
    ``None`` where it is gone. ``entry`` is its place in the plan. ``is_new``: there was no such block. ``version`` is
    the ULID under which the block as it was is kept. ``changed_since``: of what is taken back, it is not what the step
    made of it; that is kept as ``version``.
    """

    op: str
    name: str | None
    entry: str
    path: Path | None = None
    title: str | None = None
    is_new: bool = False
    by: str | None = None
    version: str | None = None
    detail: str | None = None
    changed_since: bool = False


@dataclass(frozen=True, slots=True)
class Applied:
    """What applying a plan came to, or would come to.

    ``step`` is the ULID by which the whole is taken back, ``None`` as long as nothing was done. ``was_done``: this very
    plan was applied before, and nothing was done now. ``was_begun``: it was cut short, and this is the rest.
    ``left`` are the bullets of lessons that stand in ``ASTER.md`` already, or of facts that were edited since or are
    gone. ``open_steps`` are other steps that were cut short. ``journal_trouble`` is as in ``persist.memory.change``.
    """

    step: str | None
    session: str | None
    is_dry_run: bool
    done: tuple[Done, ...]
    was_done: bool = False
    was_begun: bool = False
    left: tuple[str, ...] = ()
    open_steps: tuple[str, ...] = ()
    journal_trouble: str | None = None


def fact_detail(bullet: str) -> str:
    """Return what the journal has of a fact: the beginning of its text."""
    first, *rest = bullet.split("\n")
    return "\n".join([first.removeprefix("- "), *(line.removeprefix("  ") for line in rest)])[:MAX_DETAIL_CHARACTERS]
