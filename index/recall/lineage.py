"""Which sessions are one work with the running one: above and below it, forks of it and what it was forked from.

Plain ``sqlite3``; reads the index only.
"""

from __future__ import annotations

import sqlite3
from json import dumps
from typing import Final

from persist.agents import AGENTS

_NAMED: Final = """SELECT n.id FROM session_rows n CROSS JOIN agents a ON a.id = n.agent_id
WHERE n.session_id = :id AND (:agent IS NULL OR a.name = :agent)"""
_RELATED: Final = """WITH members AS MATERIALIZED (
  SELECT n.id, n.agent_id, n.session_id, n.root_row, n.parent_session_id, n.forked_from, n.imported_from, a.name
  FROM json_each(?) given CROSS JOIN session_rows n ON n.id = given.value CROSS JOIN agents a ON a.id = n.agent_id
)
SELECT n.id FROM members m CROSS JOIN session_rows n ON n.root_row = m.root_row
UNION SELECT n.id FROM members m CROSS JOIN session_rows n
  ON n.agent_id = m.agent_id AND n.session_id IN (m.forked_from, m.parent_session_id)
UNION SELECT n.id FROM members m CROSS JOIN session_rows n
  ON n.session_id = substr(m.imported_from, instr(m.imported_from, ':') + 1) AND m.imported_from IS NOT NULL
UNION SELECT n.id FROM session_rows n CROSS JOIN members m
  ON n.agent_id = m.agent_id AND n.forked_from = m.session_id WHERE n.forked_from IS NOT NULL
UNION SELECT n.id FROM members m CROSS JOIN session_rows n INDEXED BY session_rows_imported
  ON n.imported_from IS NOT NULL AND n.imported_from = m.name || ':' || m.session_id"""


def lineage_of(connection: sqlite3.Connection, session: str | None) -> frozenset[int]:
    """Return the rows of the session that ``session`` names (``ID`` or ``AGENT:ID``) and of all of its lineage.

    Empty where the index knows none: of a session that was begun a moment ago there is nothing to leave out. Cost: one
    pass over the sessions for each generation of forks.
    """
    if session is None:
        return frozenset()
    agent, colon, rest = session.partition(":")
    values = {"agent": agent, "id": rest} if colon and agent in AGENTS else {"agent": None, "id": session}
    members = {row for (row,) in connection.execute(_NAMED, values)}
    known: set[int] = set()
    while members != known:
        known = members
        members = known | {row for (row,) in connection.execute(_RELATED, (dumps(sorted(known)),))}
    return frozenset(members)
