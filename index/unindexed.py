"""Lists and shows sessions where there is no index yet, by bounded reads of the transcripts.

Reads at most ``WINDOW_BYTES`` of each file's beginning and ``TAIL_BYTES`` of its end to list it: of longer ones turns
and events are lower bounds, while the last activity and the last title are at the end. Uses the same rules as settling
(``index.settle.sessions.session_values``), so that an index later says the same.
"""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from index.discovery import look
from index.identity import hash_of, identity_of
from index.results import EventRow, SessionRow
from index.settings import Settings
from index.settle.sessions import ToldSource, ToldTrait, session_values
from index.transcripts import no_session, read_events
from persist.archive.opening import OpenedTranscript, open_transcript
from persist.compressed import is_compressed
from persist.errors import AmbiguousError
from persist.events import Event, Trait
from persist.ids import MIN_PREFIX_CHARACTERS
from persist.projects import ProjectResolver
from persist.reading import SourceReader
from persist.sources import TRANSCRIPT, Source
from persist.times import from_ns

WINDOW_BYTES: Final = 256 * 1024
TAIL_BYTES: Final = 64 * 1024


Prompt: TypeAlias = tuple[int, bool]
"""A prompt's identity, and whether equal ones of a source are told apart by their number (DESIGN 6, copies)."""


class _Glance(NamedTuple):
    """What the beginning of one transcript tells."""

    session_id: str
    head_time: str | None
    told: ToldSource
    prompts: Counter[Prompt]
    source: Source


def list_from_files(
    settings: Settings, project: str | None, agent: str | None, limit: int | None
) -> tuple[int, list[SessionRow]]:
    """Return sessions as ``index.sessions.list_sessions`` does. Cost: ``WINDOW_BYTES`` of each transcript."""
    resolver = ProjectResolver()
    groups: dict[tuple[str, str], list[_Glance]] = {}
    for glance in _glances(settings, agent):
        groups.setdefault((glance.source.agent, glance.session_id), []).append(glance)
    rows = [_row(glances, resolver) for glances in groups.values()]
    chosen = [row for row in rows if project is None or row.project == project]
    chosen.sort(key=lambda row: row.agent)
    chosen.sort(key=lambda row: (row.updated_at or "", row.session_id), reverse=True)
    return len(chosen), chosen if limit is None else chosen[:limit]


def is_read_whole(row: SessionRow) -> bool:
    """Whether a session listed here was read whole, so that its counts are right; one in several files may be both."""
    return row.size_bytes <= WINDOW_BYTES and not any(is_compressed(path) for path in row.paths)


def show_from_files(
    settings: Settings, text: str, damaged: Counter[str] | None = None
) -> tuple[SessionRow, Iterator[EventRow]]:
    """Return a session and its events as ``index.sessions.show_session`` does; no event is known to be a copy.

    Raises ``NotFoundError`` and ``AmbiguousError``. ``damaged`` is that of ``read_events``.
    """
    agent, colon, rest = text.partition(":")
    named = agent if colon and any(known.name == agent for known in settings.agents) else None
    id_ = rest if named else text
    _, rows = list_from_files(settings, None, named, None)
    found = [row for row in rows if row.session_id == id_]
    if not found and len(id_) >= MIN_PREFIX_CHARACTERS:
        found = _fitting(rows, id_)
    if not found:
        raise no_session(text, id_)
    if len(found) > 1:
        found.sort(key=lambda row: (row.session_id, row.agent))
        raise AmbiguousError("session", text, tuple(f"{row.agent}:{row.session_id}" for row in found))
    return found[0], _events(settings, found[0], damaged)


def _fitting(rows: list[SessionRow], prefix: str) -> list[SessionRow]:
    """Return the sessions whose id begins so; sub-agents only where the prefix reaches beyond their session's id."""
    known = {(row.agent, row.session_id) for row in rows}

    def is_below(row: SessionRow) -> bool:
        parent_id, slash, _ = row.session_id.partition("/")
        return bool(slash) and len(parent_id) >= len(prefix) and (row.agent, parent_id) in known

    return [row for row in rows if row.session_id.startswith(prefix) and not is_below(row)]


def _events(settings: Settings, session: SessionRow, damaged: Counter[str] | None) -> Iterator[EventRow]:
    for path in session.paths:
        yield from read_events(settings, session.agent, TRANSCRIPT, path, "", frozenset(), damaged)


def _glances(settings: Settings, agent: str | None) -> Iterator[_Glance]:
    seen = look(settings)
    for found in (*seen.found, *seen.kept):
        for source in found.sources:
            if source.kind == TRANSCRIPT and agent in (None, source.agent):
                glance = _glance(settings, source)
                if glance is not None:
                    yield glance


def _glance(settings: Settings, source: Source) -> _Glance | None:
    try:
        with open_transcript(settings.places.archive, source.agent, source.path) as opened:
            window = _ends(opened)
    except OSError:  # it is listed all the same, by its name; showing it tells what is wrong
        nothing = ToldSource(None, None, None, from_ns(source.stat.mtime_ns) or "", 0, [], None)
        return _Glance(Path(source.path).stem, None, nothing, Counter(), source)
    limit = settings.configuration.limits.max_line_bytes
    reader = SourceReader(settings.agent(source.agent), source, io.BytesIO(window), max_line_bytes=limit)
    traits: list[Trait] = []
    prompts: Counter[Prompt] = Counter()
    first_prompt: str | None = None
    for line in reader:
        traits.extend(line.traits)
        for numbered in line.events:
            if numbered.event.is_prompt:
                prompts[_prompt(source, reader.final.session_id, numbered.event)] += 1
                first_prompt = first_prompt or (numbered.event.text or "").strip() or None
    final = reader.final
    if not final.recognised or not (final.session_id or final.has_talk):
        return None
    told = ToldSource(
        final.earliest_ts, final.latest_ts, final.active_ts, from_ns(source.stat.mtime_ns) or "", final.event_index,
        [ToldTrait(trait.name, trait.value, trait.rank, trait.target_record_id is None) for trait in traits],
        first_prompt,
    )  # fmt: skip
    return _Glance(final.session_id or Path(source.path).stem, final.head_time(), told, prompts, source)


def _ends(opened: OpenedTranscript) -> bytes:
    """Return the lines at the beginning of a transcript and at its end; of a compressed one those at its beginning."""
    head = opened.plain.read(WINDOW_BYTES)
    size_bytes = os.fstat(opened.file.fileno()).st_size
    if opened.plain is not opened.file or size_bytes <= len(head):
        return head
    start = max(len(head), size_bytes - TAIL_BYTES)
    opened.file.seek(start)
    tail = opened.file.read(TAIL_BYTES)
    if start == len(head):
        return head + tail
    return head[: head.rfind(b"\n") + 1] + tail[tail.find(b"\n") + 1 :]


def _prompt(source: Source, session_id: str | None, event: Event) -> Prompt:
    text = event.text or ""
    told = (len(text), hash_of(text), 0)
    return identity_of(event, source.agent, session_id or Path(source.path).stem, told), event.record_id is None


def _turns(glances: list[_Glance]) -> int:
    """Count the prompts of a session's sources together, each copy once (``index.settle.sessions``)."""
    most: Counter[Prompt] = Counter()
    for glance in glances:
        most |= glance.prompts
    return sum(count if by_number else 1 for (_, by_number), count in most.items())


def _row(glances: list[_Glance], resolver: ProjectResolver) -> SessionRow:
    glances.sort(key=lambda glance: (glance.head_time is None, glance.head_time or "", glance.source.path))
    values = session_values([glance.told for glance in glances], resolver.project_of)
    return SessionRow(
        session_id=glances[0].session_id,
        agent=glances[0].source.agent,
        project=values.project,
        cwd=values.cwd,
        title=values.title or values.first_prompt,
        created_at=values.created_at,
        updated_at=values.updated_at,
        model=values.model,
        turns=_turns(glances),
        events=values.events,
        parent_id=values.parent_session_id,
        forked_from=values.forked_from,
        paths=tuple(glance.source.path for glance in glances),
        size_bytes=sum(glance.source.stat.size_bytes for glance in glances),
        imported_from=values.imported_from,
    )
