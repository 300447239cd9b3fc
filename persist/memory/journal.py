"""Reads ``journal.jsonl``, the memory journal: one line per operation (``spec/aster.md`` 4.6, DESIGN 10).

Writes nothing. The journal grows with every recall, so it is read line by line and a bad line costs only itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from persist import times
from persist.entries import EntryParser
from persist.errors import ShapeError, StoreIOError
from persist.events import JournalEntry, Parsed
from persist.lines import decode_line, iter_lines
from persist.regular import open_regular
from persist.sources import Record, Source, State

JOURNAL_FILE: Final = "journal.jsonl"
_OPTIONAL: Final = ("name", "detail", "source_session", "by")
_MORE_TEXTS: Final = ("title", "version", "path", "sha256", "restored", "kind", "project", "step")
_STANDING_KEYS: Final = frozenset({"title", "version", "kind", "project", "aliases", "pinned"})
_MAX_MORE_CHARACTERS: Final = 65_536


def open_journal(_source: Source, state: State | None) -> JournalParser:
    """Return the parser of a journal, at its beginning or after the lines that gave ``state``."""
    return JournalParser(state)


class JournalParser(EntryParser):
    """Reads the lines of a journal; one that is an operation is of the format."""

    def read_entry(self, record: Record) -> Parsed:
        """Read one line. Raises ``ShapeError`` when it is no operation."""
        return Parsed(journal=(_entry(record)._replace(more=_saved(record)),))


class Operation(NamedTuple):
    """An entry with what this store notes beside Aster's keys, where it is there and of its type.

    ``version``, ``path`` (below the memory folder) and ``sha256`` tell of what was put aside, ``restored`` of the
    version that was brought back. ``title``, ``kind``, ``project``, ``aliases`` and ``pinned`` are what the header of a
    written block had: Aster's own rewrite drops them. ``step`` is the plan that it was part of
    (``persist.memory.steps``).
    """

    entry: JournalEntry
    title: str | None = None
    version: str | None = None
    path: str | None = None
    sha256: str | None = None
    restored: str | None = None
    kind: str | None = None
    project: str | None = None
    aliases: tuple[str, ...] = ()
    pinned: bool = False
    step: str | None = None


def read_journal(path: Path) -> tuple[list[JournalEntry], int]:
    """Return the entries, newest first, and how many lines are damaged; of equal times the later line first.

    Entries without a readable time come last. Blank lines and a last line that is still being written are
    not damage. A missing journal has none. Cost: the whole file is read, its entries held. Raises
    ``StoreIOError`` where it cannot be read.
    """
    operations, damaged = _read(path)
    return [operation.entry for operation in operations], damaged


def read_operations(folder: Path) -> tuple[list[Operation], int]:
    """Return what a memory folder's journal tells, in full; order, counts, cost and errors as :func:`read_journal`."""
    return _read(folder / JOURNAL_FILE)


def iter_operations(folder: Path) -> Iterator[Operation]:
    """Yield what a memory folder's journal tells in the file's order, one line in memory at a time.

    Damaged lines are passed over; a missing journal has none. Raises ``StoreIOError`` where it cannot be read.
    """
    path = folder / JOURNAL_FILE
    try:
        with open_regular(path) as file:
            for line in iter_lines(file):
                yield from operations_of(line.data)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreIOError(path, "read", error.strerror or str(error)) from error


def iter_known_operations(folder: Path) -> Iterator[Operation]:
    """Yield as :func:`iter_operations`, up to where the journal cannot be read: for what it is only a help."""
    try:
        yield from iter_operations(folder)
    except StoreIOError:
        return


def last_known_operation(folder: Path, is_wanted: Callable[[Operation], bool]) -> Operation | None:
    """Return the latest operation that is wanted, of equal times that of the later line; ``None`` where none is known.

    Cost: the whole journal is read, one line in memory at a time.
    """
    last: Operation | None = None
    for operation in iter_known_operations(folder):
        if is_wanted(operation) and (last is None or (operation.entry.ts or "") >= (last.entry.ts or "")):
            last = operation
    return last


def known_operations(folder: Path) -> list[Operation]:
    """Return what the journal tells, newest first, nothing where it cannot be read: for what it is only a help."""
    try:
        return _read(folder / JOURNAL_FILE)[0]
    except StoreIOError:
        return []


def _read(path: Path) -> tuple[list[Operation], int]:
    found: list[tuple[str, int, Operation]] = []
    damaged = 0
    try:
        with open_regular(path) as file:
            for line in iter_lines(file):
                operations, whole = _operations(line.data)
                found += [(operation.entry.ts or "", line.number, operation) for operation in operations]
                damaged += line.terminated and not whole
    except FileNotFoundError:
        return [], 0
    except OSError as error:
        raise StoreIOError(path, "read", error.strerror or str(error)) from error
    found.sort(key=lambda placed: placed[:2])
    found.reverse()
    return [operation for _ts, _number, operation in found], damaged


def operations_of(data: bytes) -> list[Operation]:
    """Return the operations of one line of a journal, in order; what is damaged in it is passed over."""
    return _operations(data)[0]


def _operations(data: bytes) -> tuple[list[Operation], bool]:
    """Return the operations of a line (several where lines ran into each other), and whether that is all of it."""
    decoded = decode_line(data)
    operations = []
    whole = decoded.damage is None
    for record in decoded.records:
        try:
            operations.append(Operation(_entry(record), **_more(record)))
        except ShapeError:
            whole = False
    return operations, whole


def operation_of(entry: JournalEntry) -> Operation:
    """Return an entry of the parser as an operation, as far as ``persist.memory.standing`` looks at one."""
    return Operation(entry, **_more(json.loads(entry.more))) if entry.more is not None else Operation(entry)


def _saved(record: Record) -> str | None:
    """Return what of a line ``JournalEntry.more`` keeps; ``None`` where there is nothing, or absurdly much."""
    values = {key: value for key, value in _more(record).items() if key in _STANDING_KEYS}
    text = json.dumps(values, ensure_ascii=False, sort_keys=True) if values else ""
    return text if 0 < len(text) <= _MAX_MORE_CHARACTERS else None


def _more(record: Record) -> dict[str, Any]:
    values = record if isinstance(record, dict) else {}
    found: dict[str, Any] = {key: value for key in _MORE_TEXTS if isinstance(value := values.get(key), str)}
    aliases = values.get("aliases")
    if isinstance(aliases, list):
        found["aliases"] = tuple(alias for alias in aliases if isinstance(alias, str))
    if values.get("pinned") is True:
        found["pinned"] = True
    return found


def _entry(record: Record) -> JournalEntry:
    """Check one line's shape. Keys that are not ours are ignored, operations that are not ours are kept."""
    if not isinstance(record, dict):
        raise ShapeError(f"a journal line is a {type(record).__name__}, not an object")
    operation = record.get("op")
    if not isinstance(operation, str) or not operation:
        raise ShapeError(f"'op' is a {type(operation).__name__}, not a text")
    if "ts" not in record:
        raise ShapeError("'ts' is missing")
    texts: dict[str, str | None] = {}
    for key in _OPTIONAL:
        value = record.get(key)
        if value is not None and not isinstance(value, str):
            raise ShapeError(f"'{key}' is a {type(value).__name__}, not a text")
        texts[key] = value
    return JournalEntry(times.from_any(record["ts"]), operation, **texts)
