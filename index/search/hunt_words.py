"""Finds the texts that hold words, phrases and prefixes, best first or newest first (``index.match.words``).

Plain ``sqlite3`` on the caller's connection, which must stay open while matches are taken. Best first, those that hold
what was typed letter for letter come before those that hold only its words.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import Final, NamedTuple

from index.fields import SUMMARY
from index.match.key import KEY_END
from index.search import statements, word_statements
from index.search.candidates import Candidate, FullText, all_newest_first, among_newest_first
from index.search.matches import Group, Judge, Match, groups, in_order
from index.search.ranked import Ranked, groups_of_ranked, held, needed_of
from index.search.relevance import score_of, standing
from index.search.request import Mode, SearchRequest, Sort
from index.search.scope import Scope
from index.search.statements import Statement
from index.search.words import Counts, WordMatcher

_LOOKED_UP_TOGETHER: Final = 160
_KEYS_TOGETHER: Final = 500
RANKED_BELOW: Final = 20_000
"""Up to so many texts with the words are all ranked; of more, those that are newest, ``RANKED_TOGETHER`` at a time."""
RANKED_TOGETHER: Final = 100
WORD_IDS_LISTED_BELOW: Final = 100_000
"""Up to so many are listed before any is met: a word may be rare where it is looked for. Of more, texts are asked."""


class FoundWords(NamedTuple):
    """Matches in the order that was asked for, how many there can be at most, and what decided."""

    groups: Iterator[Group]
    at_most: int
    judge: Judge


class _Text(NamedTuple):
    """A text of the scope, as ``word_statements.texts_with_ids`` selects it."""

    id: int
    field: int
    source_id: int
    at: str
    text: str


def find_words(full_text: FullText, matcher: WordMatcher, scope: Scope, request: SearchRequest) -> FoundWords:
    """Look for the query of ``matcher``, which must stay open while matches are taken."""
    judge = Judge(matcher.spelled_match)
    if matcher.expression is None:
        found, at_most = _by_spelling(full_text, matcher, scope, request, judge)
    else:
        found, at_most = _by_words(full_text, matcher, matcher.expression, scope, request, judge)
    return FoundWords(found, at_most, judge)


def find_in_any_order(full_text: FullText, matcher: WordMatcher, scope: Scope) -> Iterator[Group]:
    """Yield the matches in whatever order costs least, for those who only count them."""
    connection = full_text.connection
    expression = matcher.expression
    if expression is None or scope.is_filtered:
        counting = SearchRequest(matcher.query.text, scope.names, mode=Mode.WORDS, sort=Sort.TIME)
        yield from find_words(full_text, matcher, scope, counting).groups
        return
    table = _table_of_prompts_alone(scope)
    for family in scope.families:
        found = connection.execute(*word_statements.any_texts(family, scope, expression, table))
        yield from groups(connection, map(Candidate._make, found), Judge(matcher.spelled_match))


def grouped(connection: sqlite3.Connection, matches: Iterable[Match]) -> Iterator[Group]:
    """Yield matches that come by rank as groups of one rank each, every match a candidate."""
    for rank, equal in groupby(matches, key=_rank):
        listed = list(equal)
        yield Group(rank, len(listed), in_order(connection, listed))


def _by_words(
    full_text: FullText, matcher: WordMatcher, expression: str, scope: Scope, request: SearchRequest, judge: Judge
) -> tuple[Iterator[Group], int]:
    """Find texts by the table of words; what it does not know is decided among them."""
    connection = full_text.connection
    holding = statements.proposed_ids("prose_words", expression)
    at_most = int(connection.execute(f"SELECT count(*) FROM ({holding.sql})", holding.values).fetchone()[0])
    if request.order is Sort.TIME:
        candidates = among_newest_first(full_text, [holding], scope)
        return groups(connection, candidates, judge), at_most
    if at_most > RANKED_BELOW:
        if request.to_the_end or at_most <= WORD_IDS_LISTED_BELOW:
            candidates = among_newest_first(full_text, [holding], scope)
        else:
            candidates, judge = all_newest_first(connection, scope), Judge(matcher.matches)
        return _best_of_each_run(connection, matcher, groups(connection, candidates, judge)), at_most
    if _needs_texts(matcher):
        keys = [word_statements.scored_keys(expression, table) for table in statements.tables_of(scope.fields)]
        return _ranked(connection, matcher, keys, scope, frozenset(), needed_of(request)), at_most
    # Few texts are prompts: to ask which ones costs less than to rank all. Of the others, most are asked for.
    ranked = connection.execute(*word_statements.ranked_ids(expression, _table_of_prompts_alone(scope)))
    return grouped(connection, _newest_of_score(_in_scope(connection, ranked, scope))), at_most


def _by_spelling(
    full_text: FullText, matcher: WordMatcher, scope: Scope, request: SearchRequest, judge: Judge
) -> tuple[Iterator[Group], int]:
    """Find texts for terms that the table of words does not know: by the trigrams of the longest of them."""
    connection = full_text.connection
    proposals = full_text.propose(max(matcher.query.keys, key=len), scope.fields)
    at_most = sum(proposal.at_most for proposal in proposals)
    excluded: frozenset[int] = frozenset()
    if matcher.without_expression is not None:
        excluded = frozenset(full_text.ids(statements.proposed_ids("prose_words", matcher.without_expression)))
    if request.order is Sort.TIME:
        candidates = among_newest_first(full_text, [full_text.narrowed(proposal) for proposal in proposals], scope)
        wanted = (candidate for candidate in candidates if candidate.id not in excluded)
        return groups(connection, wanted, judge), at_most
    keys = [word_statements.proposed_keys(proposal.ids, proposal.table) for proposal in proposals]
    return _ranked(connection, matcher, keys, scope, excluded, needed_of(request)), at_most


def _ranked(
    connection: sqlite3.Connection,
    matcher: WordMatcher,
    keys: list[Statement],
    scope: Scope,
    excluded: frozenset[int],
    needed: int | None,
) -> Iterator[Group]:
    """Yield those that hold every term, first those that hold them as typed. Cost: all keys are looked at.

    Each of ``keys`` selects (id, key, score). Keys first, since texts of other letters than ASCII cost more to fold
    than keys to fetch, and many do not match.
    """
    found: dict[int, tuple[Counts, bool, float]] = {}
    for statement in keys:
        cursor = connection.execute(*statement)
        while batch := cursor.fetchmany(_KEYS_TOGETHER):
            counted = matcher.count_spelled([key for _, key, _ in batch])
            for (id_, key, score), counts in zip(batch, counted, strict=True):
                if counts is not None and id_ not in excluded:
                    found[id_] = (counts, matcher.key_as_typed(key.removesuffix(KEY_END)), score)
    looked_at = 0
    ranked: list[Ranked] = []
    for id_, field, source_id, at, text in _texts_of(connection, list(found), scope):
        looked_at += 1
        counts, as_typed, score = found[id_]
        weight = matcher.weight(counts, text)
        if weight is not None:
            ranked.append((standing(field, as_typed=as_typed), score + weight, at, id_, field, source_id, held(text)))
    ranked.sort(reverse=True)
    yield from groups_of_ranked(connection, ranked, looked_at, needed)


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
            rank = (standing(match.field, as_typed=matcher.as_typed(match.text)), score, match.at)
            run.append(match._replace(rank=rank, score=score))
        if len(run) >= RANKED_TOGETHER:
            yield from _one_run(connection, run, looked_at)
            looked_at, run = 0, []
    yield from _one_run(connection, run, looked_at)


def _one_run(connection: sqlite3.Connection, run: list[Match], looked_at: int) -> Iterator[Group]:
    run.sort(key=_rank, reverse=True)
    for group in grouped(connection, run):
        yield group._replace(looked_at=looked_at)
        looked_at = 0


def _needs_texts(matcher: WordMatcher) -> bool:
    """Return whether the table of words alone does not tell the order, or not even whether a text is a hit."""
    return matcher.has_spelled or any(term.typed is not None for term in matcher.query.terms)


def _table_of_prompts_alone(scope: Scope) -> str | None:
    """Return the table of keys that a scope of prompts alone can be narrowed by; null for any other scope."""
    return statements.PROMPT_KEYS if statements.tables_of(scope.fields) == (statements.PROMPT_KEYS,) else None


def _in_scope(connection: sqlite3.Connection, ranked: sqlite3.Cursor, scope: Scope) -> Iterator[Match]:
    """Look some texts up at a time, keep those of the scope, and yield them by score still; summaries after all."""
    summaries: list[tuple[int, float]] = []
    while batch := ranked.fetchmany(_LOOKED_UP_TOGETHER):
        texts = _by_id(_texts_of(connection, [id_ for id_, _ in batch], scope))
        for id_, score in batch:
            if id_ in texts and texts[id_].field == SUMMARY:
                summaries.append((id_, score))
            elif id_ in texts:
                yield _scored(texts[id_], score)
    for start in range(0, len(summaries), _LOOKED_UP_TOGETHER):
        part = summaries[start : start + _LOOKED_UP_TOGETHER]
        texts = _by_id(_texts_of(connection, [id_ for id_, _ in part], scope))
        yield from (_scored(texts[id_], score) for id_, score in part)


def _by_id(rows: Iterable[tuple[int, int, int, str, str]]) -> dict[int, _Text]:
    return {text.id: text for text in map(_Text._make, rows)}


def _scored(found: _Text, score: float) -> Match:
    rank = (standing(found.field), score, found.at)
    length = len(found.text)
    return Match(found.id, found.field, found.source_id, rank, found.at, found.text, score=score, whole_length=length)


def _texts_of(
    connection: sqlite3.Connection, ids: Sequence[int], scope: Scope
) -> Iterator[tuple[int, int, int, str, str]]:
    """Return the fields of ``_Text`` for those among ``ids`` that the scope lets in, in no order."""
    found = [connection.execute(*word_statements.texts_with_ids(family, scope, ids)) for family in scope.families]
    return chain.from_iterable(found)


def _newest_of_score(matches: Iterator[Match]) -> Iterator[Match]:
    """Order those of one standing and score by time."""
    for _, equal in groupby(matches, key=lambda match: match.rank[:2]):
        yield from sorted(equal, key=lambda match: match.at, reverse=True)


def _rank(match: Match) -> tuple[float | str, ...]:
    return match.rank
