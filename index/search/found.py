"""What a search returns: frozen plain values, in no output's form.

Imports the standard library and ``index.search.request`` only. ``cli.shapes`` turns them into JSON, ``cli.hit_text``
into lines for a person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from index.search.request import Filters, Mode, Sort


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text stands in its source: absolute path, 1-based line, byte offset of the line."""

    path: str
    line_number: int | None
    offset_bytes: int | None


@dataclass(frozen=True, slots=True)
class ContextText:
    """A prompt or an answer near a hit, in the same session: its turn, its event, who says it, the stored text."""

    turn_index: int | None
    event_index: int
    kind: str
    event_type: str
    ts: str | None
    text: str
    is_hit: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """One text that matched. Spans are UTF-8 byte offsets into ``text``, end exclusive, in order.

    ``field`` is a name of ``index.fields.SEARCHED``; of a hit in ``tools``, ``part`` says which text of the event it
    is: ``text`` or ``tool_arguments`` (``text`` for all others). ``parent_session_id`` is the session that this one
    works for, ``forked_from`` the one whose beginning it goes on from. ``count`` is how many equal texts are folded
    into this hit. ``score`` is null in time order, else higher is better. ``session_files`` is how many files tell the
    session: with several, an event's number needs its file. ``more_in_session`` counts, on the last hit listed of a
    session, those left out by ``per_session``. ``whole_length`` is the length in characters of the whole text where
    ``text`` is only the head that the index keeps, else that of ``text``.
    """

    agent: str
    session_id: str | None
    parent_session_id: str | None
    forked_from: str | None
    session_title: str | None
    session_created_at: str | None
    project: str | None
    cwd: str | None
    event_index: int | None
    turn_index: int | None
    ts: str | None
    ts_source: str
    kind: str
    event_type: str | None
    field: str
    name: str | None
    text: str
    spans: tuple[tuple[int, int], ...]
    count: int
    place: Place
    session_files: int
    part: str = "text"
    tool_name: str | None = None
    whole_length: int = 0
    score: float | None = None
    more_in_session: int = 0
    context: tuple[ContextText, ...] = ()


@dataclass(frozen=True, slots=True)
class Miss:
    """What a search that found nothing would have found if it had been asked a little differently.

    ``kind``: ``field`` (``name`` says which), ``case``, ``accents``, ``words`` (the same words in any order),
    ``filters`` (the same without them). ``total`` is how many hits; ``is_exact`` is false when counting stopped there.
    """

    kind: str
    name: str | None
    total: int
    is_exact: bool = True


@dataclass(frozen=True, slots=True)
class Reading:
    """How a query was read, for ``--explain``: pairs of a name and a sentence or value, in order."""

    lines: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of one search in the order asked for. ``total`` counts hits as listed, after folding.

    ``total_is_exact`` is false when ``total`` is an upper bound. ``texts`` is how many texts were looked through (of
    the fields and filters asked for; null where something was found). ``misses`` is empty unless nothing was found.
    ``listed`` is how many hits the page has; ``hits`` is empty where each was given on as it came. ``borrowed_times``
    counts listed hits that are ordered by another time than their record's own; ``heads_only``
    is true when tools' texts longer than the index keeps were searched in their beginnings only; ``given_up`` counts
    texts on which a regular expression ran out of time; ``unread`` lists (path, why) of files that could not be read
    for a deep search.
    """

    query: str
    exact_case: bool
    mode: Mode
    sort: Sort
    searched: tuple[str, ...]
    filters: Filters
    offset: int
    total: int
    total_is_exact: bool
    hits: tuple[Hit, ...]
    listed: int
    misses: tuple[Miss, ...]
    texts: int | None
    borrowed_times: int
    reading: Reading
    heads_only: bool = False
    given_up: int = 0
    unread: tuple[tuple[str, str], ...] = ()

    @property
    def elsewhere(self) -> Mapping[str, int]:
        """Return how many hits other fields have, where nothing was found."""
        return {miss.name: miss.total for miss in self.misses if miss.kind == "field" and miss.name}
