"""Lists what one session wrote into the memory: blocks, facts, and what is gone since."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cli import exits, output, shapes
from cli.memory_rows import print_rows
from cli.memory_store import list_all_blocks, memory_folders
from cli.moments import count

if TYPE_CHECKING:
    from persist.events import NoteFact
    from persist.memory.journal import Operation
    from persist.places import Places


def print_of_session(places: Places, session: str, *, archived: bool, json: bool) -> int:
    """Print what a session wrote; 1 when that is nothing that is still there. Raises ``AmbiguousError``."""
    from persist.memory.known_blocks import known_blocks
    from persist.memory.provenance import written_by

    facts, operations, project = _told(places)
    every = written_by(session, list_all_blocks(places, archived=True), facts, operations)
    shown = every._replace(blocks=tuple(one for one in every.blocks if archived or not one[0].note.archived))
    left_out = len(every.blocks) - len(shown.blocks)
    blocks = [block for block, _ in shown.blocks]
    if json:
        listed = shapes.memory_list(places.memory, project, known_blocks(blocks))
        output.emit_json(shapes.memory_of_session(listed, shown))
    else:
        if not print_rows(blocks, shown.facts):
            output.talk(f"nothing in {places.memory} is known to be of session {output.safe_line(session)}")
    if left_out:
        output.talk(f"{count(left_out, 'archived block')} left out: --archived")
    if every.gone:
        output.talk(f"gone since: {', '.join(map(output.safe_line, every.gone))}; see: asx memory log")
    return exits.DONE if blocks or shown.facts else exits.NOTHING_FOUND


def _told(places: Places) -> tuple[list[NoteFact], list[Operation], tuple[Path, str] | None]:
    """Return the facts that stand in prompts, the journals of all homes, and the text of ``ASTER.md``."""
    from persist.memory.blocks import PROJECT_FILE
    from persist.memory.journal import read_operations
    from persist.memory.project import parse_facts, read_project, read_project_bytes

    facts: list[NoteFact] = []
    operations: list[Operation] = []
    project = None
    for folder in memory_folders(places):
        operations += read_operations(folder)[0]
        if project is None and (text := read_project(folder)):
            project = (folder / PROJECT_FILE, text)
            facts = parse_facts(read_project_bytes(folder) or b"")
    return facts, operations, project
