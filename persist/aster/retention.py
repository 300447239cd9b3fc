"""Which of a project's sessions go when a person thins them out, and which are left alone whatever was asked.

The choice is pure (``chosen``); around it the transcripts are read, and looked at once more before each is removed.
Aster's own prune deletes what it cannot read, what another program has just opened, and the sessions of another project
whose path has the same slug (``spec/aster.md`` 8, 9): here each of those stays, and is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from persist.agents.aster.shapes import SUPPORTED_VERSION
from persist.aster.identify import AGENT, is_link_inside
from persist.aster.listing import SessionEntry, describe, transcripts
from persist.aster.transcript import Transcript, read_header
from persist.errors import BusyError, StoreError
from persist.files.in_use import why_in_use
from persist.files.lock import LOCK_NAME, locked_if_free
from persist.files.redo import forget_left
from persist.files.remove import refuse_outside, remove_inside
from persist.files.temporary import sweep
from persist.fingerprint import stat_of
from persist.ids import project_slug
from persist.known_sessions import StoredFile, StoredSession
from persist.projects import ProjectResolver
from persist.removal import forget_prompts, locks_of
from persist.sources import Trouble

EMPTY: Final = "empty"
OLDER: Final = "older"
SURPLUS: Final = "surplus"


@dataclass(frozen=True, slots=True)
class Rules:
    """What goes: ``older_than`` (index time form) by last activity, all but the ``keep`` newest, and ``empty`` ones.

    A session goes when one rule says so; those that go by another do not count among the ``keep``.
    """

    keep: int | None = None
    older_than: str | None = None
    empty: bool = False


class Candidate(NamedTuple):
    """A session of the project: its entry, its files (older homes may have one of the same name), their state.

    ``state`` is that of the entry's file when it was read; ``is_empty`` is set only where that is certain.
    """

    entry: SessionEntry
    files: tuple[StoredFile, ...]
    state: tuple[int, ...]
    is_empty: bool


class Going(NamedTuple):
    """A session that goes, and which rule says so."""

    candidate: Candidate
    why: str


class LeftAlone(NamedTuple):
    """A file that is not touched, and why."""

    path: Path
    why: str


def chosen(candidates: Sequence[Candidate], rules: Rules) -> list[Going]:
    """Return the sessions that go, newest activity first; pure."""
    going: list[Going] = []
    kept = 0
    for candidate in sorted(candidates, key=_activity, reverse=True):
        if rules.empty and candidate.is_empty:
            going.append(Going(candidate, EMPTY))
        elif rules.older_than is not None and (candidate.entry.updated_at or "") < rules.older_than:
            going.append(Going(candidate, OLDER))
        elif rules.keep is not None and kept >= rules.keep:
            going.append(Going(candidate, SURPLUS))
        else:
            kept += 1
    return going


def _activity(candidate: Candidate) -> tuple[str, str]:
    return candidate.entry.updated_at or "", candidate.entry.id


def candidates_of(homes: Sequence[Path], project: str) -> tuple[list[Candidate], list[LeftAlone]]:
    """Return the sessions whose recorded folder belongs to ``project``, and the files that are left alone.

    A file without a header belongs to no project and is not told; one in the folder of the project's slug that cannot
    be read is, and one of another format version, whose last activity nobody here can tell.
    Cost: the headers of all transcripts, and the project's transcripts whole.
    """
    resolver = ProjectResolver()
    troubles: list[Trouble] = []
    groups: dict[Path, list[tuple[Path, Path]]] = {}
    for home, path in transcripts(homes, None, troubles, shadowed=True):
        if not is_link_inside(path, home):
            groups.setdefault(path.relative_to(home), []).append((home, path))
    found: list[Candidate] = []
    left = [LeftAlone(Path(trouble.path), trouble.message) for trouble in troubles]
    for places in groups.values():
        path = places[0][1]
        try:
            candidate = _candidate(places, project, resolver)
        except (StoreError, OSError) as error:
            if path.parent.name == project_slug(project):
                left.append(LeftAlone(path, "it cannot be read" if isinstance(error, OSError) else str(error)))
            continue
        if candidate is None:
            continue
        header = candidate.entry.header
        if header is not None and header.version != SUPPORTED_VERSION:
            left.append(LeftAlone(path, "its format version is another than this program knows"))
        else:
            found.append(candidate)
    return found, left


def _candidate(places: list[tuple[Path, Path]], project: str, resolver: ProjectResolver) -> Candidate | None:
    home, path = places[0]
    header = read_header(path)
    if header is None or not (header.cwd or header.repo_root):
        return None
    if resolver.project_of(header.cwd or header.repo_root or "", header.repo_root) != project:
        return None
    state = _state(path)
    entry = describe(path, home)
    files = tuple(StoredFile(AGENT, entry.id, one, its_home) for its_home, one in places)
    return Candidate(entry, files, state, _is_empty(entry))


def _is_empty(entry: SessionEntry) -> bool:
    """Whether every line of a session could be read, and nobody said anything in any of them."""
    if entry.prompts or (entry.header is not None and entry.header.version != SUPPORTED_VERSION):
        return False
    transcript = Transcript.load(entry.path)
    is_whole = not (transcript.damaged or transcript.unknown or transcript.pending_bytes)
    return is_whole and not any(message.is_visible or message.tool_calls for message in transcript.messages)


def _state(path: Path) -> tuple[int, ...]:
    return stat_of(path.stat())


def why_left(candidate: Candidate) -> str | None:
    """Return why a session's files are not to be touched now, ``None`` where nothing stands against it."""
    path = candidate.entry.path
    try:
        for file in candidate.files:
            refuse_outside(file.path, file.home)
        if path.is_symlink():
            return "it is a link"
        if _state(path) != candidate.state:
            return "it changed while it was looked at"
        return why_in_use(path)
    except (StoreError, OSError) as error:
        return str(error) if isinstance(error, StoreError) else f"it cannot be read: {error.strerror}"


class Outcome(NamedTuple):
    """What became of one session: why it was left alone, if it was, and why a history still has its prompts."""

    left: str | None = None
    history_trouble: str | None = None


def remove(candidate: Candidate) -> Outcome:
    """Remove one session if it is still as it was when it was chosen.

    Never waits for a lock, and never raises for the one session: what hinders is the answer.
    """
    why = why_left(candidate)
    if why is not None:
        return Outcome(why)
    entry = candidate.entry
    session = StoredSession(AGENT, entry.id, candidate.files)
    trouble = None
    try:
        for lock in locks_of(session):
            with locked_if_free(lock):
                pass
        trouble = forget_prompts(session)
        for file in candidate.files:
            with locked_if_free(file.path.with_name(LOCK_NAME)):
                sweep(file.path.parent)
                why = why_left(candidate) if file.path == entry.path else None
                if why is not None:
                    return Outcome(why, trouble)
                forget_left(file.path)
                remove_inside(file.path, file.home)
    except BusyError:
        return Outcome("another program writes in its folder", trouble)
    except StoreError as error:
        return Outcome(str(error), trouble)
    return Outcome(None, trouble)


def is_locked(candidate: Candidate) -> bool:
    """Whether another program holds the lock of the session's folder at this moment; makes no lock file."""
    lock = candidate.entry.path.with_name(LOCK_NAME)
    if not lock.exists():
        return False
    try:
        with locked_if_free(lock):
            return False
    except BusyError:
        return True
    except StoreError:
        return False
