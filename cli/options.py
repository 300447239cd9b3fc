"""The options that several commands share, declared once so that they look alike in every help."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON value (times in UTC).")]
Index: TypeAlias = Annotated[
    str | None, typer.Option("--index", metavar="PATH", help="The index, else $ASTER_INDEX, else the cache folder's.")
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No bar, no summary; problems only.")]
Prune: TypeAlias = Annotated[
    bool, typer.Option("--prune", help="Let go of sources that are gone, even when more than half of an agent's are.")
]
Root: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--root", metavar="AGENT=PATH", help="Read an agent's files in one more folder, this time."),
]
Strict: TypeAlias = Annotated[bool, typer.Option("--strict", help="Exit 6 when lines read by this run are damaged.")]
