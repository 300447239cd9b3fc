"""What the functions of ``index`` return: frozen plain values, in no output's form.

Imports the standard library only. ``cli.shapes`` alone turns them into the JSON of ``asx --json``
(spec: output contract, version 1); a server or a page can do the same later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that went wrong with one source or line. ``kind``: damaged_line, unreadable, not_recognised, held …"""

    kind: str
    path: str
    line_number: int | None
    offset_bytes: int | None
    message: str


@dataclass(slots=True)
class SourceCounts:
    """What became of an agent's sources in one run; every source seen is in one of the others but ``removed``."""

    seen: int = 0
    new: int = 0
    tailed: int = 0
    replaced: int = 0
    unchanged: int = 0
    removed: int = 0
    held: int = 0
    failed: int = 0
    ignored: int = 0


@dataclass(slots=True)
class AgentReport:
    """One agent's part in an ingest. ``kept``: its transcripts are copied to the archive, so deletion loses nothing.

    ``empty_roots`` are those of ``roots`` below which nothing of the agent is, not even what is left out or in the way.
    """

    roots: list[str] = field(default_factory=list)
    missing_roots: list[str] = field(default_factory=list)
    empty_roots: list[str] = field(default_factory=list)
    kept: bool = False
    sources: SourceCounts = field(default_factory=SourceCounts)
    skipped_types: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class IngestReport:
    """What an ingest or rebuild did. Line counts are of this run; ``problems`` holds the first 100 of
    ``problems_total``; ``sessions`` and ``events`` are the index's totals afterwards."""

    index: Path
    agents: dict[str, AgentReport] = field(default_factory=dict)
    sessions: int = 0
    events: int = 0
    lines_seen: int = 0
    lines_indexed: int = 0
    lines_skipped: int = 0
    lines_damaged: int = 0
    bytes_pending: int = 0
    bytes_read: int = 0
    problems: list[Problem] = field(default_factory=list)
    problems_total: int = 0
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    wrote: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which the index and a fresh build differ: the view, and the two rows (or their absence)."""

    path: str
    what: str
    detail: str


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """Whether the index equals what a rebuild makes. ``apart`` lists held sources with the reason."""

    ok: bool
    sources_checked: int
    apart: tuple[tuple[str, str], ...]
    differences: tuple[Difference, ...]
    fulltext_ok: bool


@dataclass(frozen=True, slots=True)
class Rows:
    """A statement's answer: column names (duplicates kept), rows in order, and what was cut."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated_rows: bool
    truncated_cells: bool


@dataclass(frozen=True, slots=True)
class Report:
    """A named statement over the public views. ``parameters`` are the names it binds, in order.

    ``main_number`` is the column that its rows are compared by, where one number tells most of a row.
    """

    name: str
    about: str
    sql: str
    parameters: tuple[str, ...] = ()
    main_number: str | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a public view: its name, SQLite type and what it holds."""

    name: str
    type: str
    about: str


@dataclass(frozen=True, slots=True)
class Table:
    """A public view, or a full-text table that can be joined to one."""

    name: str
    kind: str
    about: str
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class SchemaDescription:
    """The public schema: the contract that ``asx schema`` prints."""

    generation: int
    tables: tuple[Table, ...]
    examples: tuple[Report, ...]


class Unkept(NamedTuple):
    """A transcript that is not in the archive as it is, and when it changed last."""

    path: str
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class AgentCopies:
    """How an agent's transcripts are kept: ``total`` have a copy, whether they are there or gone.

    ``missing`` are there and have none, ``older`` one that is not known to hold all that they hold now.
    """

    total: int
    missing: tuple[Unkept, ...]
    older: tuple[Unkept, ...]


@dataclass(frozen=True, slots=True)
class AgentStatus:
    """What the index holds of one agent. ``held`` lists (path, why) of sources that cannot be read now.

    ``copies`` is null where nothing is kept: neither does the configuration say so, nor is there any copy.
    """

    sources: int
    sessions: int
    events: int
    damaged_lines: int
    kept: bool
    oldest: str | None
    held: tuple[tuple[str, str], ...]
    copies: AgentCopies | None


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the index and what it holds."""

    path: Path
    exists: bool
    usable: bool
    why: str | None
    generation: int | None
    size_bytes: int
    stale: bool
    last_ingest_at: str | None
    agents: Mapping[str, AgentStatus]
    blocks: int
    archived_blocks: int
    prompt_history: int
    lines: Mapping[str, int]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session as listed. ``title`` is the recorded title, else the first line of the first prompt."""

    session_id: str
    agent: str
    project: str | None
    cwd: str | None
    title: str | None
    created_at: str | None
    updated_at: str | None
    model: str | None
    turns: int
    events: int
    parent_id: str | None
    forked_from: str | None
    paths: tuple[str, ...]
    size_bytes: int
    imported_from: str | None


@dataclass(frozen=True, slots=True)
class SessionTotals:
    """What a session came to with its sub-agents, ``sub_agents`` of them, at any depth.

    ``sums`` holds tokens and cost by the names of ``llm_calls``, null where no call tells; ``unknown`` how many of
    ``calls`` do not tell a number that others do: that sum is partial.
    """

    sub_agents: int
    turns: int
    events: int
    tool_calls: int
    calls: int
    sums: Mapping[str, float | None]
    unknown: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Preview:
    """The beginning of a session: its first turns as (role, first line), and the tool calls within the window.

    ``truncated`` when the window was too small for the transcript or there were more turns.
    """

    session: SessionRow
    selected_mode: str | None
    turns: tuple[tuple[str, str], ...]
    tool_call_count: int
    truncated: bool


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event as shown, its texts whole, read from the source."""

    event_index: int
    line_number: int
    offset_bytes: int
    turn_index: int | None
    ts: str | None
    kind: str
    event_type: str
    outcome: str | None
    text: str | None
    text_len: int
    tool_call_id: str | None
    tool_name: str | None
    tool_arguments: str | None
    model_name: str | None
    message_id: str | None
    canonical: bool
    source_path: str
