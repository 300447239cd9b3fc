"""Turns results into the JSON shapes that ``--json`` prints: the output contract, version 1.

Pure: values in, plain dicts out; ``cli.output`` adds ``schema_version`` and writes. Fields may be added, none renamed.
The door of the package: commands import these names from here. A module for each subject; none imports another but
``shape``, and of ``index`` and ``persist`` they know the types alone.
"""

from __future__ import annotations

from cli.shapes.hits import hit, recent, search
from cli.shapes.memory import (
    STORE_AGENT,
    block,
    memory_applied,
    memory_change,
    memory_context,
    memory_decay,
    memory_list,
    memory_log,
    memory_of_session,
    memory_review,
    memory_tools,
    provenance,
)
from cli.shapes.places import paths
from cli.shapes.queries import reports, schema
from cli.shapes.session_import import sessions_import
from cli.shapes.sessions import (
    appended,
    digested,
    event,
    preview,
    resumed,
    session,
    session_trees,
    shown,
    stored_session,
    whole_session,
    with_children,
)
from cli.shapes.shape import Shape
from cli.shapes.upkeep import ingest, status, verify

__all__ = [
    "STORE_AGENT",
    "Shape",
    "appended",
    "block",
    "digested",
    "event",
    "hit",
    "ingest",
    "memory_applied",
    "memory_change",
    "memory_context",
    "memory_decay",
    "memory_list",
    "memory_log",
    "memory_of_session",
    "memory_review",
    "memory_tools",
    "paths",
    "preview",
    "provenance",
    "recent",
    "reports",
    "resumed",
    "schema",
    "search",
    "session",
    "session_trees",
    "sessions_import",
    "shown",
    "status",
    "stored_session",
    "verify",
    "whole_session",
    "with_children",
]
