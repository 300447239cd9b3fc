"""Sessions: one row for each (agent, id), told by all its sources together.

The rule is pure (``session_values``); ``settle_sessions`` reads what the sources of the touched sessions say and
stores what it makes of it. Sources are read in the order of (first time, path); what is told last, in that of their
last activity.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from index.settle import trees

_SourceRow: TypeAlias = tuple[int, int, str | None, str | None, str | None, str, int, str | None]
ResolveProject: TypeAlias = Callable[[str, str | None], str]
"""From a recorded working directory and root to the project (``persist.projects``)."""

MAX_TITLE_CHARACTERS: Final = 80
_NO_BRANCHES: Final = frozenset({"", "HEAD"})
"""What agents record outside a repository, and for a commit without a branch."""


class ToldTrait(NamedTuple):
    """A trait of one source; ``holds`` is false for a title about a record that the session does not have."""

    name: str
    value: str
    rank: int
    holds: bool


class ToldSource(NamedTuple):
    """What settling needs of one source, in order; ``earliest_ts`` leaves out what a fork brought along.

    ``active_ts`` is ``latest_ts`` but for titles.
    """

    earliest_ts: str | None
    latest_ts: str | None
    active_ts: str | None
    file_time: str
    events: int
    traits: Sequence[ToldTrait]
    first_prompt: str | None


class SessionValues(NamedTuple):
    """The settled columns of a session, in the order of the statement that stores them."""

    project: str | None
    cwd: str | None
    git_branch: str | None
    model: str | None
    mode: str | None
    title: str | None
    first_prompt: str | None
    created_at: str | None
    updated_at: str | None
    parent_session_id: str | None
    forked_from: str | None
    imported_from: str | None
    events: int


def session_values(sources: Sequence[ToldSource], resolve_project: ResolveProject) -> SessionValues:
    """Compute a session's values from its sources, in their order; at least one.

    The first folder recorded is where the session belongs; branch, model and mode are the last ones, of the source
    that was active last. A title given by a person beats one of the agent's, newest first. ``HEAD`` and nothing are no
    branch: whoever looks at a commit for a moment does not lose the branch. The project is ``resolve_project`` of
    folder and root. Titles are no activity: a session of nothing else was last active when it began; where events have
    no time (Aether's), when its file was written.
    """
    first: dict[str, str] = {}
    for source in sources:
        for trait in source.traits:
            first.setdefault(trait.name, trait.value)
    last: dict[str, str] = {}
    title: tuple[int, str] | None = None
    for source in sorted(sources, key=lambda source: source.latest_ts or ""):
        for trait in source.traits:
            if trait.name != "git_branch" or trait.value not in _NO_BRANCHES:
                last[trait.name] = trait.value
            if trait.name == "title" and trait.holds and (title is None or trait.rank <= title[0]):
                title = (trait.rank, trait.value)
    cwd = first.get("cwd")
    root = first.get("repo_root")
    earliest = [source.earliest_ts for source in sources if source.earliest_ts]
    active = [source.active_ts for source in sources if source.active_ts]
    events = sum(source.events for source in sources)
    began = first.get("created_at")
    if began is not None and not active and (not events or any(source.latest_ts for source in sources)):
        active = [began]
    return SessionValues(
        project=resolve_project(cwd or root or "", root) if cwd or root else None,
        cwd=cwd,
        git_branch=last.get("git_branch"),
        model=last.get("model"),
        mode=last.get("mode"),
        title=title[1] if title else None,
        first_prompt=next((line for source in sources if (line := _title_of(source.first_prompt))), None),
        created_at=began or (min(earliest) if earliest else None),
        updated_at=max(active) if active else max(source.file_time for source in sources),
        parent_session_id=first.get("parent"),
        forked_from=first.get("forked_from"),
        imported_from=first.get("imported_from"),
        events=events,
    )


def _title_of(prompt: str | None) -> str | None:
    line = next((line.strip() for line in (prompt or "").split("\n") if line.strip()), "")
    return line if len(line) <= MAX_TITLE_CHARACTERS else line[: MAX_TITLE_CHARACTERS - 1] + "…"


_SOURCES: Final = """SELECT t.id, s.id, CASE WHEN s.names_parent = 1 AND (
    SELECT e.hidden & 1 FROM event_rows e INDEXED BY event_rows_place WHERE e.source_id = s.id
    ORDER BY e.line_number, e.event_index LIMIT 1
  ) = 1 THEN coalesce((
    SELECT e.ts FROM event_rows e INDEXED BY event_rows_place
    WHERE e.source_id = s.id AND (e.hidden & 1) = 0 AND e.ts IS NOT NULL
    ORDER BY e.line_number, e.event_index LIMIT 1
  ), s.earliest_ts) ELSE s.earliest_ts END, s.latest_ts, s.active_ts, s.file_time, s.events, (
  SELECT substr(ltrim(p.text, char(9, 10, 13, 32)), 1, 200)
  FROM event_rows e INDEXED BY event_rows_prompts JOIN prose p ON p.id = e.id
  WHERE e.source_id = s.id AND e.is_prompt = 1 AND trim(p.text, char(9, 10, 13, 32)) <> ''
  ORDER BY e.line_number, e.event_index LIMIT 1)
FROM touched_session t CROSS JOIN source_rows s ON s.session_row = t.id
ORDER BY t.id, s.head_time IS NULL, s.head_time, s.path"""
"""A fork that says so begins with its first own record: the times of what it brought along are its origin's. Without a
pointer it cannot be known which of two is the fork. Cost: the copies at the head of such a fork."""
_TRAITS: Final = """SELECT s.id, f.name, f.value, f.rank, CASE WHEN f.target_record_id IS NULL THEN 1 ELSE EXISTS (
  SELECT 1 FROM source_rows w CROSS JOIN event_rows e INDEXED BY event_rows_place ON e.source_id = w.id
  WHERE w.session_row = t.id AND e.record_id = f.target_record_id) END
FROM touched_session t CROSS JOIN source_rows s ON s.session_row = t.id CROSS JOIN trait_rows f ON f.source_id = s.id
WHERE t.id BETWEEN ? AND ?
ORDER BY s.id, f.line_number, f.id"""
_TURNS: Final = """UPDATE session_rows SET turns = counted.turns FROM (
  SELECT t.id, coalesce(sum(g.turns), 0) AS turns FROM touched_session t LEFT JOIN (
    SELECT session_row, CASE WHEN by_number THEN max(told) ELSE 1 END AS turns FROM (
      SELECT s.session_row, e.identity, e.record_id IS NULL AS by_number, count(*) AS told
      FROM touched_session t
      CROSS JOIN source_rows s ON s.session_row = t.id
      CROSS JOIN event_rows e INDEXED BY event_rows_prompts ON e.source_id = s.id AND e.is_prompt = 1
      GROUP BY s.session_row, e.identity, e.source_id
    ) GROUP BY session_row, identity
  ) g ON g.session_row = t.id GROUP BY t.id
) AS counted WHERE session_rows.id = counted.id"""
_INHERITED: Final = """UPDATE session_rows SET inherited_calls = (
  SELECT count(DISTINCT u.message_id)
  FROM source_rows s JOIN usage_rows u INDEXED BY usage_rows_told ON u.source_id = s.id
  WHERE s.session_row = session_rows.id AND u.message_id IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM usage_rows v INDEXED BY usage_rows_message
    WHERE v.message_id = u.message_id AND v.call_session = session_rows.id))
WHERE id IN (SELECT id FROM touched_session)"""
_STORE: Final = """UPDATE session_rows SET project = ?, cwd = ?, git_branch = ?, model = ?, mode = ?, title = ?,
  first_prompt = ?, created_at = ?, updated_at = ?, parent_session_id = ?, forked_from = ?, imported_from = ?,
  events = ?
WHERE id = ?"""
_STORE_PROJECT: Final = "INSERT OR REPLACE INTO project_roots (cwd, repo_root, project) VALUES (?, ?, ?)"
_PROJECTS: Final = "SELECT cwd, repo_root, project FROM project_roots"
_FORGET_PROJECT: Final = "DELETE FROM project_roots WHERE cwd = ? AND repo_root = ?"
_TOUCH_PROJECT: Final = """INSERT OR IGNORE INTO touched_session SELECT n.id FROM session_rows n
WHERE n.cwd = :cwd OR (n.cwd IS NULL AND n.project = :project)"""
_FORGET: Final = """DELETE FROM session_rows WHERE id IN (SELECT id FROM touched_session)
AND NOT EXISTS (SELECT 1 FROM source_rows s WHERE s.session_row = session_rows.id)"""
_TOUCH_IMPORTS: Final = """INSERT OR IGNORE INTO touched_session
SELECT i.id FROM touched_session t
CROSS JOIN session_rows n ON n.id = t.id
CROSS JOIN agents a ON a.id = n.agent_id
CROSS JOIN session_rows i INDEXED BY session_rows_imported
  ON i.imported_from IS NOT NULL AND i.imported_from = a.name || ':' || n.session_id"""
_NOTE_IMPORTED: Final = """INSERT OR IGNORE INTO touched_import
SELECT t.id FROM touched_session t CROSS JOIN session_rows n ON n.id = t.id WHERE n.imported_from IS NOT NULL"""
_FORGET_IMPORTED: Final = "DELETE FROM touched_import"
_IMPORTED_SOURCES: Final = """SELECT s.id, CASE WHEN EXISTS (
  SELECT 1 FROM agents a JOIN session_rows o ON o.agent_id = a.id
  WHERE a.name = substr(n.imported_from, 1, instr(n.imported_from, ':') - 1)
    AND o.session_id = substr(n.imported_from, instr(n.imported_from, ':') + 1)
    AND EXISTS (SELECT 1 FROM source_rows w WHERE w.session_row = o.id)) THEN 4 ELSE 0 END
FROM touched_import t CROSS JOIN session_rows n ON n.id = t.id CROSS JOIN source_rows s ON s.session_row = n.id"""
"""Also of sessions that were imports before this settling and are none now: the source that said so is gone."""
_MARK_IMPORTED: Final = """UPDATE event_rows SET hidden = (hidden & ~4) | :flag
WHERE source_id = :source_id AND (hidden & 4) <> :flag"""
_BATCH: Final = 1000


def settle_sessions(connection: sqlite3.Connection, resolve_project: ResolveProject) -> None:
    """Settle the sessions noted in ``touched_session``; those that no source tells any more are removed."""
    connection.execute(_TOUCH_IMPORTS)
    trees.note_orphans(connection)
    connection.execute(_FORGET)
    connection.execute(_NOTE_IMPORTED)
    projects: dict[tuple[str, str], str] = {}

    def project_of(cwd: str, repo_root: str | None) -> str:
        key = (cwd, repo_root or "")
        if key not in projects:
            projects[key] = resolve_project(cwd, repo_root)
        return projects[key]

    for batch in _batches(connection.execute(_SOURCES)):
        _settle_batch(connection, batch, project_of)
    connection.executemany(_STORE_PROJECT, [(*key, project) for key, project in sorted(projects.items())])
    trees.settle_trees(connection)
    connection.execute(_TURNS)
    connection.execute(_INHERITED)
    connection.execute(_NOTE_IMPORTED)
    flags = [{"source_id": source_id, "flag": flag} for source_id, flag in connection.execute(_IMPORTED_SOURCES)]
    connection.executemany(_MARK_IMPORTED, flags)
    connection.execute(_FORGET_IMPORTED)


def moved_projects(connection: sqlite3.Connection, resolve_project: ResolveProject) -> list[tuple[str, str, str]]:
    """Return (cwd, recorded root, stored project) of folders whose project is another one on today's disk.

    What a folder belongs to is no part of any transcript: a repository made or moved since changes it. Cost: a few
    stats for each distinct folder.
    """
    rows = connection.execute(_PROJECTS).fetchall()
    return [(cwd, root, project) for cwd, root, project in rows if resolve_project(cwd, root or None) != project]


def touch_moved(connection: sqlite3.Connection, moved: Sequence[tuple[str, str, str]]) -> None:
    """Note the sessions of such folders for settling."""
    for cwd, root, project in moved:
        connection.execute(_TOUCH_PROJECT, {"cwd": cwd, "project": project})
        connection.execute(_FORGET_PROJECT, (cwd, root))


def _batches(rows: Iterable[_SourceRow]) -> Iterator[list[_SourceRow]]:
    """Cut rows into batches of about ``_BATCH``, no session in two of them."""
    batch: list[_SourceRow] = []
    for row in rows:
        if len(batch) >= _BATCH and row[0] != batch[-1][0]:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def _settle_batch(connection: sqlite3.Connection, rows: list[_SourceRow], resolve_project: ResolveProject) -> None:
    traits: dict[int, list[ToldTrait]] = defaultdict(list)
    for source_id, name, value, rank, holds in connection.execute(_TRAITS, (rows[0][0], rows[-1][0])):
        traits[source_id].append(ToldTrait(name, value, rank, bool(holds)))
    sessions: dict[int, list[ToldSource]] = defaultdict(list)
    for session, source_id, earliest_ts, latest_ts, active_ts, file_time, events, prompt in rows:
        told = ToldSource(earliest_ts, latest_ts, active_ts, file_time, events, traits[source_id], prompt)
        sessions[session].append(told)
    stored = [(*session_values(sources, resolve_project), session) for session, sources in sessions.items()]
    connection.executemany(_STORE, stored)
