"""``asx status``: what the index holds and whether it is up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cli import options, output, shapes
from cli.moments import age, count, size
from cli.settings import open_settings
from cli.tables import Column, table

if TYPE_CHECKING:
    from index.results import AgentStatus, Status

EXAMPLES: Final = ("asx status", "asx status --json")
_COLUMNS: Final = (
    Column("agent"),
    Column("sources", right=True),
    Column("sessions", right=True),
    Column("events", right=True),
    Column("oldest", right=True, drop=3),
    Column("damaged", right=True, drop=1),
    Column("held", right=True, drop=2),
    Column("kept", drop=4),
)
_ALWAYS: Final = ("agent", "sources", "sessions", "events", "oldest")
_SHOWN_HELD: Final = 10


def command(json: options.Json = False, index: options.Index = None) -> int:
    """Say what the index holds and whether it is up to date.

    Changes nothing. Without an index it says so and how to make one. Names what cannot be read now, counts the damaged
    lines that asx report damaged-lines lists, and the transcripts that have no kept copy yet, or an older one.
    """
    from index.status import status

    found = status(open_settings(index))
    if json:
        output.emit_json(shapes.status(found))
    else:
        _print(found)
    return 0


def _print(found: Status) -> None:
    path = output.safe_line(str(found.path))
    if not found.exists:
        output.line(f"no index at {path}; run: asx ingest")
        return
    if not found.usable:
        output.line(output.safe_line(found.why or f"{path} cannot be used; run: asx rebuild"))
        return
    made = f"last ingest {age(found.last_ingest_at)} ago" if found.last_ingest_at else "never ingested"
    output.line(f"{path}  {size(found.size_bytes)}, {made.replace('now ago', 'just now')}")
    _print_agents(found)
    memory = count(found.blocks, "memory block") + (
        f" ({found.archived_blocks:,} archived)" if found.archived_blocks else ""
    )
    output.line(f"{memory}, {count(found.prompt_history, 'prompt history entry', 'prompt history entries')}")
    _tell_troubles(found)


def _print_agents(found: Status) -> None:
    agents = [
        (
            name,
            f"{one.sources:,}",
            f"{one.sessions:,}",
            f"{one.events:,}",
            age(one.oldest),
            f"{one.damaged_lines:,}" if one.damaged_lines else None,
            f"{len(one.held):,}" if one.held else None,
            _kept(one),
        )
        for name, one in found.agents.items()
    ]
    if not agents:
        output.talk("the index is empty; asx paths prints where agents' files are looked for")
        return
    used = [at for at, column in enumerate(_COLUMNS) if column.title in _ALWAYS or any(row[at] for row in agents)]
    rows = [[row[at] for at in used] for row in agents]
    for text in table([_COLUMNS[at] for at in used], rows, output.table_columns()):
        output.line(text)


def _kept(one: AgentStatus) -> str | None:
    """Return whether an agent's transcripts are kept, and how many of them are not as they are now."""
    if not one.kept:
        return None
    behind = len(one.copies.missing) + len(one.copies.older) if one.copies else 0
    return f"all but {behind:,}" if behind else "yes"


def _tell_troubles(found: Status) -> None:
    held = [(path, why) for one in found.agents.values() for path, why in one.held]
    for path, why in held[:_SHOWN_HELD]:
        output.talk(f"{output.safe_line(path)}: {output.safe_line(why)}")
    if len(held) > _SHOWN_HELD:
        output.talk(f"and {len(held) - _SHOWN_HELD:,} more that cannot be read now; asx status --json lists them")
    damaged = sum(one.damaged_lines for one in found.agents.values())
    if damaged:
        output.talk(f"{count(damaged, 'line is', 'lines are')} damaged; asx report damaged-lines lists them")
    for note in found.notes:
        output.talk(note)
    if found.stale:
        output.talk(f"{found.why or 'the files are newer than the index'}; run: asx ingest")
