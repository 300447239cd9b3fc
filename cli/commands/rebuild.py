"""``asx rebuild``: make the index anew from the files."""

from __future__ import annotations

from typing import Final

from cli import options, output, shapes
from cli.ingest_text import exit_code, print_report
from cli.progress import progress
from cli.settings import named_roots, open_settings

EXAMPLES: Final = ("asx rebuild", "asx rebuild --json")


def command(
    root: options.Root = None,
    prune: options.Prune = False,
    strict: options.Strict = False,
    quiet: options.Quiet = False,
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Make the index anew from the files.

    The old index answers until the new one is whole, and stays when that fails. Another program's database at
    its place is refused.
    """
    from index.rebuild import rebuild

    asked = [value.partition("=")[2] for value in root or ()]
    settings = open_settings(index, root)
    with progress(quiet=quiet) as shown:
        report = rebuild(settings, prune=prune, progress=shown)
    if json:
        output.emit_json(shapes.ingest(report))
    else:
        print_report(report, quiet=quiet, asked_roots=asked, named_roots=named_roots(settings))
    return exit_code(report, strict=strict, asked_roots=asked)
