"""Turns the options of ``asx search`` into a request.

Pure: no file, no terminal. Imports Typer for its usage error and, inside functions, ``index``'s values; every mistake
names the option and what to type.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

import typer

from cli import choices
from cli.search_typed import ALL, TOOLS, Typed

if TYPE_CHECKING:
    from index.search import Filters, Mode, SearchRequest, Sort

ROLES: Final = ("user", "agent", "control")
SORTS: Final = ("time", "relevance")
DEFAULT_LIMIT: Final = 20
DEFAULT_PER_SESSION: Final = 5
"""Hits of one session that a person is shown before the rest of them is counted: one session must not fill a page."""
_AGENTS_WORD: Final = {"assistant": "agent"}
"""What other tools call the role."""


def request_of(typed: Typed, agents: Collection[str], now: datetime | None = None) -> SearchRequest:
    """Return the request. ``agents`` are the names that ``--agent`` may have; ages are counted from ``now``.

    Raises ``typer.BadParameter`` for a value that an option cannot have.
    """
    from index.search import SearchRequest

    searched = _searched(typed)
    if typed.deep and TOOLS not in searched:
        raise typer.BadParameter("is about the texts of tools; add --in tools", param_hint="--deep")
    if typed.tool and TOOLS not in searched:
        raise typer.BadParameter(
            "is about the texts of tools; add tools to --in, or leave --in out", param_hint="--tool"
        )
    return SearchRequest(
        query=typed.query,
        searched=searched,
        mode=_mode(typed),
        filters=_filters(typed, agents, now),
        sort=_sort(typed.sort),
        limit=_limit(typed),
        offset=typed.offset,
        per_session=_per_session(typed),
        context_turns=typed.context,
        exact_total=typed.count,
        deep=typed.deep,
    )


def _searched(typed: Typed) -> tuple[str, ...]:
    from index.fields import SEARCHED

    if typed.tool and not typed.in_:
        return (TOOLS,)
    names = choices.names(typed.in_, [*SEARCHED, ALL], "--in")
    return tuple(SEARCHED) if ALL in names else names or ("prompts",)


def _mode(typed: Typed) -> Mode:
    from index.search import Mode

    if typed.regex:
        return Mode.REGEX
    return Mode.WORDS if typed.words else Mode.SUBSTRING


def _sort(value: str | None) -> Sort | None:
    from index.search import Sort

    if value is None:
        return None
    if value not in SORTS:
        raise typer.BadParameter(f"{value!r} is none of {', '.join(SORTS)}", param_hint="--sort")
    return Sort(value)


def _limit(typed: Typed) -> int | None:
    """Return how many hits at most; of ``--count`` the total is wanted, so that one is enough."""
    if typed.count:
        return 1
    if typed.all_:
        return None
    return DEFAULT_LIMIT if typed.limit is None else typed.limit


def _per_session(typed: Typed) -> int | None:
    if typed.per_session is not None:
        return typed.per_session or None
    return DEFAULT_PER_SESSION if typed.form == "text" and not (typed.all_ or typed.session) else None


def _filters(typed: Typed, agents: Collection[str], now: datetime | None) -> Filters:
    from index.search import Filters

    since = choices.moment(typed.since, "--since", now)
    until = choices.moment(typed.until, "--until", now, until=True)
    if since is not None and until is not None and since >= until:
        raise typer.BadParameter(
            f"{typed.since!r} is not before --until {typed.until!r}; nothing lies between", param_hint="--since"
        )
    return Filters(
        agents=choices.names(typed.agent, agents, "--agent"),
        project=typed.project,
        below=typed.below,
        sessions=_given(typed.session, "--session"),
        exclude_sessions=_given(typed.exclude_session, "--exclude-session"),
        since=since,
        until=until,
        roles=choices.names([_AGENTS_WORD.get(role, role) for role in choices.split(typed.role)], ROLES, "--role"),
        tools=_given(choices.split(typed.tool), "--tool"),
        branch=None if typed.branch is None else _given([typed.branch], "--branch")[0],
        main_only=typed.main_only,
    )


def _given(values: Sequence[str], option: str) -> tuple[str, ...]:
    """Return the values, each once; an empty one, as from an unset variable, would filter nothing or everything."""
    if any(not value.strip() for value in values):
        raise typer.BadParameter("is empty; give a name or leave the option out", param_hint=option)
    return tuple(dict.fromkeys(values))
