"""What a source is, and what an agent module must offer.

Pure declarations; ``persist.fingerprint`` and ``persist.reading`` do the I/O. Adding an agent is one module in
``persist.agents`` that defines an :class:`Agent`, its fixtures, and one row in ``docs/agents.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from persist.events import Note, NoteFact, Parsed

TRANSCRIPT: Final = "transcript"
HISTORY: Final = "history"
JOURNAL: Final = "journal"
BLOCK: Final = "block"
PROJECT_MEMORY: Final = "project_memory"
LINE_KINDS: Final = frozenset({TRANSCRIPT, HISTORY, JOURNAL})
"""Kinds that are read line by line from a checkpoint; the others are read whole."""

State: TypeAlias = dict[str, Any]
"""A parser's memory at a line border: a JSON object under 64 KiB, whatever the file's size."""
Record: TypeAlias = Any
"""One decoded JSON value."""


class Stat(NamedTuple):
    """What ``stat`` tells of a file, as the fingerprint compares it."""

    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class Source(NamedTuple):
    """One file that an agent writes, as found by ``discover``.

    ``path`` is absolute and unresolved below its root; ``kind`` is one of this module's constants.
    ``path_tells`` is what the path tells and the content may not (a sub-agent's parent id, an archived block).
    """

    agent: str
    kind: str
    path: str
    root: str
    stat: Stat
    path_tells: str = ""


class Trouble(NamedTuple):
    """A place that could not be looked into, or a file that is not a transcript."""

    path: str
    kind: str
    message: str


class Root(NamedTuple):
    """A folder (or file) where one agent keeps sources. ``rank`` 0 wins over older homes (DESIGN 5)."""

    agent: str
    path: Path
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """What one look at a root gave: sources in path order, what is in the way, and whether it was there.

    Every path is text that can be stored: a file whose name is none is in the way.
    """

    root: Root
    sources: tuple[Source, ...]
    troubles: tuple[Trouble, ...] = ()
    exists: bool = True


class Line(NamedTuple):
    """Where a record stands: 1-based physical line, byte offset of the line's start in the file."""

    number: int
    offset_bytes: int


class Parser(Protocol):
    """Turns records of one source into events, in order.

    A record's outcome depends only on the state and the record. ``feed`` builds everything first and
    changes its state last, so that a :class:`persist.errors.ShapeError` leaves the state as it was.
    """

    @property
    def session_id(self) -> str | None:
        """The session's id as far as the records told it; once known it does not change."""

    @property
    def names_parent(self) -> bool:
        """Whether the head of the file names a parent or fork origin (DESIGN 6, copies)."""

    @property
    def recognised(self) -> bool:
        """Whether any record so far was of this agent's format."""

    def feed(self, record: Record, line: Line) -> Parsed:
        """Read one JSON value. Raises ``ShapeError`` when it is not of its kind's shape."""

    def save(self) -> State:
        """Return the state after the last record, to be given to ``open_parser`` later."""


OpenParser: TypeAlias = Callable[[Source, State | None], Parser]
ReadNote: TypeAlias = Callable[[Source, bytes], Note]
ReadNoteFacts: TypeAlias = Callable[[Source, bytes], list[NoteFact]]
Resume: TypeAlias = Callable[[str, str | None], tuple[str, ...]]
"""From a session's id and its folder, null where that is gone: the words of a command, the program first."""


class Environment(NamedTuple):
    """What a program sees of the machine, as plain values, so that places can be computed and tested."""

    variables: Mapping[str, str]
    home: Path
    platform: str = "linux"


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent: its name, where its sources lie, how its records become events, what it leaves out.

    ``skips`` maps record types that are left out by design to the reason, for the docs and for ``asx schema``.
    ``deletes_after_days`` is set for agents that delete their own transcripts (DESIGN 8). ``resume`` gives the command
    that goes on with a session in the agent itself, to be run in the session's folder; no words where that cannot be
    done. It is null for an agent that has no such command.
    """

    name: str
    title: str
    locate: Callable[[Environment], list[Root]]
    discover: Callable[[Root], Found]
    open_parser: OpenParser
    read_note: ReadNote | None = None
    read_note_facts: ReadNoteFacts | None = None
    skips: Mapping[str, str] = field(default_factory=dict)
    deletes_after_days: int | None = None
    resume: Resume | None = None
    parser_version: int = 1
