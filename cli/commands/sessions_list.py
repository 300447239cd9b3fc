"""``asx sessions list``: sessions, newest activity first."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from cli import choices, exits, options, output, shapes
from cli.moments import count
from cli.session_text import print_sessions, print_trees
from cli.settings import current_folder, folder_at, open_settings

EXAMPLES: Final = (
    "asx sessions list",
    "asx sessions list --all --agent claude-code",
    "asx sessions list --project ~/src/tidewatch --json",
    "asx sessions list --all --with-children",
)


def command(
    all_: Annotated[bool, typer.Option("--all", help="Of every project, not of the current folder's alone.")] = False,
    project: Annotated[
        str | None, typer.Option("--project", metavar="PATH", help="Of the project that this folder belongs to.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="NAME", help="Of one agent, by its name in asx paths.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="At most N.")] = None,
    with_children: Annotated[
        bool,
        typer.Option(
            "--with-children",
            help="Sub-agents counted in with the session they work for: turns, tools, calls, tokens, cost.",
        ),
    ] = False,
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """List sessions, newest activity first.

    Without options those of the project of the current folder. Exits with 1 when there are none.
    """
    from index.sessions import list_sessions, list_trees
    from persist.projects import project_of

    if all_ and project is not None:
        raise typer.BadParameter("is one project, --all is every project; give one of them", param_hint="--project")
    folder = current_folder() if project is None else folder_at(project)
    wanted = None if all_ else project_of(str(folder))
    settings = open_settings(index)
    if agent is not None:
        choices.names([agent], [known.name for known in settings.agents], "--agent")
    if with_children:
        total, pairs = list_trees(settings, project=wanted, agent=agent, limit=limit)
        listed = len(pairs)
        if json:
            output.emit_json(shapes.session_trees(total, pairs))
        elif pairs:
            print_trees(pairs, with_project=all_)
    else:
        total, rows = list_sessions(settings, project=wanted, agent=agent, limit=limit)
        listed = len(rows)
        if json:
            output.emit_json(shapes.sessions(total, rows))
        elif rows:
            print_sessions(rows, with_project=all_)
    if not json and total > listed:
        output.talk(f"{count(total - listed, 'more session')}; --limit shows more")
    if total:
        return exits.DONE
    if not json:
        everywhere = list_sessions(settings, limit=1)[0] if not all_ else 0
        where = f" of {output.safe_line(wanted)}" if wanted else ""
        hint = f"; --all lists {count(everywhere, 'session')} of all projects" if everywhere else ""
        output.talk(f"no sessions{where}{f' by {agent}' if agent else ''}{hint}")
    return exits.NOTHING_FOUND
