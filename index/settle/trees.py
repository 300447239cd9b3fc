"""Trees of sessions: which session a sub-agent's work was done for in the end, and how far below it it stands.

The rule is pure (``places``); the functions beside it read the touched sessions and those below them and store what it
says. Settled columns and not a recursive view: whoever joins the tree pays one look-up for each session.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Final, NamedTuple


class Place(NamedTuple):
    """Where a session stands: the row of the session at the top, and how many steps lead up to it."""

    root_row: int
    depth: int


_NOTE_ORPHANS: Final = """INSERT OR IGNORE INTO touched_tree
SELECT c.id FROM touched_session t
CROSS JOIN session_rows n ON n.id = t.id
CROSS JOIN session_rows c INDEXED BY session_rows_parent
  ON c.agent_id = n.agent_id AND c.parent_session_id = n.session_id
WHERE NOT EXISTS (SELECT 1 FROM source_rows s WHERE s.session_row = n.id)"""
_NOTE_BELOW: Final = """WITH RECURSIVE below (id) AS (
  SELECT id FROM touched_session
  UNION SELECT id FROM touched_tree
  UNION SELECT c.id FROM below b
  CROSS JOIN session_rows p ON p.id = b.id
  CROSS JOIN session_rows c INDEXED BY session_rows_parent
    ON c.agent_id = p.agent_id AND c.parent_session_id = p.session_id
)
INSERT OR IGNORE INTO touched_tree SELECT id FROM below"""
_PARENTS: Final = """SELECT n.id, p.id, p.root_row, p.depth, EXISTS (SELECT 1 FROM touched_tree x WHERE x.id = p.id)
FROM touched_tree t
CROSS JOIN session_rows n ON n.id = t.id
LEFT JOIN session_rows p ON p.agent_id = n.agent_id AND p.session_id = n.parent_session_id"""
_STORE: Final = "UPDATE session_rows SET root_row = ?, depth = ? WHERE id = ?"
_FORGET_TREE: Final = "DELETE FROM touched_tree"


def places(parents: Mapping[int, int | None], settled: Mapping[int, Place]) -> dict[int, Place]:
    """Return where each session of ``parents`` stands; a parent is null, another of them, or one of ``settled``.

    A session without a parent is its own root. So is one on a cycle of parents: nobody is above it for sure; what hangs
    below a cycle has as its root the session of the cycle that it comes to first. Cost: linear, however deep.
    """
    found: dict[int, Place] = {}
    for session in parents:
        path: dict[int, None] = {}
        at: int | None = session
        while at is not None and at in parents and at not in found and at not in path:
            path[at] = None
            at = parents[at]
        climbed = list(path)
        if at in path:
            begin = climbed.index(at)
            found.update((one, Place(one, 0)) for one in climbed[begin:])
            del climbed[begin:]
        for one in reversed(climbed):
            parent = parents[one]
            above = None if parent is None else found.get(parent) or settled.get(parent)
            found[one] = Place(one, 0) if above is None else Place(above.root_row, above.depth + 1)
    return found


def note_orphans(connection: sqlite3.Connection) -> None:
    """Note the sub-agents of touched sessions that no source tells any more; to be called before those are removed."""
    connection.execute(_NOTE_ORPHANS)


def settle_trees(connection: sqlite3.Connection) -> None:
    """Settle the places of the touched sessions and of all below them, once their parents are stored.

    A place changes only where a session came, went or got another parent, and below that. Cost: those sessions, a few
    hundred bytes of memory each.
    """
    connection.execute(_NOTE_BELOW)
    parents: dict[int, int | None] = {}
    settled: dict[int, Place] = {}
    for session, parent, root_row, depth, is_touched in connection.execute(_PARENTS):
        parents[session] = parent
        if parent is not None and not is_touched:
            settled[parent] = Place(root_row, depth)
    found = places(parents, settled)
    connection.executemany(_STORE, ((*place, session) for session, place in found.items()))
    connection.execute(_FORGET_TREE)
