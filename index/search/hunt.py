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
from itertools import groupby, islice
from typing import Final

from index.errors import PatternTimeoutError
from index.match.query import Query
from index.match.regex import RegexQuery
from index.match.spans import Span
from index.match.words import WordsQuery
from index.search import statements
from index.search.candidates import (
    Candidate,
    FullText,
    all_newest_first,
    among_newest_first,
    count_tool_events,
    narrowed,
    newest_first,
    with_ids,
)
from index.search.deep import find_in_whole
from index.search.matches import Group, Judge, Match, PatternJudge, best_first, groups, in_order, with_texts
from index.search.relevance import score_of
from index.search.request import SearchRequest, Sort
from index.search.scope import Scope
from index.search.tools import Told, find_in_heads
from index.search.words import WordMatcher
from index.settings import Settings

ReadQuery = Query | RegexQuery | WordsQuery
"""A query as its mode's reader read it."""

_LOOKED_UP_TOGETHER: Final = 256
RANKED_BELOW: Final = 20_000
"""Up to so many texts with the words are all ranked; of more, those that are newest, ``RANKED_TOGETHER`` at a time."""
RANKED_TOGETHER: Final = 100
LISTED_BELOW: Final = 100_000
"""Up to so many are listed before any is met: a word may be rare where it is looked for. Of more, texts are asked."""


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
    if request.order is Sort.RELEVANCE:
        hunt.groups = best_first(hunt.groups, connection, lambda match: _score(query, match))
    yield hunt


def _hunt_literal(full_text: FullText, query: Query | RegexQuery, scope: Scope, request: SearchRequest) -> Hunt:
    """Look for a substring or a pattern, newest first."""
    judge = PatternJudge(query.first_span) if isinstance(query, RegexQuery) else Judge(query.verifier().matches)
    proposals = full_text.propose(query.key, scope.fields)
    at_most = sum(proposal.at_most for proposal in proposals)
    to_the_end = request.to_the_end or request.order is Sort.RELEVANCE
    if not query.key:
        candidates = all_newest_first(full_text.connection, scope)
    elif to_the_end:
        candidates = among_newest_first(full_text, [proposal.ids for proposal in proposals], scope)
    else:
        candidates = newest_first(full_text, proposals, scope)
    return Hunt(groups(full_text.connection, candidates, judge), at_most, judge, partial(_spans, query))


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
    return _grouped(connection, matches)


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
    return score_of(len(_spans(query, match.text)), len(match.text))


def _hunt_words(full_text: FullText, matcher: WordMatcher, scope: Scope, request: SearchRequest) -> Hunt:
    """Look for words, phrases and prefixes (``index.match.words``): best first, or newest first.

    Best first, those that hold what was typed letter for letter come before those that hold only its words.
    """
    judge = Judge(matcher.spelled_match)
    if matcher.expression is None:
        found, at_most = _by_spelling(full_text, matcher, scope, request.order, judge)
    else:
        found, at_most = _by_words(full_text, matcher, matcher.expression, scope, request, judge)
    return Hunt(found, at_most, judge, matcher.spans, is_ranked=request.order is Sort.RELEVANCE)


def _by_words(
    full_text: FullText, matcher: WordMatcher, expression: str, scope: Scope, request: SearchRequest, judge: Judge
) -> tuple[Iterator[Group], int]:
    connection = full_text.connection
    holding = statements.proposed_ids("prose_words", expression)
    at_most = int(connection.execute(f"SELECT count(*) FROM ({holding.sql})", holding.values).fetchone()[0])
    if request.order is Sort.TIME:
        candidates = among_newest_first(full_text, [holding], scope)
        return groups(connection, candidates, judge), at_most
    if at_most > RANKED_BELOW:
        if request.to_the_end or at_most <= LISTED_BELOW:
            candidates = among_newest_first(full_text, [holding], scope)
        else:
            candidates, judge = all_newest_first(connection, scope), Judge(matcher.matches)
        return _best_of_each_run(connection, matcher, groups(connection, candidates, judge)), at_most
    ranked = connection.execute(*statements.ranked_ids(expression))
    matches = _in_scope(connection, ranked, scope)
    if _needs_texts(matcher):
        return _ranked(connection, matcher, matches), at_most
    return _grouped(connection, _newest_of_score(matches)), at_most


def _best_of_each_run(connection: sqlite3.Connection, matcher: WordMatcher, found: Iterator[Group]) -> Iterator[Group]:
    """Rank matches that come newest first, ``RANKED_TOGETHER`` at a time. Cost: what is taken, and the rest of its run.

    Words that so many texts hold tell one from the other by how often they stand in it, not by how rare they are.
    """
    looked_at = 0
    run: list[Match] = []
    for group in found:
        looked_at += group.looked_at
        for match in group.matches:
            score = score_of(max(matcher.count_typed(match.text), 1), len(match.text))
            rank = (float(matcher.as_typed(match.text)), score, match.at)
            run.append(match._replace(rank=rank, score=score))
        if len(run) >= RANKED_TOGETHER:
            yield from _one_run(connection, run, looked_at)
            looked_at, run = 0, []
    yield from _one_run(connection, run, looked_at)


def _one_run(connection: sqlite3.Connection, run: list[Match], looked_at: int) -> Iterator[Group]:
    run.sort(key=_rank, reverse=True)
    for group in _grouped(connection, iter(run)):
        yield group._replace(looked_at=looked_at)
        looked_at = 0


def _needs_texts(matcher: WordMatcher) -> bool:
    """Return whether the table of words alone does not tell the order, or not even whether a text is a hit."""
    return matcher.has_spelled or any(term.typed is not None for term in matcher.query.terms)


def _in_scope(connection: sqlite3.Connection, ranked: Iterator[tuple[int, float]], scope: Scope) -> Iterator[Match]:
    """Look some texts up at a time, keep those of the scope, and yield them by score still."""
    while batch := dict(islice(ranked, _LOOKED_UP_TOGETHER)):
        found = {candidate.id: candidate for candidate in with_ids(connection, list(batch), scope)}
        in_order = [found[id_] for id_ in batch if id_ in found]
        for candidate in with_texts(connection, in_order):
            yield _scored(candidate, batch[candidate.id])


def _scored(candidate: Candidate, score: float) -> Match:
    text = candidate.text or ""
    return Match(candidate.id, candidate.field, candidate.source_id, (score, candidate.at), candidate.at, text, None,
                 score, whole_length=len(text))  # fmt: skip


def _newest_of_score(matches: Iterator[Match]) -> Iterator[Match]:
    """Order those of one score by time."""
    for _, equal in groupby(matches, key=lambda match: match.score):
        yield from sorted(equal, key=lambda match: match.at, reverse=True)


def _by_spelling(
    full_text: FullText, matcher: WordMatcher, scope: Scope, order: Sort, judge: Judge
) -> tuple[Iterator[Group], int]:
    """Find texts for terms that the table of words does not know: by the trigrams of the longest of them."""
    connection = full_text.connection
    proposals = full_text.propose(max(matcher.query.keys, key=len), scope.fields)
    candidates = among_newest_first(full_text, [narrowed(connection, proposal) for proposal in proposals], scope)
    if matcher.without_expression is not None:
        excluded = frozenset(full_text.ids(statements.proposed_ids("prose_words", matcher.without_expression)))
        candidates = (candidate for candidate in candidates if candidate.id not in excluded)
    at_most = sum(proposal.at_most for proposal in proposals)
    if order is Sort.TIME:
        return groups(connection, candidates, judge), at_most
    return _ranked(connection, matcher, (_scored(each, 0.0) for each in with_texts(connection, candidates))), at_most


def _ranked(connection: sqlite3.Connection, matcher: WordMatcher, matches: Iterator[Match]) -> Iterator[Group]:
    """Yield those that hold every term, first those that hold them as typed. Cost: all texts are looked at."""
    looked_at = 0
    ranked: list[Match] = []
    for match in matches:
        looked_at += 1
        weight = matcher.spelled_weight(match.text)
        if weight is not None:
            score = (match.score or 0.0) + weight
            rank = (float(matcher.as_typed(match.text)), score, match.at)
            ranked.append(match._replace(rank=rank, score=score))
    yield from _one_run(connection, ranked, looked_at)


def _rank(match: Match) -> tuple[float | str, ...]:
    return match.rank


def _grouped(connection: sqlite3.Connection, matches: Iterator[Match]) -> Iterator[Group]:
    for rank, group in groupby(matches, key=_rank):
        listed = list(group)
        yield Group(rank, len(listed), in_order(connection, listed))
