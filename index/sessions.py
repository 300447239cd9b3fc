"""Sessions as listed and shown: rows from the index, texts from the sources.

Reads only. Without an index the store answers by bounded reads (``index.unindexed``). The index finds, the file speaks:
what ``show_session`` gives is read from the transcripts at that moment.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from index.errors import NoIndexError
from index.opening import open_reader
from index.results import EventRow, SessionRow, SessionTotals
from index.session_totals import totals_of
from index.settings import Settings
from index.sqlite_errors import translate_read_errors
from index.transcripts import no_session, read_events
from index.unindexed import list_from_files, show_from_files
from persist.errors import AmbiguousError, StoreIOError
from persist.ids import MIN_PREFIX_CHARACTERS
from persist.sources import TRANSCRIPT

_COLUMNS: Final = """n.session_id, a.name, n.project, n.cwd, coalesce(n.title, n.first_prompt), n.created_at,
  n.updated_at, n.model, n.turns, n.events, n.parent_session_id, n.forked_from,
  n.imported_from, n.id"""
_WITH_AGENT: Final = "FROM session_rows n JOIN agents a ON a.id = n.agent_id"
_IS_ASKED: Final = "(:project IS NULL OR n.project = :project) AND (:agent IS NULL OR a.name = :agent)"
_IS_TOP: Final = "n.depth = 0"
_NEWEST: Final = "ORDER BY n.updated_at DESC, n.session_id DESC, a.name LIMIT :limit"
_LIST: Final = f"SELECT {_COLUMNS} {_WITH_AGENT}\nWHERE {_IS_ASKED}\n{_NEWEST}"
_COUNT: Final = f"SELECT count(*) {_WITH_AGENT}\nWHERE {_IS_ASKED}"
_LIST_TOPS: Final = f"SELECT {_COLUMNS} {_WITH_AGENT}\nWHERE {_IS_TOP} AND {_IS_ASKED}\n{_NEWEST}"
_COUNT_TOPS: Final = f"SELECT count(*) {_WITH_AGENT}\nWHERE {_IS_TOP} AND {_IS_ASKED}"
_FIND: Final = """SELECT n.id FROM agents a JOIN session_rows n ON n.agent_id = a.id
WHERE a.name = ? AND n.session_id = ?"""
_FILES: Final = """SELECT path, size_bytes FROM source_rows WHERE session_row = ?
ORDER BY head_time IS NULL, head_time, path"""
_EXACT: Final = f"""SELECT {_COLUMNS} {_WITH_AGENT}
WHERE n.session_id = :id AND (:agent IS NULL OR a.name = :agent) ORDER BY a.name"""
_PREFIX: Final = f"""SELECT {_COLUMNS} {_WITH_AGENT}
WHERE substr(n.session_id, 1, length(:id)) = :id AND (:agent IS NULL OR a.name = :agent)
AND NOT (instr(n.session_id, '/') > length(:id) AND EXISTS (SELECT 1 FROM session_rows p
  WHERE p.agent_id = n.agent_id AND p.session_id = substr(n.session_id, 1, instr(n.session_id, '/') - 1)))
ORDER BY n.session_id, a.name"""
"""A prefix that does not reach beyond a session's own id means the session, not its sub-agents."""
_SOURCES: Final = """SELECT a.name, s.kind, s.path, s.root, s.id FROM source_rows s JOIN agents a ON a.id = s.agent_id
WHERE s.session_row = ? ORDER BY s.head_time IS NULL, s.head_time, s.path"""
_HIDDEN: Final = "SELECT event_index FROM event_rows WHERE source_id = ? AND hidden <> 0"


class _Row(NamedTuple):
    """A session as stored, in the order of ``_COLUMNS``; ``title`` is the recorded one, else the first prompt's."""

    session_id: str
    agent: str
    project: str | None
    cwd: str | None
    title: str | None
    created_at: str | None
    updated_at: str | None
    model: str | None
    turns: int
    events: int
    parent_id: str | None
    forked_from: str | None
    imported_from: str | None
    id: int


def list_sessions(
    settings: Settings, project: str | None = None, agent: str | None = None, limit: int | None = None
) -> tuple[int, list[SessionRow]]:
    """Return how many sessions there are and the newest of them by last activity (then by id, descending).

    ``project`` is compared with the recorded path, whole. Raises the errors of ``open_reader`` but for a missing index:
    then the files answer.
    """
    try:
        connection = open_reader(settings.index_path)
    except NoIndexError:
        return list_from_files(settings, project, agent, limit)
    try:
        with translate_read_errors(settings.index_path):
            values = {"project": project, "agent": agent, "limit": -1 if limit is None else limit}
            total = connection.execute(_COUNT, values).fetchone()[0]
            return total, [_session(connection, _Row(*row)) for row in connection.execute(_LIST, values).fetchall()]
    finally:
        connection.close()


def list_trees(
    settings: Settings, project: str | None = None, agent: str | None = None, limit: int | None = None
) -> tuple[int, list[tuple[SessionRow, SessionTotals]]]:
    """Return sessions as ``list_sessions`` does, each with what it came to with its sub-agents.

    Sub-agents are counted in and not listed, but for those whose parent is not indexed. Raises the errors of
    ``open_reader``: the files are not read whole for this. Cost: the events of the sessions listed.
    """
    connection = open_reader(settings.index_path)
    try:
        with translate_read_errors(settings.index_path):
            values = {"project": project, "agent": agent, "limit": -1 if limit is None else limit}
            total = connection.execute(_COUNT_TOPS, values).fetchone()[0]
            found = [_Row(*row) for row in connection.execute(_LIST_TOPS, values)]
            totals = totals_of(connection, (row.id for row in found))
            return total, [(_session(connection, row), totals[row.id]) for row in found]
    finally:
        connection.close()


def session_totals(settings: Settings, session: SessionRow) -> SessionTotals | None:
    """Return what a session came to with its sub-agents; ``None`` without an index, or where it has gone from it.

    Raises the other errors of ``open_reader``. Cost: the session's events and usage records.
    """
    try:
        connection = open_reader(settings.index_path)
    except NoIndexError:
        return None
    try:
        with translate_read_errors(settings.index_path):
            found = connection.execute(_FIND, (session.agent, session.session_id)).fetchone()
            return totals_of(connection, found)[found[0]] if found else None
    finally:
        connection.close()


def show_session(
    settings: Settings, text: str, damaged: Counter[str] | None = None
) -> tuple[SessionRow, Iterator[EventRow]]:
    """Return a session and its events, whole, source after source; the events are read as they are taken.

    ``text`` is an id, a prefix of at least four characters that fits one session, or ``agent:id``. Raises
    ``NotFoundError``, ``AmbiguousError``, and while events are taken ``StoreIOError`` for a transcript that cannot be
    read. ``damaged`` is that of ``read_events``.
    """
    try:
        connection = open_reader(settings.index_path)
    except NoIndexError:
        return show_from_files(settings, text, damaged)
    try:
        with translate_read_errors(settings.index_path):
            row_id, session = find_session(connection, text)
            sources = connection.execute(_SOURCES, (row_id,)).fetchall()
            hidden = {
                source[4]: frozenset(row[0] for row in connection.execute(_HIDDEN, (source[4],))) for source in sources
            }
    finally:
        connection.close()
    return session, _events(settings, sources, hidden, damaged)


def find_session(connection: sqlite3.Connection, text: str) -> tuple[int, SessionRow]:
    """Return the row and the session that ``text`` names. Raises ``NotFoundError`` and ``AmbiguousError``."""
    agent, id_ = split_id(connection, text)
    values = {"id": id_, "agent": agent}
    rows = [_Row(*row) for row in connection.execute(_EXACT, values)]
    if not rows and len(id_) >= MIN_PREFIX_CHARACTERS:
        rows = [_Row(*row) for row in connection.execute(_PREFIX, values)]
    if not rows:
        raise no_session(text, id_)
    if len(rows) > 1:
        raise AmbiguousError("session", text, tuple(f"{row.agent}:{row.session_id}" for row in rows))
    return rows[0].id, _session(connection, rows[0])


def split_id(connection: sqlite3.Connection, text: str) -> tuple[str | None, str]:
    """Return (agent, id) of ``agent:id``, and (null, the text) where no agent of the index is named."""
    agent, colon, rest = text.partition(":")
    if colon and connection.execute("SELECT 1 FROM agents WHERE name = ?", (agent,)).fetchone():
        return agent, rest
    return None, text


def _events(
    settings: Settings,
    sources: list[tuple[str, str, str, str, int]],
    hidden: dict[int, frozenset[int]],
    damaged: Counter[str] | None,
) -> Iterator[EventRow]:
    unreadable: StoreIOError | None = None
    for agent, kind, path, root, source_id in sources:
        if kind != TRANSCRIPT:
            continue
        try:
            yield from read_events(settings, agent, kind, path, root, hidden[source_id], damaged)
        except StoreIOError as error:
            unreadable = unreadable or error  # one file's fault must not hide the others; told at the end
    if unreadable is not None:
        raise unreadable


def _session(connection: sqlite3.Connection, row: _Row) -> SessionRow:
    files = connection.execute(_FILES, (row.id,)).fetchall()
    return SessionRow(
        session_id=row.session_id,
        agent=row.agent,
        project=row.project,
        cwd=row.cwd,
        title=row.title,
        created_at=row.created_at,
        updated_at=row.updated_at,
        model=row.model,
        turns=row.turns,
        events=row.events,
        parent_id=row.parent_id,
        forked_from=row.forked_from,
        paths=tuple(path for path, _ in files),
        size_bytes=sum(size_bytes for _, size_bytes in files),
        imported_from=row.imported_from,
    )
