"""The statements by which a search for words reads texts: pure building of SQL (``index.search.statements``).

A key is read from its full-text table's own content, by id: that costs half of what asking the table for it costs
(https://www.sqlite.org/fts5.html, "FTS5 Data Structures" names these tables). Full text drives each statement that asks
it.
"""

from __future__ import annotations

from collections.abc import Sequence

from index.search.scope import Condition, Family, Scope
from index.search.statements import (
    TIME,
    Statement,
    bounds,
    one_of_fields,
    selected_by_ids,
    visible,
    with_conditions,
)


def ranked_ids(expression: str, table: str | None) -> Statement:
    """Select (id, score) of texts that hold the words of an expression, best first; those of equal score in no order.

    With a full-text ``table`` of keys, only texts whose key it holds: only those are ranked. Cost: a score for each; a
    score of SQLite's own is cheaper to sort by here than by ``ORDER BY rank``.
    """
    joined = "" if table is None else f"\nCROSS JOIN {table}_content k ON k.id = w.rowid"
    return Statement(
        f"""SELECT w.rowid, -w.rank AS score
FROM prose_words w{joined}
WHERE w.prose_words MATCH ?
ORDER BY score DESC""",
        (expression,),
    )


def scored_keys(expression: str, table: str) -> Statement:
    """Select (id, key, score) of the texts that hold the words of an expression and whose key is in ``table``."""
    return Statement(
        f"""SELECT k.id, k.c0, -w.rank
FROM prose_words w
CROSS JOIN {table}_content k ON k.id = w.rowid
WHERE w.prose_words MATCH ?""",
        (expression,),
    )


def proposed_keys(ids: Statement, table: str) -> Statement:
    """Select (id, key, 0.0) of the texts that ``ids`` selects and whose key is in ``table``."""
    return Statement(
        f"""WITH proposed(id) AS ({ids.sql})
SELECT k.id, k.c0, 0.0
FROM proposed
CROSS JOIN {table}_content k ON k.id = proposed.id""",
        ids.values,
    )


def any_texts(family: Family, scope: Scope, expression: str, table: str | None) -> Statement:
    """Select (id, field, source, time, text) of texts that hold the words of an expression and count, in no order.

    With a full-text ``table`` of keys, only texts whose key it holds. Cost: what is taken, and what does not count.
    """
    joined = "" if table is None else f"\nCROSS JOIN {table}_content k ON k.id = w.rowid"
    return with_conditions(
        f"""SELECT p.id, p.field, p.source_id, {TIME}, p.text
FROM prose_words w{joined}
CROSS JOIN prose p ON p.id = w.rowid
{family.joins}
WHERE {{where}}""",
        [
            Condition("w.prose_words MATCH ?", (expression,)),
            one_of_fields(family.fields),
            *visible(family),
            *bounds(TIME, scope),
        ],
    )


def texts_with_ids(family: Family, scope: Scope, ids: Sequence[int]) -> Statement:
    """Select (id, field, source, time, text) of those texts among ``ids`` that count, in no order."""
    return selected_by_ids(family, scope, ids, "p.text")
