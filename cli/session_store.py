"""Finds the one session of a store that a command is to change, and lets the index follow the change.

The store's files decide, not the index, which may lag or be missing. Sessions of other agents are known by their files'
names, so that a command can say whose they are and refuse (DESIGN 12, the table of whose sessions may be touched).
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from cli import choices, output
from persist.errors import AmbiguousError, NotFoundError, RefusedError, StoreError
from persist.known_sessions import Fit, StoredFile, StoredSession, fitting, is_prefix, sessions_of

if TYPE_CHECKING:
    from index.settings import Settings

ASTER: Final = "aster"
AETHER: Final = "aether"
STORES: Final = (ASTER, AETHER)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_OWN_WAYS: Final = {
    ("claude-code", "rename"): "in Claude Code, inside the session: /rename",
    ("claude-code", "delete"): "Claude Code deletes its own after the cleanupPeriodDays of its settings",
}
"""Where an agent has a way of its own that is not simply to open the session in it."""


_PAUSES_S: Final = (0.1, 0.4, 0)
"""Waits for another process that is writing the index, before files go whose rows should go first."""


class Other(NamedTuple):
    """A session of an agent whose files are only ever read, as its file's name tells it."""

    agent: str
    id: str
    path: str


def find_stored(settings: Settings, typed: str, doing: str) -> StoredSession:
    """Return the session of Aster's or Aether's store that ``typed`` names; exactly one.

    An id as any list prints it, whole or at least four characters that fit one, or ``agent:id``. Raises
    ``NotFoundError``; ``AmbiguousError`` with all that fit; ``RefusedError`` for what is no id, and for a session of
    another agent, with that agent's own way to ``doing``. Cost: a look at every agent's folders, and the store's files
    are opened.
    """
    text = choices.typed_text(typed)
    agent, id_ = _split(text)
    if agent is not None and agent not in STORES:
        raise _not_ours(settings, Other(agent, id_, ""), doing)
    found = fitting(stored_sessions(settings, agent), id_)
    others = [] if agent is not None else _others(settings)
    whole = [other for other in others if other.id == id_]
    if len(found.sessions) == 1 and not _also(found, whole, others, id_):
        return found.sessions[0]
    if whole or (not found.sessions and is_prefix(id_)):
        also = whole or [other for other in others if other.id.startswith(id_)]
    else:
        also = [other for other in others if is_prefix(id_) and other.id.startswith(id_)]
    ours = found.sessions if found.is_whole or not whole else []
    labels = [session.label for session in ours] + [f"{other.agent}:{other.id}" for other in also]
    if len(labels) > 1:
        raise AmbiguousError("session", text, tuple(sorted(set(labels))))
    if also:
        raise _not_ours(settings, also[0], doing)
    raise _not_found(settings, text, id_, doing)


def stored_sessions(settings: Settings, agent: str | None = None) -> list[StoredSession]:
    """Return the sessions of both stores, or of one, as their files are now; what cannot be looked into is told."""
    from persist.aether import identify as aether
    from persist.aster import identify as aster

    files: list[StoredFile] = []
    for name, look in ((ASTER, aster.stored_files), (AETHER, aether.stored_files)):
        if agent in (None, name):
            found, troubles = look(homes_of(settings, name))
            files += found
            for trouble in troubles:
                if trouble.kind == "unreadable":
                    output.talk(f"{trouble.path}: {trouble.message}")
    return sessions_of(files)


def homes_of(settings: Settings, agent: str) -> list[Path]:
    """Return the homes of a store that ingest reads, the highest rank first."""
    from persist.agents import AGENTS
    from persist.places import current_environment

    roots = [root for root in settings.roots if root.agent == agent] or AGENTS[agent].locate(current_environment())
    return list(dict.fromkeys(root.path for root in roots))


@contextmanager
def followed(settings: Settings, paths: Sequence[Path] = ()) -> Iterator[None]:
    """Let the index follow what the block changes; ``paths`` are files that will not be where they are afterwards.

    Their rows leave first, as if they were excluded: many sources that are gone at once would be held back as those of
    an unmounted disk are. Killed in between, the next run reads them again. Where there is no index nothing is done.
    That the index stays behind is told where the change was made: a failure is one sentence.
    """
    from index.follow import follow_store
    from persist.config import literal_exclude

    if paths:
        leaving = (*settings.configuration.excludes, *(literal_exclude(str(path)) for path in paths))
        without = replace(settings, configuration=replace(settings.configuration, excludes=leaving))
        for pause_s in _PAUSES_S:
            if follow_store(without) is None:
                break
            time.sleep(pause_s)
    try:
        yield
    except BaseException:
        follow_store(settings)  # of several files some may be done
        raise
    told = follow_store(settings)
    if told is not None:
        output.talk(told)


def _split(text: str) -> tuple[str | None, str]:
    from persist.agents import AGENTS

    agent, colon, rest = text.partition(":")
    return (agent, rest) if colon and agent in AGENTS else (None, text)


def _also(found: Fit, whole: Sequence[Other], others: Sequence[Other], id_: str) -> bool:
    """Whether a session of another agent fits as well as the one found."""
    return bool(whole) or (not found.is_whole and any(other.id.startswith(id_) for other in others))


def _others(settings: Settings) -> list[Other]:
    from index.discovery import look
    from persist.sources import TRANSCRIPT

    return [
        Other(source.agent, _named_id(Path(source.path)), source.path)
        for found in look(settings).found
        for source in found.sources
        if source.kind == TRANSCRIPT and source.agent not in STORES
    ]


def _named_id(path: Path) -> str:
    """Return the id that a file's name holds: a UUID at its end, else what is behind the last ``_``, else its stem."""
    stem = path.name.partition(".jsonl")[0]
    at_end = _UUID.search(stem)
    return at_end[0] if at_end else stem.rpartition("_")[2]


def _not_found(settings: Settings, text: str, id_: str, doing: str) -> StoreError:
    """Return the error for what no store has: the index may know it as a session of another agent."""
    from index.errors import AsterIndexError
    from index.sessions import show_session
    from index.transcripts import no_session

    try:
        row, _events = show_session(settings, text)
    except (AsterIndexError, StoreError) as error:
        if isinstance(error, AmbiguousError):
            return error
        return no_session(text, id_)
    if row.agent in STORES:
        return NotFoundError("session", text, "its file is gone; asx ingest brings the index up to date")
    return _not_ours(settings, Other(row.agent, row.session_id, next(iter(row.paths), "")), doing)


def _not_ours(settings: Settings, other: Other, doing: str) -> RefusedError:
    agent = settings.agent(other.agent)
    way = _OWN_WAYS.get((other.agent, doing))
    if way is None and doing == "delete" and other.path:
        way = f"if it is to go, remove its file yourself: {other.path}"
    if way is None:
        words = agent.resume(other.id, None) if agent.resume is not None else ()
        way = f"do it in {agent.title} itself" + (f": {shlex.join(words)}" if words else "")
    return RefusedError(f"{other.agent}:{other.id} belongs to {agent.title}, whose files are only ever read", way)
