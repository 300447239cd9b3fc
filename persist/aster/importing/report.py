"""What an import is asked for, and what it says became of everything. Values only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from persist.aster.importing.candidates import CLAUDE_CODE, CODEX, CURSOR, HERMES, OPENCODE

AGENTS: Final = (CLAUDE_CODE, CODEX, CURSOR, OPENCODE, HERMES)
"""The agents that sessions are imported from, in the order in which they are."""

Status = Literal["imported", "existing", "empty", "failed"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be imported. ``project`` is a project's root, null for all; ``since`` and ``until`` (exclusive) are
    borders of ``created_at`` in the index's form. ``excludes`` are those of the configuration: such files and databases
    are passed over unread. ``dry_run`` writes nothing."""

    agents: Sequence[str] = AGENTS
    project: str | None = None
    since: str | None = None
    until: str | None = None
    excludes: Sequence[str] = ()
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one session, file or database. ``session_id`` is the imported session's id, ``original_id`` the
    agent's. ``messages`` counts records written; ``changed_since``: the original was written to after the import."""

    agent: str
    status: Status
    source_path: str
    session_id: str | None = None
    original_id: str | None = None
    target: Path | None = None
    title: str | None = None
    created_at: str | None = None
    cwd: str | None = None
    messages: int = 0
    damaged: int = 0
    changed_since: bool = False
    reason: str | None = None


@dataclass(slots=True)
class Passed:
    """How many sessions of a source were passed over, and why."""

    other_projects: int = 0
    outside_range: int = 0
    sub_agents: int = 0
    excluded: int = 0


@dataclass(slots=True)
class ImportReport:
    """What an import did, in the order in which it went."""

    dry_run: bool
    outcomes: list[Outcome] = field(default_factory=list)
    passed: dict[str, Passed] = field(default_factory=dict)

    def of(self, agent: str, status: Status) -> list[Outcome]:
        """Return the outcomes of one source and status."""
        return [outcome for outcome in self.outcomes if (outcome.agent, outcome.status) == (agent, status)]
