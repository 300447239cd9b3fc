"""Shows the hits of a search to a person: one block each, the span marked where colours are allowed."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from cli import cells, output
from cli.moments import age_of, count, local
from cli.shapes import STORE_AGENT
from cli.snippets import excerpt
from index.fields import SEARCHED

if TYPE_CHECKING:
    from index.freshness import Freshness
    from index.search import Hit, SearchResult

_INDENT: Final = "  "
_GAP: Final = "  "
_LEAST_PROJECT: Final = 8
_LINES_OF_A_BLOCK: Final = 2
"""Shown below the line of the hit: a block's name alone says too little."""


def print_hits(hits: Sequence[Hit]) -> None:
    """Print a block for each hit to stdout, with an empty line between two."""
    wide = output.columns()
    whole = output.table_columns()
    for number, hit in enumerate(hits):
        if number:
            output.line()
        output.line(output.styled(_heading(hit, whole), "quiet"))
        lines = _excerpt_lines(hit, wide - len(_INDENT))
        title = cells.cut(output.safe_line(hit.name or hit.session_title or ""), whole - len(_INDENT))
        if title and title not in map(output.without_styles, lines):
            output.line(_INDENT + output.styled(title, "strong"))
        for text in lines:
            output.line(_INDENT + text)
        output.line(_INDENT + output.styled(show_command(hit), "id"))


def show_command(hit: Hit) -> str:
    """Return the command that shows a hit whole, or its place where no command can."""
    if hit.name is not None and _is_shown_by_name(hit):
        return f"asx memory show {quoted(hit.name)}"
    if hit.session_id is not None and hit.event_index is not None:
        file = f" --file {_quoted_path(hit.place.path)}" if hit.session_files > 1 else ""
        return f"asx show {quoted(f'{hit.session_id}:{hit.event_index}')}{file}"
    line = f":{hit.place.line_number}" if hit.place.line_number is not None else ""
    return output.safe_line(home_path(hit.place.path) + line)


def _is_shown_by_name(hit: Hit) -> bool:
    """Return whether it is a block of the store: not a fact of ASTER.md, not archived, not another agent's note."""
    return hit.agent == STORE_AGENT and hit.place.line_number is None and "/.archive/" not in hit.place.path


def quoted(word: str) -> str:
    """Return ``word`` safe for the eye, and quoted for a shell where that needs it."""
    shown = output.safe_line(word)
    return ("-- " if word.startswith("-") else "") + shlex.quote(shown)


def _quoted_path(path: str) -> str:
    """Return an absolute path quoted for a shell, with a home folder that the shell writes out again."""
    short = home_path(path)
    return f"~/{shlex.quote(output.safe_line(short[2:]))}" if short.startswith("~/") else quoted(path)


def home_path(path: str) -> str:
    """Return ``path`` with the home folder as ``~``."""
    home = os.path.expanduser("~").rstrip("/")  # noqa: PTH111 - text, never looked at on disk
    return f"~{path[len(home) :]}" if home and (path == home or path.startswith(f"{home}/")) else path


def _heading(hit: Hit, wide: int) -> str:
    """Return time, agent, project, field and what is special; where there is no room, the project's end stays."""
    before = [local(hit.ts) or "no time", hit.agent]
    after = [] if hit.field == "prompts" else [hit.field]
    if hit.parent_session_id:
        after.append("sub-agent")
    if hit.count > 1:
        after.append(f"{hit.count} times")
    if hit.project:
        project = output.safe_line(home_path(hit.project))
        room = wide - cells.width(_GAP.join([*before, "", *after]))
        if room >= min(_LEAST_PROJECT, cells.width(project)):
            before.append(cells.cut_front(project, room))
    return cells.cut(output.safe_line(_GAP.join([*before, *after])), wide)


def _excerpt_lines(hit: Hit, wide: int) -> list[str]:
    """Return the hit's lines, none wider than ``wide``: cut where escapes or wide characters take more room."""
    shown = excerpt(hit.text, hit.spans, wide - 2, below=0 if hit.name is None else _LINES_OF_A_BLOCK)
    lines: list[list[str]] = [["…" if shown.cut_before else ""]]
    room = wide - 1 - len(lines[0][0])
    for piece, is_hit in shown.pieces:
        for number, part in enumerate(piece.replace("\r\n", "\n").split("\n")):
            if number:
                lines.append([""])
                room = wide - 1
            fitting = cells.head(output.safe_line(part), max(room, 0))
            room -= cells.width(fitting)
            lines[-1].append(output.styled(fitting, "hit") if is_hit else fitting)
    below = [cells.cut(output.safe_line(line), wide) for line in shown.below if line.strip()]
    lines[-1].append("…" if shown.cut_after and not below else "")
    return ["".join(line).rstrip() for line in lines] + below


def print_nothing_found(result: SearchResult) -> None:
    """Say on stderr what was searched, how much of it there is, and where else the text stands (law 4)."""
    query = output.safe_line(result.query)
    texts = count(result.texts or 0, "text")
    output.talk(f"nothing found for {query!r} in {_enumerated(result.searched, 'and')} ({texts})")
    elsewhere = {name: number for name, number in result.elsewhere.items() if number}
    others = [name for name in SEARCHED if name not in result.searched]
    if elsewhere:
        told = ", ".join(f"{number:,} in {name}" for name, number in elsewhere.items())
        output.talk(f"it stands elsewhere: {told}; asx search --in {','.join(elsewhere)} {quoted(result.query)}")
    elif others:
        output.talk(f"nor in {_enumerated(others, 'or')}; tool calls and results are read by asx query alone")
    if result.exact_case:
        output.talk("a capital letter makes a query exact; in lower case it finds both cases")


def _enumerated(names: Sequence[str], last: str) -> str:
    return f" {last} ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def print_notes(result: SearchResult, state: Freshness) -> None:
    """Say on stderr what the answer leaves out, what its order rests on, and whether the index is behind."""
    left = result.total - len(result.hits)
    if result.hits and left > 0:
        exact = "" if result.total_is_exact else "at most "
        output.talk(f"{exact}{left:,} more; --limit or --all shows them")
    if result.borrowed_times:
        hits = count(result.borrowed_times, "hit")
        output.talk(f"{hits} without a recorded time, placed by the time of session or file")
    if state.stale:
        age = f" (last brought up to date {age_of(state.age_s)} ago)" if state.age_s is not None else ""
        output.talk(f"the files are newer than the index{age.replace('now ago', 'just now')}; run: asx ingest")
