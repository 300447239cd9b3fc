"""What a source of an import gives: a session that may be imported, and what is told of it while it is read.

Values only; imports nothing of the sources and nothing that writes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from persist.events import Event
from persist.sources import Environment

Group: TypeAlias = Sequence[Event]
"""The events of one record of a source, in its order."""
Groups: TypeAlias = Generator[Group, None, None]
"""A session while it is read: closing it closes the file or database."""

CLAUDE_CODE: Final = "claude-code"
CODEX: Final = "codex"
CURSOR: Final = "cursor"
OPENCODE: Final = "opencode"
HERMES: Final = "hermes"


@dataclass(slots=True)
class Told:
    """What is known of a session; its stream goes on filling it while the session is read.

    ``session_id`` is the agent's own id, ``root`` a recorded root of a repository; times are in the index's form.
    ``is_sub_agent``: it works for another session. ``damaged`` counts lines or records of which something was given up.
    """

    session_id: str | None = None
    cwd: str | None = None
    root: str | None = None
    created_at: str | None = None
    title: str | None = None
    model: str | None = None
    is_sub_agent: bool = False
    damaged: int = 0

    def copy(self) -> Told:
        """Return an independent copy."""
        return replace(self)


def always() -> bool:
    """Say that nothing changed: of sources that may grow while they are read."""
    return True


@dataclass(frozen=True, slots=True)
class Candidate:
    """A session that a source holds. ``told`` is what is known before it is read.

    ``path`` is the file or database; ``name`` what the imported session is named after, where that is not the agent's
    own id. ``stream`` reads the session from its beginning each time it is called; it raises ``OSError`` and
    ``sqlite3.Error``. ``knows_head``: ``told`` holds all that is to be known before the first message. ``is_whole``
    tells after a reading whether the source stood still meanwhile.
    """

    agent: str
    path: Path
    told: Told
    stream: Callable[[Told], Groups]
    name: str | None = None
    changed_at: str | None = None
    knows_head: bool = False
    is_whole: Callable[[], bool] = always


class Unread(NamedTuple):
    """A folder, file or database that could not be looked into, and why."""

    agent: str
    path: str
    reason: str


class SubAgent(NamedTuple):
    """A sub-agent's session, told by its place or its database: left out, and not read."""

    agent: str
    path: str


Offer: TypeAlias = Candidate | Unread | SubAgent


@dataclass(frozen=True, slots=True)
class Look:
    """Where a source is to be looked for, and how.

    ``folders`` are those that the configuration or a caller names; where there are none, the agent's own places.
    """

    environment: Environment
    folders: Sequence[Path] = field(default=())
    text_only: bool = False
