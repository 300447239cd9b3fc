"""What memory has to say for a prompt: found by the index where there is one, said by the files.

One function and its frozen result; reads only. Must never import SQLAlchemy, Alembic, pydantic or ulid. Without an
index, or with one that cannot answer, the store's own blocks and facts are read from their files (DESIGN 7).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

from index.errors import AsterIndexError, NoIndexError
from index.opening import is_current, open_reader
from index.recall.corpus import IndexCorpus
from index.recall.files import MemoryFiles, Said, State, quoted, unread_notes
from index.settings import Settings
from index.sqlite_errors import SEARCH_BUSY_TIMEOUT_MS, translate_read_errors
from persist.memory.folders import homes_by_rank, memory_folders
from persist.recall.answer import MAX_RECALLED, Recalled, Verdict, recall
from persist.recall.candidate import Candidate
from persist.recall.corpus import Corpus, Scale, Statistics
from persist.recall.evidence import Term
from persist.recall.frame import Quoted
from persist.recall.from_files import FileCorpus, read_corpus, says_same
from persist.recall.scope import Place

Status: TypeAlias = Literal["ok", "nothing_relevant", "stale", "damaged", "partial"]

MAX_NAMED: Final = 5
"""Files that could not be read and are named."""

OUT_OF_TIME: Final = "there was no time to read all notes, and those that changed longest ago were left out"
"""Without a number: who counts what went wrong counts equal sentences."""

_UNREAD: Final = """SELECT path, coalesce(error, status) FROM source_rows
WHERE kind IN ('block', 'project_memory') AND status IN ('held', 'failed', 'broken') ORDER BY path"""


class Given(NamedTuple):
    """One of the answer: why, and what its file says."""

    verdict: Verdict
    quoted: Quoted


@dataclass(frozen=True, slots=True)
class MemoryAnswer:
    """What helps with a prompt, the best first, and how it was found.

    ``status``: ``partial``, some memory could not be read; ``damaged``, something given out is not whole; ``stale``,
    a file had changed since the index saw it, and was judged as it is now; else ``ok`` or ``nothing_relevant``.
    ``considered`` counts the candidates that share a word with the prompt and were compared. ``from_index`` is false
    where the files of the store answered alone; ``notes`` are sentences for a person: why so, and what is missing.
    """

    status: Status
    given: tuple[Given, ...]
    refused: tuple[Verdict, ...]
    terms: tuple[Term, ...]
    considered: int
    from_index: bool
    notes: tuple[str, ...] = ()


def recall_memory(
    settings: Settings, prompt: str, place: Place, as_of: str, limit: int = MAX_RECALLED, time_s: float | None = None
) -> MemoryAnswer:
    """Return what helps with a prompt typed at ``place``, at the moment ``as_of`` (the index's form).

    The index is read as it is: who wants it fresh brings it up to date before. Raises ``StoreIOError`` where the store
    must answer and its folder or ASTER.md cannot be read. Cost: with an index, a few milliseconds and the files that
    are given out; without, every block, or those that can be read within ``time_s``, the newest files first.
    """
    path = settings.index_path
    try:
        with (
            closing(open_reader(path, SEARCH_BUSY_TIMEOUT_MS)) as connection,
            translate_read_errors(path, SEARCH_BUSY_TIMEOUT_MS),
        ):
            if is_current(connection, settings.projection):
                return _from_index(settings, connection, prompt, place, as_of, limit)
            why = "the index was made by other rules; run: asx ingest"
    except NoIndexError:
        why = "there is no index"
    except AsterIndexError as error:
        why = str(error)
    why = f"{why}: only blocks and facts of the store were read"
    return _from_files(settings, prompt, place, as_of, limit, why, time_s)


def store_corpus(settings: Settings, as_of: str, time_s: float | None = None) -> FileCorpus:
    """Return what the store's memory folders hold, read from their files. Cost and errors as ``read_corpus``."""
    ranks = [home.rank for home in homes_by_rank(settings.roots)]
    return read_corpus(memory_folders(settings.roots), as_of, ranks, time_s)


class _Judge(Protocol):
    """What is made of a candidate whose file was read just now: itself, a changed one, or null."""

    def __call__(self, candidate: Candidate, said: Said) -> Candidate | None: ...


def _from_index(
    settings: Settings, connection: sqlite3.Connection, prompt: str, place: Place, as_of: str, limit: int
) -> MemoryAnswer:
    connection.execute("PRAGMA temp_store = memory")
    connection.execute("BEGIN")
    corpus = IndexCorpus(connection, as_of)

    def judge(candidate: Candidate, said: Said) -> Candidate | None:
        if said.note is None:
            return said.fact
        now = corpus.read_again(candidate, said.note)
        return now if corpus.is_in_scope(now, place) else None

    unread = connection.execute(_UNREAD).fetchall()
    asked = _Asked(MemoryFiles(settings), corpus, judge)
    return asked.answer(prompt, place, as_of, limit, unread, from_index=True)


def _from_files(
    settings: Settings, prompt: str, place: Place, as_of: str, limit: int, why: str, time_s: float | None
) -> MemoryAnswer:
    corpus = store_corpus(settings, as_of, time_s)
    late = (OUT_OF_TIME,) if corpus.left_out else ()  # nor is there time then to look which could not be read
    unread = [] if late else [found for folder in memory_folders(settings.roots) for found in unread_notes(folder)]
    asked = _Asked(MemoryFiles(settings), corpus, lambda candidate, said: candidate if said.note else said.fact)
    return asked.answer(prompt, place, as_of, limit, unread, from_index=False, notes=(why, *late))


class _Checked:
    """A corpus in which some candidates are others by now, or none; what was asked of it once is not asked again."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._statistics: Statistics | None = None
        self._beginning: dict[str, Mapping[str, int]] = {}
        self._found: list[Candidate] | None = None
        self.replaced: dict[Candidate, Candidate | None] = {}

    def statistics(self, words: Iterable[str]) -> Statistics:
        if self._statistics is None:
            self._statistics = self._corpus.statistics(words)
        return self._statistics

    def beginning_with(self, letters: str) -> Mapping[str, int]:
        if letters not in self._beginning:
            self._beginning[letters] = self._corpus.beginning_with(letters)
        return self._beginning[letters]

    def holding(
        self, terms: Sequence[Term], least_total: float, place: Place, limit: int, scale: Scale
    ) -> Iterable[Candidate]:
        if self._found is None:
            self._found = list(self._corpus.holding(terms, least_total, place, limit, scale))
        if not self.replaced:
            return self._found
        now = (self.replaced.get(candidate, candidate) for candidate in self._found)
        return [candidate for candidate in now if candidate is not None]


class _Asked:
    """One prompt: asks, reads the files of what was chosen, and asks again where one of them says something else."""

    def __init__(self, files: MemoryFiles, corpus: Corpus, judge: _Judge) -> None:
        self._files = files
        self._corpus = _Checked(corpus)
        self._judge = judge
        self._said: dict[Candidate, Said] = {}

    def answer(
        self, prompt: str, place: Place, as_of: str, limit: int, unread: Sequence[tuple[str, str]], *,
        from_index: bool, notes: tuple[str, ...] = (),
    ) -> MemoryAnswer:  # fmt: skip
        """Return the answer; ends, for each round reads a file that no round before it read."""
        while True:
            found = recall(prompt, self._corpus, place=place, as_of=as_of, limit=limit, says_same=says_same)
            fresh = [one.candidate for one in found.chosen if one.candidate not in self._said]
            if not sum(self._changed(candidate) for candidate in fresh):
                break
        given = tuple(Given(one, quoted(one.candidate, self._said[one.candidate])) for one in found.chosen)
        missing = dict(unread)
        for candidate, said in self._said.items():
            if said.state is State.UNREADABLE:
                missing[candidate.path] = said.problem or ""
        return MemoryAnswer(
            status=self._status(found, bool(missing)),
            given=given,
            refused=found.refused,
            terms=found.terms,
            considered=len(found.chosen) + len(found.refused),
            from_index=from_index,
            notes=(*notes, *_named(missing), *self._damage(found)),
        )

    def _changed(self, candidate: Candidate) -> bool:
        """Read a candidate's file; tell whether it says something else than what was judged."""
        said = self._files.read(candidate)
        self._said[candidate] = said
        now = None if said.note is None and said.fact is None else self._judge(candidate, said)
        if now == candidate:
            return False
        self._corpus.replaced[candidate] = now
        if now is not None:
            self._said[now] = said
        return True

    def _status(self, found: Recalled, is_partial: bool) -> Status:
        if is_partial:
            return "partial"
        if self._damage(found):
            return "damaged"
        if self._corpus.replaced:
            return "stale"
        return "ok" if found.chosen else "nothing_relevant"

    def _damage(self, found: Recalled) -> tuple[str, ...]:
        """Return a sentence for each file that is given out and not whole."""
        states = ((one.candidate.path, self._said[one.candidate]) for one in found.chosen)
        return tuple(f"{path} {said.problem}" for path, said in states if said.state is State.DAMAGED)


def _named(missing: Mapping[str, str]) -> tuple[str, ...]:
    """Return a sentence for each of the first files that could not be read, and one for the others."""
    names = sorted(missing)
    sentences = [f"{path} could not be read, and what is in it was not considered: {missing[path]}" for path in names]
    if len(names) > MAX_NAMED:
        sentences[MAX_NAMED:] = [f"and {len(names) - MAX_NAMED} more files of memory could not be read"]
    return tuple(sentences)
