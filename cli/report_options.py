"""What a report is asked for, from the options as they were typed: the words and rules of ``asx search``.

Imports Typer for its usage error and, inside functions, ``index`` and ``persist``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from cli import choices
from cli.search_typed import Typed, check
from cli.settings import chosen_project

if TYPE_CHECKING:
    from index.reports import Asked

WithChildren: TypeAlias = Annotated[
    bool, typer.Option("--with-children", help="Count what sub-agents did to the session that they work for.")
]


def asked_for(
    *,
    since: str | None,
    until: str | None,
    project: str | None,
    here: bool,
    below: bool,
    agent: Sequence[str] | None,
    with_children: bool,
) -> Asked:
    """Return what is asked for. A time without an offset is local, so the time zone must be chosen before.

    Raises ``typer.BadParameter`` for a value that an option cannot have and for options that contradict each other.
    """
    from index.reports import Asked

    check(Typed(query="", project=project, here=here, below=below))
    begin = choices.moment(since, "--since")
    end = choices.moment(until, "--until", until=True)
    if begin is not None and end is not None and begin >= end:
        raise typer.BadParameter(
            f"{since!r} is not before --until {until!r}; nothing lies between", param_hint="--since"
        )
    return Asked(
        since=begin,
        until=end,
        project=chosen_project(project, here=here),
        below=below,
        agents=_agents(agent),
        with_children=with_children,
    )


def _agents(values: Sequence[str] | None) -> tuple[str, ...]:
    if not values:
        return ()
    from persist.agents import AGENTS

    return choices.names(values, AGENTS, "--agent")
