"""The store's prompt history: the newest 100 prompts, whatever session they came from, in Aether's format.

``sessions/prompt-history.jsonl`` (``spec/aether.md`` 3, DESIGN 9). Derived: ``persist.aster.rebuild_history`` makes it
from the transcripts, of which this module knows nothing, and so no write waits for the disk. Two writers take turns
under the folder's lock, and a reader sees a whole file. A line that cannot be read stays in the file as it is and
does not count; Aether drops it with its next rewrite.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from persist.errors import StoreIOError
from persist.files import LOCK_NAME, append_lines, locked, write_atomic
from persist.files.redo import REDO_NAME
from persist.files.remove import refuse_link_outside
from persist.lines import decode_line, encode, iter_lines
from persist.regular import open_regular
from persist.sources import Line, Record

HISTORY_NAME: Final = "prompt-history.jsonl"
"""Its name below ``sessions/`` of a data home."""
KEPT: Final = 100
"""Entries in the file, as in Aether."""
KEPT_DAMAGED: Final = 100
"""Unreadable lines in the file: the newest stay, so that a file that is damaged again and again stays small."""
KEYS: Final = ("sessionId", "cwd", "sessionCreatedAt", "prompt")
"""The keys of an entry, in the order in which they are written; all are needed."""


@dataclass(frozen=True, slots=True)
class PromptEntry:
    """One prompt; ``session_created_at`` is the header's text, and may be empty like ``cwd``."""

    session_id: str
    cwd: str
    session_created_at: str
    prompt: str

    def line(self) -> bytes:
        """Return the entry as a line of the file, without newline; lone surrogates become U+FFFD."""
        values = dict(zip(KEYS, (self.session_id, self.cwd, self.session_created_at, self.prompt), strict=True))
        text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
        return encode(text)


class DamagedEntry(NamedTuple):
    """A line that holds no entry; ``reason`` never quotes it."""

    line: Line
    reason: str


class History(NamedTuple):
    """The newest entries, oldest first, and the lines that could not be read."""

    entries: list[PromptEntry]
    damaged: list[DamagedEntry]


class _Unit(NamedTuple):
    """One line of the file: its bytes and what it holds; a glued line may hold several entries."""

    data: bytes
    line: Line
    entries: list[PromptEntry]
    damage: str | None
    terminated: bool


def read(path: Path) -> History:
    """Return the newest ``KEPT`` entries and every unreadable line; a missing file has none.

    An unfinished last line is not damage: no lock is taken, so it may just be being written. Raises
    ``StoreIOError`` where the file cannot be read.
    """
    units = _units(path)
    entries = [entry for unit in units for entry in unit.entries]
    damaged = [DamagedEntry(unit.line, unit.damage) for unit in units if unit.damage and unit.terminated]
    return History(entries[-KEPT:], damaged)


def append(path: Path, entry: PromptEntry) -> None:
    """Add the newest entry, as :func:`extend` does."""
    extend(path, [entry])


def extend(path: Path, entries: Sequence[PromptEntry]) -> None:
    """Add the newest entries, in order; beyond ``KEPT`` the oldest go, and the file is replaced as a whole.

    Prompts without words are not kept. Raises ``BusyError`` and ``StoreIOError``. Cost: the file is read, and written
    once, however many entries there are.
    """
    added = [entry.line() for entry in entries if entry.prompt.strip()][-KEPT:]
    if not added:
        return
    with _changing(path):
        units = _units(path)
        damaged = sum(unit.damage is not None for unit in units)
        if sum(len(unit.entries) for unit in units) + len(added) <= KEPT and damaged <= KEPT_DAMAGED:
            append_lines(path, added, already_locked=True, durable=False)
        else:
            write_atomic(path, _joined([*_newest(units, KEPT - len(added)), *added]), durable=False)


def replace_all(path: Path, entries: Sequence[PromptEntry], *, before: Sequence[PromptEntry] | None = None) -> History:
    """Put ``entries``, oldest first, in the place of those in the file; the newest ``KEPT`` stay.

    ``before`` is what the file held when ``entries`` began to be gathered: what was added since, and is not among
    them, stays behind them. Unreadable lines of the old file stay, in front. Returns what the file then holds. Raises
    ``BusyError`` and ``StoreIOError``.
    """
    with _changing(path):
        units = _units(path)
        damaged = [unit.data for unit in units if unit.damage is not None][-KEPT_DAMAGED:]
        now = [entry for unit in units for entry in unit.entries]
        added = [] if before is None else _added(now, before, entries)
        kept = [*entries, *added][-KEPT:]
        write_atomic(path, _joined([*damaged, *(entry.line() for entry in kept)]), durable=False)
    return read(path)


def change(path: Path, change_one: Callable[[PromptEntry], PromptEntry | None]) -> int:
    """Put what ``change_one`` returns in each entry's place, ``None`` taking it away; return how many changed.

    Every other line stays byte for byte; where nothing changes, nothing is written. Of a damaged line that holds a
    changed entry only its entries stay. Raises ``BusyError`` and ``StoreIOError``.
    """
    if not path.exists() and not path.with_name(REDO_NAME).exists():
        return 0  # a history that was removed by hand leaves what is noted of it, which goes with the lock
    with _changing(path):
        lines: list[bytes] = []
        changed = 0
        for unit in _units(path):
            kept = [change_one(entry) for entry in unit.entries]
            differing = sum(one != entry for one, entry in zip(kept, unit.entries, strict=True))
            changed += differing
            lines += [entry.line() for entry in kept if entry is not None] if differing else [unit.data]
        if changed:
            write_atomic(path, _joined(lines), durable=False)
    return changed


@contextmanager
def _changing(path: Path) -> Iterator[None]:
    """Hold the folder's lock. Raises ``RefusedError`` for a history that is a link out of its folder, ``BusyError``."""
    refuse_link_outside(path, path.parent)
    with locked(path.with_name(LOCK_NAME)):
        yield


def _added(
    now: Sequence[PromptEntry], before: Sequence[PromptEntry], gathered: Sequence[PromptEntry]
) -> list[PromptEntry]:
    """Return the entries of ``now`` that were not there before and are not among those gathered, in order."""
    known = Counter(before)
    gathered_more = Counter(gathered) - known
    added = []
    for entry in now:
        if known[entry]:
            known[entry] -= 1
        elif gathered_more[entry]:
            gathered_more[entry] -= 1
        else:
            added.append(entry)
    return added


def _joined(lines: Iterable[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _newest(units: Sequence[_Unit], kept: int) -> list[bytes]:
    """Return the lines that stay, in file order: the newest ``kept`` entries and damaged lines."""
    lines: list[bytes] = []
    entries = damaged = 0
    for unit in reversed(units):
        if unit.damage is not None:
            if damaged < KEPT_DAMAGED:
                lines.append(unit.data)
            damaged += 1
            entries += len(unit.entries)
            continue
        room = kept - entries
        entries += len(unit.entries)
        if len(unit.entries) <= room:
            lines.append(unit.data)
        elif room > 0:
            lines.extend(entry.line() for entry in reversed(unit.entries[-room:]))
    return lines[::-1]


def _units(path: Path) -> list[_Unit]:
    units: list[_Unit] = []
    try:
        with open_regular(path) as file:
            for raw in iter_lines(file):
                decoded = decode_line(raw.data) if not raw.oversize else None
                if decoded is not None and not decoded.records and decoded.damage is None:
                    continue
                entries, damage = _entries(decoded.records if decoded is not None else [])
                if decoded is None:
                    damage = "the line is over the limit"
                elif decoded.damage is not None:
                    damage = decoded.damage
                units.append(_Unit(raw.data, Line(raw.number, raw.offset_bytes), entries, damage, raw.terminated))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreIOError(path, "read", error.strerror or str(error)) from error
    return units


def _entries(records: Sequence[Record]) -> tuple[list[PromptEntry], str | None]:
    entries = []
    damage = None
    for record in records:
        values = [record.get(key) for key in KEYS] if isinstance(record, dict) else []
        texts = [value for value in values if isinstance(value, str)]
        if len(texts) == len(KEYS):
            entries.append(PromptEntry(*texts))
        else:
            damage = "the line is no prompt history entry"
    return entries, damage
