"""``asx sessions list``: sessions, newest activity first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli import choices, exits, options, output, session_shapes
from cli.moments import count
from cli.session_text import print_sessions, print_trees
from cli.settings import current_folder, folder_at, open_settings

if TYPE_CHECKING:
    from index.results import SessionRow
    from index.settings import Settings

EXAMPLES: Final = (
    "asx sessions list",
    "asx sessions list --all --agent claude-code",
    "asx sessions list --project ~/src/tidewatch --json",
    "asx sessions list --all --with-children",
)

_UNINDEXED: Final = "no index yet: only the ends of each transcript were read; run: asx ingest"


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

    Without options those of the project of the current folder. One without a title is told by its first prompt. Exits
    with 1 when there are none. Without an index the transcripts' beginnings and ends are read: of long ones turns are
    counted in part, and marked with a +.
    """
    from persist.projects import project_of

    if all_ and project is not None:
        raise typer.BadParameter("is one project, --all is every project; give one of them", param_hint="--project")
    folder = current_folder() if project is None else folder_at(project)
    wanted = None if all_ else project_of(str(folder))
    settings = open_settings(index)
    if agent is not None:
        choices.names([agent], [known.name for known in settings.agents], "--agent")
    list_them = _list_trees if with_children else _list
    total, listed = list_them(settings, wanted, agent, limit, as_json=json)
    if not json and total > listed:
        output.talk(f"{count(total - listed, 'more session')}; --limit shows more")
    if total:
        return exits.DONE
    if not json:
        _talk_of_none(settings, wanted, agent)
    return exits.NOTHING_FOUND


def _list(
    settings: Settings, project: str | None, agent: str | None, limit: int | None, *, as_json: bool
) -> tuple[int, int]:
    """Print sessions, and where every project is asked for also files of a store without one in them.

    Returns how many there are and how many were printed.
    """
    from index.bare import bare_transcripts, has_index
    from index.sessions import list_sessions
    from index.unindexed import is_read_whole

    indexed = has_index(settings)
    total, rows = list_sessions(settings, project=project, agent=agent, limit=limit if indexed else None)
    if project is None:
        bare = bare_transcripts(settings, rows, agent)
        total += len(bare)
        rows = sorted([*rows, *bare], key=_activity, reverse=True) if bare else rows
    rows = rows[:limit]
    partial = frozenset(row for row in rows if not (indexed or is_read_whole(row)))
    if as_json:
        output.emit_json(session_shapes.listed(total, rows, partial, indexed=indexed))
    elif rows:
        print_sessions(rows, with_project=project is None, partial=partial)
    if not (as_json or indexed):
        output.talk(_UNINDEXED)
    return total, len(rows)


def _list_trees(
    settings: Settings, project: str | None, agent: str | None, limit: int | None, *, as_json: bool
) -> tuple[int, int]:
    from index.sessions import list_trees

    total, pairs = list_trees(settings, project=project, agent=agent, limit=limit)
    if as_json:
        output.emit_json(session_shapes.listed_trees(total, pairs))
    elif pairs:
        print_trees(pairs, with_project=project is None)
    return total, len(pairs)


def _talk_of_none(settings: Settings, project: str | None, agent: str | None) -> None:
    from index.sessions import list_sessions

    everywhere = list_sessions(settings, limit=1)[0] if project is not None else 0
    where = f" of {output.safe_line(project)}" if project else ""
    hint = f"; --all lists {count(everywhere, 'session')} of all projects" if everywhere else ""
    output.talk(f"no sessions{where}{f' by {agent}' if agent else ''}{hint}")


def _activity(row: SessionRow) -> tuple[str, str]:
    return row.updated_at or "", row.session_id
