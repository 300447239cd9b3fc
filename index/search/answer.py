"""Search: finds every text of the chosen fields that holds the query, newest first, and never answers a silent zero.

Reads only, with plain ``sqlite3``; must never import SQLAlchemy, pydantic or anything of the command line. A text is a
hit when the verifier says so (DESIGN 9): results equal a brute-force scan over all texts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from index.fields import IN_PROMPT_KEYS, SEARCHED
from index.match.query import Query, read_query
from index.match.spans import Verifier
from index.opening import open_reader
from index.search.candidates import (
    SORT_ALL_BELOW,
    Candidate,
    Candidates,
    count_texts,
    find_candidates,
    newest_first,
)
from index.search.details import Described, count_equal, describe
from index.search.found import Hit, Miss, Reading, SearchResult
from index.search.request import SearchRequest
from index.settings import Settings
from index.sqlite_errors import translate_read_errors


def search(settings: Settings, request: SearchRequest) -> SearchResult:
    """Return the newest hits of a query. Equal prompts fold into one hit with a count.

    Raises ``EmptyQueryError`` for a query of blanks, and the errors of ``open_reader``. ``total`` is exact when every
    candidate was looked at (few of them, or no limit, or no more were met), else an upper bound from their keys.
    """
    query = read_query(request.query)
    with translate_read_errors(settings.index_path), closing(open_reader(settings.index_path)) as connection:
        fields = _fields(request.searched)
        candidates = find_candidates(connection, query, fields)
        look_at_all = request.limit is None or candidates.ids is not None
        hits, are_all = _collect(connection, query, candidates, fields, None if look_at_all else request.limit)
        elsewhere = {} if hits else _elsewhere(connection, query, request.searched)
        texts = 0 if hits else count_texts(connection, fields)
    total = len(hits) if are_all else max(len(hits), candidates.total)
    return _result(request, query, hits, total, are_all, elsewhere, texts)


def _fields(searched: Sequence[str]) -> tuple[int, ...]:
    return tuple(field for name in searched for field in SEARCHED[name])


def _collect(
    connection: sqlite3.Connection, query: Query, candidates: Candidates, fields: Sequence[int], stop_after: int | None
) -> tuple[list[Hit], bool]:
    """Return hits newest first, and whether those are all; stops once there are more than ``stop_after`` (if given)."""
    verifier = query.verifier()
    prompts_seen: set[str] = set()
    hits: list[Hit] = []
    for group in newest_first(connection, candidates, fields):
        for candidate, described in _verified(connection, verifier, group):
            if candidate.field in IN_PROMPT_KEYS:
                if candidate.text in prompts_seen:
                    continue
                prompts_seen.add(candidate.text)
                hits.append(replace(described.hit, count=count_equal(connection, candidate)))
            else:
                hits.append(described.hit)
        if stop_after is not None and len(hits) > stop_after:
            return hits, False
    return hits, True


def _verified(
    connection: sqlite3.Connection, verifier: Verifier, group: list[Candidate]
) -> list[tuple[Candidate, Described]]:
    found: list[tuple[Candidate, Described]] = []
    for candidate in group:
        spans = verifier.spans(candidate.text)
        described = describe(connection, candidate, spans) if spans else None
        if described is not None:
            found.append((candidate, described))
    found.sort(key=lambda pair: pair[1].order, reverse=True)
    return found


def _elsewhere(connection: sqlite3.Connection, query: Query, searched: Sequence[str]) -> dict[str, int]:
    """Count, where nothing was found, the hits of each field not searched; over ``SORT_ALL_BELOW`` counting stops."""
    others = {name: fields for name, fields in SEARCHED.items() if name not in searched}
    counts: dict[str, int] = {}
    for name, fields in others.items():
        candidates = find_candidates(connection, query, fields)
        stop_after = SORT_ALL_BELOW if candidates.ids is None else None
        hits, _ = _collect(connection, query, candidates, fields, stop_after)
        if hits:
            counts[name] = len(hits)
    return counts


def _result(
    request: SearchRequest,
    query: Query,
    hits: list[Hit],
    total: int,
    exact: bool,
    elsewhere: dict[str, int],
    texts: int,
) -> SearchResult:
    listed = hits if request.limit is None else hits[: request.limit]
    return SearchResult(
        query=query.text,
        exact_case=query.exact,
        mode=request.mode,
        sort=request.order,
        searched=request.searched,
        filters=request.filters,
        offset=request.offset,
        total=total,
        total_is_exact=exact,
        hits=tuple(listed),
        misses=tuple(Miss("field", name, count) for name, count in elsewhere.items()),
        texts=texts,
        reading=Reading(),
        borrowed_times=sum(hit.ts_source != "record" for hit in listed),
    )
