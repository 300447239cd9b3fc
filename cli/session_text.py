"""Shows sessions and events to a person."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence
from itertools import takewhile
from operator import eq
from typing import TYPE_CHECKING, Final

from cli import output
from cli.moments import age, count, local, size
from cli.search_words import home_path
from cli.tables import Column, table

if TYPE_CHECKING:
    from index.results import EventRow, SessionRow, SessionTotals

MAX_SHOWN_CHARACTERS: Final = 2000
"""Of one event in a whole session; ``asx show ID:EVENT`` and ``--json`` have all of it."""
_COLUMNS: Final = (
    Column("age", right=True),
    Column("agent", drop=1),
    Column("turns", right=True, drop=3),
    Column("id"),
    Column("title", shrinks_to=20),
    Column("project", shrinks_to=16, drop=2, keeps_end=True),
)
_TREE_COLUMNS: Final = (
    *_COLUMNS[:3],
    Column("tools", right=True, drop=4),
    Column("calls", right=True, drop=5),
    Column("tokens", right=True, drop=3),
    Column("cost", right=True, drop=2),
    *_COLUMNS[3:4],
    Column("sub-agents"),
    *_COLUMNS[4:],
)
_OF_A_PERSON: Final = "user_message"
"""The type that stands out in a whole session, so that the eye finds the turns."""
_OF_TOOLS: Final = "tool_"
"""How the types of calls and results begin."""
FOLDED_CHARACTERS: Final = 100
"""Of a tool's arguments or result in a whole session; ``--full`` and ``asx show ID:EVENT`` have all of it."""
_SHOWN_AS: Final = {
    "context_compaction_result": "summary of what came before",
    "context_eviction": "left out of the context",
    "session_title": "title",
}
"""What stands in a session and was said by nobody, in words."""
_SHORT_ID: Final = 8
"""Characters of an id that a person types; more where listed ids share them."""


def print_sessions(
    rows: Iterable[SessionRow], *, with_project: bool, partial: Collection[SessionRow] = frozenset()
) -> None:
    """Print a table of sessions; ages are of the last activity. For a person ids are short, in a pipe whole.

    Turns of those in ``partial`` were counted in part of the transcript, and have a ``+``.
    """
    columns = _COLUMNS if with_project else _COLUMNS[:-1]
    rows = list(rows)
    shown = _shown_ids(rows)
    lines = [
        (
            age(row.updated_at or row.created_at),
            row.agent,
            f"{row.turns}+" if row in partial else row.turns,
            shown[row.session_id],
            row.title or _in_place_of_a_title(row),
            home_path(row.project or ""),
        )[: len(columns)]
        for row in rows
    ]
    for text in table(columns, lines, output.table_columns()):
        output.line(text)


def _in_place_of_a_title(row: SessionRow) -> str | None:
    if "/" in row.session_id:
        return "sub-agent"
    return None if row.events or row.created_at or row.project else "(no session in this file)"


def print_trees(pairs: Iterable[tuple[SessionRow, SessionTotals]], *, with_project: bool) -> None:
    """Print a table of sessions as :func:`print_sessions` does, the numbers those with their sub-agents."""
    columns = _TREE_COLUMNS if with_project else _TREE_COLUMNS[:-1]
    pairs = list(pairs)
    shown = _shown_ids([row for row, _ in pairs])
    lines = [
        (
            age(row.updated_at or row.created_at),
            row.agent,
            totals.turns,
            totals.tool_calls,
            totals.calls,
            _all_tokens(totals),
            _cost(totals),
            shown[row.session_id],
            f"with {count(totals.sub_agents, 'sub-agent')}" if totals.sub_agents else None,
            row.title,
            home_path(row.project or ""),
        )[: len(columns)]
        for row, totals in pairs
    ]
    for text in table(columns, lines, output.table_columns()):
        output.line(text)


def print_totals(totals: SessionTotals) -> None:
    """Print what a session came to with its sub-agents, below its head."""
    held = f"{count(totals.tool_calls, 'tool call')}, {count(totals.calls, 'provider call')}"
    if totals.sub_agents:
        held = f"{count(totals.turns, 'turn')}, {count(totals.events, 'event')}, {held}"
        held = f"{held}, with {count(totals.sub_agents, 'sub-agent')}"
    _print_fact("in all", held)
    known = [
        f"{value:,} {name}"
        for name, value in (
            ("input", totals.sums["input_tokens"]),
            ("output", totals.sums["output_tokens"]),
            ("from the cache", totals.sums["cache_read_tokens"]),
            ("into the cache", totals.sums["cache_write_tokens"]),
            ("of the output reasoning", totals.sums["reasoning_tokens"]),
        )
        if value is not None
    ]
    if known:
        _print_fact("tokens", ", ".join(known))
    if totals.sums["cost_usd"] is not None:
        _print_fact("cost", f"${totals.sums['cost_usd']:,.2f}")
    if totals.unknown:
        left_out = (f"{name.replace('_', ' ')} of {count(calls, 'call')}" for name, calls in totals.unknown.items())
        _print_fact("unknown", ", ".join(left_out))


def _all_tokens(totals: SessionTotals) -> str:
    """Return input, output and cached tokens together; a ``+`` where some calls do not tell theirs."""
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    known = [value for name in names if (value := totals.sums[name]) is not None]
    return f"{sum(known):,}{'+' * any(name in totals.unknown for name in names)}" if known else ""


def _cost(totals: SessionTotals) -> str:
    cost = totals.sums["cost_usd"]
    return "" if cost is None else f"${cost:,.2f}{'+' * ('cost_usd' in totals.unknown)}"


def _shown_ids(rows: Sequence[SessionRow]) -> dict[str, str]:
    ids = [row.session_id for row in rows]
    return short_ids(ids) if output.is_terminal(sys.stdout) else dict(zip(ids, ids, strict=True))


def shown_title(title: str | None) -> str:
    """Return a title, or the prompt that stands for it, as one line of at most ``FOLDED_CHARACTERS``."""
    line = " ".join((title or "").split())
    return line if len(line) <= FOLDED_CHARACTERS else f"{line[: FOLDED_CHARACTERS - 1]}…"


def short_ids(ids: Sequence[str]) -> dict[str, str]:
    """Return for each id the shortest beginning that tells it from the others, 8 characters at least.

    A beginning of a sub-agent's id, ``PARENT/AGENT``, means its parent, so it is only shown: ``6b1f0c52…/a7c41e9``.
    """
    ordered = sorted({id_ for id_ in ids if "/" not in id_})
    short = {}
    for id_ in ids:
        parent, slash, agent = id_.partition("/")
        short[id_] = f"{parent[:_SHORT_ID]}…/{agent}" if slash and len(parent) > _SHORT_ID else id_
    for at, id_ in enumerate(ordered):
        near = [*ordered[max(at - 1, 0) : at], *ordered[at + 1 : at + 2]]
        shared = max((len([*takewhile(bool, map(eq, id_, other))]) for other in near), default=0)
        short[id_] = id_[: max(_SHORT_ID, shared + 1)]
    return short


def print_head(row: SessionRow) -> None:
    """Print what is known of a session, one fact a line."""
    facts = [
        ("session", row.session_id),
        ("agent", row.agent),
        ("title", row.title),
        ("project", row.project),
        ("folder", row.cwd if row.cwd != row.project else None),
        ("model", row.model),
        ("began", local(row.created_at)),
        ("last", local(row.updated_at)),
        ("parent", row.parent_id),
        ("fork of", row.forked_from),
        ("imported", row.imported_from),
        ("holds", f"{count(row.turns, 'turn')}, {count(row.events, 'event')}, {size(row.size_bytes)}"),
        *(("file", path) for path in row.paths),
    ]
    for name, value in facts:
        if value:
            _print_fact(name, value)


def _print_fact(name: str, value: str) -> None:
    output.line(f"{output.styled(f'{name:<9}', 'quiet')} {output.safe_line(value)}")


def print_event(row: EventRow, *, at_most: int | None = None, marked: bool = False) -> None:
    """Print one event: a line that tells what it is, then its texts, cut to ``at_most`` characters each.

    ``marked`` puts a ``>`` before it, where it is the one among its neighbours that was asked for.
    """
    _print_event_head(row, [">"] if marked else [])
    for text in (row.tool_arguments, row.text):
        if text:
            shown = text if at_most is None else text[:at_most]
            output.line(output.safe(shown.rstrip("\n")))
            if len(shown) < len(text):
                output.line(output.styled(f"… {count(len(text) - len(shown), 'more character')}", "quiet"))


def print_folded(row: EventRow) -> None:
    """Print one event of a whole session: what tools were given and gave on one line, other texts as usual."""
    if not row.event_type.startswith(_OF_TOOLS):
        print_event(row, at_most=MAX_SHOWN_CHARACTERS)
        return
    _print_event_head(row, [])
    for text in (row.tool_arguments, row.text):
        if text:
            line = next((line.strip() for line in text.split("\n") if line.strip()), "")
            shown = line[:FOLDED_CHARACTERS]
            rest = len(text.strip()) - len(shown)
            more = output.styled(f"  … {count(rest, 'more character')}", "quiet") if rest else ""
            output.line(f"  {output.safe_line(shown)}{more}")


def _print_event_head(row: EventRow, parts: list[str | None]) -> None:
    parts += [str(row.event_index), local(row.ts), _SHOWN_AS.get(row.event_type, row.event_type)]
    parts += [row.tool_name, row.outcome]
    if not row.canonical:
        parts.append("copy")
    style = "strong" if row.event_type == _OF_A_PERSON else "quiet"
    output.line(output.styled(output.safe_line("  ".join(part for part in parts if part)), style))
