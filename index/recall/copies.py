"""Of many copies of a text a few: the best of each, so that copies neither fill the list nor take the time.

Plain ``sqlite3`` on a reading connection; what is a copy ``persist.recall.copies`` tells, and the index has stored.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from json import dumps
from typing import Final, NamedTuple

from index.recall.pieces import with_equals

_ROWS: Final = """SELECT c.id, c.text_key, c.is_superseded, c.pinned, coalesce(c.touched_at, ''), c.use, s.path, a.name,
  c.project, c.last_mark IS NOT NULL, c.latest_at > :as_of
FROM json_each(:rows) given
CROSS JOIN candidate_rows c ON c.id = given.value
CROSS JOIN source_rows s ON s.id = c.source_id
CROSS JOIN agents a ON a.id = s.agent_id"""
_AT_ONCE: Final = 200


class _Copy(NamedTuple):
    """What is settled of a candidate, as far as it tells which of several copies comes first."""

    id: int
    text_key: int
    is_superseded: int
    pinned: int
    touched_at: str
    use: float
    path: str
    agent: str
    project: str | None
    is_marked: int
    is_later: int

    @property
    def order(self) -> tuple[int, float | str, float | str]:
        """Return what copies of one worth are ordered by, the most first: as ``persist.recall.ranking`` does."""
        return (1, self.use, self.touched_at) if self.pinned else (0, self.touched_at, self.use)


def few_of_each(
    connection: sqlite3.Connection, ranked: Iterable[tuple[float, int]], count: int, as_of: str,
    counts: Callable[[str, str, str | None], bool],
) -> Iterator[tuple[float, int]]:  # fmt: skip
    """Yield ranked rows (what each is worth, and its id), of copies ``count`` at most; superseded ones apart.

    Of copies that are worth the same the pinned ones come first, then the newest, then by path. Marked ones come beside
    the ``count``, for a mark changes their place, and so do those that something is told of after ``as_of``: for that
    moment nothing is settled of them. ``counts`` says of a row's agent, path and project whether it counts at all.
    Cost: a few values of each.
    """
    seen: Counter[tuple[int, int]] = Counter()
    for worth in with_equals(ranked, _AT_ONCE):
        values = {"rows": dumps(list(worth)), "as_of": as_of}
        copies = [_Copy(*row) for row in connection.execute(_ROWS, values)]
        copies.sort(key=lambda copy: copy.path)
        copies.sort(key=lambda copy: copy.order, reverse=True)
        copies.sort(key=lambda copy: -worth[copy.id])
        for copy in copies:
            if copy.is_later:
                yield worth[copy.id], copy.id
            elif counts(copy.agent, copy.path, copy.project):
                key = (copy.text_key, copy.is_superseded)
                seen[key] += not copy.is_marked
                if copy.is_marked or seen[key] <= count:
                    yield worth[copy.id], copy.id
