"""Says how a query was read, for ``--explain``: pure, from the request and the query; touches no database."""

from __future__ import annotations

from dataclasses import fields

from index.fields import TOOL
from index.match.key import trigrams
from index.match.query import Query
from index.match.regex import RegexQuery
from index.match.words import Term, WordsQuery
from index.search.found import Reading
from index.search.request import Filters, SearchRequest, Sort
from index.search.scope import Scope

_SHOWN_TRIGRAMS = 8


def explain(request: SearchRequest, query: Query | RegexQuery | WordsQuery, scope: Scope) -> Reading:
    """Return the reading as pairs of a name and a sentence, in the order in which it was done."""
    lines = [("query", query.text)]
    if isinstance(query, WordsQuery):
        lines += _words(query)
    elif isinstance(query, RegexQuery):
        lines += _regex(query)
    else:
        lines += _substring(query)
    lines.append(("searched", ", ".join(request.searched)))
    if TOOL in scope.fields or scope.with_tools:
        lines.append(("tools", "whole, from the files" if request.deep else "their stored beginnings (--deep: whole)"))
    lines += _filters(request.filters)
    lines.append(("order", "newest first" if request.order is Sort.TIME else "best first, then newest first"))
    return Reading(tuple(lines))


def _substring(query: Query) -> list[tuple[str, str]]:
    return [
        ("mode", "a piece of text, literally"),
        ("case", _case(query.exact)),
        ("form", query.form),
        ("candidates", _candidates(query.key)),
    ]


def _regex(query: RegexQuery) -> list[tuple[str, str]]:
    return [
        ("mode", "a regular expression, on the text as it is stored"),
        ("case", _case(query.exact)),
        ("candidates", _candidates(query.key) if query.key else "every text: no piece of it must occur as it stands"),
    ]


def _words(query: WordsQuery) -> list[tuple[str, str]]:
    lines = [("mode", "words, all of them, in any order"), ("case", "ignored, and so are accents")]
    lines += [("must have", _term(term)) for term in query.terms]
    lines += [("must not have", _term(term)) for term in query.without]
    if query.ignored:
        lines.append(("passed over", " ".join(query.ignored)))
    return lines


def _term(term: Term) -> str:
    return f"{term.text} ({term.kind.value})"


def _case(exact: bool) -> str:
    return "exact: the query has a capital" if exact else "ignored: no capital in the query"


def _candidates(key: str) -> str:
    if not key:
        return "every text: the query is made of marks alone"
    if len(key) < 3:
        return f"texts with a trigram that begins with {key!r}"
    asked = trigrams(key)
    shown = " ".join(map(repr, asked[:_SHOWN_TRIGRAMS]))
    rest = f" and {len(asked) - _SHOWN_TRIGRAMS} more" if len(asked) > _SHOWN_TRIGRAMS else ""
    return f"texts whose key holds {key!r}, by its trigrams {shown}{rest}"


def _filters(filters: Filters) -> list[tuple[str, str]]:
    lines = []
    for each in fields(filters):
        value = getattr(filters, each.name)
        if value:
            shown = ", ".join(value) if isinstance(value, tuple) else ("yes" if value is True else str(value))
            lines.append((each.name.replace("_", " "), shown))
    return lines
