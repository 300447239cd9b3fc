"""Which session an id means to a program that goes on with it: to append, to resume, to find the latest.

The two stores answer first, from their files' names, so a session that was begun a moment ago is found before any
index knows it; only what they do not know is looked for among the other agents, in the index or without one. Reads
only. Sessions of other agents can be resumed, and are refused to whoever would write.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from index.errors import AsterIndexError
from index.results import EventRow, SessionRow
from index.sessions import list_sessions, show_session
from index.settings import Settings
from index.transcripts import no_session
from index.unindexed import show_from_files
from persist.aether.conversation import SUMMARY_OPENING, to_chat_messages
from persist.aether.listing import title_of
from persist.aether.store import SessionStore, conversation_at
from persist.agents.aether.agent import NAME as AETHER
from persist.agents.aster.agent import NAME as ASTER
from persist.aster.store import Store, resume_file
from persist.errors import AmbiguousError, NotFoundError, RefusedError, StoreError
from persist.ids import slug
from persist.projects import project_of

_ENDS_CONTEXT: Final = ("clear_context", "context_cleared")
_ROLES: Final = {"user_message": "user", "message_text": "assistant"}
_BEGINS: Final = {ASTER: "asx sessions start begins one", AETHER: "asx sessions start --aether begins one"}


class StoredSession(NamedTuple):
    """A session of one of the two stores."""

    agent: str
    session_id: str
    path: Path


class Spoken(NamedTuple):
    """One message of a chat."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class ResumedSession:
    """What a program needs to go on with a session of any agent.

    ``turns`` counts the prompts of the whole session, ``turns_shown`` those among ``messages``. ``notes`` are sentences
    for a person: what could not be read, and why the session cannot be written to.
    """

    session: StoredSession
    title: str | None
    turns: int
    turns_shown: int
    messages: tuple[Spoken, ...]
    notes: tuple[str, ...] = ()


def aster_store(settings: Settings) -> Store:
    """Return Aster's store of the settings' homes."""
    older = [root for root in settings.roots if root.agent == ASTER and root.rank > 0]
    return Store(settings.places.data, [root.path for root in sorted(older, key=lambda root: root.rank)])


def aether_store(settings: Settings) -> SessionStore:
    """Return Aether's store of the settings' home."""
    return SessionStore.from_path(settings.places.aether)


def writable_session(settings: Settings, text: str, cwd: str) -> StoredSession:
    """Return the session of the two stores that ``text`` names: an id, a prefix that fits one, ``agent:id``.

    Of an id that several projects have, the one of ``cwd``'s project is meant, as with Aster; of a whole id that
    another agent has too, the store's: no other can be written to. No file is opened where the id is whole. Raises
    ``RefusedError`` for another agent's session, with that agent's own way, and for one in a root that is only read;
    ``NotFoundError``, ``AmbiguousError``.
    """
    found = find_session_of(settings, text, cwd)
    if isinstance(found, StoredSession):
        if not any(found.path.is_relative_to(home) for home in (*aster_store(settings).homes, settings.places.aether)):
            raise RefusedError(f"{found.path} lies in no home of the store and is only read", "copy it there")
        return found
    row, _events = found
    agent = settings.agent(row.agent)
    words = agent.resume(row.session_id, row.cwd) if agent.resume is not None else ()
    way = f"go on with it in {agent.title} itself" + (f": {shlex.join(words)}" if words else "")
    raise RefusedError(f"{row.session_id} is a session of {agent.title}, whose files are only read", way)


def resume_session(settings: Settings, text: str, cwd: str) -> ResumedSession:
    """Return the chat of the session that ``text`` names, for its next turn; it is read from its files.

    Raises what :func:`writable_session` raises but for other agents' sessions, and ``StoreIOError``.
    """
    found = find_session_of(settings, text, cwd)
    if not isinstance(found, StoredSession):
        return _resume_other(*found)
    _refuse_shared(settings, text)
    return _resume_aster(found) if found.agent == ASTER else _resume_aether(found)


def latest_session(settings: Settings, cwd: str, agent: str = ASTER) -> StoredSession:
    """Return the last used session of an agent in the project of ``cwd`` that has a prompt.

    Imported sessions and those of sub-agents are left out. Raises ``NotFoundError``.
    """
    if agent == ASTER:
        entry = aster_store(settings).latest(cwd)
        if entry is not None:
            return StoredSession(ASTER, entry.id, entry.path)
    elif agent == AETHER:
        listed = aether_store(settings).latest(cwd)
        if listed is not None:
            return StoredSession(AETHER, listed.session_id, Path(listed.path))
    else:
        for row in list_sessions(settings, project=project_of(cwd), agent=agent)[1]:
            if row.turns and row.paths and row.imported_from is None and row.parent_id is None:
                return StoredSession(agent, row.session_id, Path(row.paths[-1]))
    own_way = f"begin one in {settings.agent(agent).title} itself"
    raise NotFoundError("session with a prompt in", project_of(cwd), _BEGINS.get(agent, own_way))


def find_session_of(
    settings: Settings, text: str, cwd: str, damaged: Counter[str] | None = None
) -> StoredSession | tuple[SessionRow, Iterable[EventRow]]:
    """Return the session of any agent that ``text`` names: of the stores its file, of others what is known of it.

    ``damaged`` is that of ``index.transcripts.read_events``.
    Raises ``NotFoundError``, ``AmbiguousError``, and ``RefusedError`` for what is no id.
    """
    agent, colon, rest = text.partition(":")
    named = agent if colon and any(known.name == agent for known in settings.agents) else None
    id_ = rest if named else text
    stored, problem = _in_stores(settings, named, id_, cwd)
    whole = [one for one in stored if one.path.stem == id_ or slug(one.path.stem) == slug(id_) != ""]
    if len(whole) == 1:
        return whole[0]
    if len(whole) > 1:
        raise _ambiguous(text, whole)
    if isinstance(problem, AmbiguousError):
        raise problem
    try:
        row, events = _find_anywhere(settings, text, damaged)
    except NotFoundError:
        if len(stored) > 1:
            raise _ambiguous(text, stored) from None
        if stored:
            return stored[0]
        raise problem or no_session(text, id_) from None
    if row.agent not in (ASTER, AETHER):
        if stored:
            raise _ambiguous(text, [*stored, StoredSession(row.agent, row.session_id, Path())])
        return row, events
    same = [one for one in stored if one.agent == row.agent]
    if len(stored) > len(same):
        raise _ambiguous(text, stored)
    return same[0] if same else StoredSession(row.agent, row.session_id, Path(row.paths[-1]))


def _in_stores(
    settings: Settings, named: str | None, session_id: str, cwd: str
) -> tuple[list[StoredSession], StoreError | None]:
    """Return the sessions that an id names in the stores, and why one of them could not say."""
    stored: list[StoredSession] = []
    problem: StoreError | None = None
    for agent, path_of in (
        (ASTER, partial(aster_store(settings).path_of, cwd=cwd)),
        (AETHER, aether_store(settings).find),
    ):
        if named in (None, agent):
            try:
                path = path_of(session_id)
                stored.append(StoredSession(agent, path.stem, path))
            except NotFoundError:
                continue
            except (RefusedError, AmbiguousError) as error:
                problem = problem or error
    return stored, problem


def _refuse_shared(settings: Settings, text: str) -> None:
    """Raise ``AmbiguousError`` where the index knows that another agent has the same whole id."""
    if not settings.index_path.exists():
        return
    try:
        show_session(settings, text)
    except AmbiguousError as error:
        if any(candidate.partition(":")[2] == text for candidate in error.candidates):
            raise
    except (NotFoundError, AsterIndexError):
        return


def _find_anywhere(
    settings: Settings, text: str, damaged: Counter[str] | None
) -> tuple[SessionRow, Iterable[EventRow]]:
    """Look among all agents, in the index or, where that cannot be used, in the files."""
    try:
        return show_session(settings, text, damaged)
    except AsterIndexError:
        return show_from_files(settings, text, damaged)


def _ambiguous(text: str, sessions: Iterable[StoredSession]) -> AmbiguousError:
    return AmbiguousError("session", text, tuple(f"{one.agent}:{one.session_id}" for one in sessions))


def _resume_aster(found: StoredSession) -> ResumedSession:
    resumed = resume_file(found.path)
    notes = []
    if resumed.newer_version is not None:
        version = resumed.newer_version or "that is no number"
        notes.append(f"its format version is {version}: it is read, and never written to")
    if resumed.damaged_lines:
        notes.append(f"{resumed.damaged_lines} of its lines are damaged")
    return ResumedSession(
        found._replace(session_id=resumed.session_id),
        resumed.title,
        resumed.turns,
        resumed.turns_shown,
        tuple(Spoken(message.role, message.content) for message in resumed.messages),
        tuple(notes),
    )


def _resume_aether(found: StoredSession) -> ResumedSession:
    read = conversation_at(found.path)
    notes = []
    if read.damaged:
        notes.append(f"{read.damaged} of its lines are damaged")
    if read.discarded_outcomes:
        notes.append(f"{read.discarded_outcomes} answers of tools belong to no message and are left out, as in Aether")
    return ResumedSession(
        found._replace(session_id=read.session_id),
        title_of(read.first_prompt) if read.turns else None,
        read.turns,
        sum(message.is_prompt for message in read.messages),
        tuple(Spoken(message.role, message.content) for message in to_chat_messages(read.messages)),
        tuple(notes),
    )


def _resume_other(row: SessionRow, events: Iterable[EventRow]) -> ResumedSession:
    messages: list[Spoken] = []
    for event in events:
        text = event.text or ""
        if event.event_type in _ENDS_CONTEXT:
            messages.clear()
        elif event.event_type == "context_compaction_result" and text.strip():
            messages = [Spoken("assistant", f"{SUMMARY_OPENING}{text}")]
        elif event.event_type in _ROLES and event.canonical and text.strip():
            messages.append(Spoken(_ROLES[event.event_type], text))
    shown = sum(message.role == "user" for message in messages)
    session = StoredSession(row.agent, row.session_id, Path(row.paths[-1] if row.paths else ""))
    return ResumedSession(session, row.title, row.turns, shown, tuple(messages))
