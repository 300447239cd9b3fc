"""Answers one request: reads the query, finds the matches, cuts the page, describes what is listed.

Reads only, within one transaction, so that the page, the counts and the misses speak of one state of the index.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Final, NamedTuple

from index.match.query import read_query
from index.match.regex import read_regex
from index.match.spans import Span
from index.match.words import WordsQuery, read_words
from index.opening import open_reader
from index.search import tools
from index.search.candidates import FETCH_BELOW, FullText, count_texts
from index.search.context import context_of
from index.search.details import count_equal, describe
from index.search.explain import explain
from index.search.found import Hit, Miss, SearchResult
from index.search.hunt import Hunt, ReadQuery, open_hunt
from index.search.matches import Match
from index.search.misses import nearest_misses
from index.search.page import LOOKED_AT_FURTHER, LOOKED_UP_FURTHER, SessionKey, Sessions, cut_page
from index.search.request import Mode, SearchRequest
from index.search.scope import Scope, read_scope
from index.search.tools import Told
from index.settings import Settings
from index.sqlite_errors import SEARCH_BUSY_TIMEOUT_MS, translate_read_errors

FEW_TOOL_EVENTS: Final = 5000
"""Up to so many events of tools are all looked through, in tens of milliseconds."""


class _Answered(NamedTuple):
    """One page of a request on an open index, before its misses are looked for."""

    listing: _Listing
    total: int
    is_exact: bool
    given_up: int
    told: Told


def search(settings: Settings, request: SearchRequest, take: Callable[[Hit], None] | None = None) -> SearchResult:
    """Return the hits of a request.

    With ``take``, each hit is given to it as soon as it is known and none is kept: then memory does not grow with their
    number. Such a request has no ``per_session``, which is only known at the end.

    Raises ``EmptyQueryError`` (``NoWordError``, ``BadPatternError``) for a query that asks for nothing,
    ``NotFoundError`` and ``AmbiguousError`` for a session of the filters, ``SearchTimeoutError`` when a pattern runs
    out of time on too many texts, and the errors of ``open_reader``.
    """
    query = read(request)
    path, wait_ms = settings.index_path, SEARCH_BUSY_TIMEOUT_MS
    with translate_read_errors(path, wait_ms), closing(open_reader(path, wait_ms)) as connection:
        connection.execute("PRAGMA temp_store = memory")
        connection.execute("BEGIN")
        scope = read_scope(connection, request.searched, request.filters)
        full_text = FullText(connection)
        answered = _answer(full_text, request, query, scope, settings, take)
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
            hits=tuple(answered.listing.hits),
            listed=answered.listing.count,
            misses=misses,
            texts=texts,
            borrowed_times=answered.listing.borrowed_times,
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
    return prose + tools.count_texts(connection, scope)


def read(request: SearchRequest) -> ReadQuery:
    """Read the query in the request's mode; raises what the mode's reader raises."""
    match request.mode:
        case Mode.WORDS:
            return read_words(request.query)
        case Mode.REGEX:
            return read_regex(request.query)
        case Mode.SUBSTRING:
            return read_query(request.query)


class _Listing:
    """The hits of a page as they come: described, counted, and kept or given on."""

    def __init__(
        self, connection: sqlite3.Connection, request: SearchRequest, scope: Scope, take: Callable[[Hit], None] | None
    ) -> None:
        self._connection = connection
        self._request = request
        self._scope = scope
        self._take = take
        self._sessions = Sessions(connection)
        self._last_of: dict[SessionKey, int] = {}
        self.hits: list[Hit] = []
        self.count = 0
        self.borrowed_times = 0

    def add(self, match: Match, spans_of: Callable[[str], list[Span]]) -> None:
        """Describe a match that is listed."""
        if match.spans is None:
            match = match._replace(spans=tuple(spans_of(match.text)))
        hit = describe(self._connection, match)
        count = count_equal(self._connection, match, self._scope)
        turns = self._request.context_turns
        hit = replace(hit, count=count, context=context_of(self._connection, match, turns) if turns else ())
        self.count += 1
        self.borrowed_times += hit.ts_source != "record"
        if self._take is not None:
            self._take(hit)
            return
        if self._request.per_session is not None and (session := self._sessions.key_of(match)) is not None:
            self._last_of[session] = len(self.hits)
        self.hits.append(hit)

    def leave_out(self, left_out: Mapping[SessionKey, int]) -> None:
        """Note on the last hit of each session how many others its share left out."""
        for session, number in self._last_of.items():
            if session in left_out:
                self.hits[number] = replace(self.hits[number], more_in_session=left_out[session])


def _answer(
    full_text: FullText,
    request: SearchRequest,
    query: ReadQuery,
    scope: Scope,
    settings: Settings,
    take: Callable[[Hit], None] | None,
) -> _Answered:
    connection = full_text.connection
    listing = _Listing(connection, request, scope, take)
    with open_hunt(full_text, request, query, scope, settings) as hunt:
        page = cut_page(
            hunt.groups,
            request,
            Sessions(connection),
            _look_further(hunt),
            lambda match: listing.add(match, hunt.spans_of),
        )
        listing.leave_out(page.left_out)
        total = page.met if page.is_all else max(page.met, hunt.bound)
        return _Answered(listing, total, page.is_all, hunt.judge.given_up, hunt.told)


def _look_further(hunt: Hunt) -> int:
    """Return how many candidates to look at behind a full page, so that a total is exact where that is cheap."""
    if hunt.tool_events > FEW_TOOL_EVENTS:
        return 0  # they are no candidates but all of them: the next hit may be far
    if hunt.at_most <= FETCH_BELOW:
        return FETCH_BELOW
    return LOOKED_UP_FURTHER if hunt.is_ranked else LOOKED_AT_FURTHER
