"""What is known of the keys of texts that a pattern matches, as conditions for a statement that looks at keys.

Plain ``sqlite3``: the pattern's outline (``index.match.regex``) becomes a function of the caller's connection, so that
a text that does not fit is never fetched. The reading connection of a search is its alone, and closed with it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from time import perf_counter
from typing import Final

from index.errors import PatternTimeoutError
from index.match.regex import RegexQuery
from index.search.scope import Condition
from index.search.statements import KEY, key_holds

FUNCTION: Final = "may_match"
OUTLINE_TIME_S: Final = 0.5
"""What the outline may take over all keys; after it, or after a key that it cannot tell of, each may match."""


def pattern_conditions(connection: sqlite3.Connection, query: RegexQuery) -> tuple[Condition, ...]:
    """Return what the key of every text that ``query`` matches fulfils, besides holding ``query.key``.

    The connection gets the function that the last one calls.
    """
    told_by_outline = 1 if query.has_outline else 0  # a single character stands in most keys
    conditions = [key_holds(key) for key in query.more_keys if len(key) > told_by_outline]
    if query.has_outline:
        connection.create_function(FUNCTION, 1, _bounded(query.may_match), deterministic=True)
        conditions.append(Condition(f"{FUNCTION}({KEY})"))
    return tuple(conditions)


def _bounded(may_match: Callable[[str], bool]) -> Callable[[str], bool]:
    left_s = OUTLINE_TIME_S

    def look(key: str) -> bool:
        nonlocal left_s
        if left_s <= 0:
            return True
        started_s = perf_counter()
        try:
            return may_match(key)
        except PatternTimeoutError:
            left_s = 0
            return True
        finally:
            left_s -= perf_counter() - started_s

    return look
