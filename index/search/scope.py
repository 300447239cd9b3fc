"""Which texts a search looks through: fields and filters, resolved to conditions in SQL.

Texts are of four families, by the table that knows more of them: events, entries of prompt histories, memory blocks,
facts of ASTER.md. Each family has its own joins and says in its own columns what a filter means (``docs/search.md``).
Texts of tools are not prose and stand apart (``index.search.tools``). Plain ``sqlite3``, to resolve names of sessions.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from index.fields import BLOCK, HISTORY_PROMPT, MEMORY_FACT, SEARCHED, TOOL
from index.projection import KIND_CODES
from index.search.request import Filters
from index.sessions import find_session, split_id
from persist.errors import NotFoundError

Value = str | int | None
"""What is bound to a statement."""


class Condition(NamedTuple):
    """A piece of a WHERE clause and the values it binds, in order."""

    sql: str
    values: tuple[Value, ...] = ()


class Family(NamedTuple):
    """Texts that one table knows more of: their fields, how it is joined to ``prose p``, which of them count.

    ``joins`` is empty where no filter asks for more than ``prose`` knows.
    """

    fields: tuple[int, ...]
    joins: str = ""
    conditions: tuple[Condition, ...] = ()


class Scope(NamedTuple):
    """What is searched. ``families`` holds those with at least one field asked for and no filter that empties them."""

    names: tuple[str, ...]
    families: tuple[Family, ...]
    since: str | None
    until: str | None
    with_tools: bool
    sources: Condition | None
    """Which sources' events count (a subquery of ids), for texts of tools; null for all."""
    kinds: frozenset[int] | None
    tools: tuple[str, ...]

    @property
    def is_filtered(self) -> bool:
        """Return whether a filter other than of times keeps texts out."""
        return self.sources is not None or any(family.joins or family.conditions for family in self.families)

    @property
    def fields(self) -> tuple[int, ...]:
        """Return the fields of prose that are searched."""
        return tuple(field for family in self.families for field in family.fields)


IS_INDEXED: Final = """SELECT 1 FROM agents a CROSS JOIN session_rows n ON n.agent_id = a.id AND n.session_id = :id
WHERE :agent IS NULL OR a.name = :agent LIMIT 1"""
IS_IN_HISTORY: Final = """SELECT 1 FROM history_rows h JOIN source_rows s ON s.id = h.source_id
JOIN agents a ON a.id = s.agent_id WHERE h.session_id = :id AND (:agent IS NULL OR a.name = :agent) LIMIT 1"""
"""Looks at every entry of the histories: only for names that are no whole id of an indexed session."""

_EVENT: Final = "CROSS JOIN event_rows e ON e.id = p.id"
_HISTORY: Final = """CROSS JOIN history_rows h ON h.id = p.id
CROSS JOIN source_rows s ON s.id = p.source_id
CROSS JOIN agents a ON a.id = s.agent_id
LEFT JOIN session_rows n ON n.agent_id = s.agent_id AND n.session_id = h.session_id"""
_BLOCK: Final = """CROSS JOIN block_rows b ON b.id = p.id
CROSS JOIN source_rows s ON s.id = p.source_id
CROSS JOIN agents a ON a.id = s.agent_id"""
_FACT: Final = """CROSS JOIN source_rows s ON s.id = p.source_id
CROSS JOIN agents a ON a.id = s.agent_id"""


class _Session(NamedTuple):
    """A session that a filter names: its row (null when only a prompt history knows it), agent and id."""

    row: int | None
    agent: str | None
    id: str


def read_scope(connection: sqlite3.Connection, searched: Sequence[str], filters: Filters) -> Scope:
    """Return the scope of a search.

    Raises ``NotFoundError`` and ``AmbiguousError`` for a session of ``filters.sessions`` that is none, or several; one
    to be excluded that is not there excludes nothing.
    """
    wanted = _find_sessions(connection, filters.sessions)
    unwanted = _find_excluded(connection, filters.exclude_sessions)
    kinds = frozenset(KIND_CODES[role] for role in filters.roles) or None
    fields = {field for name in searched for field in SEARCHED[name]}
    families: tuple[Family | None, ...] = (
        _events(fields - {HISTORY_PROMPT, BLOCK, MEMORY_FACT, TOOL}, filters, wanted, unwanted, kinds),
        _history(fields & {HISTORY_PROMPT}, filters, wanted, unwanted, kinds),
        _blocks(fields & {BLOCK}, filters, wanted, unwanted),
        _facts(fields & {MEMORY_FACT}, filters),
    )
    if _asks_nothing(filters):
        families = (Family(tuple(sorted(fields - {TOOL}))),)
    return Scope(
        names=tuple(searched),
        families=tuple(family for family in families if family is not None and family.fields),
        since=filters.since,
        until=filters.until,
        with_tools=TOOL in fields,
        sources=_sources(filters, wanted, unwanted),
        kinds=kinds,
        tools=filters.tools,
    )


def _asks_nothing(filters: Filters) -> bool:
    """Return whether no filter but one of times says anything: then ``prose`` alone knows all."""
    return replace(filters, since=None, until=None).is_empty


def _find_sessions(connection: sqlite3.Connection, texts: Iterable[str]) -> list[_Session]:
    return [_find(connection, text) for text in texts]


def _find_excluded(connection: sqlite3.Connection, texts: Iterable[str]) -> list[_Session]:
    found = []
    for text in texts:
        try:
            found.append(_find(connection, text))
        except NotFoundError:
            continue  # the running session, say, of which nothing is indexed yet
    return found


def _find(connection: sqlite3.Connection, text: str) -> _Session:
    """Return the session of a name. A whole id goes before a prefix, also where only a history knows it."""
    agent, id_ = split_id(connection, text)
    values = {"id": id_, "agent": agent}
    is_indexed = connection.execute(IS_INDEXED, values).fetchone() is not None
    if not is_indexed and connection.execute(IS_IN_HISTORY, values).fetchone() is not None:
        return _Session(None, agent, id_)
    row, session = find_session(connection, text)
    return _Session(row, session.agent, session.session_id)


def _events(
    fields: set[int], filters: Filters, wanted: list[_Session], unwanted: list[_Session], kinds: frozenset[int] | None
) -> Family | None:
    if filters.tools:
        return None
    conditions: list[Condition] = []
    sources = _sources(filters, wanted, unwanted)
    if sources is not None:
        conditions.append(Condition(f"p.source_id IN ({sources.sql})", sources.values))
    if kinds is not None:
        conditions.append(_one_of("e.kind", sorted(kinds)))
    return Family(tuple(sorted(fields)), _EVENT if kinds is not None else "", tuple(conditions))


def _sources(filters: Filters, wanted: list[_Session], unwanted: list[_Session]) -> Condition | None:
    """Return the ids of the sources whose events count; null when no filter says anything of sessions."""
    conditions: list[Condition] = []
    if filters.agents:
        conditions.append(_one_of("a.name", filters.agents))
    if filters.project is not None:
        conditions.append(_project("n.project", filters.project, filters.below))
    if filters.sessions:
        conditions.append(_one_of("n.id", [session.row for session in wanted if session.row is not None]))
    if unwanted:
        rows = [session.row for session in unwanted if session.row is not None]
        conditions.append(Condition(f"(n.id IS NULL OR NOT {_one_of('n.id', rows).sql})", tuple(rows)))
    if filters.branch is not None:
        conditions.append(Condition("n.git_branch = ?", (filters.branch,)))
    if filters.main_only:
        conditions.append(Condition("n.parent_session_id IS NULL"))
    if not conditions:
        return None
    where = " AND ".join(condition.sql for condition in conditions)
    return Condition(
        f"""SELECT s.id FROM source_rows s CROSS JOIN agents a ON a.id = s.agent_id
LEFT JOIN session_rows n ON n.id = s.session_row WHERE {where}""",
        tuple(value for condition in conditions for value in condition.values),
    )


def _history(
    fields: set[int], filters: Filters, wanted: list[_Session], unwanted: list[_Session], kinds: frozenset[int] | None
) -> Family | None:
    if filters.tools or (kinds is not None and KIND_CODES["user"] not in kinds):
        return None
    conditions: list[Condition] = []
    if filters.agents:
        conditions.append(_one_of("a.name", filters.agents))
    if filters.project is not None:
        conditions.append(_project("coalesce(n.project, h.project)", filters.project, filters.below))
    if filters.sessions:
        conditions.append(_any_of([_of_session(session) for session in wanted]))
    if unwanted:
        found = _any_of([_of_session(session) for session in unwanted])
        conditions.append(Condition(f"(h.session_id IS NULL OR NOT {found.sql})", found.values))
    if filters.branch is not None:
        conditions.append(Condition("n.git_branch = ?", (filters.branch,)))
    if filters.main_only:
        conditions.append(Condition("n.parent_session_id IS NULL"))
    return Family(tuple(fields), _HISTORY, tuple(conditions))


def _of_session(session: _Session) -> Condition:
    if session.agent is None:
        return Condition("h.session_id = ?", (session.id,))
    return Condition("(h.session_id = ? AND a.name = ?)", (session.id, session.agent))


def _blocks(fields: set[int], filters: Filters, wanted: list[_Session], unwanted: list[_Session]) -> Family | None:
    """A block's project and session are those it names itself; it has no role, no tool and no branch."""
    if filters.tools or filters.roles or filters.branch is not None:
        return None
    conditions: list[Condition] = []
    if filters.agents:
        conditions.append(_one_of("a.name", filters.agents))
    if filters.project is not None:
        conditions.append(_project("b.project", filters.project, filters.below))
    if filters.sessions:
        conditions.append(_one_of("b.source_session", [session.id for session in wanted]))
    if unwanted:
        ids = [session.id for session in unwanted]
        conditions.append(
            Condition(f"(b.source_session IS NULL OR NOT {_one_of('b.source_session', ids).sql})", tuple(ids))
        )
    return Family(tuple(fields), _BLOCK, tuple(conditions))


def _facts(fields: set[int], filters: Filters) -> Family | None:
    """A fact of ASTER.md is of no project and no session: filters that name one leave it out."""
    if filters.tools or filters.roles or filters.branch is not None or filters.project is not None or filters.sessions:
        return None
    conditions = [_one_of("a.name", filters.agents)] if filters.agents else []
    return Family(tuple(fields), _FACT, tuple(conditions))


def _project(column: str, path: str, below: bool) -> Condition:
    """Compare a path as a whole; below it begins with the path and a slash, as text: ``_`` and ``%`` are letters."""
    if not below:
        return Condition(f"{column} = ?", (path,))
    beneath = path.rstrip("/")
    return Condition(f"({column} = ? OR ({column} >= ? AND {column} < ?))", (path, f"{beneath}/", f"{beneath}0"))


def _one_of(column: str, values: Sequence[Value]) -> Condition:
    return Condition(f"{column} IN ({', '.join('?' * len(values))})", tuple(values))


def _any_of(conditions: Sequence[Condition]) -> Condition:
    sql = " OR ".join(condition.sql for condition in conditions) or "0"
    return Condition(f"({sql})", tuple(value for condition in conditions for value in condition.values))
