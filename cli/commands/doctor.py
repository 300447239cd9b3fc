"""``asx doctor``: what is wrong with the index, its files, the configuration and prompt hooks, and what cures it."""

from __future__ import annotations

from typing import Final

from cli import exits, options, output
from cli.settings import current_folder
from cli.shapes.upkeep import doctor

EXAMPLES: Final = ("asx doctor", "asx doctor --json | jq -r '.findings[].cure'")


def command(json: options.Json = False, index: options.Index = None) -> int:
    """Say what is wrong, and what cures it.

    Looks at the configuration, the index, the kept copies, the permissions of files and folders, and at what prompt
    hooks could not do in the last 7 days (asx recall --hook keeps quiet about it). A transcript that has no up-to-date
    copy is found once it has rested for a day, and only noted before. Changes nothing. Exits with 6 when there is a
    finding.
    """
    from index.doctor import examine
    from persist.places import current_environment

    found = examine(current_environment(), current_folder(), index)
    if json:
        output.emit_json(doctor(found))
    else:
        for one in found.findings:
            output.line(f"{one.kind}: {output.safe_line(one.message)}")
            output.line(f"  {output.safe_line(one.cure)}")
        for note in found.notes:
            output.talk(output.safe_line(note))
        if not found.findings:
            output.talk("nothing else is wrong" if found.notes else "nothing is wrong")
    return exits.PARTLY_DONE if found.findings else exits.DONE
