"""The digest of one session of any agent: found as ``sessions resume`` finds it, read from its files.

Reads only. The text is ``persist.digest``'s; here stands which session is meant and where its events come from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from index.errors import AsterIndexError
from index.results import EventRow, SessionRow
from index.sessions import show_session
from index.settings import Settings
from index.store_sessions import StoredSession, find_session_of
from index.transcripts import read_events
from index.unindexed import show_from_files
from persist.digest import Digest, Head, Said, digest
from persist.errors import NotFoundError
from persist.sources import TRANSCRIPT


@dataclass(frozen=True, slots=True)
class SessionDigest:
    """What is told of a session in front of its digest, and the digest."""

    head: Head
    digest: Digest


def digest_session(settings: Settings, text: str, cwd: str) -> SessionDigest:
    """Return the digest of the session that ``text`` names: an id, a prefix that fits one, ``agent:id``.

    Of an id that several projects have, the one of ``cwd``'s project is meant. Without an index the files are looked
    through by bounded reads. Raises ``NotFoundError``, ``AmbiguousError``, ``RefusedError`` for what is no id, and
    ``StoreIOError`` for a transcript that cannot be read. Cost: the session's files, read once.
    """
    damaged = Counter[str]()
    found = find_session_of(settings, text, cwd, damaged)
    if not isinstance(found, StoredSession):
        return _digested(*found, damaged)
    path = str(found.path)
    for look in (show_session, show_from_files):
        try:
            row, events = look(settings, f"{found.agent}:{found.session_id}", damaged)
        except (NotFoundError, AsterIndexError):
            continue
        if path in row.paths:
            of_path = (event for event in events if event.source_path == path)
            return _digested(row, of_path, damaged, path)
    read = read_events(settings, found.agent, TRANSCRIPT, path, "", frozenset(), damaged)
    head = Head(found.session_id, found.agent)
    return _counted(head, read, damaged)


def _digested(
    row: SessionRow, events: Iterable[EventRow], damaged: Counter[str], path: str | None = None
) -> SessionDigest:
    """Return the digest of a session; where ``path`` is given the damage of that file alone counts."""
    head = Head(row.session_id, row.agent, row.title, row.project, row.created_at, row.updated_at)
    return _counted(head, events, damaged, path)


def _counted(head: Head, events: Iterable[EventRow], damaged: Counter[str], path: str | None = None) -> SessionDigest:
    found = digest(head, map(_said, events))
    return SessionDigest(head, replace(found, damaged_lines=damaged.total() if path is None else damaged[path]))


def _said(event: EventRow) -> Said:
    return Said(
        event.event_type,
        event.text,
        event.ts,
        event.turn_index,
        event.tool_call_id,
        event.tool_name,
        event.tool_arguments,
        event.message_id,
        event.canonical,
    )
