"""What the transcripts say at this moment of the texts that the index found in them.

With the agents' own parsers (``index.search.reread``). Reads the lines of the texts, and no more.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from json import dumps
from typing import Final, NamedTuple

from index.search.reread import Rereader
from index.search.tools import TEXT, Row, ToolSource
from index.settings import Settings

_ROWS: Final = """SELECT e.id, e.event_index, e.line_number, e.offset_bytes, e.type_code,
  coalesce(e.ts, e.sort_ts, s.file_time), p.text, e.text_len,
  CASE e.kind WHEN 1 THEN 'user' WHEN 2 THEN 'agent' ELSE 'control' END, e.is_prompt,
  s.id, a.name, s.path, s.kind, s.root, s.file_time
FROM json_each(?) given
CROSS JOIN event_rows e ON e.id = given.value
CROSS JOIN prose p ON p.id = e.id
CROSS JOIN source_rows s ON s.id = e.source_id
CROSS JOIN agents a ON a.id = s.agent_id
ORDER BY e.id"""


class Said(NamedTuple):
    """One text of a transcript, whole: who said it (user, agent), when, and where it stands."""

    role: str
    is_prompt: bool
    text: str
    ts: str
    path: str
    line_number: int
    offset_bytes: int
    event_index: int


class Read(NamedTuple):
    """A text that was looked for; ``said`` is null where it is not there any more."""

    id: int
    said: Said | None


def read_texts(settings: Settings, connection: sqlite3.Connection, ids: Sequence[int]) -> list[Read]:
    """Return these texts, in the order of their ids, as their files have them now. Never raises for a file."""
    rereader = Rereader(settings, connection)
    found = []
    for (id_, event_index, line, offset, code, ts, text, length, role, is_prompt, source, agent, path, kind, root,
         file_time) in connection.execute(_ROWS, (dumps(list(ids)),)).fetchall():  # fmt: skip
        row = Row(id_, event_index, line, offset, code, ts, text, length, None, None, None, None)
        now = rereader.text_of(ToolSource(source, agent, "", path, kind, root, file_time, "", ""), row, TEXT)
        said = None if now is None else Said(role, bool(is_prompt), now, ts, path, line, offset, event_index)
        found.append(Read(id_, said))
    return found
