"""Searches the newest prompts as Aether's prompt search does (``spec/aether.md`` 3): ``asx search --recent``.

Reads only, with plain ``sqlite3``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby, islice
from typing import Final

from index.match.query import read_query
from index.opening import open_reader
from index.search.candidates import Candidate, all_newest_first
from index.search.details import describe, order_of
from index.search.found import Hit
from index.search.matches import Match
from index.search.request import Filters
from index.search.scope import read_scope
from index.settings import Settings
from index.sqlite_errors import SEARCH_BUSY_TIMEOUT_MS, translate_read_errors

NEWEST_PROMPTS: Final = 100
"""How many prompts ``newest_prompts`` looks through, as many as a prompt history keeps."""
MAX_NEWEST_HITS: Final = 50


def newest_prompts(settings: Settings, query_text: str, limit: int) -> tuple[str, list[Hit], bool]:
    """Search the newest ``NEWEST_PROMPTS`` prompts, whatever told them: Aether's prompt search (``spec/aether.md`` 3).

    Returns the trimmed query, at most ``limit`` hits (clamped to 1 … ``MAX_NEWEST_HITS``) and whether there were more.
    A blank query gives none. Raises the errors of ``open_reader``.
    """
    trimmed = query_text.strip()
    limit = min(max(limit, 1), MAX_NEWEST_HITS)
    if not trimmed:
        return trimmed, [], False
    query = read_query(trimmed)
    path, wait_ms = settings.index_path, SEARCH_BUSY_TIMEOUT_MS
    with translate_read_errors(path, wait_ms), closing(open_reader(path, wait_ms)) as connection:
        connection.execute("BEGIN")
        found: list[Hit] = []
        for candidate in islice(_newest(connection), NEWEST_PROMPTS):
            text = candidate.text or ""
            spans = query.spans(text)
            if spans:
                match = Match(candidate.id, candidate.field, candidate.source_id, (candidate.at,), candidate.at, text,
                              tuple(spans), whole_length=len(text))  # fmt: skip
                found.append(describe(connection, match))
            if len(found) > limit:
                break
    return trimmed, found[:limit], len(found) > limit


def _newest(connection: sqlite3.Connection) -> Iterator[Candidate]:
    scope = read_scope(connection, ("prompts",), Filters())
    for _, group in groupby(all_newest_first(connection, scope), key=lambda candidate: candidate.at):
        candidates = list(group)
        if len(candidates) > 1:
            candidates.sort(key=lambda each: order_of(connection, each.id, each.field), reverse=True)
        yield from candidates
