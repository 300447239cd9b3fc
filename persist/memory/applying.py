"""Applies a plan to the memory as one step, and finishes one that was cut short (DESIGN 10).

Under the folder's lock: everything is checked, the step is written into the journal with the hashes of what it changes
(``persist.memory.steps``), then each block is put aside and changed as any other change of the memory does it. Ended at
any moment, every file is the old or the new one, whole, and the same plan again goes on where it ended. Taking a step
back is ``persist.memory.reverting``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from persist.aster.writer import now_text
from persist.errors import RefusedError, StoreIOError
from persist.files import LOCK_NAME, append_lines, locked, make_private_folder, write_atomic
from persist.files.create import create_file
from persist.files.remove import refuse_link_outside
from persist.memory import versions
from persist.memory.applied import FACT, Applied, Done, fact_detail
from persist.memory.archive import list_versions
from persist.memory.blocks import PROJECT_FILE
from persist.memory.change import tell
from persist.memory.describe import one_line
from persist.memory.journal import JOURNAL_FILE
from persist.memory.journal_writer import MAX_DETAIL_CHARACTERS, JournalValue, append_operation
from persist.memory.names import version_slug
from persist.memory.plan import Plan
from persist.memory.plan_check import ARCHIVE, REMEMBER, Action, Checked, check_plan
from persist.memory.project import parse_facts, read_project_bytes, same_fact
from persist.memory.project_writer import append_fact
from persist.memory.remember import told_values
from persist.memory.steps import END, BlockChange, Step, bytes_before, current_hash, read_steps, step_of_plan
from persist.memory.targets import checked_title


def apply_plan(folder: Path, plan: Plan, *, dry_run: bool = False) -> Applied:
    """Do what a plan says, all of it or nothing; with ``dry_run`` only tell what that would be, without a trace.

    A plan that was applied already is not applied again, unless it was taken back; one that was cut short is finished.
    Raises ``PlanError`` with every fault of the plan; ``RefusedError`` where a block that a step cut short is about
    was changed meanwhile, or the journal or ``.archive/`` leads out of the store; ``BusyError``; ``StoreIOError``.
    """
    if dry_run:
        return _look(folder, plan)
    if not folder.exists():
        check_plan(folder, plan, plan.session)
    make_private_folder(folder)
    with locked(folder / LOCK_NAME):
        steps = read_steps(folder)
        step = step_of_plan(steps, plan.fingerprint())
        others = _open(steps, step)
        if step is not None and step.is_finished:
            return Applied(step.id, plan.session, False, (), was_done=True, open_steps=others)
        if step is None:
            checked = check_plan(folder, plan, plan.session)
            actions, there = checked.actions, checked.facts_there
            step = _begin(folder, plan, checked)
            was_begun = False
        else:
            actions, there, was_begun = _actions_of(folder, plan, step), (), True
        try:
            done, trouble = _perform(folder, step, actions, plan.summary)
        except StoreIOError as error:
            cure = f"the plan is half done: apply it again, or: asx memory apply --revert {step.id} --yes"
            raise StoreIOError(error.path, error.doing, f"{error.reason}; {cure}") from error
        return Applied(
            step.id, plan.session, False, done, was_begun=was_begun, left=there, open_steps=others,
            journal_trouble=trouble,
        )  # fmt: skip


def files_that_may_go(folder: Path, plan: Plan) -> list[Path]:
    """Return the files that applying a plan takes from their place; a look without the lock. Raises like a dry run."""
    gone = [folder / f"{one.name}.md" for one in _look(folder, plan).done if one.op == ARCHIVE]
    return [path for path in gone if path.is_file()]


def _look(folder: Path, plan: Plan) -> Applied:
    steps = read_steps(folder)
    step = step_of_plan(steps, plan.fingerprint())
    others = _open(steps, step)
    if step is not None and step.is_finished:
        return Applied(step.id, plan.session, True, (), was_done=True, open_steps=others)
    if step is not None:
        actions = _actions_of(folder, plan, step)
        done = (*(_done(folder, one, step) for one in actions), *map(_fact_done, step.facts))
        return Applied(step.id, plan.session, True, done, was_begun=True, open_steps=others)
    checked = check_plan(folder, plan, plan.session)
    done = (*(_done(folder, one, None) for one in checked.actions), *map(_fact_done, checked.facts))
    return Applied(None, plan.session, True, done, left=checked.facts_there, open_steps=others)


def _open(steps: list[Step], but: Step | None) -> tuple[str, ...]:
    return tuple(one.id for one in steps if one is not but and not one.is_finished and not one.is_reverted)


def _begin(folder: Path, plan: Plan, checked: Checked) -> Step:
    """Write the line that begins the step, and nothing else but copies of archived blocks it will replace."""
    versions.archive_folder(folder)
    journal = folder / JOURNAL_FILE
    refuse_link_outside(journal, folder)
    if checked.facts:
        refuse_link_outside(folder / PROJECT_FILE, folder)
    replaced = {one.stem: _kept_archived(folder, one) for one in checked.actions if one.op == ARCHIVE}
    step = Step(versions.later_than(list_versions(folder)), now_text(), plan.fingerprint(), plan.session)
    step.facts = checked.facts
    step.changes = tuple(
        BlockChange(
            one.entry, one.op, one.stem, versions.sha256(one.before), versions.sha256(one.after(folder, step.ts)),
            one.by, replaced.get(one.stem),
        )
        for one in checked.actions
    )  # fmt: skip
    append_lines(journal, [step.line()], already_locked=True)
    return step


def _kept_archived(folder: Path, action: Action) -> str | None:
    """Return the version that holds the archived block which another of its name replaces, made where there is none."""
    path = versions.archived_path(folder, action.stem)
    if path.is_symlink():
        raise RefusedError(f"{path} is a link", "put a file in its place")
    if not path.exists():
        return None
    data = versions.read_bytes(path)
    for version in list_versions(folder, version_slug(action.stem)):
        if versions.holds(version.path, data):
            return version.ulid
    return versions.keep_copy(folder, action.stem, data).ulid


def _actions_of(folder: Path, plan: Plan, step: Step) -> tuple[Action, ...]:
    """Return the actions of a step that was cut short, each block as it was before the step.

    Raises ``RefusedError`` where a block is neither what it was before nor what the step makes of it.
    """
    actions = []
    for change in step.changes:
        is_link = (folder / f"{change.name}.md").is_symlink()
        if is_link or current_hash(folder, change) not in (change.before, change.after):
            raise _changed_meanwhile(step, change.name)
        note = plan.block_part(change.entry).note(plan.session) if change.op == REMEMBER else None
        before = bytes_before(folder, step, change)
        reason = None
        if change.op == ARCHIVE:
            merged = f"merged into {change.by}"
            reason = merged if change.by else plan.archive[int(change.entry[8:-1])].reason
        action = Action(change.entry, change.op, change.name, before, note, change.by, reason)
        if versions.sha256(action.after(folder, step.ts)) != change.after:
            raise _changed_meanwhile(step, change.name)
        actions.append(action)
    return tuple(actions)


def _changed_meanwhile(step: Step, name: str) -> RefusedError:
    return RefusedError(
        f"block {name!r} was changed after the plan was cut short",
        f"take back what was done, asx memory apply --revert {step.id} --yes, and apply the plan again",
    )


def _perform(
    folder: Path, step: Step, actions: tuple[Action, ...], summary: str | None
) -> tuple[tuple[Done, ...], str | None]:
    """Do what is not done yet, and tell the journal; return all of it, and what was wrong with the journal."""
    troubles: list[str | None] = []
    for action, change in zip(actions, step.changes, strict=True):
        now = current_hash(folder, change)
        if now not in (change.before, change.after):
            raise _changed_meanwhile(step, change.name)
        if now != change.after:
            _CHANGING[change.op](folder, step, action)
        if (change.op, change.name) not in step.told:
            troubles.append(_tell(folder, step, action))
    troubles.append(_append_facts(folder, step))
    if not any(troubles):
        detail = one_line(summary or "")[:MAX_DETAIL_CHARACTERS]
        values = {"ts": now_text(), "op": END, "detail": detail, "source_session": step.session, "step": step.id}
        troubles.append(append_operation(folder, values, already_locked=True))
    done = (*(_done(folder, one, step) for one in actions), *map(_fact_done, step.facts))
    return done, next((trouble for trouble in troubles if trouble), None)


def _write(folder: Path, step: Step, action: Action) -> None:
    """Put a block's new bytes in its place; what it was is put aside first."""
    path = folder / f"{action.stem}.md"
    data = action.after(folder, step.ts)
    if data is None:
        raise AssertionError("only blocks that stay are written")
    if action.before is None:
        create_file(path, data)
    else:
        versions.keep_copy_at(folder, action.stem, action.before, step.id)
        write_atomic(path, data)


def _archive(folder: Path, step: Step, action: Action) -> None:
    """Move a block to ``.archive/`` in one rename; it is a version too, because Aster replaces archived blocks."""
    versions.keep_copy_at(folder, action.stem, action.before or b"", step.id)
    versions.move(folder / f"{action.stem}.md", versions.archived_path(folder, action.stem))


_CHANGING: Final[dict[str, Callable[[Path, Step, Action], None]]] = {
    "remember": _write, "supersede": _write, "archive": _archive,
}  # fmt: skip


def _tell(folder: Path, step: Step, action: Action) -> str | None:
    """Write an action's own line into the journal; return why it could not be written."""
    target = action.target(folder)
    kept = None
    if action.before is not None:
        kept = versions.keep_copy_at(folder, action.stem, action.before, step.id)
    values: dict[str, JournalValue] = {
        "source_session": step.session,
        "by": action.by,
        "detail": _detail(action.reason),
        "step": step.id,
    }
    if action.note is not None:
        values |= told_values(action.note, checked_title(action.note.title), target)
    return tell(folder, action.op, target.path, name=action.stem, kept=kept, told=values).journal_trouble


def _append_facts(folder: Path, step: Step) -> str | None:
    """Append the step's facts that are not there yet, in one write, and tell the journal of each."""
    known = parse_facts(read_project_bytes(folder) or b"")
    missing = [bullet for bullet in step.facts if not any(same_fact(fact, bullet) for fact in known)]
    if missing:
        append_fact(folder, "\n".join(missing))
    trouble = None
    for bullet in step.facts:
        detail = fact_detail(bullet)
        if (FACT, detail) not in step.told:
            values = {"ts": now_text(), "op": FACT, "detail": detail, "source_session": step.session, "step": step.id}
            trouble = append_operation(folder, values, already_locked=True) or trouble
    return trouble


def _detail(reason: str | None) -> str | None:
    return None if reason is None else one_line(reason)[:MAX_DETAIL_CHARACTERS]


def _done(folder: Path, action: Action, step: Step | None) -> Done:
    path = folder / f"{action.stem}.md"
    return Done(
        action.op,
        action.stem,
        action.entry,
        None if action.op == ARCHIVE else path,
        None if action.note is None else checked_title(action.note.title),
        action.before is None,
        action.by,
        None if step is None or action.before is None else step.id,
        action.reason,
    )


def _fact_done(bullet: str) -> Done:
    return Done(FACT, None, "lessons", detail=fact_detail(bullet))
