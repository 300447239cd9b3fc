"""``asx paths``: every place that is read or written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from cli import choices, options, output, shapes
from cli.settings import open_settings
from cli.tables import Column, table

EXAMPLES: Final = ("asx paths", "asx paths index", "asx paths --json")
_COLUMNS: Final = (Column("name"), Column("path"))


def command(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Print this one alone.")] = None,
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Print every place that is read or written.

    A place is listed whether it exists or not; nothing is made by asking.
    """
    settings = open_settings(index)
    places = settings.places
    named: dict[str, Path | tuple[Path, ...]] = {
        "index": settings.index_path,
        "hook_log": places.hook_log,
        "data": places.data,
        "sessions": places.sessions,
        "memory": places.memory,
        "archive": places.archive,
        "config": places.config,
        "reports": places.reports,
        "prompt_history": places.prompt_history,
        "old_homes": places.old_homes,
    }
    agents: dict[str, list[Path]] = {agent.name: [] for agent in settings.agents}
    for root in settings.roots:
        agents[root.agent].append(root.path)
    listed = [(key, path) for key, value in named.items() for path in ([value] if isinstance(value, Path) else value)]
    listed += [(agent, path) for agent, roots in agents.items() for path in roots]
    if name is not None:
        choices.names([name], [*named, *agents], "NAME")
    if json:
        output.emit_json(shapes.paths(named, agents))
    elif name is not None:
        for path in [path for key, path in listed if key == name]:
            output.line(output.safe_line(str(path)))
    else:
        for text in table(_COLUMNS, listed, output.table_columns())[1:]:
            output.line(text)
    return 0
