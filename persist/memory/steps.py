"""The steps of a journal: plans that were applied as a whole, and how far each of them came.

A step is begun by one ``apply`` line, which is on the disk before anything is changed: it names every block with the
hash of its bytes before and afterwards, and every fact. Each change is then a line of its own, the end is a
``consolidated`` line, as Aster writes it, and who takes the whole back ends with a ``restore`` line without a name. All
of them carry the step's ULID. So the journal and the versions in ``.archive/`` alone tell how to finish a step that was
cut short, and how to take it back. Reads; what is written is bytes that others append.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from persist.errors import AmbiguousError, NotFoundError, RefusedError, StoreIOError
from persist.ids import MIN_PREFIX_CHARACTERS
from persist.lines import decode_line, encode, iter_lines
from persist.memory.archive import list_versions
from persist.memory.journal import JOURNAL_FILE
from persist.memory.names import version_slug
from persist.memory.versions import read_bytes, sha256, version_path
from persist.regular import open_regular

BEGIN: Final = "apply"
END: Final = "consolidated"
REVERTED: Final = "restore"
"""Without a name: of the whole step."""
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class BlockChange:
    """What a step does to one block, whose file is ``<name>.md``.

    ``entry`` is its place in the plan (``merge[0]``), ``op`` ``remember``, ``supersede`` or ``archive``. ``before`` and
    ``after`` are SHA-256 of the file's bytes, ``None`` where there is no file. ``by`` is the block that takes its
    place. ``replaced`` is the version that holds the archived block of the same name which an ``archive`` replaces.
    """

    entry: str
    op: str
    name: str
    before: str | None = None
    after: str | None = None
    by: str | None = None
    replaced: str | None = None


@dataclass(slots=True)
class Step:
    """A step as the journal tells it. ``id`` is also the ULID of the versions that it put aside.

    ``ts`` is its time as Aster writes times, ``plan`` the plan's fingerprint, ``facts`` the bullets it appends to
    ``ASTER.md``, as they are written. ``told`` are the (op, name) of the lines written for it so far, a fact's name
    being its bullet's number.
    """

    id: str
    ts: str
    plan: str
    session: str | None = None
    changes: tuple[BlockChange, ...] = ()
    facts: tuple[str, ...] = ()
    told: set[tuple[str, str]] = field(default_factory=set)
    is_finished: bool = False
    is_reverted: bool = False

    def line(self) -> bytes:
        """Return the line that begins the step, without newline."""
        values = {
            "ts": self.ts, "op": BEGIN, "detail": self._size(), "source_session": self.session, "step": self.id,
            "plan": self.plan, "changes": [_without_none(asdict(change)) for change in self.changes],
            "facts": list(self.facts),
        }  # fmt: skip
        return encode(json.dumps(_without_none(values), ensure_ascii=False, separators=(",", ":")))

    def _size(self) -> str:
        counts = ((len(self.changes), "block"), (len(self.facts), "fact"))
        return ", ".join(f"{number} {what}{'' if number == 1 else 's'}" for number, what in counts)


def _without_none(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def read_steps(folder: Path) -> list[Step]:
    """Return the steps of a memory folder's journal, the last begun first; damaged lines are passed over.

    Raises ``StoreIOError`` where the journal cannot be read. Cost: the file is read once, line by line.
    """
    steps: dict[str, Step] = {}
    for record in _records(folder / JOURNAL_FILE):
        id_, op = record.get("step"), record.get("op")
        if not isinstance(id_, str):
            continue
        if op == BEGIN:
            step = _begun(id_, record)
            if step is not None:
                steps[id_] = step
        elif id_ in steps:
            _take(steps[id_], str(op), record)
    return list(steps.values())[::-1]


def find_step(steps: Iterable[Step], typed: str) -> Step:
    """Return the step of a ULID or of the beginning of one. Raises ``NotFoundError``, ``AmbiguousError``."""
    known = list(steps)
    wanted = typed.strip().upper()
    found = [step for step in known if step.id == wanted]
    if not found and len(wanted) >= MIN_PREFIX_CHARACTERS:
        found = [step for step in known if step.id.startswith(wanted)]
    if not found:
        newest = ", ".join(step.id for step in known[:_SHOWN])
        raise NotFoundError("applied plan", typed.strip(), f"the newest are {newest}" if newest else "there is none")
    if len(found) > 1:
        raise AmbiguousError("applied plan", typed.strip(), tuple(step.id for step in found))
    return found[0]


def step_of_plan(steps: Iterable[Step], fingerprint: str) -> Step | None:
    """Return the step in which a plan was applied or begun and that was not taken back, the last one."""
    return next((step for step in steps if step.plan == fingerprint and not step.is_reverted), None)


def _records(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with open_regular(path) as file:
            for line in iter_lines(file):
                if b'"step"' in line.data:
                    yield from (record for record in decode_line(line.data).records if isinstance(record, dict))
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreIOError(path, "read", error.strerror or str(error)) from error


def _begun(id_: str, record: dict[str, Any]) -> Step | None:
    """Return the step that a line begins, ``None`` where it is none of ours: a name in it must not lead elsewhere."""
    try:
        changes = tuple(BlockChange(**change) for change in record["changes"])
        facts = tuple(record["facts"])
        step = Step(id_, record["ts"], record["plan"], record.get("source_session"), changes, facts)
    except (KeyError, TypeError):
        return None
    texts = [id_, step.ts, step.plan, *facts, *(part for one in changes for part in (one.entry, one.op, one.name))]
    hashes = [part for one in changes for part in (one.before, one.after, one.by, one.replaced) if part is not None]
    if not all(isinstance(text, str) for text in [*texts, *hashes]) or not id_.isalnum():
        return None
    leads = any("/" in one.name or "\0" in one.name or not (one.replaced or "x").isalnum() for one in changes)
    return None if leads else step


def _take(step: Step, op: str, record: dict[str, Any]) -> None:
    name = record.get("name")
    if op == END:
        step.is_finished = True
    elif op == REVERTED and name is None:
        step.is_reverted = True
    else:
        step.told.add((op, str(record.get("detail") if name is None else name)))


def current_hash(folder: Path, change: BlockChange) -> str | None:
    """Return the hash of a block's file now, ``None`` where there is none. Raises ``StoreIOError``."""
    path = folder / f"{change.name}.md"
    return sha256(read_bytes(path)) if path.exists() or path.is_symlink() else None


def bytes_before(folder: Path, step: Step, change: BlockChange) -> bytes | None:
    """Return a block's bytes as they were before a step. Raises ``RefusedError`` where nothing holds them any more."""
    if change.before is None:
        return None
    kept = version_path(folder, change.name, step.id)
    for path in (folder / f"{change.name}.md", kept):
        if path.exists() and sha256(data := read_bytes(path)) == change.before:
            return data
    raise RefusedError(f"what block {change.name!r} was before {step.id} is no longer there", f"it was kept as {kept}")


def was_touched(folder: Path, step: Step, change: BlockChange) -> bool:
    """Tell whether a step came as far as this block, also where it was ended before it could tell the journal.

    What a block was is put aside before it is changed; a new one stands where it was made, or was put aside since.
    """
    if (change.op, change.name) in step.told or version_path(folder, change.name, step.id).exists():
        return True
    if change.before is not None:
        return False
    kept = list_versions(folder, version_slug(change.name))
    return current_hash(folder, change) == change.after or any(
        sha256(read_bytes(version.path)) == change.after for version in kept
    )
