"""Answers one request: reads the query, finds the matches, cuts the page, describes what is listed.

Reads only, within one transaction, so that the page, the counts and the misses speak of one state of the index.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import Final, NamedTuple

from index.match.query import read_query
from index.match.regex import read_regex
from index.match.words import WordsQuery, read_words
from index.opening import open_reader
from index.search import statements, tools
from index.search.candidates import FETCH_BELOW, FullText, count_texts
from index.search.context import context_of
from index.search.details import count_equal, describe
from index.search.explain import explain
from index.search.found import Hit, Miss, SearchResult
from index.search.hunt import Hunt, Reading, open_hunt
from index.search.misses import nearest_misses
from index.search.page import LOOKED_AT_FURTHER, LOOKED_UP_FURTHER, Page, SessionKey, Sessions, cut_page
from index.search.request import Mode, SearchRequest
from index.search.scope import Scope, read_scope
from index.search.tools import Told
from index.settings import Settings
from index.sqlite_errors import translate_read_errors

FEW_TOOL_EVENTS: Final = 5000
"""Up to so many events of tools are all looked through, in tens of milliseconds."""


class _Answered(NamedTuple):
    """One page of a request on an open index, before its misses are looked for."""

    hits: tuple[Hit, ...]
    total: int
    is_exact: bool
    given_up: int
    told: Told


def search(settings: Settings, request: SearchRequest) -> SearchResult:
    """Return the hits of a request.

    Raises ``EmptyQueryError`` (``NoWordError``, ``BadPatternError``) for a query that asks for nothing,
    ``NotFoundError`` and ``AmbiguousError`` for a session of the filters, ``SearchTimeoutError`` when a pattern runs
    out of time on too many texts, and the errors of ``open_reader``.
    """
    query = read(request)
    with translate_read_errors(settings.index_path), closing(open_reader(settings.index_path)) as connection:
        connection.execute("PRAGMA temp_store = memory")
        connection.execute("BEGIN")
        scope = read_scope(connection, request.searched, request.filters)
        full_text = FullText(connection)
        answered = _answer(full_text, request, query, scope, settings)
        misses: tuple[Miss, ...] = ()
        texts = None
        if not answered.total:
            texts = _count_looked_through(connection, request, scope)
            misses = nearest_misses(full_text, request, query, scope, settings, texts)
        return SearchResult(
            query=query.text,
            exact_case=not isinstance(query, WordsQuery) and query.exact,
            mode=request.mode,
            sort=request.order,
            searched=request.searched,
            filters=request.filters,
            offset=request.offset,
            total=answered.total,
            total_is_exact=answered.is_exact,
            hits=answered.hits,
            misses=misses,
            texts=texts,
            borrowed_times=sum(hit.ts_source != "record" for hit in answered.hits),
            reading=explain(request, query, scope),
            heads_only=answered.told.heads_only,
            given_up=answered.given_up,
            unread=tuple(answered.told.unread),
        )


def _count_looked_through(connection: sqlite3.Connection, request: SearchRequest, scope: Scope) -> int:
    """Return how many texts the scope holds, as they were searched: words are not looked for in texts of tools."""
    prose = count_texts(connection, scope)
    if not scope.with_tools or request.mode is Mode.WORDS:
        return prose
    if scope.tools:
        return prose + tools.count_texts(connection, scope)
    return prose + int(connection.execute(*statements.count_tool_texts(scope)).fetchone()[0])


def read(request: SearchRequest) -> Reading:
    """Read the query in the request's mode; raises what the mode's reader raises."""
    match request.mode:
        case Mode.WORDS:
            return read_words(request.query)
        case Mode.REGEX:
            return read_regex(request.query)
        case Mode.SUBSTRING:
            return read_query(request.query)


def _answer(full_text: FullText, request: SearchRequest, query: Reading, scope: Scope, settings: Settings) -> _Answered:
    connection = full_text.connection
    with open_hunt(full_text, request, query, scope, settings) as hunt:
        page = cut_page(hunt.groups, request, Sessions(connection), _look_further(hunt))
        hits = _described(connection, request, scope, hunt, page)
        total = page.met if page.is_all else max(page.met, hunt.bound)
        return _Answered(hits, total, page.is_all, hunt.judge.given_up, hunt.told)


def _look_further(hunt: Hunt) -> int:
    """Return how many candidates to look at behind a full page, so that a total is exact where that is cheap."""
    if hunt.tool_events > FEW_TOOL_EVENTS:
        return 0  # they are no candidates but all of them: the next hit may be far
    if hunt.at_most <= FETCH_BELOW:
        return FETCH_BELOW
    return LOOKED_UP_FURTHER if hunt.is_ranked else LOOKED_AT_FURTHER


def _described(
    connection: sqlite3.Connection, request: SearchRequest, scope: Scope, hunt: Hunt, page: Page
) -> tuple[Hit, ...]:
    hits: list[Hit] = []
    last_of_session: dict[SessionKey, int] = {}
    sessions = Sessions(connection)
    for match in page.listed:
        if match.spans is None:
            match = match._replace(spans=tuple(hunt.spans_of(match.text)))
        hit = describe(connection, match)
        hit = replace(hit, count=count_equal(connection, match, scope))
        if request.context_turns:
            hit = replace(hit, context=context_of(connection, match, request.context_turns))
        session = sessions.key_of(match) if page.left_out else None
        if session in page.left_out:
            last_of_session[session] = len(hits)
        hits.append(hit)
    for session, number in last_of_session.items():
        hits[number] = replace(hits[number], more_in_session=page.left_out[session])
    return tuple(hits)
