"""Cuts one page out of hits that come in order: folds equal texts, caps a session's share, counts the rest.

Reads as little as the page needs, and a bounded number of candidates further, so that a total is exact where that is
cheap.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from index.fields import HISTORY_PROMPT
from index.search.matches import Folder, Group, Match
from index.search.request import SearchRequest

LOOKED_AT_FURTHER: Final = 200
"""Candidates looked at behind a full page, to tell the total exactly if those are all."""
LOOKED_UP_FURTHER: Final = 100
"""The same where each is looked up for itself."""


_SESSION: Final = """SELECT a.name, n.session_id FROM source_rows s JOIN agents a ON a.id = s.agent_id
JOIN session_rows n ON n.id = s.session_row WHERE s.id = ?"""
_NAMED: Final = """SELECT a.name, h.session_id FROM history_rows h JOIN source_rows s ON s.id = h.source_id
JOIN agents a ON a.id = s.agent_id WHERE h.id = ? AND h.session_id IS NOT NULL"""
STATEMENTS: Final = (_SESSION, _NAMED)
"""Each binds one id."""

SessionKey = tuple[str, str]
"""Agent and session id."""


@dataclass(slots=True)
class Page:
    """How many hits were met (after folding), and whether those are all there are.

    ``left_out`` counts hits by the session whose share was used up.
    """

    met: int = 0
    is_all: bool = True
    left_out: dict[SessionKey, int] = field(default_factory=dict)


class Sessions:
    """Tells the session of a match; asks for each transcript once, and for each prompt that only a history knows."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._of_source: dict[int, SessionKey | None] = {}

    def key_of(self, match: Match) -> SessionKey | None:
        """Return the session that a text is of; null for memory, and for prompts of which nobody knows it."""
        if match.field == HISTORY_PROMPT:
            named: SessionKey | None = self._connection.execute(_NAMED, (match.id,)).fetchone()
            return named
        if match.source_id not in self._of_source:
            self._of_source[match.source_id] = self._connection.execute(_SESSION, (match.source_id,)).fetchone()
        return self._of_source[match.source_id]


def cut_page(
    groups: Iterable[Group],
    request: SearchRequest,
    sessions: Sessions,
    look_further: int,
    enlist: Callable[[Match], None],
) -> Page:
    """Give each match of the page that ``request`` asks for to ``enlist``, in order, and tell what was met.

    ``look_further`` bounds the candidates taken behind a full page.
    """
    page = Page()
    folder = Folder()
    shares: dict[SessionKey, int] = {}
    in_order = 0  # hits that have a place in the list: met, less those over their session's share
    wanted = None if request.limit is None else request.offset + request.limit
    further = 0
    for group in groups:
        for match in group.matches:
            if not folder.is_first(match):
                continue
            page.met += 1
            if not _has_share(match, request, sessions, shares, page):
                continue
            if in_order >= request.offset and (wanted is None or in_order < wanted):
                enlist(match)
            in_order += 1
        page.met += group.more
        if wanted is None or in_order < wanted or request.to_the_end:
            continue
        further += group.looked_at
        if further > look_further:
            page.is_all = False
            break
    return page


def _has_share(
    match: Match, request: SearchRequest, sessions: Sessions, shares: dict[SessionKey, int], page: Page
) -> bool:
    if request.per_session is None:
        return True
    key = sessions.key_of(match)
    if key is None:
        return True
    shares[key] = shares.get(key, 0) + 1
    if shares[key] <= request.per_session:
        return True
    page.left_out[key] = page.left_out.get(key, 0) + 1
    return False
