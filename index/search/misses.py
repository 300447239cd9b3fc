"""Where a search that found nothing would have found something: the nearest questions, each a little different.

Counts only, and stops counting at ``COUNTED``; on the connection and the transaction of the search itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import monotonic
from typing import Final

from index.errors import EmptyQueryError, SearchTimeoutError
from index.fields import SEARCHED
from index.match.form import form
from index.match.query import Query
from index.match.regex import RegexQuery
from index.match.words import WordsQuery, read_words
from index.search.candidates import FullText, among_newest_first
from index.search.found import Miss
from index.search.hunt import ReadQuery, open_hunt
from index.search.hunt_words import find_in_any_order
from index.search.matches import Group, Judge, Match, groups
from index.search.page import Page, Sessions, cut_page
from index.search.request import Filters, SearchRequest, Sort
from index.search.scope import Scope, read_scope
from index.search.words import WordMatcher
from index.settings import Settings

PATTERN_MISSES_S: Final = 2.0
"""After so long no further nearest question is put to a pattern."""
COUNTED: Final = 100
"""Hits of a nearest question that are counted; from there on it is "at least"."""


def nearest_misses(
    full_text: FullText,
    request: SearchRequest,
    query: ReadQuery,
    scope: Scope,
    settings: Settings,
    texts: int,
) -> tuple[Miss, ...]:
    """Return what would have been found: with other case or accents, as words, in other fields, without the filters.

    ``texts`` is how many texts the scope holds. Those nearest to what was asked come first; questions that find nothing
    are left out. Texts of tools are not looked through for this: they take too long.
    """
    asker = _Asker(full_text, replace(request, offset=0, limit=COUNTED, per_session=None, exact_total=False), settings)
    misses: list[Miss | None] = []
    if isinstance(query, Query) and texts:
        misses += _other_letters(asker, query, scope)
        misses.append(_as_words(asker, scope))
    ends_s = monotonic() + PATTERN_MISSES_S
    for name in SEARCHED:
        if isinstance(query, RegexQuery) and monotonic() > ends_s:
            break  # each question may take the pattern's whole time again; a zero of a pattern claims nothing elsewhere
        if name not in request.searched and name != "tools":
            elsewhere = read_scope(full_text.connection, (name,), request.filters)
            misses.append(asker.count(query, elsewhere, "field", name))
    if not request.filters.is_empty:
        misses.append(asker.count(query, read_scope(full_text.connection, request.searched, Filters()), "filters"))
    return tuple(miss for miss in misses if miss is not None)


@dataclass(frozen=True, slots=True)
class _Asker:
    """Puts nearest questions: ``asked`` is the request with nothing in it that counting does not need."""

    full_text: FullText
    asked: SearchRequest
    settings: Settings

    def count(self, query: ReadQuery, scope: Scope, kind: str, name: str | None = None) -> Miss | None:
        """Return the miss with its number of hits; null when there are none. In an order that needs no ranking."""
        prose = scope._replace(with_tools=False)
        if not scope.families:
            return None
        if isinstance(query, WordsQuery):
            with WordMatcher(query) as matcher:
                page = self._met(find_in_any_order(self.full_text, matcher, prose))
        else:
            asked = replace(self.asked, sort=Sort.TIME, searched=scope.names)
            with open_hunt(self.full_text, asked, query, prose, self.settings) as hunt:
                try:
                    page = self._met(hunt.groups)
                except SearchTimeoutError:  # a pattern as slow as this has had its answer
                    return None
        return Miss(kind, name, page.met, page.is_all) if page.met else None

    def _met(self, found: Iterator[Group]) -> Page:
        sessions = Sessions(self.full_text.connection)
        return cut_page(found, self.asked, sessions, look_further=0, enlist=_only_counted)


def _only_counted(_match: Match) -> None:
    """Do nothing with a hit."""


def _other_letters(asker: _Asker, query: Query, scope: Scope) -> list[Miss | None]:
    """Count texts with the query in another case; if there are none, those that differ in accents as well."""
    if query.exact:
        folded = replace(query, exact=False, form=form(query.text, exact=False))
        miss = asker.count(folded, scope, "case")
        if miss is not None:
            return [miss]
    if not query.key or not scope.fields:
        return []
    full_text = asker.full_text
    proposals = full_text.propose(query.key, scope.fields)
    ids = [full_text.narrowed(proposal) for proposal in proposals]
    found = groups(full_text.connection, among_newest_first(full_text, ids, scope), Judge(lambda _: True))
    page = cut_page(found, asker.asked, Sessions(full_text.connection), look_further=0, enlist=_only_counted)
    return [Miss("accents", None, page.met, page.is_all)] if page.met else []


def _as_words(asker: _Asker, scope: Scope) -> Miss | None:
    """Count texts with the words of the query, unless it holds what is an operator among words: that asks for less."""
    if any(piece.startswith("-") or "*" in piece or '"' in piece for piece in asker.asked.query.split()):
        return None
    try:
        query = read_words(asker.asked.query)
    except EmptyQueryError:  # signs alone: no words to look for
        return None
    return asker.count(query, scope, "words")
