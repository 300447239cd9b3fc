"""The statements by which search reads texts: pure building of SQL from a scope's families.

Every way in is one that SQLite is made to keep, by CROSS JOIN and INDEXED BY (https://www.sqlite.org/optoverview.html,
"Manual Control Of Query Plans Using CROSS JOIN"): ids that full text gave, or the time index, newest first. Full text
is asked once for each statement, never once a row; a test reads the plan of each on the current schema.

A look-up of one row costs microseconds, since the file is larger than any cache; an entry of the time index costs a
tenth of that. So the texts of a common word are found among the entries of the index, not one by one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, NamedTuple

from index.fields import FIELD_OF_TYPE
from index.projection import TYPE_CODES
from index.search.scope import Condition, Family, Scope, Value


class Statement(NamedTuple):
    """A SELECT and the values it binds."""

    sql: str
    values: tuple[Value, ...]


TIME: Final = "coalesce(p.sort_ts, (SELECT file_time FROM source_rows WHERE id = p.source_id))"
"""The time by which a text is placed: its own, else its file's."""
EVENT_TIME: Final = "coalesce(e.ts, e.sort_ts, (SELECT file_time FROM source_rows WHERE id = e.source_id))"
"""The same of an event."""

_PROSE_TYPES: Final = ", ".join(str(TYPE_CODES[name]) for name in FIELD_OF_TYPE)
COUNT_TOOL_EVENTS: Final = f"""SELECT count(*) - (
  SELECT count(*) FROM event_rows WHERE type_code IN ({_PROSE_TYPES})) FROM event_rows"""


def with_ids(family: Family, scope: Scope, ids: Sequence[int]) -> Statement:
    """Select (id, field, source, time) of those texts among ``ids`` that count, in no order."""
    return _statement(
        f"""SELECT p.id, p.field, p.source_id, {TIME}, NULL
FROM json_each(?) j CROSS JOIN prose p ON p.id = j.value
{family.joins}
WHERE {{where}}""",
        [_one_of_fields(family.fields), *_visible(family), *_bounds(TIME, scope)],
        json.dumps(ids),
    )


def by_time(family: Family, scope: Scope, field: int) -> Statement:
    """Select (id, field, source, time, text) of a field's texts that have a time, newest first. Cost: what is taken."""
    return _by_time(family, scope, field, "p.text", [])


def by_time_among(family: Family, scope: Scope, field: int, proposal: Statement) -> Statement:
    """Select (id, field, source, time) of a field's texts among those that ``proposal`` selects, newest first.

    Cost: the proposal, once, then the entries of the index that are passed.
    """
    return _by_time(family, scope, field, "NULL", [Condition(f"p.id IN ({proposal.sql})", proposal.values)])


def without_time(family: Family, scope: Scope, field: int, proposal: Statement | None = None) -> Statement:
    """Select (id, field, source, time, text) of a field's texts that take their file's time, newest first; few.

    With a proposal, only those among what it selects.
    """
    return _statement(
        f"""SELECT p.id, p.field, p.source_id, {TIME} AS at, p.text
FROM prose p INDEXED BY prose_newest
{family.joins}
WHERE {{where}}
ORDER BY at DESC""",
        [
            Condition(f"p.field = {field}"),
            *_visible(family),
            Condition("p.sort_ts IS NULL"),
            *_bounds(TIME, scope),
            *([Condition(f"p.id IN ({proposal.sql})", proposal.values)] if proposal else []),
        ],
    )


def equal_texts(family: Family, scope: Scope, text_hash: int, text: str) -> Statement:
    """Count the texts equal to one."""
    return _statement(
        f"""SELECT count(*)
FROM prose p INDEXED BY prose_same
{family.joins}
WHERE {{where}}""",
        [
            Condition("p.text_hash = ? AND p.text = ?", (text_hash, text)),
            _one_of_fields(family.fields),
            *_visible(family),
            *_bounds(TIME, scope),
        ],
    )


def count_texts(family: Family, scope: Scope) -> Statement:
    """Count the texts of a family. Cost: one index, and its joins where filters need them."""
    return _statement(
        f"SELECT count(*)\nFROM prose p INDEXED BY prose_newest\n{family.joins}\nWHERE {{where}}",
        [_one_of_fields(family.fields), *_visible(family), *_bounds(TIME, scope)],
    )


def count_tool_texts(scope: Scope) -> Statement:
    """Count the texts of tools that the scope lets in, whatever the tool. Cost: every event of the scope's sources."""
    conditions = [Condition("e.hidden = 0"), Condition("(e.head IS NOT NULL OR e.arguments_head IS NOT NULL)")]
    if scope.sources is not None:
        conditions.append(Condition(f"e.source_id IN ({scope.sources.sql})", scope.sources.values))
    if scope.kinds is not None:
        conditions.append(Condition(f"e.kind IN ({', '.join(map(str, sorted(scope.kinds)))})"))
    return _statement(
        """SELECT coalesce(sum((e.head IS NOT NULL) + (e.arguments_head IS NOT NULL)), 0)
FROM event_rows e
WHERE {where}""",
        [*conditions, *_bounds(EVENT_TIME, scope)],
    )


def proposed_ids(table: str, expression: str, key: str | None = None) -> Statement:
    """Select the ids of texts whose key has the trigrams of ``expression``; with ``key``, those that hold it whole."""
    if key is None:
        return Statement(f"SELECT rowid FROM {table} WHERE {table} MATCH ?", (expression,))
    return Statement(
        f"SELECT rowid FROM {table} WHERE {table} MATCH ? AND instr({table}.key, ?) > 0", (expression, key)
    )


def listed_ids(ids: Sequence[int]) -> Statement:
    """Select ids that are known already: what proposed them is not asked again for each field."""
    return Statement("SELECT value FROM json_each(?)", (json.dumps(ids),))


def ids_of_trigrams(table: str, first: str, last: str) -> Statement:
    """Select the ids of texts whose key has a trigram from ``first`` to ``last``, inclusive. Cost: their postings."""
    return Statement(f"SELECT DISTINCT doc FROM {table}_instance WHERE term >= ? AND term <= ?", (first, last))


def scanned_ids(table: str, key: str) -> Statement:
    """Select the ids of texts whose key holds ``key``, by looking at every key."""
    return Statement(f"SELECT rowid FROM {table} WHERE instr({table}.key, ?) > 0", (key,))


def ranked_ids(expression: str) -> Statement:
    """Select (id, score) of texts that hold the words of an expression, best first."""
    return Statement("SELECT rowid, -rank FROM prose_words WHERE prose_words MATCH ? ORDER BY rank", (expression,))


def _by_time(family: Family, scope: Scope, field: int, text: str, more: list[Condition]) -> Statement:
    return _statement(
        f"""SELECT p.id, p.field, p.source_id, p.sort_ts, {text}
FROM prose p INDEXED BY prose_newest
{family.joins}
WHERE {{where}}
ORDER BY p.sort_ts DESC""",
        [
            Condition(f"p.field = {field}"),
            Condition("p.hidden = 0"),
            Condition("p.sort_ts IS NOT NULL"),
            *_bounds("p.sort_ts", scope),
            *more,
            *family.conditions,
        ],
    )


def _visible(family: Family) -> list[Condition]:
    return [Condition("p.hidden = 0"), *family.conditions]


def _bounds(column: str, scope: Scope) -> list[Condition]:
    bounds = []
    if scope.since is not None:
        bounds.append(Condition(f"{column} >= ?", (scope.since,)))
    if scope.until is not None:
        bounds.append(Condition(f"{column} < ?", (scope.until,)))
    return bounds


def _one_of_fields(fields: Sequence[int]) -> Condition:
    return Condition(f"p.field IN ({', '.join(map(str, fields))})")


def _statement(template: str, conditions: Sequence[Condition], *first: Value) -> Statement:
    where = " AND ".join(condition.sql for condition in conditions)
    values = [value for condition in conditions for value in condition.values]
    return Statement(template.replace("{where}", where), (*first, *values))
