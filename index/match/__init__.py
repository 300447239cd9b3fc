"""Exact search, the pure centre: what a query is, what a hit is, where it lies (DESIGN 9).

The door of the package: other modules import these names from here. Nothing in it reads files, opens
databases or knows FTS5 beyond the text of one MATCH expression; it must never import sqlite3, sqlalchemy or
``persist``. Standard library only, but for ``regex`` where a pattern is read: so a search starts fast.
"""

from __future__ import annotations

from index.match.case import is_exact
from index.match.form import form
from index.match.key import FOLD_VERSION, fts_expression, search_key, trigrams, unicode_version
from index.match.query import Query, read_query
from index.match.spans import Span, Verifier, find_spans

__all__ = [
    "FOLD_VERSION",
    "Query",
    "Span",
    "Verifier",
    "find_spans",
    "form",
    "fts_expression",
    "is_exact",
    "read_query",
    "search_key",
    "trigrams",
    "unicode_version",
]
