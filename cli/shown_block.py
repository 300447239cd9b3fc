"""Shows a block or a fact of the memory with the turn of the session that it comes from.

The note is read from its file; the session is looked for in the index, or in the files where there is none.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cli import exits, output, shapes
from cli.memory_store import get_block, memory_folders, typed_name
from cli.session_text import MAX_SHOWN_CHARACTERS, print_event, print_head
from cli.settings import open_places, open_settings

if TYPE_CHECKING:
    from index.provenance import Provenance
    from persist.events import NoteFact
    from persist.memory.blocks import Block
    from persist.places import Places

_FACT: Final = re.compile(r"ASTER\.md:([0-9]{1,9})\Z", re.ASCII)
_RULES: Final = {
    "named": "the call that kept it, by its name",
    "time": "the prompt of the turn in which it was written, by the time",
    "consolidated": "the last prompt before the session was consolidated into it",
}


def show_block(name: str, *, json: bool, index: str | None) -> int:
    """Print a note, its session, and the event that led to it. Raises ``NotFoundError``, ``StoreIOError``."""
    from index.provenance import block_provenance, fact_provenance
    from persist.memory.known_blocks import known_block

    places = open_places()
    name = typed_name(places, [name])
    fact = _FACT.match(name)
    if fact is None:
        block = get_block(places, name)
        found = block_provenance(open_settings(index), block.path, block.note)
    else:
        folder, told = _fact_at(places, int(fact[1]))
        block = _as_block(folder, told)
        found = fact_provenance(open_settings(index), folder, told)
    if json:
        shown = shapes.shown(
            event=None if found.event is None else shapes.event(found.event),
            block=shapes.block(block if fact is not None else known_block(block)),
            session=None if found.session is None else shapes.session(found.session),
        )
        output.emit_json({**shown, "provenance": shapes.provenance(found)})
        return exits.DONE
    output.line(output.safe(block.note.body.rstrip("\n")))
    if found.session is not None:
        output.line()
        print_head(found.session)
    if found.event is not None and found.session is not None:
        output.line()
        print_event(found.event, at_most=MAX_SHOWN_CHARACTERS)
        id_ = f"{found.session.agent}:{found.session.session_id}:{found.event.event_index}"
        output.talk(f"{_RULES[found.rule or 'time']}; around it: asx show {shlex.quote(id_)} --around 5")
    _tell_what_is_missing(found)
    return exits.DONE


def _tell_what_is_missing(found: Provenance) -> None:
    if found.writing is None:
        output.talk("neither its header nor the journal names the session that it comes from")
    elif found.trouble is not None:
        output.talk(f"its session {output.safe_line(found.writing.session)} cannot be shown: {found.trouble}")
    elif found.event is None:
        output.talk("no turn of that session is known to have led to it: when it was written fits none")


def _fact_at(places: Places, line_number: int) -> tuple[Path, NoteFact]:
    """Return the fact that begins in, or goes over, a line of ``ASTER.md``. Raises ``NotFoundError``."""
    from persist.errors import NotFoundError
    from persist.memory.project import parse_facts, read_project_bytes

    for folder in memory_folders(places):
        data = read_project_bytes(folder)
        if data is None:
            continue
        for fact in reversed(parse_facts(data)):
            if fact.line_number <= line_number <= fact.line_number + fact.text.count("\n"):
                return folder, fact
        break
    raise NotFoundError("fact", f"ASTER.md:{line_number}", "asx memory show ASTER.md prints them all")


def _as_block(folder: Path, fact: NoteFact) -> Block:
    from persist.events import Note
    from persist.memory.blocks import PROJECT_FILE, Block

    note = Note(f"{PROJECT_FILE}:{fact.line_number}", fact.text, kind="fact")
    return Block(note, folder / PROJECT_FILE, len(fact.text.encode()))
