"""A literal query as typed, read once: its case mode, its form and its key.

Pure; of ours it imports this package only. The text is literal: no quotes, no wildcards, no operators; blanks count,
at its ends too.
"""

from __future__ import annotations

from dataclasses import dataclass

from index.match.case import is_exact
from index.match.form import form
from index.match.key import search_key
from index.match.spans import Span, Verifier, count_spans, find_spans
from index.match.typed import clean


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for. ``text`` is as typed, but for lone surrogates.

    ``exact`` is smart case's answer; ``form`` is compared with texts' forms; ``key`` is part of the key of every text
    that hits, and empty for a query of combining marks alone (then every text is a candidate).
    """

    text: str
    exact: bool
    form: str
    key: str

    def verifier(self) -> Verifier:
        """Return what decides whether a candidate is a hit, and where."""
        return Verifier(self.form, self.exact)

    def spans(self, text: str) -> list[Span]:
        """Return the spans of all hits in a stored text, in order, in UTF-8 bytes; empty when it is no hit."""
        return find_spans(text, self.form, self.exact)

    def count(self, text: str) -> int:
        """Return how many spans there are."""
        return count_spans(text, self.form, self.exact)


def read_query(text: str) -> Query:
    """Read what a person typed. Raises ``EmptyQueryError`` for a query that is empty or only blanks.

    Lone surrogates become U+FFFD, as in stored texts.
    """
    typed = clean(text)
    exact = is_exact(typed)
    return Query(typed, exact, form(typed, exact), search_key(typed))
