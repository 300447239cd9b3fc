"""Searches the newest prompts as Aether's prompt search does (``spec/aether.md`` 3): ``asx search --recent``.

Reads only, with plain ``sqlite3``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Final

from index.fields import SEARCHED
from index.match.query import read_query
from index.opening import open_reader
from index.search.candidates import Candidate, all_newest_first
from index.search.details import Described, describe
from index.search.found import Hit
from index.settings import Settings
from index.sqlite_errors import translate_read_errors

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
    verifier = query.verifier()
    with translate_read_errors(settings.index_path), closing(open_reader(settings.index_path)) as connection:
        found: list[Hit] = []
        for candidate, described in _newest(connection):
            spans = verifier.spans(candidate.text)
            if spans:
                found.append(replace(described.hit, spans=tuple(spans)))
            if len(found) > limit:
                break
    return trimmed, found[:limit], len(found) > limit


def _newest(connection: sqlite3.Connection) -> Iterator[tuple[Candidate, Described]]:
    count = 0
    for group in all_newest_first(connection, SEARCHED["prompts"]):
        pairs = [(candidate, describe(connection, candidate, [])) for candidate in group]
        known = [(candidate, described) for candidate, described in pairs if described is not None]
        for candidate, described in sorted(known, key=lambda pair: pair[1].order, reverse=True):
            yield candidate, described
            count += 1
            if count == NEWEST_PROMPTS:
                return
