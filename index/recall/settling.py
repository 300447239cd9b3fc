"""Settles the aliases under which a block is found: those of its header, or those that a rewrite of it dropped.

Law 2: from the block and the journal alone, for exactly the blocks whose names were touched. Inside the caller's
transaction, on plain ``sqlite3``.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from index.recall.pieces import in_pieces
from index.recall.projecting import aliases_text
from index.recall.standing import END, read_blocks, read_standings
from index.statements import HELD_WORDS

TOUCH_ALL: Final = """INSERT OR IGNORE INTO touched_name
SELECT slug_key FROM journal_rows WHERE instr(more, '"aliases"') > 0 AND slug_key IS NOT NULL
UNION ALL SELECT title_key FROM journal_rows WHERE instr(more, '"aliases"') > 0 AND title_key IS NOT NULL"""
"""Of a new index: elsewhere the words of the block's own header stand already."""

_IS_TOUCHED: Final = "SELECT EXISTS (SELECT 1 FROM touched_name)"
_TOUCH_RIVALS: Final = """WITH lines AS MATERIALIZED (
  SELECT j.slug_key, j.title_key FROM touched_name t
  CROSS JOIN journal_rows j INDEXED BY journal_rows_slug ON j.slug_key = t.key WHERE j.op = 'remember'
  UNION SELECT j.slug_key, j.title_key FROM touched_name t
  CROSS JOIN journal_rows j INDEXED BY journal_rows_title ON j.title_key = t.key WHERE j.op = 'remember'
)
INSERT OR IGNORE INTO touched_name
SELECT slug_key FROM lines WHERE slug_key IS NOT NULL
UNION ALL SELECT title_key FROM lines WHERE title_key IS NOT NULL"""
"""Which block a line means depends on all that it may mean."""
_BLOCKS: Final = """SELECT DISTINCT n.block_id FROM touched_name t CROSS JOIN block_names n ON n.key = t.key
ORDER BY n.block_id"""
_STORED: Final = "SELECT aliases FROM candidate_rows WHERE id = ?"
_TOUCH: Final = f"INSERT OR IGNORE INTO touched_candidate SELECT id, {HELD_WORDS} FROM candidate_rows WHERE id = ?"
_UPDATE: Final = "UPDATE candidate_rows SET aliases = ? WHERE id = ?"
_AT_ONCE: Final = 500


def settle_aliases(connection: sqlite3.Connection) -> None:
    """Settle the aliases of every block that a name of ``touched_name`` may mean. Cost: those blocks' journal."""
    if not connection.execute(_IS_TOUCHED).fetchone()[0]:
        return
    connection.execute(_TOUCH_RIVALS)
    ids = [row[0] for row in connection.execute(_BLOCKS)]
    for some in in_pieces(ids, _AT_ONCE):
        blocks = read_blocks(connection, some)
        told = read_standings(connection, blocks, END)
        for id_ in some:
            text = aliases_text(told[id_].aliases)
            if connection.execute(_STORED, (id_,)).fetchone()[0] != text:
                connection.execute(_TOUCH, (id_,))
                connection.execute(_UPDATE, (text, id_))
