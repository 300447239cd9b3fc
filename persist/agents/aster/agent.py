"""Aster: where its data homes lie and which files in them are sources (``spec/aster.md`` 2, DESIGN 5).

Looks into folders, opens no file. ``credentials.json``, ``grants/``, ``plans/`` and ``skills/`` are never looked at.
Depth is fixed, so links cannot loop; a link to something inside the same home is left out, since what it points to is
read where it stands, and a link that leaves the home is followed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from persist.agents.aster import records
from persist.agents.aster.scan import Scan, absolute
from persist.agents.prompt_history_records import PromptHistoryParser
from persist.events import Note, NoteFact
from persist.history import HISTORY_NAME
from persist.memory.blocks import parse_note
from persist.memory.journal import open_journal
from persist.memory.names import is_misnamed, is_note_file
from persist.memory.project import parse_facts
from persist.places import current_folder, places_of
from persist.sources import (
    BLOCK,
    HISTORY,
    JOURNAL,
    PROJECT_MEMORY,
    TRANSCRIPT,
    Agent,
    Environment,
    Found,
    Parser,
    Root,
    Source,
    State,
)

NAME: Final = "aster"
ARCHIVED: Final = "archived"
PROJECT_MEMORY_NAME: Final = "ASTER.md"
MIGRATED_STAMP: Final = ".legacy-migrated"

_OLDER_VERSION = re.compile(r"@[0-9A-Za-z]{26}\.md\Z")


def locate(env: Environment) -> list[Root]:
    """Return the data home at rank 0, and the old homes that exist and were not migrated at 1 and 2.

    ``$ASTER_HOME`` names one place and no other is read. A home with Aster's stamp holds all that the old
    ones had, and what was deleted since must not come back from them.
    """
    places = places_of(env, current_folder(env))
    home = absolute(places.data)
    roots = [Root(NAME, home)]
    if env.variables.get("ASTER_HOME") or (home / MIGRATED_STAMP).exists():
        return roots
    seen = {os.path.realpath(home)}
    for rank, old in enumerate(places.old_homes, start=1):
        real = os.path.realpath(old)
        if real not in seen and old.is_dir():
            seen.add(real)
            roots.append(Root(NAME, old, rank))
    return roots


def discover(root: Root) -> Found:
    """Return the sources below one home, sorted by path, and what is in the way. One ``stat`` a file."""
    scan = Scan(NAME, root)
    if not scan.has_root():
        return Found(root, (), tuple(scan.troubles), exists=False)
    sessions = scan.folder("sessions")
    for entry in sessions:
        if entry.name == HISTORY_NAME:
            scan.file(entry, HISTORY)
        elif scan.is_transcript(entry.name):
            scan.file(entry, TRANSCRIPT)
        elif scan.is_folder(entry):
            for leaf in scan.all_but_plain(TRANSCRIPT, entry):
                if scan.is_transcript(leaf.name):
                    scan.file(leaf, TRANSCRIPT)
                elif leaf.is_dir(follow_symlinks=False):
                    scan.trouble(leaf.path, "nested_folder", "a folder inside a project's folder is not read")
    for entry in scan.folder("memory"):
        if entry.name == PROJECT_MEMORY_NAME:
            scan.file(entry, PROJECT_MEMORY)
        elif entry.name == "journal.jsonl":
            scan.file(entry, JOURNAL)
        elif is_note_file(entry.name):
            scan.file(entry, BLOCK)
        elif is_misnamed(entry.name):
            scan.trouble(entry.path, "bad_name", "it is called like a fact of ASTER.md; give the file another name")
    for entry in scan.folder("memory", ".archive"):
        if is_note_file(entry.name) and not _OLDER_VERSION.search(entry.name):
            scan.file(entry, BLOCK, ARCHIVED)
    return scan.found()


def shadowed(found: Sequence[Found]) -> list[Found]:
    """Return the same looks without the files that a home of lower rank number also has, file by file.

    Compared by the path below the root. Homes of one rank do not hide each other's files. Pure.
    """
    if len({look.root.rank for look in found}) < 2:
        return list(found)
    ranks: dict[tuple[str, str], int] = {}
    for look in found:
        for source in look.sources:
            key = (source.agent, _below(source))
            ranks[key] = min(look.root.rank, ranks.get(key, look.root.rank))
    return [
        replace(
            look,
            sources=tuple(source for source in look.sources if ranks[source.agent, _below(source)] == look.root.rank),
        )
        for look in found
    ]


def _below(source: Source) -> str:
    """Return a source's path below its root; discovery joins the two, so the one begins with the other."""
    return source.path[len(source.root.rstrip("/")) + 1 :]


def open_parser(source: Source, state: State | None) -> Parser:
    """Return the parser for a source that is read line by line."""
    if source.kind == HISTORY:
        return PromptHistoryParser(state)
    if source.kind == JOURNAL:
        return open_journal(source, state)
    return records.AsterParser(state)


def read_note(source: Source, data: bytes) -> Note:
    """Return the block that a markdown file holds."""
    return parse_note(source.path, data, archived=source.path_tells == ARCHIVED)


def read_note_facts(source: Source, data: bytes) -> list[NoteFact]:
    """Return the facts of ``ASTER.md``."""
    del source
    return parse_facts(data)


def resume(session_id: str, folder: str | None) -> tuple[str, ...]:
    """Return the command that goes on with a session; Aster finds it by its id, wherever it is run."""
    del folder
    return ("aster", "--resume", session_id)


AGENT: Final = Agent(
    name=NAME,
    title="Aster",
    locate=locate,
    discover=discover,
    open_parser=open_parser,
    read_note=read_note,
    read_note_facts=read_note_facts,
    skips=records.SKIPS,
    resume=resume,
    parser_version=3,
)
