"""``asx doctor``: what is wrong with the index, the configuration, the folders and prompt hooks, and what cures it."""

from __future__ import annotations

from typing import Final

from cli import exits, options, output
from cli.settings import current_folder
from cli.shapes.upkeep import doctor

EXAMPLES: Final = ("asx doctor", "asx doctor --json | jq -r '.findings[].cure'")


def command(json: options.Json = False, index: options.Index = None) -> int:
    """Say what is wrong, and what cures it.

    Looks at the configuration, the index, the permissions of files and folders, and at what prompt hooks could not do
    in the last 7 days (asx recall --hook keeps quiet about it). Changes nothing. Exits with 6 when there is a finding.
    """
    from index.doctor import examine
    from persist.places import current_environment

    found = examine(current_environment(), current_folder(), index)
    if json:
        output.emit_json(doctor(found))
    else:
        for one in found:
            output.line(f"{one.kind}: {output.safe_line(one.message)}")
            output.line(f"  {output.safe_line(one.cure)}")
        if not found:
            output.talk("nothing is wrong")
    return exits.PARTLY_DONE if found else exits.DONE
