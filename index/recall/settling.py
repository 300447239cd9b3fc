"""Settles what is known of each block: its header's word, and what the journal tells beside it.

Law 2: from the blocks and the journal alone, for exactly the blocks whose names were touched. Recall asks the journal
for none of it then, but for a moment in the past. Inside the caller's transaction, on plain ``sqlite3``.
"""

from __future__ import annotations

import sqlite3
from json import dumps
from typing import Final

from index.recall.pieces import in_pieces
from index.recall.projecting import END, Settled, aliases_text, settled_of
from index.recall.standing import read_blocks, read_standings
from index.statements import HELD_WORDS

TOUCH_ALL: Final = """INSERT OR IGNORE INTO touched_name
SELECT slug_key FROM journal_rows WHERE slug_key IS NOT NULL
UNION ALL SELECT title_key FROM journal_rows WHERE title_key IS NOT NULL"""
"""Of a new index: what a block without a line in the journal has is its header's, and stands already."""

_IS_TOUCHED: Final = "SELECT EXISTS (SELECT 1 FROM touched_name)"
_TOUCH_RIVALS: Final = """WITH lines AS MATERIALIZED (
  SELECT j.slug_key, j.title_key FROM touched_name t
  CROSS JOIN journal_rows j INDEXED BY journal_rows_slug ON j.slug_key = t.key
  UNION SELECT j.slug_key, j.title_key FROM touched_name t
  CROSS JOIN journal_rows j INDEXED BY journal_rows_title ON j.title_key = t.key
)
INSERT OR IGNORE INTO touched_name
SELECT slug_key FROM lines WHERE slug_key IS NOT NULL
UNION ALL SELECT title_key FROM lines WHERE title_key IS NOT NULL"""
"""Which block a line means depends on all that it may mean."""
_BLOCKS: Final = """SELECT DISTINCT n.block_id FROM touched_name t CROSS JOIN block_names n ON n.key = t.key
ORDER BY n.block_id"""
SETTLED_COLUMNS: Final = ", ".join(f"c.{name}" for name in Settled._fields)
"""What ``Settled`` is made of, of ``candidate_rows c``."""
_STORED: Final = f"""SELECT c.id, c.aliases, {SETTLED_COLUMNS}
FROM json_each(?) given CROSS JOIN candidate_rows c ON c.id = given.value"""
_TOUCH: Final = f"INSERT OR IGNORE INTO touched_candidate SELECT id, {HELD_WORDS} FROM candidate_rows WHERE id = ?"
_UPDATE_ALIASES: Final = "UPDATE candidate_rows SET aliases = ? WHERE id = ?"
_UPDATE: Final = f"UPDATE candidate_rows SET {', '.join(f'{name} = ?' for name in Settled._fields)} WHERE id = ?"
_AT_ONCE: Final = 500


def settle_blocks(connection: sqlite3.Connection) -> None:
    """Settle what is known of every block that a name of ``touched_name`` may mean. Cost: those blocks' journal.

    The words of one whose aliases changed are touched: their places must be settled after this.
    """
    if not connection.execute(_IS_TOUCHED).fetchone()[0]:
        return
    connection.execute(_TOUCH_RIVALS)
    ids = [row[0] for row in connection.execute(_BLOCKS)]
    for some in in_pieces(ids, _AT_ONCE):
        told = read_standings(connection, read_blocks(connection, some), END)
        for id_, aliases, *stored in connection.execute(_STORED, (dumps(some),)).fetchall():
            known = settled_of(told[id_])
            if tuple(stored) != known:
                connection.execute(_UPDATE, (*known, id_))
            text = aliases_text(told[id_].aliases)
            if text != aliases:
                connection.execute(_TOUCH, (id_,))
                connection.execute(_UPDATE_ALIASES, (text, id_))
