"""One search under way: its matches in order, how many there can be at most, and how the listed ones get their spans.

Joins candidates and judges for each mode; ``index.search.answer`` cuts the page. Plain ``sqlite3`` on the caller's
connection, which must stay open while matches are taken.
"""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby

from index.errors import PatternTimeoutError
from index.match.query import Query
from index.match.regex import RegexQuery
from index.match.spans import Span
from index.match.words import WordsQuery
from index.search.candidates import (
    Candidate,
    FullText,
    Passed,
    all_newest_first,
    among_newest_first,
    count_tool_events,
    newest_first,
)
from index.search.deep import find_in_whole
from index.search.hunt_words import find_words, grouped
from index.search.matches import Group, Judge, Match, PatternJudge, best_first, groups, in_order, with_texts
from index.search.pattern_keys import key_test_of
from index.search.ranked import Ranked, groups_of_ranked, held, needed_of
from index.search.relevance import score_of, standing
from index.search.request import SearchRequest, Sort
from index.search.scope import Scope
from index.search.tools import Told, find_in_heads
from index.search.words import WordMatcher
from index.settings import Settings

ReadQuery = Query | RegexQuery | WordsQuery
"""A query as its mode's reader read it."""


@dataclass(slots=True)
class Hunt:
    """The matches of one query. ``judge`` knows how many texts were given up.

    ``at_most`` bounds how many of them are prose; ``tool_events`` is how many events of tools are looked through too.
    ``spans_of`` gives the spans of a stored text that is listed. ``told`` is what there is to say of tools' texts.
    ``is_ranked`` says that each next match must be looked up: what lies behind a page is not cheap to count.
    """

    groups: Iterator[Group]
    at_most: int
    judge: Judge
    spans_of: Callable[[str], list[Span]]
    told: Told = field(default_factory=Told)
    tool_events: int = 0
    is_ranked: bool = False

    @property
    def bound(self) -> int:
        """Return a number that the matches do not exceed; an event of a tool can have a text beside its arguments."""
        return self.at_most + 2 * self.tool_events


@contextmanager
def open_hunt(
    full_text: FullText, request: SearchRequest, query: ReadQuery, scope: Scope, settings: Settings
) -> Iterator[Hunt]:
    """Begin to look for a query that was read in the request's mode; within the block its matches can be taken."""
    connection = full_text.connection
    if isinstance(query, WordsQuery):
        with WordMatcher(query) as matcher:
            yield _hunt_words(full_text, matcher, scope, request)
        return
    hunt = _hunt_literal(full_text, query, scope, request)
    if scope.with_tools:
        tools = _tools(connection, query, scope, hunt, settings if request.deep else None)
        hunt.groups = _merged(connection, hunt.groups, tools)
        hunt.tool_events = count_tool_events(connection, scope)
    if request.order is Sort.RELEVANCE and scope.with_tools:
        hunt.groups = best_first(hunt.groups, connection, lambda match: _score(query, match))
    yield hunt


def _hunt_literal(full_text: FullText, query: Query | RegexQuery, scope: Scope, request: SearchRequest) -> Hunt:
    """Look for a substring or a pattern, newest first."""
    judge = PatternJudge(query.matches) if isinstance(query, RegexQuery) else Judge(query.verifier().matches)
    proposals = full_text.propose(query.key, scope.fields)
    at_most = sum(proposal.at_most for proposal in proposals)
    to_the_end = request.to_the_end or request.order is Sort.RELEVANCE
    if request.order is Sort.RELEVANCE and not scope.with_tools:
        if query.key:
            found = among_newest_first(full_text, [proposal.ids for proposal in proposals], scope)
        else:
            found = all_newest_first(full_text.connection, scope)
        ranked = _rank(full_text.connection, found, partial(_count, query, judge), needed_of(request))
        return Hunt(ranked, at_most, judge, partial(_spans, query))
    candidates: Iterator[Candidate | Passed]
    if not query.key:
        candidates = all_newest_first(full_text.connection, scope)
    elif to_the_end:
        candidates = among_newest_first(full_text, [proposal.ids for proposal in proposals], scope)
    else:
        keys = key_test_of(query) if isinstance(query, RegexQuery) else None
        candidates = newest_first(full_text, proposals, scope, request.offset + (request.limit or 0), keys)
    return Hunt(groups(full_text.connection, candidates, judge), at_most, judge, partial(_spans, query))


def _rank(
    connection: sqlite3.Connection, candidates: Iterator[Candidate], count: Callable[[str], int], needed: int | None
) -> Iterator[Group]:
    """Yield the matches among texts of prose, best first. Cost: all candidates are looked at."""
    looked_at = 0
    ranked: list[Ranked] = []
    for id_, field_, source_id, at, text in with_texts(connection, candidates):
        looked_at += 1
        if text is not None and (number := count(text)):
            ranked.append((standing(field_), score_of(number, len(text)), at, id_, field_, source_id, held(text)))
    ranked.sort(reverse=True)
    yield from groups_of_ranked(connection, ranked, looked_at, needed)


def _count(query: Query | RegexQuery, judge: Judge, text: str) -> int:
    """Return how often a query stands in a text; 0 where it is no hit."""
    if isinstance(query, Query):
        return query.count(text)
    return len(_spans(query, text)) if judge.judge(text) else 0


def _tools(
    connection: sqlite3.Connection,
    query: Query | RegexQuery,
    scope: Scope,
    hunt: Hunt,
    settings: Settings | None,
) -> Iterator[Group]:
    """Look through the texts of tools: their heads, or with ``settings`` the whole of them, from the files."""
    literal = query if isinstance(query, Query) else None
    judge = hunt.judge  # not the hunt itself, which will hold what is made here: it is to be let go with its answer

    def spans(text: str) -> list[Span]:
        return _spans(query, text) if judge.judge(text) else []

    if settings is None:
        matches = find_in_heads(connection, scope, literal, spans, hunt.told)
    else:
        matches = find_in_whole(settings, connection, scope, literal, spans, hunt.told)
    return grouped(connection, matches)


def _merged(connection: sqlite3.Connection, prose: Iterator[Group], tools: Iterator[Group]) -> Iterator[Group]:
    """Merge two streams that are each newest first; texts of one moment are put in order together."""
    both = heapq.merge(prose, tools, key=lambda group: group.rank, reverse=True)
    for rank, equal in groupby(both, key=lambda group: group.rank):
        met = list(equal)
        matches = [match for group in met for match in group.matches]
        yield Group(rank, sum(group.looked_at for group in met), in_order(connection, matches))


def _spans(query: Query | RegexQuery, text: str) -> list[Span]:
    """Return the spans of a hit; where a pattern does not find all of them in its time, the first, else the whole text.

    It was found once, so it stays a hit, however busy the machine is now.
    """
    if not isinstance(query, RegexQuery):
        return query.spans(text)
    for look in (query.spans, query.first_span):
        try:
            return look(text)
        except PatternTimeoutError:
            continue
    return [(0, len(text.encode()))]


def _score(query: Query | RegexQuery, match: Match) -> float:
    count = query.count(match.text) if isinstance(query, Query) else len(_spans(query, match.text))
    return score_of(count, len(match.text))


def _hunt_words(full_text: FullText, matcher: WordMatcher, scope: Scope, request: SearchRequest) -> Hunt:
    """Look for words, phrases and prefixes (``index.search.hunt_words``): best first, or newest first."""
    found, at_most, judge = find_words(full_text, matcher, scope, request)
    return Hunt(found, at_most, judge, matcher.spans, is_ranked=request.order is Sort.RELEVANCE)
