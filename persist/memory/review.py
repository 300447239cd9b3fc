"""Looks through a memory folder for what a person should see to; changes nothing (``findings.py`` has the words).

Blocks: unreadable, undated, never recalled, oversized, near duplicates, without the session they come from, superseded
in a circle, a chain or by nothing, with a secret. Facts: ``review_facts.py``. Block by block, so that no more than one
text is in memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from persist import times
from persist.events import Note
from persist.memory import findings
from persist.memory.archive import list_archived
from persist.memory.blocks import PROJECT_FILE, Block, misnamed_paths, note_paths, read_block
from persist.memory.decay import untouched_days
from persist.memory.findings import Finding, in_order
from persist.memory.journal import iter_operations
from persist.memory.near import near_pairs, telling_words
from persist.memory.private_values import private_values
from persist.memory.project import parse_facts, read_project_bytes
from persist.memory.review_facts import facts_by_text, review_facts, told_by
from persist.memory.standing import Standing, noted, standings

MAX_BODY_CHARACTERS: Final = 4_000
"""About 1,000 tokens each time it is recalled."""
_MIN_SAME_CHARACTERS: Final = 20
_YOUNG_DAYS: Final = 14
"""So long nothing is to be said of a block that nobody has needed yet."""
_SHOWN_SUCCESSORS: Final = 8
"""Of blocks that supersede each other in a row."""

MissingSessions = Callable[[Collection[str]], Collection[str]]
"""Given the sessions that notes name, returns those that nothing knows."""


@dataclass(frozen=True, slots=True)
class Review:
    """What a review found, in order, and how many blocks and facts it looked at."""

    findings: tuple[Finding, ...]
    blocks: int
    facts: int


def review(folder: Path, missing_sessions: MissingSessions | None = None, as_of: str | None = None) -> Review:
    """Return what is to be seen to in a memory folder at ``as_of`` (the index's form; now).

    ``missing_sessions`` tells which sessions are gone; without it no link is judged. Raises ``StoreIOError`` where the
    folder, the journal or ``ASTER.md`` cannot be read.
    """
    moment = as_of or times.now()
    project = read_project_bytes(folder) or b""
    known = facts_by_text(project)
    notes: dict[str, Note] = {}
    found: list[Finding] = []
    same_texts: dict[bytes, list[str]] = {}
    paths = [path for path in note_paths(folder) if path.name != PROJECT_FILE]
    for path in paths:
        block = read_block(path)
        found += _of_file(block)
        if block.unread is None:
            found += told_by(path.stem, (block.note.description, block.note.body), known)
            _note_text(block, same_texts)
            notes[path.stem] = noted(path.stem, block.note)._replace(body="")
    known_now = standings(notes.values(), iter_operations(folder), moment)
    words = {stem: telling_words(f"{stem} {note.title or ''} {note.description}") for stem, note in notes.items()}
    current = {stem: words[stem] for stem, one in known_now.items() if one.superseded_by is None}
    for path in misnamed_paths(folder):
        told = "is called like a fact of ASTER.md and so is no block; give the file another name"
        found.append(Finding(path.name, findings.UNREADABLE, told))
    found += _of_same_texts(same_texts, current)
    for one, other in near_pairs(current):
        told = f"says nearly the same as {other}; archive one, or let it supersede the other"
        found.append(Finding(one, findings.NEAR_DUPLICATE, told))
    found += _of_use(known_now, moment)
    found += _of_successors(known_now, {block.path.stem for block in list_archived(folder)})
    if missing_sessions is not None:
        found += _of_sources(notes, missing_sessions)
    found += review_facts(project, words)
    return Review(tuple(in_order(found)), len(paths), len(parse_facts(project)))


def _of_file(block: Block) -> Iterator[Finding]:
    """Yield what the file alone tells."""
    stem, note = block.path.stem, block.note
    if block.problem is not None:
        yield Finding(stem, findings.UNREADABLE, f"{block.problem}; see to the file")
    if block.unread is not None:
        return
    if len(note.body) > MAX_BODY_CHARACTERS:
        told = f"has {len(note.body):,} characters, over {MAX_BODY_CHARACTERS:,}; make several blocks of it"
        yield Finding(stem, findings.OVERSIZED, told)
    for private in private_values(f"{note.description}\n{note.body}"):
        if private.sort == "secret":
            where = "its description" if private.line == 1 else f"line {private.line - 1} of its text"
            told = f"{where} looks like {private.looks_like}; take it out, and change it where it is used"
            yield Finding(stem, findings.SENSITIVE, told, private.line)


def _note_text(block: Block, same_texts: dict[bytes, list[str]]) -> None:
    text = " ".join(block.note.body.casefold().split())
    if len(text) >= _MIN_SAME_CHARACTERS:
        digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
        same_texts.setdefault(digest, []).append(block.path.stem)


def _of_same_texts(same_texts: Mapping[bytes, list[str]], current: Collection[str]) -> Iterator[Finding]:
    """Yield the first of the current blocks that have one text, once for each of the others."""
    for stems in same_texts.values():
        first, *others = [stem for stem in stems if stem in current] or [""]
        for other in others:
            told = f"has the same text as {other}; archive one, or let it supersede the other"
            yield Finding(first, findings.NEAR_DUPLICATE, told)


def _of_use(known: Mapping[str, Standing], moment: str) -> Iterator[Finding]:
    for stem, one in known.items():
        days = untouched_days(one, moment)
        if days is None:
            told = "has no date that can be read, so it never decays; remember it again, or archive it"
            yield Finding(stem, findings.UNDATED, told)
        is_young = days is not None and days < _YOUNG_DAYS
        if one.recalled == 0 and one.superseded_by is None and not is_young:
            since = "" if days is None else f", last touched {int(days)} days ago"
            told = f"was never recalled{since}; give it aliases, or archive it"
            yield Finding(stem, findings.NEVER_RECALLED, told)


def _of_successors(known: Mapping[str, Standing], archived: Collection[str]) -> Iterator[Finding]:
    """Yield blocks whose successors lead nowhere, back to themselves, or further on."""
    endless = _without_end(known)
    for stem, one in known.items():
        successor = one.superseded_by
        if successor is None:
            continue
        if successor not in known:
            gone = "is archived" if successor in archived else "is not there"
            told = f"is superseded by {successor}, which {gone}; restore that, or remember this again"
            yield Finding(stem, findings.SUPERSEDED_BROKEN, told)
            continue
        if stem in endless:
            told = f"is superseded in a circle, {_way(stem, known)}, so none is recalled; remember again what holds"
            yield Finding(stem, findings.SUPERSEDED_CIRCLE, told)
        elif known[successor].superseded_by is not None:
            told = f"is superseded by {successor}, which is superseded too: {_way(stem, known)}; archive it"
            yield Finding(stem, findings.SUPERSEDED_CHAIN, told)


def _without_end(known: Mapping[str, Standing]) -> set[str]:
    """Return the blocks of a circle and those that lead into one. Each block is walked over once."""
    is_endless: dict[str, bool] = {}
    for stem in known:
        walked: dict[str, None] = {}
        here: str | None = stem
        while here is not None and here in known and here not in is_endless and here not in walked:
            walked[here] = None
            here = known[here].superseded_by
        in_circle = here is not None and (here in walked or is_endless.get(here, False))
        is_endless.update(dict.fromkeys(walked, in_circle))
    return {stem for stem, endless in is_endless.items() if endless}


def _way(stem: str, known: Mapping[str, Standing]) -> str:
    """Return the successors of a block one after another, itself first, up to the one that has none or comes twice.

    Of a long way the beginning: each of its blocks is told of on its own.
    """
    way = [stem]
    while way[-1] not in way[:-1] and (one := known.get(way[-1])) is not None and one.superseded_by is not None:
        way.append("\u2026" if len(way) == _SHOWN_SUCCESSORS else one.superseded_by)
    return " > ".join(way)


def _of_sources(notes: Mapping[str, Note], missing_sessions: MissingSessions) -> Iterator[Finding]:
    named = {note.source_session for note in notes.values() if note.source_session}
    missing = set(missing_sessions(named)) if named else set()
    for stem, note in notes.items():
        if note.source_session in missing:
            told = f"comes from session {note.source_session}, which no file or index knows"
            yield Finding(stem, findings.BROKEN_SOURCE, told)
