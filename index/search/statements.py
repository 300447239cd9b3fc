"""The statements by which search reads texts: pure building of SQL from a scope's families.

Every way in is one that SQLite is made to keep, by CROSS JOIN and INDEXED BY (https://www.sqlite.org/optoverview.html,
"Manual Control Of Query Plans Using CROSS JOIN"): ids that full text gave, or the time index, newest first. Full text
is asked once for each statement, never once a row; a test reads the plan of each on the current schema.

Keys are read from full text's own content tables (``%_content``, https://www.sqlite.org/fts5.html, "External Content
and Contentless Tables" tells them apart), which costs half of what the virtual table does.

A look-up of one row costs microseconds, since the file is larger than any cache; an entry of the time index costs a
tenth of that. So the texts of a common word are found among the entries of the index, not one by one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from index.fields import FIELD_NAMES, FIELD_OF_TYPE, IN_PROMPT_KEYS
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

KEY: Final = "k.c0"
"""The stored search key of a text, where keys are looked at."""
PROMPT_KEYS: Final = "prompt_keys"
PROSE_KEYS: Final = "prose_keys"
SHORT_CHARACTERS: Final = 2000
"""Texts up to that length are fetched with their ids."""
_GLOB_SIGN: Final = re.compile(r"[*?\[]")
_HELD_CHARACTERS: Final = 4000
_TRIGRAM: Final = 3
_STARTS: Final = 12
"""Places of a key among which the rarest character is looked for."""
_COMMON_FIRST: Final = " etaoinsrhldcumfpgwybvkxjqz"
"""Letters of prose, the commonest first; what is not among them is not preferred: nothing is known of it."""

_PROSE_TYPES: Final = ", ".join(str(TYPE_CODES[name]) for name in FIELD_OF_TYPE)
COUNT_TOOL_EVENTS: Final = f"""SELECT count(*) - (
  SELECT count(*) FROM event_rows WHERE type_code IN ({_PROSE_TYPES})) FROM event_rows"""


def with_ids(family: Family, scope: Scope, ids: Sequence[int]) -> Statement:
    """Select (id, field, source, time, null) of those texts among ``ids`` that count, in no order."""
    return selected_by_ids(family, scope, ids, "NULL")


def short_texts_with_ids(family: Family, scope: Scope, ids: Sequence[int]) -> Statement:
    """Select the same with the text where it is short: a text may have 4 MB."""
    return selected_by_ids(family, scope, ids, f"CASE WHEN length(p.text) <= {SHORT_CHARACTERS} THEN p.text END")


def selected_by_ids(family: Family, scope: Scope, ids: Sequence[int], text: str) -> Statement:
    """Select (id, field, source, time, and ``text``, which is SQL) of those texts among ``ids`` that count."""
    return with_conditions(
        f"""SELECT p.id, p.field, p.source_id, {TIME}, {text}
FROM json_each(?) j CROSS JOIN prose p ON p.id = j.value
{family.joins}
WHERE {{where}}""",
        [one_of_fields(family.fields), *visible(family), *bounds(TIME, scope)],
        json.dumps(ids),
    )


def by_time(family: Family, scope: Scope, field: int) -> Statement:
    """Select (id, field, source, time, text) of a field's texts that have a time, newest first. Cost: what is taken."""
    return _by_time(family, scope, field, "p.text", [])


def by_time_holding(
    family: Family, scope: Scope, field: int, table: str, held: Sequence[Condition], column: str
) -> Statement:
    """Select (id, field, source, time, ``column``) of those texts whose key, ``KEY``, fulfils ``held``.

    ``column`` is the key or ``p.text``. Cost: the keys of the texts that are passed.
    """
    return _by_time(family, scope, field, column, held, f"CROSS JOIN {table}_content k ON k.id = p.id")


def nth_time(field: int, scope: Scope, number: int) -> Statement:
    """Select the time of a field's text with that number, from 1, newest first, within the scope's times.

    Its other filters are not asked. Cost: as many entries of the time index.
    """
    newest = _by_time(Family((field,)), scope, field, "NULL", [])
    return Statement(f"SELECT sort_ts FROM ({newest.sql} LIMIT 1 OFFSET {number - 1})", newest.values)


def by_time_among(family: Family, scope: Scope, field: int, proposal: Statement) -> Statement:
    """Select (id, field, source, time) of a field's texts among those that ``proposal`` selects, newest first.

    Cost: the proposal, once, then the entries of the index that are passed.
    """
    return _by_time(family, scope, field, "NULL", [Condition(f"p.id IN ({proposal.sql})", proposal.values)])


def without_time(family: Family, scope: Scope, field: int, proposal: Statement | None = None) -> Statement:
    """Select (id, field, source, time, text) of a field's texts that take their file's time, newest first; few.

    With a proposal, only those among what it selects.
    """
    return with_conditions(
        f"""SELECT p.id, p.field, p.source_id, {TIME} AS at, p.text
FROM prose p INDEXED BY prose_newest
{family.joins}
WHERE {{where}}
ORDER BY at DESC""",
        [
            Condition(f"p.field = {field}"),
            *visible(family),
            Condition("p.sort_ts IS NULL"),
            *bounds(TIME, scope),
            *([Condition(f"p.id IN ({proposal.sql})", proposal.values)] if proposal else []),
        ],
    )


def equal_texts(family: Family, scope: Scope, text_hash: int, text: str) -> Statement:
    """Count the texts equal to one."""
    return with_conditions(
        f"""SELECT count(*)
FROM prose p INDEXED BY prose_same
{family.joins}
WHERE {{where}}""",
        [
            Condition("p.text_hash = ? AND p.text = ?", (text_hash, text)),
            one_of_fields(family.fields),
            *visible(family),
            *bounds(TIME, scope),
        ],
    )


def count_texts(family: Family, scope: Scope) -> Statement:
    """Count the texts of a family. Cost: one index, and its joins where filters need them."""
    return with_conditions(
        f"SELECT count(*)\nFROM prose p INDEXED BY prose_newest\n{family.joins}\nWHERE {{where}}",
        [one_of_fields(family.fields), *visible(family), *bounds(TIME, scope)],
    )


def nth_text(family: Family, scope: Scope, number: int) -> Statement:
    """Select one row if a family has so many texts that have a time. Cost: as many entries of the time index."""
    return with_conditions(
        f"SELECT 1\nFROM prose p INDEXED BY prose_newest\n{family.joins}\nWHERE {{where}}\nLIMIT 1 OFFSET {number - 1}",
        [one_of_fields(family.fields), *visible(family), *bounds("p.sort_ts", scope)],
    )


def count_tool_texts(scope: Scope) -> Statement:
    """Count the texts of tools that the scope lets in, whatever the tool. Cost: every event of the scope's sources."""
    conditions = [Condition("e.hidden = 0"), Condition("(e.head IS NOT NULL OR e.arguments_head IS NOT NULL)")]
    if scope.sources is not None:
        conditions.append(Condition(f"e.source_id IN ({scope.sources.sql})", scope.sources.values))
    if scope.kinds is not None:
        conditions.append(Condition(f"e.kind IN ({', '.join(map(str, sorted(scope.kinds)))})"))
    return with_conditions(
        """SELECT coalesce(sum((e.head IS NOT NULL) + (e.arguments_head IS NOT NULL)), 0)
FROM event_rows e
WHERE {where}""",
        [*conditions, *bounds(EVENT_TIME, scope)],
    )


def proposed_ids(table: str, expression: str) -> Statement:
    """Select the ids of texts whose key has the trigrams of ``expression``."""
    return Statement(f"SELECT rowid FROM {table} WHERE {table} MATCH ?", (expression,))


def keys_of_proposed(table: str, ids: Statement, held: Sequence[Condition], columns: str) -> Statement:
    """Select ``columns`` of the keys that fulfil ``held`` among those proposed. Trigrams let in what has them apart."""
    return with_conditions(
        f"SELECT {columns} FROM ({ids.sql}) t CROSS JOIN {table}_content k ON k.id = t.rowid WHERE {{where}}",
        held,
        *ids.values,
    )


def keys_of_listed(table: str, ids: Sequence[int], held: Sequence[Condition], columns: str) -> Statement:
    """Select ``columns`` of the keys that fulfil ``held`` among those with these ids."""
    return with_conditions(
        f"SELECT {columns} FROM json_each(?) j CROSS JOIN {table}_content k ON k.id = j.value WHERE {{where}}",
        held,
        json.dumps(ids),
    )


def listed_ids(ids: Sequence[int]) -> Statement:
    """Select ids that are known already: what proposed them is not asked again for each field."""
    return Statement("SELECT value FROM json_each(?)", (json.dumps(ids),))


def ids_of_trigrams(table: str, first: str, last: str) -> Statement:
    """Select the ids of texts whose key has a trigram from ``first`` to ``last``, inclusive. Cost: their postings."""
    return Statement(f"SELECT DISTINCT doc AS rowid FROM {table}_instance WHERE term >= ? AND term <= ?", (first, last))


def keys_in_a_row(table: str, held: Sequence[Condition], columns: str) -> Statement:
    """Select ``columns`` of the keys that fulfil ``held``, by looking at every key."""
    return with_conditions(f"SELECT {columns} FROM {table}_content k WHERE {{where}}", held)


def table_of(field: int) -> str:
    """Return the full-text table that holds the keys of a field's texts."""
    return PROMPT_KEYS if field in IN_PROMPT_KEYS else PROSE_KEYS


def tables_of(fields: Sequence[int]) -> tuple[str, ...]:
    """Return the full-text tables that hold the keys of these fields' texts, each once."""
    return tuple(dict.fromkeys(map(table_of, fields)))


def keys_of(table: str) -> Statement:
    """Select one row for each text that has its key in a table."""
    fields = [field for field in FIELD_NAMES if table_of(field) == table]
    marks = ", ".join(map(str, fields))
    return Statement(f"SELECT 1 FROM prose INDEXED BY prose_newest WHERE field IN ({marks})", ())


def nth_key(table: str, number: int) -> Statement:
    """Select one row if a table has so many keys. Cost: as many entries of the time index."""
    return Statement(f"{keys_of(table).sql} LIMIT 1 OFFSET {number - 1}", ())


def key_holds(key: str) -> Condition:
    """Return the condition that a stored key holds ``key``, or its beginning: GLOB is twice as fast as ``instr``.

    GLOB runs from one place where its first character stands to the next, so what follows a rare one is looked for
    first. SQLite refuses a pattern of more than 50,000 bytes (https://www.sqlite.org/limits.html); the verifier sees
    the rest.
    """
    held = key[:_HELD_CHARACTERS]
    starts = range(max(0, min(len(held) - _TRIGRAM, _STARTS)) + 1)
    rare = max(starts, key=lambda start: _COMMON_FIRST.find(held[start : start + 1]))
    if rare == 0:
        return Condition(f"{KEY} GLOB ?", (_around(held),))
    return Condition(f"{KEY} GLOB ? AND {KEY} GLOB ?", (_around(held[rare:]), _around(held)))


def _around(piece: str) -> str:
    return "*" + _GLOB_SIGN.sub(r"[\g<0>]", piece) + "*"


def _by_time(
    family: Family, scope: Scope, field: int, text: str, more: Sequence[Condition], last_join: str = ""
) -> Statement:
    return with_conditions(
        f"""SELECT p.id, p.field, p.source_id, p.sort_ts, {text}
FROM prose p INDEXED BY prose_newest
{family.joins}
{last_join}
WHERE {{where}}
ORDER BY p.sort_ts DESC""",
        [
            Condition(f"p.field = {field}"),
            Condition("p.hidden = 0"),
            Condition("p.sort_ts IS NOT NULL"),
            *bounds("p.sort_ts", scope),
            *family.conditions,
            *more,
        ],
    )


def visible(family: Family) -> list[Condition]:
    """Return what keeps out copies, and what the family's filters do."""
    return [Condition("p.hidden = 0"), *family.conditions]


def bounds(column: str, scope: Scope) -> list[Condition]:
    """Return the scope's times as conditions on a column."""
    found = []
    if scope.since is not None:
        found.append(Condition(f"{column} >= ?", (scope.since,)))
    if scope.until is not None:
        found.append(Condition(f"{column} < ?", (scope.until,)))
    return found


def one_of_fields(fields: Sequence[int]) -> Condition:
    """Return the condition that a text is of one of these fields."""
    return Condition(f"p.field IN ({', '.join(map(str, fields))})")


def with_conditions(template: str, conditions: Sequence[Condition], *first: Value) -> Statement:
    """Return a statement with all conditions in the place of ``{where}``; ``first`` are bound before theirs."""
    where = " AND ".join(condition.sql for condition in conditions)
    values = [value for condition in conditions for value in condition.values]
    return Statement(template.replace("{where}", where), (*first, *values))
