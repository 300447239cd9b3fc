"""Imports other agents' sessions into the store (``spec/aster.md`` 5): which, under which id, and what became of each.

Idempotent: a session whose id stands in any project of any home is left as it is, also when its original grew since;
that is told. One file or database that cannot be read hides no other. Foreign files are only read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Final

from persist import times
from persist.aster.importing import claude_code, codex, cursor, hermes, opencode
from persist.aster.importing.candidates import (
    CLAUDE_CODE,
    CODEX,
    CURSOR,
    HERMES,
    OPENCODE,
    Candidate,
    Look,
    Offer,
    SubAgent,
    Told,
    Unread,
)
from persist.aster.importing.database_sessions import problem_of
from persist.aster.importing.report import ImportReport, Outcome, Passed, Wanted
from persist.aster.importing.rounds import Rounds
from persist.aster.importing.sessions import EARLIEST, Ids, header_of, ids_of, one_line, peek, records_of
from persist.aster.importing.target import Draft, import_lock, make_durable
from persist.aster.places import SESSIONS, new_session_path, transcripts_in
from persist.aster.transcript import read_header
from persist.config import exclusion
from persist.errors import RefusedError, StoreError, StoreIOError
from persist.ids import slug
from persist.projects import ProjectResolver

SOURCES: Final[Mapping[str, Callable[[Look], Iterator[Offer]]]] = {
    CLAUDE_CODE: claude_code.offers,
    CODEX: codex.offers,
    CURSOR: cursor.offers,
    OPENCODE: opencode.offers,
    HERMES: hermes.offers,
}
"""What each agent's sources offer."""

_READINGS: Final = 3
"""How often a database is read that is written to meanwhile."""


def import_sessions(home: Path, homes: Sequence[Path], wanted: Wanted, looks: Mapping[str, Look]) -> ImportReport:
    """Import what is wanted into ``home`` and return the report.

    ``homes`` are all data homes, for what is there already; ``looks`` say for each agent where to look. Raises
    ``BusyError`` and ``StoreIOError`` where the store cannot be written at all; whatever is wrong with one source is
    an outcome. Memory: one line or cell, and one outcome for each session.
    """
    report = ImportReport(wanted.dry_run)
    with ExitStack() as stack:
        run = _Run(home, homes, wanted, stack)
        for agent in wanted.agents:
            passed = report.passed[agent] = Passed()
            for offer in SOURCES[agent](looks[agent]):
                outcome = run.take(offer, passed)
                if outcome is not None:
                    report.outcomes.append(outcome)
        make_durable(sorted(run.folders))
    return report


class _Run:
    """One import: what is there already, and whether the store was opened for writing."""

    def __init__(self, home: Path, homes: Sequence[Path], wanted: Wanted, stack: ExitStack) -> None:
        self._home = home
        self._homes = [home, *(other for other in homes if other != home)]
        self._wanted = wanted
        self._stack = stack
        self._resolver = ProjectResolver()
        self._covering = exclusion(wanted.excludes)
        self._there = _sessions_there(self._homes)
        self._is_open = False
        self.folders: set[Path] = set()
        """The project folders that sessions were placed in."""

    def take(self, offer: Offer, passed: Passed) -> Outcome | None:
        """Deal with one thing that a source holds; ``None`` where it is only counted."""
        if isinstance(offer, Unread):
            return Outcome(offer.agent, "failed", offer.path, reason=offer.reason)
        if isinstance(offer, SubAgent):
            passed.sub_agents += 1
            return None
        if self._covering(str(offer.path)) is not None:
            passed.excluded += 1
            return None
        try:
            told = offer.told if offer.knows_head else peek(offer)
            ids = ids_of(offer, told)
        except (OSError, sqlite3.Error) as error:
            return _failed(offer, problem_of(error))
        except RefusedError as error:
            return _failed(offer, str(error))
        root = self._project(told)
        if told.is_sub_agent:
            passed.sub_agents += 1
        elif self._wanted.project not in (None, root):
            passed.other_projects += 1
        elif not self._is_in_range(told.created_at or offer.changed_at):
            passed.outside_range += 1
        elif (there := self._there.get(ids.session_id)) is not None:
            return _existing(offer, ids, there)
        else:
            self._open_store()
            return self._import(offer, ids, root)
        return None

    def _open_store(self) -> None:
        """Keep other imports away, from the first session on that is to be written."""
        if not self._wanted.dry_run and not self._is_open:
            self._stack.enter_context(import_lock(self._home))
            self._there = _sessions_there(self._homes)
            self._is_open = True

    def _import(self, offer: Candidate, ids: Ids, root: str) -> Outcome:
        there = self._there.get(ids.session_id)
        if there is not None:  # another import put it there before this one could write
            return _existing(offer, ids, there)
        try:
            for _ in range(_READINGS):
                outcome = self._read_and_write(offer, ids, root)
                if outcome is not None:
                    return outcome
            return _failed(offer, "it is being written to; try again shortly", ids)
        except (OSError, sqlite3.Error) as error:
            return _failed(offer, problem_of(error), ids)
        except StoreError as error:
            return _failed(offer, str(error), ids)

    def _read_and_write(self, offer: Candidate, ids: Ids, root: str) -> Outcome | None:
        """Read a session once and write it; ``None`` where its source did not stand still."""
        told = offer.told.copy()
        rounds = Rounds(lambda: told.created_at or offer.changed_at or EARLIEST)
        with ExitStack() as stack:
            draft = None if self._wanted.dry_run else stack.enter_context(Draft(self._home))
            try:
                with closing(records_of(offer, told, rounds)) as records:
                    count = draft.add(records) if draft is not None else sum(1 for _ in records)
            except sqlite3.Error:
                if offer.is_whole():
                    raise
                return None
            if not offer.is_whole():
                return None
            outcome = Outcome(
                agent=offer.agent,
                status="imported" if rounds.holds_talk else "empty",
                source_path=str(offer.path),
                session_id=ids.session_id,
                original_id=ids.original_id,
                title=one_line(told.title),
                created_at=told.created_at or rounds.first_ts or offer.changed_at,
                cwd=told.cwd,
                messages=count,
                damaged=told.damaged,
            )
            if not rounds.holds_talk:
                return outcome
            target = new_session_path(self._home, root, ids.session_id)
            if draft is not None:
                draft.place(target, header_of(outcome, told, root))
                self.folders.add(target.parent)
            self._there[ids.session_id] = target
            return replace(outcome, target=target)

    def _project(self, told: Told) -> str:
        """Return the root of a session's project; that of a folder that is gone is the wanted one if it lay below."""
        wanted = self._wanted.project
        recorded = [folder for folder in (told.root, told.cwd) if folder] or [""]
        for folder in recorded if wanted is not None else ():
            lies_below = f"{folder.rstrip('/')}/".startswith(f"{wanted}/")
            if self._resolver.project_of(folder, wanted if lies_below else None) == wanted:
                return wanted
        return self._resolver.project_of(recorded[0])

    def _is_in_range(self, created_at: str | None) -> bool:
        since, until = self._wanted.since, self._wanted.until
        if since is None and until is None:
            return True
        return created_at is not None and (since or "") <= created_at and (until is None or created_at < until)


def _existing(offer: Candidate, ids: Ids, there: Path) -> Outcome:
    """Return the outcome for an id that is taken: by this session, or by another whose id has the same slug."""
    changed_at = None
    try:
        header = read_header(there)
        changed_at = times.from_ns(there.stat().st_mtime_ns)
    except (OSError, StoreError):  # it stays as it is, whatever it is
        header = None
    origin = header.imported_from if header is not None else None
    if origin is not None and origin not in (ids.imported_from, ids.guessed_from):
        return _failed(offer, f"its name {ids.session_id} is taken by an import of another session", ids)
    return Outcome(
        agent=offer.agent,
        status="existing",
        source_path=str(offer.path),
        session_id=ids.session_id,
        original_id=ids.original_id,
        target=there,
        changed_since=changed_at is not None and offer.changed_at is not None and offer.changed_at > changed_at,
    )


def _failed(offer: Candidate, reason: str, ids: Ids | None = None) -> Outcome:
    return Outcome(
        agent=offer.agent,
        status="failed",
        source_path=str(offer.path),
        session_id=ids.session_id if ids else None,
        original_id=ids.original_id if ids else offer.told.session_id,
        reason=reason,
    )


def _sessions_there(homes: Sequence[Path]) -> dict[str, Path]:
    """Return every session's file by the slug of its name, the first home's before the others'; opens none."""
    there: dict[str, Path] = {}
    for home in homes:
        try:
            folders = sorted(path for path in (home / SESSIONS).iterdir() if path.is_dir())
        except OSError:
            continue
        for folder in folders:
            try:
                paths = transcripts_in(folder)
            except StoreIOError:
                continue  # placing a session there asks again, and fails
            for path in paths:
                there.setdefault(slug(path.stem), path)
    return there
