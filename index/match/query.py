"""A query as typed, read once: its case mode, its form, its key and the FTS5 expression.

Pure; of ours it imports this package and ``index.errors`` only. The text is literal: no quotes, no
wildcards, no operators; blanks count, at its ends too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from index.errors import EmptyQueryError
from index.match.case import is_exact
from index.match.form import form
from index.match.key import fts_expression, search_key
from index.match.spans import Span, Verifier, find_spans

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for. ``text`` is as typed, but for lone surrogates.

    ``exact`` is smart case's answer; ``form`` is compared with texts' forms; ``key`` is part of the key of
    every text that hits, and empty for a query of combining marks alone (then every row is a candidate);
    ``expression`` is the MATCH expression, ``None`` for a key under three characters (then keys are
    scanned for ``key``).
    """

    text: str
    exact: bool
    form: str
    key: str
    expression: str | None

    def verifier(self) -> Verifier:
        """Return what decides whether a candidate is a hit, and where."""
        return Verifier(self.form, self.exact)

    def spans(self, text: str) -> list[Span]:
        """Return the spans of all hits in a stored text, in order, in UTF-8 bytes; empty when it is no hit."""
        return find_spans(text, self.form, self.exact)


def read_query(text: str) -> Query:
    """Read what a person typed. Raises ``EmptyQueryError`` for a query that is empty or only blanks.

    Lone surrogates (an argument that was not UTF-8) become U+FFFD, as in stored texts.
    """
    if not text.strip():
        raise EmptyQueryError
    clean = _SURROGATE.sub("\ufffd", text)
    exact = is_exact(clean)
    key = search_key(clean)
    return Query(clean, exact, form(clean, exact), key, fts_expression(key))
