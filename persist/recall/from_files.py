"""The candidates of a memory folder, read from its files; and the text of one that is given out.

The only module here that reads files (and ``scope.place_of``); needs no index. What is printed is read at that moment:
a file that is gone or was put aside in between is given out no more.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from persist.errors import StoreIOError
from persist.events import Note, NoteFact
from persist.memory.blocks import PROJECT_FILE, Block, note_paths, read_block
from persist.memory.journal import JOURNAL_FILE, iter_known_operations
from persist.memory.project import parse_facts, read_project_bytes
from persist.memory.standing import Standing, noted, standings
from persist.projects import ProjectResolver
from persist.recall.answer import Recalled
from persist.recall.candidate import Candidate, fact_name
from persist.recall.copies import text_of
from persist.recall.corpus import Scale, Statistics, count_words, words_of
from persist.recall.evidence import Term
from persist.recall.frame import DEFAULT_MAX_CHARACTERS, Framed, Quoted, framed
from persist.recall.scope import Place, is_in_scope
from persist.recall.words import alias_words, field_words, name_words

Words: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""The words of a block's name, description and body."""


@dataclass(frozen=True)
class FileCorpus:
    """Candidates at hand, as a ``persist.recall.corpus.Corpus``; ``left_out`` counts the blocks not read for time."""

    candidates: Sequence[Candidate]
    left_out: int = 0

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Where each word stands: the candidates' numbers, in order."""
        places: dict[str, list[int]] = {}
        for number, candidate in enumerate(self.candidates):
            for word in words_of(candidate):
                places.setdefault(word, []).append(number)
        return places

    @cached_property
    def _texts(self) -> dict[tuple[str, ...], list[Candidate]]:
        """The candidates of each text, copies together."""
        texts: dict[tuple[str, ...], list[Candidate]] = {}
        for candidate in self.candidates:
            texts.setdefault(text_of(candidate), []).append(candidate)
        return texts

    @cached_property
    def _copies(self) -> dict[int, int]:
        """Of the candidates that have copies, by their numbers: the number of the first one."""
        first: dict[tuple[str, ...], int] = {}
        copies: dict[int, int] = {}
        for number, candidate in enumerate(self.candidates):
            text = text_of(candidate)
            if len(self._texts[text]) > 1:
                copies[number] = first.setdefault(text, number)
        return copies

    def _frequency(self, numbers: Sequence[int]) -> int:
        """Return how many texts so many candidates have."""
        copies = self._copies
        return len({copies.get(number, number) for number in numbers}) if copies else len(numbers)

    def statistics(self, words: Iterable[str]) -> Statistics:
        """Return the counts, with the frequencies of these words."""
        places = self._places
        frequencies = {word: self._frequency(places[word]) for word in words if word in places}
        return count_words(self._texts.values(), frequencies)

    def beginning_with(self, letters: str) -> Mapping[str, int]:
        """Return the words that begin with these letters, with their frequencies."""
        return {word: self._frequency(numbers) for word, numbers in self._places.items() if word.startswith(letters)}

    def holding(
        self, terms: Sequence[Term], least_total: float, place: Place, limit: int, scale: Scale
    ) -> Iterable[Candidate]:
        """Return every candidate in scope that holds one of the words; more than ``limit`` where there are more."""
        del least_total, limit, scale  # all are at hand
        numbers = {number for term in terms for number in self._places.get(term.word, ())}
        resolver = ProjectResolver()
        counts: dict[str | None, bool] = {}
        found = []
        for number in sorted(numbers):
            candidate = self.candidates[number]
            if candidate.project not in counts:
                counts[candidate.project] = is_in_scope(candidate.project, place, resolver)
            if counts[candidate.project]:
                found.append(candidate)
        return found


def read_corpus(
    folders: Sequence[Path], as_of: str, ranks: Sequence[int] | None = None, time_s: float | None = None
) -> FileCorpus:
    """Return the blocks and facts of memory folders, the one that has the say first: its files hide their namesakes.

    So does its journal: an older folder's is then read no more, as the index has none of it either
    (``persist.agents.aster.agent.shadowed``). Folders of one of ``ranks``, which ascend, hide nothing of each other;
    without ``ranks`` each is below the one before. ``as_of`` (the index's form) is the moment that age, use and
    succession are told for. Blocks that cannot be read are none. Cost: reads every block and the journals whole; with
    ``time_s`` blocks are read for so long at most, those whose files changed last first. Raises ``StoreIOError`` where
    a folder or ASTER.md cannot be read.
    """
    until_s = None if time_s is None else time.monotonic() + time_s
    first: dict[str, int] = {}
    found: list[Candidate] = []
    left_out = 0
    for rank, folder in zip(ranks or range(len(folders)), folders, strict=True):
        hidden = {name for name, other in first.items() if other < rank}
        candidates, unread = _of_folder(folder, as_of, hidden, until_s)
        found += candidates
        left_out += unread
        if len(folders) > 1:
            for name in _files_in(folder):
                first.setdefault(name, rank)
    return FileCorpus(found, left_out)


def block_candidate(path: str, note: Note, standing: Standing, agent: str = "aster") -> Candidate:
    """Return the candidate of a block; ``note`` is as ``standing.noted`` gives it, its name the slug."""
    return told_candidate(note.name, path, _words_of(note), standing, agent)


def told_candidate(name: str, path: str, words: Words, standing: Standing, agent: str = "aster") -> Candidate:
    """Return the candidate of a block: the words of its name, description and body, and what is known of it beside."""
    aliases = tuple(found for alias in standing.aliases if (found := alias_words(alias)))
    return Candidate(
        name, path, *words, aliases, standing.kind, standing.project, standing.touched_at, standing.use,
        standing.pinned, standing.superseded_by, agent, standing.last_mark,
    )  # fmt: skip


def _words_of(note: Note) -> Words:
    return name_words(note.name, note.title), field_words(note.description), field_words(note.body)


def fact_candidate(path: str, fact: NoteFact) -> Candidate:
    """Return the candidate of a fact of ASTER.md: its text is its body, and nothing tells its age."""
    return Candidate(name=fact_name(fact.line_number), path=path, body_words=field_words(fact.text))


def read_text(candidate: Candidate) -> Quoted | None:
    """Return what a candidate says now, ``None`` where it is gone, unreadable or another one by now.

    Raises ``StoreIOError`` where ASTER.md is there and cannot be read.
    """
    path = Path(candidate.path)
    if candidate.name.startswith(f"{PROJECT_FILE}:"):
        return _fact_text(candidate, path)
    block = read_block(path)
    if block.unread is not None:
        return None
    note = block.note
    return Quoted(candidate.name, candidate.path, note.description, note.body, candidate.kind, note.updated_at)


def says_same(first: Candidate, second: Candidate) -> bool:
    """Tell whether the files of two candidates say the same, but for their names; what is gone says what it said.

    For two that have the same words, which leave out small ones.
    """
    try:
        one, other = read_text(first), read_text(second)
    except StoreIOError:
        return True
    if one is None or other is None:
        return True
    return bool(one.description or one.text) and (one.description, one.text) == (other.description, other.text)


def given_out(recalled: Recalled, max_characters: int = DEFAULT_MAX_CHARACTERS) -> Framed:
    """Return what was chosen as its files say it now, in one frame; what is gone by now is left out.

    Raises ``StoreIOError`` like :func:`read_text`.
    """
    items = (read_text(verdict.candidate) for verdict in recalled.chosen)
    return framed([item for item in items if item is not None], max_characters)


def _fact_text(candidate: Candidate, path: Path) -> Quoted | None:
    facts = parse_facts(read_project_bytes(path.parent) or b"")
    same = [fact for fact in facts if field_words(fact.text) == candidate.body_words]
    at_line = [fact for fact in same if fact_name(fact.line_number) == candidate.name]
    for fact in (*at_line, *same):
        return Quoted(fact_name(fact.line_number), candidate.path, "", fact.text, candidate.kind, None)
    return None


def _of_folder(folder: Path, as_of: str, hidden: Set[str], until_s: float | None) -> tuple[list[Candidate], int]:
    """Return the candidates of a folder's files, but for those of these names, and how many blocks were not read."""
    paths = [path for path in note_paths(folder) if path.name != PROJECT_FILE and path.name not in hidden]
    if until_s is not None:
        paths.sort(key=_changed_ns, reverse=True)
    read: list[tuple[Block, Note, Words]] = []
    left_out = 0
    for number, path in enumerate(paths):
        if until_s is not None and time.monotonic() > until_s:
            left_out = len(paths) - number
            break
        block = read_block(path)
        if block.unread is None:
            note = noted(path.stem, block.note)
            read.append((block, note, _words_of(note)))
    read.sort(key=lambda one: (one[0].note.name, str(one[0].path)))  # as ``list_blocks`` has them
    operations = () if JOURNAL_FILE in hidden else iter_known_operations(folder)
    told = standings([note for _, note, _ in read], operations, as_of)
    found = [told_candidate(note.name, str(block.path), words, told[note.name]) for block, note, words in read]
    project = None if PROJECT_FILE in hidden else read_project_bytes(folder)
    if project is not None:
        project_path = str(folder / PROJECT_FILE)
        found += [fact_candidate(project_path, fact) for fact in parse_facts(project)]
    return found, left_out


def _changed_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _files_in(folder: Path) -> list[str]:
    """Return the names of a memory folder's files, also of those that cannot be read."""
    paths = (*note_paths(folder), folder / JOURNAL_FILE)
    return [path.name for path in paths if os.path.isfile(path)]  # noqa: PTH113 - never raises
