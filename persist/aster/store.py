"""Aster's store for a program that talks: begin a session, find it again, go on where it stopped (DESIGN 5 and 12).

The one door for an agent's own loop. Answers from the files alone, needs no index, and knows none. A session belongs to
the git root of its folder, compared as a path: two projects whose paths have one slug share a folder and nothing else.
New sessions go to the newest home; those of older homes are read, and written to, where they lie.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from persist.agents.aster import shapes
from persist.agents.aster.agent import locate
from persist.aster.chat import ChatMessage, resume_turns, to_chat_messages
from persist.aster.listing import Listing, SessionEntry, describe, find_session, latest, list_sessions, transcripts
from persist.aster.places import find_in_folder, project_folder
from persist.aster.transcript import Header, Transcript, read_header
from persist.aster.writer import SessionWriter
from persist.errors import RefusedError, StoreError
from persist.lines import decode_line, iter_lines
from persist.places import current_environment
from persist.projects import ProjectResolver, project_of
from persist.regular import open_regular
from persist.sources import Environment, Trouble

if TYPE_CHECKING:
    from persist.digest import Digest


@dataclass(frozen=True, slots=True)
class Resumed:
    """What a program needs to go on with a session.

    ``turns`` counts the prompts of the whole session, ``turns_shown`` those that ``messages`` still hold behind a
    summary. ``newer_version`` is the header's format version where it is newer than ours, or no number (then 0): the
    session can be read and is never written to. ``damaged_lines`` could not be read.
    """

    session_id: str
    path: Path
    header: Header | None
    title: str | None
    turns: int
    turns_shown: int
    messages: tuple[ChatMessage, ...]
    newer_version: int | None
    damaged_lines: int


class Store:
    """The sessions of one or several data homes. ``home`` is written to; ``old_homes`` rank below it, in order."""

    def __init__(self, home: Path, old_homes: Sequence[Path] = ()) -> None:
        self.homes: tuple[Path, ...] = (home, *old_homes)

    @classmethod
    def current(cls, environment: Environment | None = None) -> Store:
        """Return the store of this process, or of an environment: the homes that ingest reads too."""
        home, *older = [root.path for root in locate(environment or current_environment())]
        return cls(home, older)

    @property
    def home(self) -> Path:
        """Where new sessions go."""
        return self.homes[0]

    def create(
        self,
        cwd: str,
        model: str | None = None,
        *,
        session_id: str | None = None,
        title: str | None = None,
        parent: str | None = None,
    ) -> SessionWriter:
        """Begin a session in the project of ``cwd``, an absolute path; the id is a new ULID where left out.

        ``parent`` is the session that a sub-agent works for. Raises what ``SessionWriter.create`` raises, and
        ``RefusedError`` also where an older home has the id.
        """
        root = project_of(cwd)
        if session_id is not None:
            self._refuse_existing(cwd, root, session_id)
        return SessionWriter.create(
            self.home, cwd, root, model, session_id=session_id, title=title or None, parent=parent
        )

    def open_or_create(self, cwd: str, model: str | None = None, *, session_id: str) -> SessionWriter:
        """Open the session that an id names in the project of ``cwd``, or begin it.

        Also found is one that Aster filed under the folder itself. Raises what ``SessionWriter.open_or_create`` raises.
        """
        root = project_of(cwd)
        found = self._in_project(cwd, root, session_id)
        if found is not None:
            return SessionWriter.open(found)
        return SessionWriter.open_or_create(self.home, cwd, root, model, session_id=session_id)

    def open(self, session_id: str) -> SessionWriter:
        """Open a session for appending, whatever its project. Raises what :meth:`find` and the writer raise."""
        return SessionWriter.open(self.path_of(session_id))

    def path_of(self, session_id: str, cwd: str | None = None) -> Path:
        """Return the file that an id names; of an id that several projects have, the one of ``cwd``'s project.

        Raises what :meth:`find` raises. Opens no file but that of ``cwd``'s project where the id is whole.
        """
        near = None if cwd is None else self._in_project(cwd, project_of(cwd), session_id)
        return near or find_session(self.homes, session_id)

    def list(self, project: str | None = None) -> Listing:
        """Return the sessions of all projects, or of one (an absolute path); newest created first.

        Cost: each transcript of the project is read once; of the others the header.
        """
        if project is None:
            return list_sessions(self.homes)
        entries: list[SessionEntry] = []
        troubles: list[Trouble] = []
        for path, home in self._of_project(project, troubles):
            try:
                entries.append(describe(path, home))
            except StoreError as error:
                troubles.append(Trouble(str(path), "unreadable", str(error)))
        entries.sort(key=lambda entry: (entry.created_at or "", entry.id), reverse=True)
        return Listing(tuple(entries), tuple(troubles))

    def find(self, session_id: str) -> SessionEntry:
        """Return the session that an id, or a prefix that fits one, names in any project.

        Raises ``NotFoundError``, ``AmbiguousError``, ``RefusedError`` for what cannot be an id, ``StoreIOError``.
        """
        path = self.path_of(session_id)
        home = next((home for home in self.homes if path.is_relative_to(home)), self.home)
        return describe(path, home)

    def latest(self, cwd: str) -> SessionEntry | None:
        """Return the last used session of the project of ``cwd`` that has a prompt.

        Imported sessions and those of sub-agents are none to go on with. Creates nothing.
        """
        candidates = self.list(project_of(cwd)).sessions
        return latest([entry for entry in candidates if entry.prompts and not _names_parent(entry.path)])

    def resume(self, session_id: str) -> Resumed:
        """Return the chat of a session for its next turn. Raises what :meth:`find` raises; creates nothing."""
        return resume_file(self.path_of(session_id))

    def digest(self, session_id: str, cwd: str | None = None) -> Digest:
        """Return a session in at most 24,000 bytes, for a model to learn from; ``cwd`` as for :meth:`path_of`.

        Raises what :meth:`find` raises. Without an index nobody knows what is a copy of another session.
        """
        from persist.agents.aster.agent import AGENT
        from persist.digest import Head
        from persist.digesting import digest_transcript

        path = self.path_of(session_id, cwd)
        home = next((home for home in self.homes if path.is_relative_to(home)), self.home)
        found = describe(path, home)
        project = _project(path, ProjectResolver())
        head = Head(found.id, AGENT.name, found.title, project, found.created_at, found.updated_at)
        return digest_transcript(AGENT, path, head)

    def _in_project(self, cwd: str, root: str, session_id: str) -> Path | None:
        resolver = ProjectResolver()
        for home in self.homes:
            for folder in dict.fromkeys((project_folder(home, root), project_folder(home, cwd))):
                found = find_in_folder(folder, session_id)
                if found is not None and _project(found, resolver) in (root, None):
                    return found
        return None

    def _refuse_existing(self, cwd: str, root: str, session_id: str) -> None:
        found = self._in_project(cwd, root, session_id)
        if found is not None:
            raise RefusedError(f"session {found.stem} exists already", "append to it, or choose another id")

    def _of_project(self, project: str, troubles: builtins.list[Trouble]) -> Iterator[tuple[Path, Path]]:
        resolver = ProjectResolver()
        for home, path in transcripts(self.homes, None, troubles):
            if _project(path, resolver) == project:
                yield path, home


def resume_file(path: Path) -> Resumed:
    """Return the chat in one transcript. Raises ``NotFoundError`` and ``StoreIOError``. Cost: the file is read once."""
    transcript = Transcript.load(path)
    header = transcript.header
    messages = tuple(to_chat_messages(transcript))
    version = header.version if header is not None else shapes.SUPPORTED_VERSION
    is_newer = version is None or version > shapes.SUPPORTED_VERSION
    return Resumed(
        session_id=(header.id if header is not None else None) or path.stem,
        path=path,
        header=header,
        title=transcript.display_title,
        turns=transcript.user_turns,
        turns_shown=resume_turns(messages),
        messages=messages,
        newer_version=(version or 0) if is_newer else None,
        damaged_lines=len(transcript.damaged),
    )


def _project(path: Path, resolver: ProjectResolver) -> str | None:
    """Return the project that a transcript's header tells; null for one without, or that cannot be read."""
    try:
        header = read_header(path)
    except StoreError:
        return None
    if header is None or not (header.cwd or header.repo_root):
        return None
    return resolver.project_of(header.cwd or header.repo_root or "", header.repo_root)


def _names_parent(path: Path) -> bool:
    """Whether a transcript's header names the session it works for; one that has just gone names none."""
    try:
        with open_regular(path) as file:
            for raw in iter_lines(file):
                for record in decode_line(raw.data).records:
                    if isinstance(record, dict) and record.get("type") == "session":
                        return shapes.plain(record.get("parent")) is not None
    except OSError:
        return False
    return False
