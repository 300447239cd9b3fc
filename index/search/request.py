"""What a search is asked: the query, where to look, which texts count, in what order, how many.

Pure values; imports the standard library only. The command line turns options into one ``SearchRequest``; nothing below
it knows options.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

DEFAULT_LIMIT: Final = 20


class Mode(Enum):
    """How the query is read (``docs/search.md``)."""

    SUBSTRING = "substring"
    WORDS = "words"
    REGEX = "regex"


class Sort(Enum):
    """The order of hits: newest first, or best first."""

    TIME = "time"
    RELEVANCE = "relevance"


@dataclass(frozen=True, slots=True)
class Filters:
    """Which texts count; what is left empty filters nothing. All of them hold at once, before any limit.

    ``project`` is an absolute path, compared as a whole; ``below`` lets in the folders beneath it too. ``sessions`` and
    ``exclude_sessions`` name sessions as people do (id, unique prefix, ``agent:id``). ``since`` is inclusive, ``until``
    exclusive, both in the index's form (``persist.times``). ``roles`` are kinds of events: user, agent, control.
    ``tools`` are names of tools, ``main_only`` leaves sub-agents out.
    """

    agents: tuple[str, ...] = ()
    project: str | None = None
    below: bool = False
    sessions: tuple[str, ...] = ()
    exclude_sessions: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    roles: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    branch: str | None = None
    main_only: bool = False

    @property
    def is_empty(self) -> bool:
        """Return whether every text counts."""
        return self == Filters()


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search. ``searched`` names fields of ``index.fields.SEARCHED``.

    ``sort`` null is the mode's own order: best first for words, newest first for the others. ``limit`` null lists every
    hit from ``offset`` on; pages of equal request and growing ``offset`` join to the whole list. ``per_session`` lists
    at most so many hits of one session and counts the others on the last of them. ``context_turns`` adds so many turns
    before and after each hit. ``exact_total`` counts all hits, whatever it costs; otherwise the total may be an upper
    bound, since a page needs less. ``deep`` reads tools' texts beyond what the index keeps of them from the files.
    """

    query: str
    searched: tuple[str, ...] = ("prompts",)
    mode: Mode = Mode.SUBSTRING
    filters: Filters = field(default_factory=Filters)
    sort: Sort | None = None
    limit: int | None = DEFAULT_LIMIT
    offset: int = 0
    per_session: int | None = None
    context_turns: int = 0
    exact_total: bool = False
    deep: bool = False

    @property
    def to_the_end(self) -> bool:
        """Return whether every hit is looked for, not only those of a page."""
        return self.limit is None or self.exact_total

    @property
    def order(self) -> Sort:
        """Return the order that holds."""
        if self.sort is not None:
            return self.sort
        return Sort.RELEVANCE if self.mode is Mode.WORDS else Sort.TIME
