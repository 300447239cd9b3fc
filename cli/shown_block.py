"""Shows a block or a fact of the memory with the turn of the session that it comes from.

The note is read from its file; the session is looked for in the index, or in the files where there is none.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from cli import exits, output, shapes
from cli.memory_store import fact_as_block, fact_at, get_block, memory_folders, typed_name
from cli.session_text import MAX_SHOWN_CHARACTERS, print_event, print_head
from cli.settings import open_places, open_settings

if TYPE_CHECKING:
    from index.provenance import Provenance

_RULES: Final = {
    "named": "the call that kept it, by its name",
    "time": "the prompt of the turn in which it was written, by the time",
    "consolidated": "the last prompt before the session was consolidated into it",
}


def show_block(name: str, *, json: bool, index: str | None) -> int:
    """Print a note, its session, and the event that led to it. Raises ``NotFoundError``, ``StoreIOError``."""
    from index.provenance import block_provenance, fact_provenance
    from persist.memory.known_blocks import known_block
    from persist.memory.names import is_like_fact

    places = open_places()
    name = typed_name(places, [name])
    is_fact = is_like_fact(name)
    if not is_fact:
        block = get_block(places, name)
        found = block_provenance(open_settings(index), block.path, block.note)
    else:
        folder, fact = fact_at(places, name)
        block = fact_as_block(folder, fact)
        found = fact_provenance(open_settings(index), folder, fact)
    if json:
        shown = shapes.shown(
            event=None if found.event is None else shapes.event(found.event),
            block=shapes.block(block if is_fact else known_block(block)),
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


def note_hint(text: str) -> str | None:
    """Return how the note is shown that ``text`` names, for who took it for a session; ``None`` where there is none."""
    from persist.errors import StoreError
    from persist.memory.blocks import PROJECT_FILE, find_block
    from persist.memory.names import is_like_fact

    places = open_places()
    name = typed_name(places, [text])
    try:
        if is_like_fact(name):
            fact_at(places, name)
        elif not any(find_block(folder, name) is not None for folder in memory_folders(places)):
            is_project = name == PROJECT_FILE and any((one / name).is_file() for one in memory_folders(places))
            return f"the file of that name: asx memory show {PROJECT_FILE}" if is_project else None
    except (StoreError, OSError):
        return None
    what = "fact" if is_like_fact(name) else "block"
    return f"the {what} of that name: asx show --block {shlex.quote(name)}"


def _tell_what_is_missing(found: Provenance) -> None:
    if found.writing is None:
        output.talk("neither its header nor the journal names the session that it comes from")
    elif found.trouble is not None:
        output.talk(f"its session {output.safe_line(found.writing.session)} cannot be shown: {found.trouble}")
    elif found.event is None:
        output.talk("no turn of that session is known to have led to it: when it was written fits none")
