"""Checks a plan against the memory as it is, before anything is written: which file each entry means, and what fits.

Reads the folder, writes nothing. Every fault of the plan is told at once, each with its place.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from persist.errors import PlanError, RefusedError
from persist.memory.blocks import Block, find_block, list_blocks, parse_note
from persist.memory.known_blocks import known_blocks
from persist.memory.names import folded_title
from persist.memory.plan import MAX_TITLE_CHARACTERS, BlockPart, Plan
from persist.memory.project import parse_facts, read_project_bytes, same_fact
from persist.memory.project_writer import fact_bullet
from persist.memory.remember import NewNote, block_bytes, superseded_bytes, with_dropped
from persist.memory.targets import Target, checked_title, find_target
from persist.memory.versions import read_bytes

REMEMBER: Final = "remember"
SUPERSEDE: Final = "supersede"
ARCHIVE: Final = "archive"
_SHOWN_CHARACTERS: Final = 60
_MAX_HINTS: Final = 10
"""Faults behind these are told without a name that is nearly the one in the plan."""


@dataclass(frozen=True, slots=True)
class Action:
    """One change of one block: ``before`` are its bytes now, ``None`` for a block that is not there yet.

    ``by`` is the stem of the block that takes its place, ``reason`` why it is archived. ``entry`` is its place in the
    plan.
    """

    entry: str
    op: str
    stem: str
    before: bytes | None
    note: NewNote | None = None
    by: str | None = None
    reason: str | None = None

    def target(self, folder: Path) -> Target:
        """Return where the block is, with the block as it was before."""
        path = folder / f"{self.stem}.md"
        if self.before is None:
            return Target(path, None)
        return Target(path, Block(parse_note(str(path), self.before), path, len(self.before)))

    def after(self, folder: Path, written_at: str) -> bytes | None:
        """Return the bytes of the block's file afterwards, ``None`` where it is gone from its place."""
        if self.note is not None:
            title, body = checked_title(self.note.title), self.note.text.strip()
            return block_bytes(self.note, title, body, self.target(folder), self.before, written_at)
        if self.op == SUPERSEDE and self.before is not None and self.by is not None:
            return superseded_bytes(self.stem, self.before, self.by)
        return None


@dataclass(frozen=True, slots=True)
class Checked:
    """What a plan comes to: changes of blocks in their order, the bullets to append, and what is there already."""

    actions: tuple[Action, ...]
    facts: tuple[str, ...]
    facts_there: tuple[str, ...]


def check_plan(folder: Path, plan: Plan, session: str | None) -> Checked:
    """Return what a plan comes to in a memory folder. Raises ``PlanError`` with every fault, and ``StoreIOError``."""
    check = _Check(folder, session, list_blocks(folder))
    for number, new in enumerate(plan.new):
        entry = f"new[{number}]"
        target = check.write(entry, f"{entry}.title", new)
        if target is not None:
            check.replace(entry, f"{entry}.supersedes", new.supersedes, target, SUPERSEDE, is_pinned=new.pinned)
    for number, merge in enumerate(plan.merge):
        entry = f"merge[{number}]"
        target = check.write(entry, f"{entry}.into.title", merge.into)
        if target is not None:
            op = SUPERSEDE if merge.then == "supersede" else ARCHIVE
            check.replace(entry, f"{entry}.from", merge.sources, target, op, is_pinned=merge.into.pinned, is_merge=True)
    for number, gone in enumerate(plan.archive):
        check.archive(f"archive[{number}]", gone.name, gone.reason)
    facts, there = check.lessons(plan.lessons)
    if check.faults:
        raise PlanError(tuple(check.faults))
    return Checked(tuple(check.actions), facts, there)


@dataclass(slots=True)
class _Check:
    folder: Path
    session: str | None
    listed: Sequence[Block]
    actions: list[Action] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    _claimed: dict[str, str] = field(default_factory=dict)
    _titles: dict[str, str] = field(default_factory=dict)
    _pinned: frozenset[str] | None = None

    def write(self, entry: str, place: str, part: BlockPart) -> Target | None:
        """Note that a block is written; return where, ``None`` where that is a fault."""
        try:
            title = checked_title(part.title)
        except RefusedError as error:
            self.faults.append(f"{place}: {error}")
            return None
        target = find_target(self.folder, title, self.listed)
        block = target.block
        if not self._claim(place, target.path.stem) or (block is not None and not self._may_change(place, block)):
            return None
        first = self._titles.setdefault(folded_title(title), place)
        if first != place:  # its spellings give two slugs, and are one title all the same
            self.faults.append(f"{place}: is the same title as {first}; one entry for each block")
            return None
        before = None if block is None else read_bytes(target.path)
        note = with_dropped(self.folder, part.note(self.session), target)
        self.actions.append(Action(entry, REMEMBER, target.path.stem, before, note))
        return target

    def replace(
        self, entry: str, place: str, names: Sequence[str], target: Target, op: str, *, is_pinned: bool,
        is_merge: bool = False,
    ) -> None:  # fmt: skip
        """Note that blocks give their place to the one in ``target``, which of a merge may be one of them."""
        for number, name in enumerate(names):
            at = f"{place}[{number}]"
            block = self._find(at, name)
            if block is None:
                continue
            if block.path == target.path:
                if not is_merge:
                    self.faults.append(f"{at}: is the block itself")
                continue
            stays_pinned = is_pinned or (target.block is not None and self._is_pinned(target.block))
            if not self._claim(at, block.path.stem):
                continue
            if self._is_pinned(block) and not stays_pinned:
                self.faults.append(f"{at}: block {block.path.stem!r} is pinned; so must be the one in its place")
                continue
            reason = f"merged into {target.path.stem}" if op == ARCHIVE else None
            before = read_bytes(block.path)
            action = Action(entry, op, block.path.stem, before, by=target.path.stem, reason=reason)
            if op == ARCHIVE or action.after(self.folder, "") != before:
                self.actions.append(action)

    def archive(self, entry: str, name: str, reason: str) -> None:
        """Note that a block is archived for a reason."""
        place = f"{entry}.name"
        block = self._find(place, name)
        if block is None or not self._claim(place, block.path.stem):
            return
        if self._is_pinned(block):
            self.faults.append(f"{place}: block {block.path.stem!r} is pinned; asx memory archive takes it out")
            return
        self.actions.append(Action(entry, ARCHIVE, block.path.stem, read_bytes(block.path), reason=reason))

    def lessons(self, lessons: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the bullets to append, and those that stand in ``ASTER.md`` already."""
        known = parse_facts(read_project_bytes(self.folder) or b"")
        fresh: dict[str, int] = {}
        there: list[str] = []
        for number, lesson in enumerate(lessons):
            bullet = fact_bullet(lesson)
            if bullet in fresh:
                self.faults.append(f"lessons[{number}]: says the same as lessons[{fresh[bullet]}]")
            elif any(same_fact(fact, bullet) for fact in known):
                there.append(bullet)
            else:
                fresh[bullet] = number
        return tuple(fresh), tuple(there)

    def _find(self, place: str, name: str) -> Block | None:
        block = find_block(self.folder, name, self.listed)
        if block is None:
            near = self._near(name) if len(self.faults) < _MAX_HINTS else None
            hint = f"did you mean {near!r}?" if near else "see: asx memory list"
            self.faults.append(f"{place}: there is no block {name[:_SHOWN_CHARACTERS]!r}; {hint}")
            return None
        return block if self._may_change(place, block) else None

    def _near(self, name: str) -> str | None:
        """Return the name of a block that is spelled nearly so. Cost: compares it with every block's."""
        known = [text for one in self.listed for text in (one.path.stem, one.title) if text]
        return next(iter(difflib.get_close_matches(name[:MAX_TITLE_CHARACTERS], known, n=1)), None)

    def _may_change(self, place: str, block: Block) -> bool:
        """Tell whether a block's file can be changed and brought back byte for byte; a fault where it cannot."""
        if block.unread is not None:
            self.faults.append(f"{place}: block {block.path.stem!r} cannot be read: {block.unread}")
        elif block.path.is_symlink():
            self.faults.append(f"{place}: block {block.path.stem!r} is a link; put a file in its place")
        else:
            return True
        return False

    def _is_pinned(self, block: Block) -> bool:
        """Tell whether a block is pinned, also where another program's rewrite dropped it from the header."""
        if self._pinned is None:
            self._pinned = frozenset(one.path.stem for one in known_blocks(self.listed) if one.note.pinned)
        return block.path.stem in self._pinned

    def _claim(self, place: str, stem: str) -> bool:
        """Take a block for one entry; a second one about it is a fault."""
        key = stem.casefold()
        if key in self._claimed:
            self.faults.append(
                f"{place}: is about block {stem!r}, as {self._claimed[key]} is; one entry for each block"
            )
            return False
        self._claimed[key] = place
        return True
