"""What a candidate's file says at this moment: the index finds, the file speaks (DESIGN 10).

Reads files, the few that are given out; never raises for one that is gone or cannot be read.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from index.recall.names import stem_of
from index.settings import Settings
from persist.errors import StoreIOError
from persist.events import Note, NoteFact
from persist.fingerprint import stat_of
from persist.memory.blocks import PROJECT_FILE, note_paths, read_block
from persist.memory.project import parse_facts, read_project_bytes
from persist.memory.standing import noted
from persist.recall.candidate import Candidate, fact_name
from persist.recall.frame import Quoted
from persist.recall.from_files import fact_candidate
from persist.regular import open_regular, read_regular
from persist.sources import BLOCK, Source

OWN_AGENT: Final = "aster"
_MAX_NOTE_BYTES: Final = 4 * 1024 * 1024


class State(Enum):
    """How a file was found."""

    WHOLE = "whole"
    DAMAGED = "damaged"
    GONE = "gone"
    UNREADABLE = "unreadable"


class Said(NamedTuple):
    """A file's state; the note of a block, as ``standing.noted`` gives it, or the candidate that a fact is by now.

    Both null where nothing is there. ``problem`` is one clause about a damaged or unreadable file.
    """

    state: State
    note: Note | None = None
    fact: Candidate | None = None
    text: str = ""
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryFiles:
    """Reads the files of candidates as their agents do, a project file once; for one prompt."""

    settings: Settings
    _facts: dict[Path, tuple[NoteFact, ...] | StoreIOError] = field(default_factory=dict)

    def read(self, candidate: Candidate) -> Said:
        """Return what the file of a candidate says now."""
        if is_fact(candidate):
            return self._fact(candidate)
        if candidate.agent == OWN_AGENT:
            return _block(Path(candidate.path))
        return self._note(candidate)

    def _fact(self, candidate: Candidate) -> Said:
        """Return the fact of the same words, wherever it stands by now, else the one on its line."""
        path = Path(candidate.path)
        if path not in self._facts:
            self._facts[path] = _facts_in(path.parent)
        facts = self._facts[path]
        if isinstance(facts, StoreIOError):
            return _not_read(path, str(facts.__cause__ or facts))
        at_line = [fact for fact in facts if fact_name(fact.line_number) == candidate.name]
        now = ((fact, fact_candidate(candidate.path, fact)) for fact in (*at_line, *facts))
        same = ((fact, found) for fact, found in now if found.body_words == candidate.body_words)
        there = ((fact, fact_candidate(candidate.path, fact)) for fact in at_line)
        for fact, found in chain(same, there):
            return Said(State.WHOLE, fact=found, text=fact.text)
        return Said(State.GONE)

    def _note(self, candidate: Candidate) -> Said:
        """Read another agent's note."""
        path = Path(candidate.path)
        read_note = self.settings.agent(candidate.agent).read_note
        try:
            found = stat_of(path.stat())
            data = read_regular(path, _MAX_NOTE_BYTES)
        except OSError as error:
            return _not_read(path, error.strerror or str(error))
        if read_note is None:
            return Said(State.GONE)
        source = Source(candidate.agent, BLOCK, candidate.path, str(path.parent), found)
        return Said(State.WHOLE, noted(stem_of(candidate.path), read_note(source, data)))


def is_fact(candidate: Candidate) -> bool:
    """Tell whether a candidate is a fact of ASTER.md, not a block."""
    return candidate.name.startswith(f"{PROJECT_FILE}:") and candidate.path.endswith(f"/{PROJECT_FILE}")


def quoted(candidate: Candidate, said: Said) -> Quoted:
    """Return what is given out of a candidate; ``said`` must hold its note or fact."""
    note = said.note
    if note is None:
        return Quoted(candidate.name, candidate.path, "", said.text, candidate.kind, None)
    return Quoted(
        candidate.name,
        candidate.path,
        note.description,
        note.body,
        candidate.kind,
        note.updated_at,
        has_command=candidate.agent == OWN_AGENT,
    )


def unread_notes(folder: Path) -> list[tuple[str, str]]:
    """Return the notes of a memory folder that cannot be read, each with the reason. Raises ``StoreIOError``."""
    found = []
    for path in note_paths(folder):
        try:
            with open_regular(path) as file:
                file.read(1)
        except OSError as error:
            found.append((str(path), error.strerror or str(error)))
    return found


def _block(path: Path) -> Said:
    block = read_block(path)
    if block.unread is not None:
        return _not_read(path, block.unread)
    state = State.WHOLE if block.problem is None else State.DAMAGED
    return Said(state, noted(path.stem, block.note), problem=block.problem)


def _facts_in(folder: Path) -> tuple[NoteFact, ...] | StoreIOError:
    """Return the facts of a folder's project file, or why it cannot be read."""
    try:
        return tuple(parse_facts(read_project_bytes(folder) or b""))
    except StoreIOError as error:
        return error


def _not_read(path: Path, reason: str) -> Said:
    if not os.path.lexists(path):
        return Said(State.GONE)
    return Said(State.UNREADABLE, problem=f"cannot be read: {reason}")
