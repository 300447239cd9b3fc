"""``asx ingest``: bring the index up to date with the files."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from cli import options, output, shapes
from cli.ingest_text import exit_code, print_report
from cli.progress import progress
from cli.settings import current_home, named_roots, open_settings

EXAMPLES: Final = (
    "asx ingest",
    "asx ingest --keep",
    "asx ingest --root claude-code=~/laptop/.claude",
    "asx ingest --json --strict",
)


def command(
    root: options.Root = None,
    check: Annotated[bool, typer.Option("--check", help="Read every file anew instead of trusting its times.")] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Copy other agents' transcripts to the archive, from now on at every ingest.")
    ] = False,
    prune: options.Prune = False,
    strict: options.Strict = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Bring the index up to date with the files.

    Reads what is new since the last time: whole files that changed, the tails of those that only grew. Exits with
    6 when a source could not be read, and names it; its rows stay as they were.

    With --keep, and whenever the configuration says keep: true, history outlives what agents clean up.
    """
    from index.ingest import ingest

    settings = open_settings(index, root)
    if keep:
        from index.keep import begin_keeping

        settings = begin_keeping(settings, current_home())
    asked = [value.partition("=")[2] for value in root or ()]
    with progress(quiet=quiet) as shown:
        report = ingest(settings, prune=prune, check=check, progress=shown)
    if json:
        output.emit_json(shapes.ingest(report))
    else:
        print_report(report, quiet=quiet, asked_roots=asked, named_roots=named_roots(settings))
    return exit_code(report, strict=strict, asked_roots=asked)
