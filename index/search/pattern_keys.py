"""What is known of the keys of texts that a pattern matches: a text that cannot match is never fetched.

The pattern's outline (``index.match.regex``) is asked of keys that SQLite has passed already. Not as a function within
SQL: an interrupt (Ctrl-C) while SQLite calls Python would come out as an error of the database.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Final

from index.errors import PatternTimeoutError
from index.match.regex import RegexQuery
from index.search.candidates import KeyTest
from index.search.statements import key_holds

OUTLINE_TIME_S: Final = 0.5
"""What the outline may take over all keys; after it, or after a key that it cannot tell of, each may match."""


def key_test_of(query: RegexQuery) -> KeyTest | None:
    """Return what the key of every text that ``query`` matches passes, besides holding ``query.key``.

    Null where ``query.key`` tells as much.
    """
    if not query.has_outline:
        return None
    telling = (key for key in query.more_keys if len(key) > 1)  # a single character stands in most keys
    return KeyTest(tuple(map(key_holds, telling)), _bounded(query.may_match))


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
