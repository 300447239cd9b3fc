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
    "recall": "Print the memory that helps with a prompt, or one block by its name.",
    "remember": "Keep a note: a block with a title, without one a fact of ASTER.md.",
    "forget": "Take a memory block away; its text is kept aside.",
    "query": "Ask the index a question in SQL.",
    "report": "Run a named report, or list them.",
    "schema": "Print the views that a query can read.",
    "show": "Print one event whole, or a session's head.",
    "status": "Say what the index holds and whether it is up to date.",
    "doctor": "Say what is wrong, and what cures it.",
    "paths": "Print every place that is read or written.",
}
"""The commands of the first level, in the order of the help; the groups follow."""

GROUPS: Final[Mapping[str, str]] = {
    "sessions": "List, read and change sessions.",
    "memory": "List, read, write and restore memory blocks.",
}
"""Commands that have commands of their own."""

GROUP_COMMANDS: Final[Mapping[str, Mapping[str, str]]] = {
    "sessions": {
        "list": "List sessions, newest activity first.",
        "show": "Print a whole session, event by event.",
        "rename": "Give a session of Aster's store a title.",
        "delete": "Delete sessions of Aster's or Aether's store, for good.",
        "relocate": "Make another folder the one that a session belongs to.",
        "prune": "Delete sessions of Aster's store that are old, surplus or empty.",
        "history": "Print the prompt history of Aster's store, the last prompt at the end.",
        "start": "Begin a session in Aster's or Aether's store and print its id and path.",
        "append": "Append events to a session, one JSON line each.",
        "latest": "Print the session last used in a project.",
        "resume": "Print the chat of a session, for its next turn.",
        "digest": "Print a session in at most 24,000 bytes, for a model to learn from.",
        "import": "Copy other agents' sessions into Aster's store.",
    },
    "memory": {
        "list": "List memory blocks, newest first.",
        "show": "Print one memory block, or a fact.",
        "add": "Keep a note: a block with a title, without one a fact of ASTER.md.",
        "remove": "Take a memory block away; its text is kept aside.",
        "archive": "Put a memory block into the archive.",
        "restore": "Bring a memory block back, or an older version of it.",
        "log": "Print the memory journal, newest first.",
        "apply": "Do what a consolidation plan says as one step, or take it back.",
        "context": "Print the memory as an agent's system prompt has it.",
        "mark": "Say that a memory block was helpful or harmful.",
        "decay": "Archive the memory blocks that nobody has needed for long.",
        "review": "List what in the memory wants to be looked at.",
        "tools": "Print the definitions of the memory tools for a model.",
    },
}


def module_name(name: str, group: str | None = None) -> str:
    """Return the module that holds a command."""
    return f"cli.commands.{group}_{name}" if group else f"cli.commands.{name}"
