"""``asx``: reads the command line, runs one command, and answers with an exit code (DESIGN 12).

Imports Typer and, through ``cli.exits``, the error trees: a command imports what it needs itself, so that help and
search start fast. Every error ends in ``cli.exits``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Final

import typer
import typer.main

from cli import coercion, exits, output
from cli.groups import RootGroup, new_app
from cli.version import VERSION

ABOUT: Final = """Find what you asked your coding agents, recall what was learned, ask any question in SQL.

The agents' files are the truth; the index over them can be deleted and made again at any moment. Begin with
asx ingest, then asx search WORDS; asx remember keeps a note, and asx recall --prompt TEXT gives it back."""

PROGRAMS: Final = ("asx", "aster-index")

app = new_app(RootGroup, ABOUT)


def _print_version(wanted: bool) -> None:
    if wanted:
        output.line(f"aster-index {VERSION}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None: ...


def main(arguments: list[str] | None = None) -> int:
    """Run ``asx`` with ``arguments`` (default: the process's) and return its exit code; never raises an error."""
    words = sys.argv[1:] if arguments is None else arguments
    output.prepare_streams()
    coercion.install()
    with exits.edge(as_json=exits.wants_json(words)) as outcome:
        outcome.code = _run(words)
    return outcome.code


def _run(words: list[str]) -> int:
    name = Path(sys.argv[0]).name
    group = typer.main.get_command(app)
    # Not Typer's own ``main``: it prints errors itself, and ends a closed pipe with 1.
    with group.make_context(name if name in PROGRAMS else PROGRAMS[0], list(words)) as context:
        code = group.invoke(context)
    return code if isinstance(code, int) else 0
