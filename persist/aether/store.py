"""Aether's session store: begin, append, load, list, move, search prompts, go on (``spec/aether.md`` 1.7 and 2).

Answers from the files alone and knows no index. An id is compared with the names that are there and never joined to a
path unchecked. Every era is read; what is written is today's shape.
"""

from __future__ import annotations

import builtins
import uuid
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from persist import history
from persist.aether import listing
from persist.aether.conversation import Conversation, Message, rebuild
from persist.aether.incoming import checked
from persist.aether.listing import Listed, Listing, Preview
from persist.aether.log import PERSISTED, Entry, read_log
from persist.aether.writer import append_events, create_log, prompt_entry, rewrite_cwd
from persist.agents.aether.agent import NAME, SESSIONS, discover, locate
from persist.agents.aether.records import Metadata
from persist.errors import AmbiguousError, NotFoundError, StoreError
from persist.ids import MIN_PREFIX_CHARACTERS
from persist.places import current_environment
from persist.projects import ProjectResolver, project_of
from persist.sources import TRANSCRIPT, Record, Root

DEFAULT_HITS: Final = 20
MAX_HITS: Final = 50


class PromptQuery(Protocol):
    """What prompts are searched for: ``index.match.Query`` is one. ``spans`` gives the hits in a text, in bytes."""

    @property
    def text(self) -> str:
        """The query as typed."""

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """Return start and end of every hit in ``text``, in UTF-8 bytes, end exclusive."""


class PromptHit(NamedTuple):
    """A prompt of the history and its first hit, in bytes of its UTF-8, end exclusive."""

    entry: history.PromptEntry
    match_start: int
    match_end: int


class PromptHits(NamedTuple):
    """The hits, newest prompt first, and whether there were more than the limit."""

    hits: tuple[PromptHit, ...]
    truncated: bool


class Appended(NamedTuple):
    """How many events were written and how many are of a kind that is never stored; why the history lags, if so."""

    appended: int
    transient: int
    history_trouble: str | None


@dataclass(frozen=True, slots=True)
class LoadedSession:
    """A session read whole: its metadata, its persisted events in order, and how many lines hold none.

    ``malformed`` counts damaged lines, ``unknown`` events of a kind that nobody here knows; neither hides another.
    """

    metadata: Metadata
    events: tuple[Entry, ...]
    malformed: int
    unknown: int


class SessionStore:
    """The sessions of one Aether home: this process's, or :meth:`from_path`'s."""

    def __init__(self) -> None:
        (root,) = locate(current_environment())
        self.home: Path = root.path

    @classmethod
    def from_path(cls, root: Path) -> SessionStore:
        """Return the store of the home at ``root``, the folder above ``sessions``; it need not exist."""
        store = cls.__new__(cls)
        store.home = root
        return store

    @property
    def history_path(self) -> Path:
        """Where the prompt history stands."""
        return self.home / SESSIONS / history.HISTORY_NAME

    def create(self, cwd: str, model: str, *, session_id: str | None = None, selected_mode: str | None = None) -> Path:
        """Begin a session; its id is a new UUID where left out, and its log's stem. Raises what ``create_log`` does."""
        return create_log(self.home, str(uuid.uuid4()) if session_id is None else session_id, cwd, model, selected_mode)

    def append(self, session_id: str, events: Iterable[Record]) -> Appended:
        """Append events in order; those that Aether never keeps are passed over.

        All are checked before one is written. Raises ``ShapeError`` for an event that Aether would not read again,
        ``MetadataError`` for a log without metadata, and what :meth:`find` and ``append_events`` raise.
        """
        given = list(events)
        ready = [event for event in map(checked, given) if event is not None]
        return self.append_checked(self.find(session_id), ready, transient=len(given) - len(ready))

    def append_checked(self, path: Path, events: Sequence[dict[str, Record]], *, transient: int = 0) -> Appended:
        """Append events that ``persist.aether.incoming`` has checked to the log at ``path``."""
        trouble = append_events(path, read_log(path).metadata(), events) if events else None
        return Appended(len(events), transient, trouble)

    def find(self, session_id: str) -> Path:
        """Return the log that an id names: its file's stem, whole, else the id in its metadata, else a prefix of one.

        Raises ``NotFoundError`` and ``AmbiguousError``. Opens files only when no file's name fits whole.
        """
        paths = self._logs()
        named = [path for path in paths if path.stem == session_id]
        if not named:
            named = [path for path in paths if _id_of(path) == session_id]
        if not named and len(session_id) >= MIN_PREFIX_CHARACTERS:
            named = [path for path in paths if path.stem.startswith(session_id)]
        if len(named) == 1:
            return named[0]
        if named:
            raise AmbiguousError("session", session_id, tuple(path.stem for path in named))
        raise NotFoundError("session", session_id, "list the sessions to see their ids")

    def load(self, session_id: str) -> LoadedSession:
        """Read a session whole. Raises what :meth:`find` raises, ``MetadataError`` and ``StoreIOError``."""
        log = read_log(self.find(session_id))
        entries = list(log.entries())
        events = tuple(entry for entry in entries if entry.status == PERSISTED)
        malformed = sum(entry.status in ("malformed", "pending") for entry in entries)
        return LoadedSession(log.metadata(), events, malformed, sum(entry.status == "unknown" for entry in entries))

    def cwd(self, session_id: str) -> str | None:
        """Return the folder that a session records; null for an unknown session, and where it records none.

        Raises ``AmbiguousError``, ``MetadataError`` and ``StoreIOError``.
        """
        try:
            return read_log(self.find(session_id)).metadata().cwd
        except NotFoundError:
            return None

    def list(self, cwd: str | None = None) -> Listing:
        """List the sessions, newest created first; with ``cwd`` those that record exactly this folder.

        Cost: ``listing.LIST_BYTES`` and ``LIST_LINES`` of each log.
        """
        found = listing.list_sessions(self.home)
        if cwd is None:
            return found
        return Listing(tuple(one for one in found.sessions if one.cwd == cwd), found.troubles)

    def latest(self, cwd: str) -> Listed | None:
        """Return the last used session of the project of ``cwd`` that has a prompt.

        Aether's events have no time, so the last use is the file's. Cost: that of :meth:`list`, and of logs without a
        prompt in their beginning as much as it takes to find one.
        """
        resolver = ProjectResolver()
        project = project_of(cwd)
        listed = [one for one in self.list().sessions if one.cwd and resolver.project_of(one.cwd) == project]
        listed.sort(key=lambda one: (one.mtime_ns, one.session_id), reverse=True)
        return next((one for one in listed if one.title is not None or _has_prompt(Path(one.path))), None)

    def preview(self, session_id: str) -> Preview:
        """Return the beginning of a session within its bounds. Raises what :meth:`find` and the preview raise."""
        return listing.preview(self.find(session_id))

    def conversation(self, session_id: str, opening: Sequence[Message] = ()) -> Conversation:
        """Return the messages that the session's next model call continues. Raises what :meth:`load` raises."""
        return conversation_at(self.find(session_id), opening)

    def relocate(self, session_id: str, cwd: str) -> str | None:
        """Record another folder for a session, in its metadata and in the prompt history.

        Returns why the history could not follow, null where it did. Raises what :meth:`find` and ``rewrite_cwd`` raise.
        """
        path = self.find(session_id)
        rewrite_cwd(path, cwd)
        try:
            recorded = read_log(path).metadata().session_id
            history.change(
                self.history_path, lambda entry: replace(entry, cwd=cwd) if entry.session_id == recorded else entry
            )
        except StoreError as error:
            return str(error)
        return None

    def search_prompts(self, query: PromptQuery | None, limit: int | None = None) -> PromptHits:
        """Search the prompt history, newest first, one hit a prompt; no query (a blank one) finds nothing.

        ``limit`` is 20 where left out, and from 1 to 50. Raises ``StoreIOError`` where the history cannot be read.
        """
        most = min(max(DEFAULT_HITS if limit is None else limit, 1), MAX_HITS)
        hits: list[PromptHit] = []
        if query is not None and query.text.strip():
            for entry in reversed(history.read(self.history_path).entries):
                spans = query.spans(entry.prompt)
                if spans:
                    hits.append(PromptHit(entry, *spans[0]))
                if len(hits) > most:
                    break
        return PromptHits(tuple(hits[:most]), len(hits) > most)

    def rebuild_prompt_history(self) -> history.History:
        """Make the prompt history anew from the logs: the newest hundred prompts, by their sessions' beginning.

        A log that cannot be read is left out; what is added to the history meanwhile stays in it. Raises ``BusyError``
        and ``StoreIOError`` for the history itself.
        Memory is a hundred prompts and one line.
        """
        before = history.read(self.history_path).entries
        newest: deque[history.PromptEntry] = deque(maxlen=history.KEPT)
        sessions = sorted(self.list().sessions, key=lambda one: (one.created_at or "", one.session_id))
        for session in sessions:
            try:
                log = read_log(Path(session.path))
                metadata = log.metadata()
                texts = (text for text in map(_prompt, log.entries()) if text is not None and text.strip())
                newest.extend([prompt_entry(metadata, text) for text in deque(texts, maxlen=history.KEPT)])
            except StoreError:
                continue
        return history.replace_all(self.history_path, list(newest), before=before)

    def _logs(self) -> builtins.list[Path]:
        found = discover(Root(NAME, self.home))
        return [Path(source.path) for source in found.sources if source.kind == TRANSCRIPT]


def conversation_at(path: Path, opening: Sequence[Message] = ()) -> Conversation:
    """Return the messages that the next model call of the log at ``path`` continues. Cost: the log is read once.

    Raises ``NotFoundError``, ``MetadataError`` and ``StoreIOError``.
    """
    log = read_log(path)
    return rebuild(log.entries(), log.metadata().session_id, opening=opening)


def _id_of(path: Path) -> str | None:
    try:
        return read_log(path).metadata().session_id
    except StoreError:
        return None


def _has_prompt(path: Path) -> bool:
    try:
        return any(entry.event is not None and entry.event.is_prompt for entry in read_log(path).entries())
    except StoreError:
        return False


def _prompt(entry: Entry) -> str | None:
    return entry.event.text if entry.event is not None and entry.event.is_prompt else None
