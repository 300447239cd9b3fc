"""The shapes of ``search``: an answer with its hits, one hit, and Aster's response of its prompt search. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from cli.shapes.shape import Shape, paths_and_reasons
from cli.snippets import snippet

if TYPE_CHECKING:
    from index.freshness import Freshness
    from index.search import ContextText, Filters, Hit, Place, Reading, SearchResult

_TS_SOURCES: Final = {"previous": "session"}
"""The contract knows three: the time of the record before it is a time of the session."""


def search(
    result: SearchResult,
    state: Freshness,
    *,
    limit: int | None,
    snippet_characters: int | None = None,
    with_context: bool = False,
    with_reading: bool = False,
) -> Shape:
    """Return the shape of ``search``; with ``snippet_characters`` the texts are cut around their first span.

    ``limit`` is what was asked for: a page that is not full is the last. ``context`` and ``explain`` are there only
    where they were asked for. ``next_offset`` is null at the end.
    """
    next_offset = result.offset + result.listed
    is_more = result.listed > 0 and next_offset < result.total and not (limit is None or result.listed < limit)
    told = {
        "query": result.query,
        "case": "sensitive" if result.exact_case else "insensitive",
        "mode": result.mode.value,
        "searched": list(result.searched),
        "filters": _filters(result.filters),
        "sort": result.sort.value,
        "total": result.total,
        "total_is_exact": result.total_is_exact,
        "returned": len(result.hits),
        "offset": result.offset,
        "next_offset": next_offset if is_more else None,
        "truncated": next_offset < result.total,
        "index": _freshness(state),
        "texts": result.texts,
        "borrowed_times": result.borrowed_times,
        "heads_only": result.heads_only,
        "given_up": result.given_up,
        "unread": paths_and_reasons(result.unread),
        "hits": [hit(one, snippet_characters=snippet_characters, with_context=with_context) for one in result.hits],
        "elsewhere": dict(result.elsewhere),
        "misses": [
            {"kind": miss.kind, "name": miss.name, "total": miss.total, "total_is_exact": miss.is_exact}
            for miss in result.misses
        ],
    }
    return {**told, "explain": _reading(result.reading)} if with_reading else told


def _freshness(state: Freshness) -> Shape:
    return {
        "stale": state.stale,
        "age_s": state.age_s,
        "refreshed": state.refreshed,
        "sources_behind": state.sources_behind,
        "bytes_behind": state.bytes_behind,
        "why_not": None if state.why_not is None else state.why_not.value,
        "unreadable": None if state.unread is None else state.unread.total,
        "notes": list(state.notes),
    }


def _filters(filters: Filters) -> Shape:
    """Return the filters that were given, by their names."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in asdict(filters).items()
        if value not in ((), None, False)
    }


def _reading(reading: Reading) -> Shape:
    """Return how the query was read; what is said twice under one name is joined."""
    told: Shape = {}
    for name, value in reading.lines:
        told[name] = f"{told[name]}; {value}" if name in told else value
    return told


def hit(one: Hit, *, snippet_characters: int | None = None, with_context: bool = False) -> Shape:
    """Return one hit. ``field`` is which text of its event it is, ``in`` the name under which that is searched."""
    length = len(one.text) if snippet_characters is None else snippet_characters
    shown = snippet(one.text, one.spans, length)
    start, end = one.spans[0] if one.spans else (0, 0)
    told = {
        "agent": one.agent,
        "session_id": one.session_id,
        "parent_session_id": one.parent_session_id,
        "forked_from": one.forked_from,
        "session_title": one.session_title,
        "project": one.project,
        "cwd": one.cwd,
        "event_index": one.event_index,
        "turn": one.turn_index,
        "ts": one.ts,
        "ts_source": _TS_SOURCES.get(one.ts_source, one.ts_source),
        "kind": one.kind,
        "event_type": one.event_type,
        "field": one.part,
        "in": one.field,
        "name": one.name,
        "tool_name": one.tool_name,
        "score": one.score,
        "text": shown.text,
        "text_length": max(one.whole_length, len(one.text)),
        "text_offset": shown.offset_bytes,
        "match_start": start,
        "match_end": end,
        "spans": [list(span) for span in one.spans],
        "count": one.count,
        "more_in_session": one.more_in_session,
        "source": _place(one.place),
    }
    return {**told, "context": [_near(text) for text in one.context]} if with_context else told


def _near(near: ContextText) -> Shape:
    return {
        "turn": near.turn_index,
        "event_index": near.event_index,
        "kind": near.kind,
        "event_type": near.event_type,
        "ts": near.ts,
        "text": near.text,
        "is_hit": near.is_hit,
    }


def recent(query: str, hits: Iterable[Hit], *, truncated: bool) -> Shape:
    """Return Aether's response of its prompt search: the first span of each prompt (``search --recent``)."""
    return {
        "query": query,
        "results": [
            {
                "sessionId": hit.session_id,
                "cwd": hit.cwd or hit.project,
                "sessionCreatedAt": hit.session_created_at,
                "prompt": hit.text,
                "matchStart": hit.spans[0][0],
                "matchEnd": hit.spans[0][1],
            }
            for hit in hits
        ],
        "truncated": truncated,
    }


def _place(place: Place) -> Shape:
    return {"path": place.path, "line": place.line_number, "offset": place.offset_bytes}
