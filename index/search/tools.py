"""Searches the heads of tools' texts: what the index keeps of calls, results and other events that are not prose.

Plain ``sqlite3`` on a reading connection; no full-text table holds these texts. Sources are read one by one, the one
with the latest time first, and a match is given out as soon as no source left can hold a newer one: a common word costs
little, and a rare one a look at every head. ``index.search.deep`` does the same with whole texts.
"""

from __future__ import annotations

import heapq
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from index.fields import TOOL
from index.match.query import Query
from index.match.spans import Span
from index.projection import TYPE_CODES
from index.search.matches import Match
from index.search.scope import Condition, Scope
from index.search.statements import count_tool_texts

TEXT: Final = "text"
ARGUMENTS: Final = "tool_arguments"
_PART_RANKS: Final = {TEXT: 1, ARGUMENTS: 0}
"""Of one event, what a tool answered comes before what it was asked: the later first."""

Spans = Callable[[str], Sequence[Span]]
"""Says where a text holds the query: its spans, none for no hit."""

_MAX_PATTERN: Final = 500
"""Characters of the query that SQLite looks for; it refuses patterns of 50,000 bytes, and a part finds a superset."""
_LIKE_SYNTAX: Final = re.compile(r"[\\%_]")
_IS_HELD: Final = "(e.head IS NOT NULL OR e.arguments_head IS NOT NULL)"
IS_LONGER: Final = "(e.text_len > length(e.head) OR e.arguments_len > length(e.arguments_head))"
"""Whether one of an event's texts is more than its head. SQLite's ``length`` ends at a zero character, so it may say so
of a whole text that has one; :func:`Row.is_longer` knows."""


@dataclass(slots=True)
class Told:
    """What there is to say of a search beside its matches, as far as it has come.

    ``heads_only``: a text of the scope that is longer than its head was searched in its head only. ``unread``: files
    (path, why) of which heads were searched although whole texts were asked for. ``texts`` counts those compared with
    the query after a cheap test (:func:`may_match`), a measure of the work.
    """

    heads_only: bool = False
    unread: list[tuple[str, str]] = field(default_factory=list)
    texts: int = 0


class ToolSource(NamedTuple):
    """A source with events: where it is, what was known of its file, and bounds of its events' times (inclusive)."""

    id: int
    agent: str
    session_id: str
    path: str
    kind: str
    root: str
    file_time: str
    latest: str
    earliest: str


class Row(NamedTuple):
    """One event with texts of a tool, in the order of ``_COLUMNS``."""

    id: int
    event_index: int
    line_number: int
    offset_bytes: int
    type_code: int
    at: str | None
    head: str | None
    text_len: int
    arguments_head: str | None
    arguments_len: int | None
    tool_call_id: str | None
    tool_name: str | None

    def texts(self) -> Iterator[tuple[str, str, int]]:
        """Yield (part, stored text, length of the whole in characters) of each text the event has."""
        if self.head is not None:
            yield TEXT, self.head, self.text_len
        if self.arguments_head is not None:
            yield ARGUMENTS, self.arguments_head, self.arguments_len or 0

    def is_longer(self) -> bool:
        """Return whether one of the texts is more than its head."""
        return any(length > len(head) for _, head, length in self.texts())


Order = tuple[str, str, str, str, int, int]
"""DESIGN 9: time, agent, session, source, event, and which part of it; all descending."""
Keyed = tuple[Order, Match]


def find_in_heads(
    connection: sqlite3.Connection, scope: Scope, query: Query | None, spans: Spans, told: Told
) -> Iterator[Match]:
    """Yield the heads of tools' texts that hold the query, newest first, canonical ones only.

    ``query`` is what every hit holds literally, to pass over others cheaply; null where nothing is known of it.
    ``spans`` decides. Cost: the sources that are taken; all of them, where little is found (0.3 s for 280,000 heads).
    """
    passing = may_match(query)

    def in_source(source: ToolSource) -> list[Keyed]:
        if not told.heads_only:
            told.heads_only = has_longer(connection, scope, source)
        found: list[Keyed] = []
        for row in rows_of(connection, scope, source, passing):
            for part, text, length in row.texts():
                told.texts += 1
                found.extend(match_of(source, row, part, text, length, spans(text)))
        return found

    return source_by_source(sources_of(connection, scope), in_source)


def count_texts(connection: sqlite3.Connection, scope: Scope) -> int:
    """Return how many texts of tools the scope has; an event with text and arguments has two. Cost: all of them.

    SQLite counts, but for filters by tool: of what tool a result is may stand in its call only.
    """
    if not scope.tools:
        return int(connection.execute(*count_tool_texts(scope)).fetchone()[0])
    everything = may_match(None)
    return sum(
        (row.head is not None) + (row.arguments_head is not None)
        for source in sources_of(connection, scope)
        for row in rows_of(connection, scope, source, everything)
    )


def source_by_source(sources: Iterable[ToolSource], in_source: Callable[[ToolSource], list[Keyed]]) -> Iterator[Match]:
    """Yield the matches of all sources, newest first; ``sources`` come latest first and are looked into one by one.

    Holds the matches of those sources whose times overlap.
    """
    waiting: list[_Waiting] = []
    for source in sources:
        while waiting and waiting[0].order[0] > source.latest:
            yield _take(waiting)
        found = in_source(source)
        if found:
            found.sort(key=_order)  # the newest is last, to be taken off the end
            heapq.heappush(waiting, _Waiting(found))
    while waiting:
        yield _take(waiting)


class _Waiting:
    """The matches of one source that were not given out yet, oldest first; the source with the newest sorts first."""

    __slots__ = ("found", "order")

    def __init__(self, found: list[Keyed]) -> None:
        self.found = found
        self.order = found[-1][0]

    def __lt__(self, other: _Waiting) -> bool:
        return self.order > other.order


def _take(waiting: list[_Waiting]) -> Match:
    source = waiting[0]
    _, match = source.found.pop()
    if source.found:
        source.order = source.found[-1][0]
        heapq.heapreplace(waiting, source)
    else:
        heapq.heappop(waiting)
    return match


def _order(keyed: Keyed) -> Order:
    return keyed[0]


def match_of(
    source: ToolSource, row: Row, part: str, text: str, whole_length: int, spans: Sequence[Span]
) -> tuple[Keyed, ...]:
    """Return the match for a text and its place in the order; nothing where it has no span."""
    if not spans:
        return ()
    at = row.at or source.file_time
    order = (at, source.agent, source.session_id, source.path, row.event_index, _PART_RANKS[part])
    return ((order, Match(row.id, TOOL, source.id, (at,), at, text, tuple(spans), None, part, whole_length)),)


# --- Sources and rows --------------------------------------------------------------------------------------------

_SOURCES: Final = """SELECT s.id, a.name, coalesce(n.session_id, ''), s.path, s.kind, s.root, s.file_time,
  s.earliest_ts, s.latest_ts, s.head_time, (
    SELECT e.ts IS NULL AND e.sort_ts IS NULL FROM event_rows e INDEXED BY event_rows_place
    WHERE e.source_id = s.id ORDER BY e.line_number, e.id LIMIT 1)
FROM source_rows s JOIN agents a ON a.id = s.agent_id LEFT JOIN session_rows n ON n.id = s.session_row
WHERE s.events > 0"""
"""An event without a time takes the last one before it: if the first has one, all do, and the file's is not used."""

_KNOWN_COLUMNS: Final = 7


def sources_of(connection: sqlite3.Connection, scope: Scope) -> list[ToolSource]:
    """Return the sources that may hold texts of tools of the scope, that with the latest time first."""
    sources = scope.sources or Condition("SELECT id FROM source_rows")
    found = []
    for row in connection.execute(f"{_SOURCES} AND s.id IN ({sources.sql})", sources.values):
        *times, is_untimed = row[_KNOWN_COLUMNS:]
        file_time = row[_KNOWN_COLUMNS - 1]
        known_times = [time for time in times if time is not None]
        if is_untimed or not known_times:
            known_times.append(file_time)
        source = ToolSource._make((*row[:_KNOWN_COLUMNS], max(known_times), min(known_times)))
        if (scope.since is None or source.latest >= scope.since) and (
            scope.until is None or source.earliest < scope.until
        ):
            found.append(source)
    found.sort(key=lambda source: source.latest, reverse=True)
    return found


_COLUMNS: Final = """e.id, e.event_index, e.line_number, e.offset_bytes, e.type_code, coalesce(e.ts, e.sort_ts),
  e.head, e.text_len, e.arguments_head, e.arguments_len, e.tool_call_id, e.tool_name"""
_ROWS: Final = f"""SELECT {_COLUMNS} FROM event_rows e INDEXED BY event_rows_place
WHERE e.source_id = ? AND e.hidden = 0 AND {_IS_HELD}"""


def rows_of(
    connection: sqlite3.Connection, scope: Scope, source: ToolSource, condition: Condition | None
) -> Iterator[Row]:
    """Yield the canonical events of a source with texts of tools, of the scope, in the order of their lines."""
    sql, values = [_ROWS], [source.id, *(condition.values if condition else ())]
    if condition is not None:
        sql.append(condition.sql)
    if scope.kinds is not None:
        sql.append(f"e.kind IN ({', '.join(map(str, sorted(scope.kinds)))})")
    if scope.tools:
        marks = ", ".join("?" * len(scope.tools))
        sql.append(f"(e.tool_name COLLATE NOCASE IN ({marks}) OR (e.tool_name IS NULL AND e.tool_call_id IS NOT NULL))")
        values.extend(scope.tools)
    for bound, sign in ((scope.since, ">="), (scope.until, "<")):
        if bound is not None:
            sql.append(f"coalesce(e.ts, e.sort_ts, ?) {sign} ?")
            values.extend((source.file_time, bound))
    order = " ORDER BY e.line_number, e.id"
    rows = map(Row._make, connection.execute(" AND ".join(sql) + order, values))
    if not scope.tools:
        return rows
    called = _Called(connection, source.id)
    wanted = {name.lower() for name in scope.tools}
    return (row for row in rows if row.tool_name is not None or (called.name_for(row) or "").lower() in wanted)


class _Called:
    """The names of a source's calls, for results that do not say their tool: old logs, and calls long before."""

    def __init__(self, connection: sqlite3.Connection, source_id: int) -> None:
        self._connection = connection
        self._source_id = source_id
        self._calls: dict[str, list[tuple[int, str | None]]] | None = None

    def name_for(self, row: Row) -> str | None:
        """Return the tool of the last call before the row that has its id; null when there is none."""
        if self._calls is None:
            self._calls = {}
            for call_id, *call in self._connection.execute(_CALLS, (self._source_id, TYPE_CODES["tool_call"])):
                self._calls.setdefault(call_id, []).append((call[0], call[1]))
        name = None
        for event_index, called in self._calls.get(row.tool_call_id or "", ()):
            if event_index > row.event_index:
                break
            name = called
        return name


_CALLS: Final = """SELECT e.tool_call_id, e.event_index, e.tool_name FROM event_rows e INDEXED BY event_rows_place
WHERE e.source_id = ? AND e.type_code = ? AND e.tool_call_id IS NOT NULL ORDER BY e.line_number, e.id"""


def has_longer(connection: sqlite3.Connection, scope: Scope, source: ToolSource) -> bool:
    """Return whether the scope has a text in this source that is longer than its head. Cost: up to the first one."""
    return any(row.is_longer() for row in rows_of(connection, scope, source, Condition(IS_LONGER)))


def may_match(query: Query | None) -> Condition | None:
    """Return what the heads of an event fulfil if one of them holds the query; null where nothing can be said.

    SQLite compares ASCII letters without case. A text with others, or with a zero character at which SQLite would
    stop, is longer in bytes than SQLite says in characters, and goes to the matcher; only such a one can hold a query
    that is not ASCII.
    """
    if query is None:
        return None
    if not query.form.isascii():
        return Condition(f"({_is_foreign('e.head')} OR {_is_foreign('e.arguments_head')})")
    pattern = "%" + _LIKE_SYNTAX.sub(r"\\\g<0>", query.form[:_MAX_PATTERN]) + "%"
    tests = [f"{column} LIKE ? ESCAPE '\\' OR {_is_foreign(column)}" for column in ("e.head", "e.arguments_head")]
    return Condition(f"({' OR '.join(tests)})", (pattern, pattern))


def _is_foreign(column: str) -> str:
    return f"length({column}) <> length(CAST({column} AS BLOB))"


def statements() -> dict[str, tuple[str, tuple[Any, ...]]]:
    """Return the statements of this module with values to try them with, by name: a test asks for their plans."""
    return {"sources": (_SOURCES, ()), "rows": (_ROWS, (1,)), "calls": (_CALLS, (1, 6))}
