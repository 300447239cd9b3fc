"""Search: finds every text that holds a query, in the order asked for, and never answers a silent zero (DESIGN 9).

The door of the package: other modules import these names from here. Reads only, with plain ``sqlite3``; nothing in it
may import SQLAlchemy, Alembic, pydantic or anything of the command line. ``index.match`` is its pure centre.
"""

from __future__ import annotations

from index.search.answer import search
from index.search.found import ContextText, Hit, Miss, Place, Reading, SearchResult
from index.search.recent import MAX_NEWEST_HITS, NEWEST_PROMPTS, newest_prompts
from index.search.request import DEFAULT_LIMIT, Filters, Mode, SearchRequest, Sort

__all__ = [
    "DEFAULT_LIMIT",
    "MAX_NEWEST_HITS",
    "NEWEST_PROMPTS",
    "ContextText",
    "Filters",
    "Hit",
    "Miss",
    "Mode",
    "Place",
    "Reading",
    "SearchRequest",
    "SearchResult",
    "Sort",
    "newest_prompts",
    "search",
]
