"""Reads what is known of some blocks at a moment: their headers, and what the journal of their home tells of them.

Plain ``sqlite3``. The rules are ``persist.memory.standing``'s; here is found what they need, and no more: the lines
that may mean these blocks, and the other blocks that those lines, or a successor, may mean instead.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from json import dumps, loads
from typing import Final, NamedTuple

from index.recall.names import keys_of_name, stem_of
from persist.events import JournalEntry, Note
from persist.memory.journal import Operation, operation_of
from persist.memory.standing import Standing, noted, standings

_BLOCKS: Final = """SELECT b.id, s.path, s.agent_id, s.root, b.name, b.title, b.kind, b.project, b.created_at,
  b.updated_at, b.aliases, b.superseded_by, b.pinned
FROM json_each(?) given
CROSS JOIN block_rows b ON b.id = given.value
CROSS JOIN source_rows s ON s.id = b.source_id"""
_NAMED: Final = """SELECT DISTINCT n.block_id FROM json_each(?) given CROSS JOIN block_names n ON n.key = given.value"""
_LINES: Final = f"""{
    " UNION ".join(
        f'''SELECT s.agent_id, s.root, j.ts AS ts, j.op, j.name, j.actor, j.more, j.line_number AS line, j.id AS id
FROM json_each(:blocks) given
CROSS JOIN block_names n ON n.block_id = given.value
CROSS JOIN journal_rows j INDEXED BY journal_rows_{key} ON j.{key}_key = n.key
CROSS JOIN source_rows s ON s.id = j.source_id
WHERE j.ts <= :as_of'''
        for key in ("slug", "title")
    )
} ORDER BY ts, line, id"""
"""Of one time in the order of the file, as ``persist.memory.journal.iter_operations`` gives them.

Each line once. With the keys and the lines' ids as tables of their own, SQLite took twice as long to prepare it.
"""


class Home(NamedTuple):
    """What a journal and its blocks share: an agent's root."""

    agent_id: int
    root: str


class StoredBlock(NamedTuple):
    """A block as the index has it; ``note`` is as ``standing.noted`` gives it, without its texts."""

    id: int
    path: str
    home: Home
    note: Note
    called: str


def read_blocks(connection: sqlite3.Connection, ids: Iterable[int]) -> dict[int, StoredBlock]:
    """Return blocks by id, in the order in which a folder's blocks are listed: by their names, then by path."""
    found = [_block(*row) for row in connection.execute(_BLOCKS, (dumps(list(ids)),))]
    return {block.id: block for block in sorted(found, key=lambda block: (block.called, block.path))}


def read_standings(
    connection: sqlite3.Connection, blocks: Mapping[int, StoredBlock], as_of: str
) -> dict[int, Standing]:
    """Return what is known of each of ``blocks`` (of :func:`read_blocks`) at ``as_of``, by id.

    Cost: the journal's lines about them.
    """
    lines: dict[Home, list[Operation]] = {}
    if blocks:
        values = {"blocks": dumps(list(blocks)), "as_of": as_of}
        for agent_id, root, ts, op, name, by, more, *_ in connection.execute(_LINES, values):
            entry = JournalEntry(ts, op, name, None, None, by, more)
            lines.setdefault(Home(agent_id, root), []).append(operation_of(entry))
    others = _others(connection, blocks, lines)
    told: dict[int, Standing] = {}
    for home, group in _by_home([*blocks.values(), *others]).items():
        group.sort(key=lambda block: (block.called, block.path))
        known = standings([block.note for block in group], lines.get(home, ()), as_of)
        told |= {block.id: known[block.note.name] for block in group if block.id in blocks}
    return told


def _others(
    connection: sqlite3.Connection, blocks: Mapping[int, StoredBlock], lines: Mapping[Home, Sequence[Operation]]
) -> list[StoredBlock]:
    """Return the blocks beside ``blocks`` that a line about them, or the name of a successor, may mean."""
    stems = {block.note.name for block in blocks.values()}
    names = {block.note.superseded_by for block in blocks.values()}
    for operations in lines.values():
        names.update(entry.name for entry, *_ in operations)
        names.update(entry.by for entry, *_ in operations if entry.op == "supersede")
    keys = {key for name in names if name and name not in stems for key in keys_of_name(name) if key is not None}
    if not keys:
        return []
    found = {row[0] for row in connection.execute(_NAMED, (dumps(list(keys)),))}
    return list(read_blocks(connection, found - blocks.keys()).values())


def _by_home(blocks: Iterable[StoredBlock]) -> dict[Home, list[StoredBlock]]:
    homes: dict[Home, list[StoredBlock]] = {}
    for block in blocks:
        homes.setdefault(block.home, []).append(block)
    return homes


def note_aliases(stored: str) -> tuple[str, ...]:
    """Return the aliases of a block's header as ``block_rows`` has them: a list in JSON."""
    return () if stored == "[]" else tuple(loads(stored))


def _block(
    id_: int, path: str, agent_id: int, root: str, name: str, title: str | None, kind: str | None, project: str | None,
    created_at: str | None, updated_at: str | None, aliases: str, superseded_by: str | None, pinned: int,
) -> StoredBlock:  # fmt: skip
    note = Note(
        name, "", "", kind, project, None, created_at, updated_at, note_aliases(aliases), False, superseded_by,
        bool(pinned), title,
    )  # fmt: skip
    return StoredBlock(id_, path, Home(agent_id, root), noted(stem_of(path), note), name)
