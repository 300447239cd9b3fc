"""The memory of a data home as one object, for programs that plug in: the same code as ``asx memory``.

Reading takes no lock and needs no index; writing is whole, private and journaled (``remember.py``, ``put_aside.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from persist.aster.writer import now_text
from persist.errors import NotFoundError, RefusedError, StoreIOError
from persist.memory import context, decaying, marking, put_aside
from persist.memory import remember as remembering
from persist.memory import review as reviewing
from persist.memory.archive import Version, list_versions
from persist.memory.blocks import Block, find_block, list_blocks, newest_first
from persist.memory.change import Change
from persist.memory.decaying import Decay
from persist.memory.journal import Operation, read_operations
from persist.memory.journal_writer import RECALL_WAIT_S, append_operation
from persist.memory.names import version_slug
from persist.memory.project import read_project
from persist.memory.review import MissingSessions, Review
from persist.memory.versions import stem_to_restore
from persist.places import current_places

if TYPE_CHECKING:
    from persist.memory.applied import Applied
    from persist.memory.plan import Plan


class MemoryStore:
    """A memory folder: ``ASTER.md``, blocks, journal and archive. Holds nothing in between, so processes may share it.

    Names are titles or slugs. Writing methods raise ``RefusedError``, ``NotFoundError``, ``BusyError`` and
    ``StoreIOError``; reading ones ``NotFoundError`` and ``StoreIOError``. ``remember``, ``recall`` and ``forget`` take
    what a model passed: a value of another type is ``RefusedError`` too.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def open(cls) -> MemoryStore:
        """Return the memory of this process's data home (``asx paths memory``); nothing is made or read."""
        return cls(current_places().memory)

    def remember(
        self,
        note: str,
        title: str | None = None,
        *,
        description: str | None = None,
        session: str | None = None,
        kind: str | None = None,
        project: str | None = None,
        aliases: Sequence[str] | None = None,
        pin: bool = False,
        supersedes: str | None = None,
    ) -> Change:
        """Keep a note: with a title as a block, new or over the one of that title, without as a fact of ``ASTER.md``.

        ``description`` left out is the note's first sentence; ``aliases`` are added to those the block has; ``project``
        is a folder. A fact that is given what only a block has is refused.
        """
        optional = {
            "title": title, "description": description, "session": session, "kind": kind, "project": project,
            "supersedes": supersedes,
        }  # fmt: skip
        _refuse_other_types(note=note, **{name: value for name, value in optional.items() if value is not None})
        if aliases is not None and not _are_texts(aliases):
            raise RefusedError("aliases are no list of texts", "give them as a list")
        if title is None:
            if supersedes is not None or pin or aliases or project or kind or description is not None:
                raise RefusedError(
                    "a note without a title is a fact, which has a session and nothing else", "give a title"
                )
            return remembering.add_fact(self.folder, note, session)
        return remembering.remember(
            self.folder,
            remembering.NewNote(
                note,
                title,
                description=description,
                source_session=session,
                kind=kind,
                project=project,
                aliases=tuple(aliases or ()),
                is_pinned=pin,
                supersedes=supersedes,
            ),
        )

    def append_project(self, fact: str, session: str | None = None) -> Change:
        """Append a fact to ``ASTER.md``."""
        return remembering.add_fact(self.folder, fact, session)

    def forget(self, name: str) -> Change:
        """Take a block away; its text stays as a version."""
        _refuse_other_types(name=name)
        return put_aside.forget(self.folder, name)

    def archive(self, name: str) -> Change:
        """Move a block to ``.archive/``."""
        return put_aside.archive(self.folder, name)

    def restore(self, name: str, at: str | None = None) -> Change:
        """Bring a block back, byte for byte: what was put aside last, or the version ``at``."""
        return put_aside.restore(self.folder, name, at)

    def mark(self, name: str, verdict: str, session: str | None = None) -> Change:
        """Note that a block was ``helpful`` or ``harmful``; its use is counted from that."""
        return marking.mark(self.folder, name, verdict, session)

    def decay(self, *, yes: bool = False, as_of: str | None = None) -> Decay:
        """Return the blocks that are stale at ``as_of`` (the index's form; now); with ``yes`` they are archived."""
        return decaying.decay(self.folder, yes=yes, as_of=as_of)

    def review(self, missing_sessions: MissingSessions | None = None, as_of: str | None = None) -> Review:
        """Return what a person should see to; ``missing_sessions`` tells which session ids are nobody's."""
        return reviewing.review(self.folder, missing_sessions, as_of)

    def apply(self, plan: Plan | Mapping[str, object] | bytes, *, dry_run: bool = False) -> Applied:
        """Do all that a consolidation plan says, as one step, or with ``dry_run`` only tell what that would be.

        ``plan`` is JSON, plain values or a ``persist.memory.plan.Plan``. Raises ``PlanError`` with every fault of it.
        """
        from persist.memory.applying import apply_plan
        from persist.memory.plan import checked_plan, parse_plan

        checked = parse_plan(plan) if isinstance(plan, bytes) else checked_plan(plan)
        return apply_plan(self.folder, checked, dry_run=dry_run)

    def revert(self, step: str, *, dry_run: bool = False) -> Applied:
        """Take back what a plan did, the whole of it; ``step`` is the ULID that applying it gave."""
        from persist.memory.reverting import revert_step

        return revert_step(self.folder, step, dry_run=dry_run)

    def recall(self, name: str, session: str | None = None) -> Block:
        """Return a block and note in the journal that it was given out, where that can be written."""
        _refuse_other_types(name=name)
        block = self.peek(name)
        values = {"ts": now_text(), "op": "recall", "name": block.path.stem, "source_session": session}
        append_operation(self.folder, values, durable=False, timeout_s=RECALL_WAIT_S)
        return block

    def peek(self, name: str) -> Block:
        """Return a block; the journal does not tell of it."""
        block = find_block(self.folder, name)
        if block is None:
            raise NotFoundError("memory block", name)
        if block.unread is not None:
            raise StoreIOError(block.path, "read", block.unread)
        return block

    def list_blocks(self, *, archived: bool = False) -> list[Block]:
        """Return the blocks by name; with ``archived`` those in ``.archive/`` too."""
        return list_blocks(self.folder, include_archived=archived)

    def list_recent(self) -> list[Block]:
        """Return the blocks, the newest write first."""
        return newest_first(list_blocks(self.folder))

    def list_versions(self, name: str) -> list[Version]:
        """Return the older versions of a block, there or put aside, newest first."""
        stem = stem_to_restore(self.folder, name)
        return [] if stem is None else list_versions(self.folder, version_slug(stem))

    def read_project(self) -> str | None:
        """Return the text of ``ASTER.md``, ``None`` until there is one."""
        return read_project(self.folder)

    def read_log(self) -> tuple[list[Operation], int]:
        """Return the journal, newest first, and how many of its lines are damaged."""
        return read_operations(self.folder)

    def load_context(self, prompt: str | None = None, cwd: str | None = None) -> str:
        """Return what an agent puts into its system prompt: ``ASTER.md`` and the list of blocks.

        With a prompt only the blocks that help with it where it was typed: ``cwd``, the current folder when not given.
        """
        return context.load_context(self.folder, prompt, cwd)


def _refuse_other_types(**texts: object) -> None:
    for name, value in texts.items():
        if not isinstance(value, str):
            raise RefusedError(f"{name} is no text", "give it as a string")


def _are_texts(values: object) -> bool:
    return isinstance(values, list | tuple) and all(isinstance(value, str) for value in values)
