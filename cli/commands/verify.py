"""``asx verify``: prove that the index equals what a rebuild makes."""

from __future__ import annotations

from typing import Final

from cli import exits, options, output, shapes
from cli.moments import count
from cli.progress import progress
from cli.settings import open_settings

EXAMPLES: Final = ("asx verify", "asx verify --json")
_SHOWN: Final = 20


def command(json: options.Json = False, index: options.Index = None) -> int:
    """Prove that the index equals what a rebuild makes.

    Builds a second index from the files in a temporary file and compares every row of every view. Exits with 4
    when they differ.
    """
    from index.verify import verify

    with progress() as shown:
        report = verify(open_settings(index), shown)
    if json:
        output.emit_json(shapes.verify(report))
        return exits.DONE if report.ok else exits.INDEX_UNUSABLE
    for difference in report.differences[:_SHOWN]:
        place = f"{difference.path}  " if difference.path else ""
        output.line(output.safe_line(f"{place}{difference.what}: {difference.detail}"))
    if len(report.differences) > _SHOWN:
        output.line(f"and {len(report.differences) - _SHOWN} more; --json lists them")
    for path, why in report.apart:
        output.talk(f"not compared: {output.safe_line(path)}: {output.safe_line(why)}")
    checked = count(report.sources_checked, "source")
    if report.ok:
        output.line(f"the index equals a rebuild: {checked} checked")
        return exits.DONE
    if not report.fulltext_ok:
        output.line("the full-text tables or the words of notes do not hold what the index holds")
    behind = any(difference.what == "behind" for difference in report.differences)
    cure = "asx ingest" if behind else "asx rebuild"
    output.talk(f"the index differs from a rebuild ({checked} checked); run: {cure}")
    return exits.INDEX_UNUSABLE
