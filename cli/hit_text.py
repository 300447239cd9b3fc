"""Shows the hits of a search to a person: session by session, the span marked where colours are allowed.

Prints to stdout; what is said about an answer as a whole is ``cli.search_notes``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from cli import cells, output
from cli.hit_commands import resume_command, session_name, shared_ids, show_command
from cli.hit_excerpt import excerpt_lines, first_line, shown_text
from cli.moments import age, count, local
from cli.search_words import home_path, search_command

if TYPE_CHECKING:
    from cli.search_typed import Typed
    from index.search import ContextText, Hit

_INDENT: Final = "  "
_TEXT_INDENT: Final = "    "
_GAP: Final = "  "
_LEAST_TITLE: Final = 16
_LEAST_PROJECT: Final = 8
_SUMMARY: Final = "context_compaction_result"
_MEMORY: Final = "memory"
_HIT_MARK: Final = "> "
"""Before the lines of a hit that stands among its context."""
_LINES_OF_A_BLOCK: Final = 2
"""Shown below the line of the hit: a block's name alone says too little."""


class Group(NamedTuple):
    """Hits of one session, or of one file of memory; ``hits`` in the order of the answer."""

    hits: tuple[Hit, ...]

    @property
    def first(self) -> Hit:
        """Return the hit that the head line is made from."""
        return self.hits[0]

    @property
    def title(self) -> str:
        """Return the block's name or the session's title, safe and on one line."""
        return output.safe_line(self.first.name or self.first.session_title or "")


def grouped(hits: Sequence[Hit]) -> list[Group]:
    """Return the hits by session, in the order of each session's first hit; pure."""
    groups: dict[tuple[str | None, ...], list[Hit]] = {}
    for hit in hits:
        groups.setdefault(_key(hit), []).append(hit)
    return [Group(tuple(members)) for members in groups.values()]


def _key(hit: Hit) -> tuple[str | None, ...]:
    if hit.name is not None or hit.session_id is None:
        return (hit.agent, None, hit.name, hit.project, hit.place.path)
    return (hit.agent, hit.session_id)


def print_hits(hits: Sequence[Hit], typed: Typed) -> None:
    """Print a block for each session, with an empty line between two."""
    shared = shared_ids(hits)
    for number, group in enumerate(grouped(hits)):
        if number:
            output.line()
        _print_group(group, typed, shared)


def _print_group(group: Group, typed: Typed, shared: frozenset[str]) -> None:
    wide = output.columns() - len(_TEXT_INDENT)
    texts = [_texts(hit, wide) for hit in group.hits]
    shown = {output.without_styles(line).strip() for lines in texts for line in lines}
    for line in head_lines(group, output.table_columns(), with_title=len(group.hits) > 1 or group.title not in shown):
        output.line(line)
    for hit, lines in zip(group.hits, texts, strict=True):
        facts = _facts(hit)
        if facts:
            output.line(_INDENT + output.styled(cells.cut(facts, output.table_columns() - len(_INDENT)), "quiet"))
        for line in lines:
            output.line(f"{_TEXT_INDENT}{line}".rstrip())
        output.line(_TEXT_INDENT + output.styled(show_command(hit, shared), "id"))
    _print_more(group, typed, shared)
    resume = resume_command(group.first)
    if resume is not None:
        output.line(_INDENT + output.styled(resume, "id"))


def _print_more(group: Group, typed: Typed, shared: frozenset[str]) -> None:
    """Say how many hits of the session were left out, and which command shows them."""
    more = sum(hit.more_in_session for hit in group.hits)
    name = session_name(group.first, shared)
    if not more or name is None:
        return
    command = search_command(typed, session=(name,), exclude_session=(), offset=0, limit=None, per_session=None)
    output.line(f"{_INDENT}{more:,} more of this session, not listed: {output.styled(command, 'id')}")


def head_lines(group: Group, wide: int, *, with_title: bool) -> list[str]:
    """Return the head of a group: title, project, day and age, agent, what it is; none wider than ``wide``.

    Where there is no room a path loses its beginning and a title its end; a title that would be cut to almost nothing
    has a line of its own.
    """
    first = group.first
    fixed = [part for part in (_when(group), first.agent, _what(first)) if part]
    title = group.title if with_title else ""
    project = output.safe_line(home_path(first.project or ""))
    room = wide - cells.width(_GAP.join(["", *fixed]))
    lines = []
    if title and room < min(_LEAST_TITLE, cells.width(title)):
        lines.append(output.styled(cells.cut(title, wide), "strong"))
        title = ""
    parts = []
    if title:
        spared = min(cells.width(project), max(room // 3, _LEAST_PROJECT)) if project else 0
        title = cells.cut(title, max(room - spared - len(_GAP) * bool(spared), _LEAST_TITLE))
        room -= cells.width(title) + len(_GAP)
        parts.append(output.styled(title, "strong"))
    if project and room >= min(_LEAST_PROJECT, cells.width(project)):
        parts.append(output.styled(cells.cut_front(project, room), "quiet"))
    used = cells.width(output.without_styles(_GAP.join([*parts, ""])))
    parts.append(output.styled(cells.cut(_GAP.join(fixed), wide - used), "quiet"))
    return [*lines, _GAP.join(parts)]


def _when(group: Group) -> str:
    """Return the day of the group's newest hit and how long ago that is."""
    newest = max((hit.ts for hit in group.hits if hit.ts), default=None)
    if newest is None:
        return "no time"
    ago = age(newest)
    return f"{local(newest)[:10]} ({'now' if ago == 'now' else f'{ago} ago'})"


def _what(hit: Hit) -> str:
    if hit.name is not None:
        return _MEMORY
    if hit.parent_session_id or "/" in (hit.session_id or ""):
        return "sub-agent"
    return "fork" if hit.forked_from else ""


def _facts(hit: Hit) -> str:
    """Return the line above a hit's text: turn, field, time, how often; nothing for memory, whose head says it."""
    if hit.name is not None:
        return ""
    facts = [] if hit.turn_index is None else [f"turn {hit.turn_index}"]
    if hit.field != "prompts":
        what = "summary" if hit.event_type == _SUMMARY else hit.field
        facts.append(" ".join(part for part in (what, hit.tool_name) if part))
    when = _placed(hit)
    facts.append(f"{count(hit.count, 'time')}, last {when}" if hit.count > 1 else when)
    return output.safe_line(_GAP.join(facts))


def _placed(hit: Hit) -> str:
    """Return the time that a hit is placed by, marked where it is not its record's own."""
    mark = "" if hit.ts_source == "record" else "~"
    return f"{mark}{local(hit.ts)}" if hit.ts else "no time"


def _texts(hit: Hit, wide: int) -> list[str]:
    """Return the lines of a hit, between those of its context where that was asked for."""
    spared = len(_HIT_MARK) if hit.context else 0
    lines = excerpt_lines(
        shown_text(hit.text, hit.whole_length),
        hit.spans,
        wide - spared,
        below=0 if hit.name is None else _LINES_OF_A_BLOCK,
    )
    if not hit.context:
        return lines
    before = [one for one in hit.context if not one.is_hit and one.event_index < (hit.event_index or 0)]
    after = [one for one in hit.context if not one.is_hit and one.event_index > (hit.event_index or 0)]
    marked = [f"{_HIT_MARK}{line}" for line in lines]
    return [*(_context_line(one, wide) for one in before), *marked, *(_context_line(one, wide) for one in after)]


def _context_line(near: ContextText, wide: int) -> str:
    turn = "" if near.turn_index is None else f"turn {near.turn_index}{_GAP}"
    label = f"{turn}{output.safe_line(near.kind)}{_GAP}"
    return output.styled(label + first_line(near.text, max(wide - cells.width(label), 1)), "quiet")
