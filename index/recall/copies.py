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
from index.recall.standing import FROM_CANDIDATES

_ROWS: Final = f"""SELECT c.id, c.text_key, b.superseded_by IS NULL, coalesce(b.pinned, 0),
  coalesce(b.updated_at, b.created_at, ''), s.path, a.name, b.project, f.line_number
{FROM_CANDIDATES}"""
_TOLD: Final = f"""SELECT given.value FROM json_each(?) given WHERE {
    " OR ".join(
        f'''EXISTS (SELECT 1 FROM block_names n CROSS JOIN journal_rows j INDEXED BY journal_rows_{key}
  ON j.{key}_key = n.key WHERE n.block_id = given.value AND j.op IN ('helpful', 'harmful', 'supersede'))'''
        for key in ("slug", "title")
    )
}"""
_ORDER: Final = slice(3, 5)
_PATH: Final = 5
_AT_ONCE: Final = 200


def few_of_each(
    connection: sqlite3.Connection, ranked: Iterable[tuple[float, int]], count: int,
    counts: Callable[[str, str, str | None], bool],
) -> Iterator[tuple[float, int]]:  # fmt: skip
    """Yield ranked rows (what each is worth, and its id), of copies ``count`` at most; superseded ones apart.

    Of copies that are worth the same the pinned ones come first, then the newest, then by path. Where there are more,
    those that the journal calls superseded, helpful or harmful come beside the ``count``: what it says of one changes
    what is given. ``counts`` says of a row's agent, path and project whether it counts at all. Cost: the headers of
    all, and a look into the journal for each that is one of too many.
    """
    seen: Counter[tuple[int, bool]] = Counter()
    for worth in with_equals(ranked, _AT_ONCE):
        rows = connection.execute(_ROWS, (dumps(list(worth)),)).fetchall()
        rows.sort(key=lambda row: str(row[_PATH]))
        rows.sort(key=lambda row: tuple(row[_ORDER]), reverse=True)
        rows.sort(key=lambda row: -worth[row[0]])
        copies = [
            (id_, (text_key, is_current))
            for id_, text_key, is_current, _, _, path, agent, project, line in rows
            if line is not None or counts(agent, path, project)
        ]
        there = seen + Counter(key for _, key in copies)
        told = _told_of(connection, [id_ for id_, key in copies if there[key] > count])
        for id_, key in copies:
            seen[key] += id_ not in told
            if seen[key] <= count or id_ in told:
                yield worth[id_], id_


def _told_of(connection: sqlite3.Connection, ids: list[int]) -> frozenset[int]:
    """Return those of which the journal tells what changes their place."""
    return frozenset(id_ for (id_,) in connection.execute(_TOLD, (dumps(ids),))) if ids else frozenset()
