"""Takes an applied plan back as one step: every block is byte for byte what it was before (DESIGN 10).

Under the folder's lock, in this order: facts, blocks from the last to the first, one line in the journal for each, and
one for the whole. It looks at what is there and not at what was done, so that it serves a step that was cut short, and
going on where it was cut short itself. Nothing is lost: what stands in a block's place is put aside first, also where
somebody changed it since. A block that the step never came to is left as it is.

``ASTER.md`` is only ever appended to, and other programs append without our lock. A fact is taken out only where it
stands untouched, by ``persist.files.rewrite``, which refuses a file that another program has open and carries over what
is appended meanwhile. One that was edited stays, and is told of.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from persist.aster.writer import now_text
from persist.errors import StoreIOError
from persist.files import LOCK_NAME, locked, write_atomic
from persist.files.create import create_file
from persist.files.remove import refuse_link_outside
from persist.files.rewrite import Span, replace_span
from persist.lines import encode
from persist.memory import versions
from persist.memory.applied import Applied, Done, fact_detail
from persist.memory.blocks import PROJECT_FILE
from persist.memory.change import tell
from persist.memory.journal_writer import append_operation
from persist.memory.plan_check import ARCHIVE
from persist.memory.project import parse_facts, read_project_bytes, same_fact
from persist.memory.steps import (
    REVERTED,
    BlockChange,
    Step,
    bytes_before,
    current_hash,
    find_step,
    read_steps,
    was_touched,
)
from persist.memory.versions import Kept

_FORGET: Final = "forget"
_RESTORE: Final = "restore"


def revert_step(folder: Path, typed: str, *, dry_run: bool = False) -> Applied:
    """Take back the step whose ULID begins so; with ``dry_run`` only tell what that would be, without a trace.

    A step that was taken back is not taken back again. Raises ``NotFoundError``, ``AmbiguousError``; ``RefusedError``
    where a version that is needed is gone or a file leads out of the store; ``BusyError``, also where another program
    has ``ASTER.md`` open; ``StoreIOError``. What cannot be done is found before anything is changed, but for the disk.
    """
    if dry_run:
        return _look(folder, find_step(read_steps(folder), typed), is_dry_run=True)
    step = find_step(read_steps(folder), typed)
    with locked(folder / LOCK_NAME):
        step = find_step(read_steps(folder), step.id)
        told = _look(folder, step, is_dry_run=False)
        if told.was_done:
            return told
        touched = [change for change in step.changes if was_touched(folder, step, change)]
        befores = [bytes_before(folder, step, change) for change in touched]
        troubles = [_take_out(folder, step, bullet) for bullet in step.facts if _is_there(folder, bullet)]
        kept: dict[str, Kept | None] = {}
        for change, before in list(zip(touched, befores, strict=True))[::-1]:
            kept[change.name], trouble = _bring_back(folder, step, change, before)
            troubles.append(trouble)
        if not any(troubles):
            values = {
                "ts": now_text(), "op": REVERTED, "detail": "everything that the plan did",
                "source_session": step.session, "restored": step.id, "step": step.id,
            }  # fmt: skip
            troubles.append(append_operation(folder, values, already_locked=True))
    done = tuple(_with_version(one, kept.get(one.name or "")) for one in told.done)
    trouble = next((one for one in troubles if one), None)
    return Applied(step.id, step.session, False, done, left=told.left, journal_trouble=trouble)


def files_that_may_go(folder: Path, typed: str) -> list[Path]:
    """Return the files that taking a step back takes from their place; a look without the lock."""
    step = find_step(read_steps(folder), typed)
    gone = [folder / f"{change.name}.md" for change in step.changes if change.before is None]
    gone += [versions.archived_file(folder, change.name) for change in step.changes if change.op == ARCHIVE]
    return [path for path in gone if path.is_file()]


def _look(folder: Path, step: Step, *, is_dry_run: bool) -> Applied:
    """Return what taking a step back comes to: the blocks that are not what they were, and its facts."""
    if step.is_reverted:
        return Applied(step.id, step.session, is_dry_run, (), was_done=True)
    done: list[Done] = []
    for bullet in step.facts:
        if _is_there(folder, bullet):
            done.append(Done(_FORGET, None, "lessons", detail=fact_detail(bullet)))
    there = tuple(bullet for bullet in step.facts if not _is_there(folder, bullet))
    for change in step.changes[::-1]:
        if not was_touched(folder, step, change):
            continue
        bytes_before(folder, step, change)
        now = current_hash(folder, change)
        if now != change.before:
            op = _FORGET if change.before is None else _RESTORE
            path = None if change.before is None else folder / f"{change.name}.md"
            done.append(Done(op, change.name, change.entry, path, changed_since=now != change.after))
    return Applied(step.id, step.session, is_dry_run, tuple(done), left=there)


def _bring_back(folder: Path, step: Step, change: BlockChange, before: bytes | None) -> tuple[Kept | None, str | None]:
    """Make a block what it was; return what was put aside, and what was wrong with the journal."""
    path = folder / f"{change.name}.md"
    refuse_link_outside(path, folder)
    kept = None
    now = current_hash(folder, change)
    is_changed = now != change.before
    if is_changed and now is not None:
        data = versions.read_bytes(path)
        kept = (
            versions.move_aside(folder, path, data) if before is None else versions.keep_copy(folder, path.stem, data)
        )
    if is_changed and before is not None:
        _put_back(folder, change, path, before)
    if change.op == ARCHIVE:
        _archived_as_before(folder, change, before or b"")
    op = _FORGET if before is None else _RESTORE
    was_changed = is_changed or (change.op, change.name) in step.told
    if not was_changed or (op, change.name) in step.told:
        return kept, None
    restored = None if before is None else step.id
    values = {"source_session": step.session, "restored": restored, "step": step.id}
    return kept, tell(folder, op, path, kept=kept, told=values).journal_trouble


def _put_back(folder: Path, change: BlockChange, path: Path, before: bytes) -> None:
    archived = versions.archived_file(folder, change.name)
    if change.op == ARCHIVE and not path.exists() and versions.holds(archived, before):
        versions.move(archived, path)
    elif path.exists():
        write_atomic(path, before)
    else:
        create_file(path, before)


def _archived_as_before(folder: Path, change: BlockChange, before: bytes) -> None:
    """Bring back the archived block that an archived one of its name replaced; without one there is none again."""
    archived = versions.archived_file(folder, change.name)
    if change.replaced is None:
        if versions.holds(archived, before):
            versions.remove(archived)
        return
    data = versions.read_bytes(versions.version_path(folder, change.name, change.replaced))
    if not archived.exists() or versions.holds(archived, before):
        write_atomic(archived, data)


def _is_there(folder: Path, bullet: str) -> bool:
    return _span_of(read_project_bytes(folder) or b"", bullet) is not None


def _span_of(data: bytes, bullet: str) -> Span | None:
    """Return where a fact stands untouched, its newline with it: the last such place, ``None`` where there is none."""
    written = encode(bullet)
    for fact in reversed(parse_facts(data)):
        end = fact.offset_bytes + len(written)
        if same_fact(fact, bullet) and data[fact.offset_bytes : end + 1] in (written + b"\n", written):
            return Span(fact.offset_bytes, min(end + 1, len(data)))
    return None


def _take_out(folder: Path, step: Step, bullet: str) -> str | None:
    """Take an untouched fact out of ``ASTER.md``; return what was wrong with the journal. Raises ``InUseError``."""
    path = folder / PROJECT_FILE
    refuse_link_outside(path, folder)
    path = path.resolve()
    try:
        with path.open("rb", buffering=0) as file:
            span = _span_of(file.read(), bullet)
            if span is None:
                return None
            replace_span(path, file, span, b"")
    except OSError as error:
        raise StoreIOError(path, "write", error.strerror or str(error)) from error
    values = {
        "ts": now_text(), "op": _FORGET, "detail": fact_detail(bullet), "source_session": step.session, "step": step.id,
    }  # fmt: skip
    return append_operation(folder, values, already_locked=True)


def _with_version(done: Done, kept: Kept | None) -> Done:
    return done if kept is None or done.name is None else replace(done, version=kept.ulid)
