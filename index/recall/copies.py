"""Of many copies of a text a few: the best of each, so that copies neither fill the list nor take the time.

Plain ``sqlite3`` on a reading connection; what is a copy ``persist.recall.copies`` tells, and the index has stored.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from json import dumps
from typing import Final

from index.recall.pieces import with_equals

_ROWS: Final = """SELECT c.id, c.text_key, b.superseded_by IS NULL, coalesce(b.pinned, 0),
  coalesce(b.updated_at, b.created_at, ''), s.path, a.name, b.project, f.line_number
FROM json_each(?) given
CROSS JOIN candidate_rows c ON c.id = given.value
CROSS JOIN source_rows s ON s.id = c.source_id
CROSS JOIN agents a ON a.id = s.agent_id
LEFT JOIN block_rows b ON b.id = c.id
LEFT JOIN memory_fact_rows f ON f.id = c.id"""
_ORDER: Final = slice(3, 5)
_PATH: Final = 5
_AT_ONCE: Final = 200


def few_of_each(
    connection: sqlite3.Connection, ranked: Iterable[tuple[float, int]], count: int,
    counts: Callable[[str, str, str | None], bool],
) -> Iterator[tuple[float, int]]:  # fmt: skip
    """Yield ranked rows (what each is worth, and its id), of copies ``count`` at most; superseded ones apart.

    Of copies that are worth the same the pinned ones come first, then the newest, then by path. ``counts`` says of a
    row's agent, path and project whether it counts at all. Cost: the headers of all.
    """
    seen: Counter[tuple[int, bool]] = Counter()
    for worth in with_equals(ranked, _AT_ONCE):
        rows = connection.execute(_ROWS, (dumps(list(worth)),)).fetchall()
        rows.sort(key=lambda row: str(row[_PATH]))
        rows.sort(key=lambda row: tuple(row[_ORDER]), reverse=True)
        rows.sort(key=lambda row: -worth[row[0]])
        for id_, text_key, is_current, _, _, path, agent, project, line in rows:
            if line is None and not counts(agent, path, project):
                continue
            seen[text_key, is_current] += 1
            if seen[text_key, is_current] <= count:
                yield worth[id_], id_
