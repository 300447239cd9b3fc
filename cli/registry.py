"""Which commands there are, each with its one-line help: all that ``asx --help`` needs.

Standard library only, and never a command's module: those are imported when they are asked for. Each is a file
of ``cli.commands`` (``search.py``, ``sessions_list.py``) with a function ``command`` and a constant ``EXAMPLES``;
a test compares the sentences here with the first lines of their help.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

COMMANDS: Final[Mapping[str, str]] = {
    "ingest": "Bring the index up to date with the files.",
    "rebuild": "Make the index anew from the files.",
    "verify": "Prove that the index equals what a rebuild makes.",
    "search": "Find a text in what was said to agents and by them.",
    "recall": "Print one memory block by its name.",
    "query": "Ask the index a question in SQL.",
    "report": "Run a named report, or list them.",
    "schema": "Print the views that a query can read.",
    "show": "Print one event whole, or a session's head.",
    "status": "Say what the index holds and whether it is up to date.",
    "paths": "Print every place that is read or written.",
}
"""The commands of the first level, in the order of the help; the groups follow."""

GROUPS: Final[Mapping[str, str]] = {
    "sessions": "List and read sessions.",
    "memory": "List and read memory blocks and their journal.",
}
"""Commands that have commands of their own."""

GROUP_COMMANDS: Final[Mapping[str, Mapping[str, str]]] = {
    "sessions": {
        "list": "List sessions, newest activity first.",
        "show": "Print a whole session, event by event.",
    },
    "memory": {
        "list": "List memory blocks, newest first.",
        "show": "Print one memory block.",
        "log": "Print the memory journal, newest first.",
    },
}


def module_name(name: str, group: str | None = None) -> str:
    """Return the module that holds a command."""
    return f"cli.commands.{group}_{name}" if group else f"cli.commands.{name}"
