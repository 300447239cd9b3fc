"""The candidates of the index as ``persist.recall`` asks for them: counts from the stored words, a few rows in full.

Plain ``sqlite3`` on a reading connection; must never import SQLAlchemy, Alembic, pydantic or ulid. Reads no file but
what tells worktrees (``persist.projects``). The same files give the same counts and candidates as
``persist.recall.from_files`` has.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from json import dumps
from typing import Any, Final, NamedTuple

from index.recall.copies import few_of_each
from index.recall.foreign import lies_in_notes_of
from index.recall.names import stem_of
from index.recall.pieces import with_equals
from index.recall.postings import rows_with_alias_words
from index.recall.projecting import stored_aliases, stored_words, words_of_block
from index.recall.ranked import Wanted, ranked_rows
from index.recall.standing import BLOCK_COLUMNS, FROM_CANDIDATES, StoredBlock, block_of, read_standings
from index.recall.totals import Totals, read_totals
from persist.events import Note
from persist.projects import ProjectResolver
from persist.recall.candidate import Candidate, fact_name
from persist.recall.corpus import Scale, Statistics
from persist.recall.evidence import Term
from persist.recall.from_files import block_candidate, told_candidate
from persist.recall.scope import Place, is_in_scope

OWN_AGENT: Final = "aster"
_AT_LEAST: Final = 8
"""So many of the best are candidates whatever their evidence: the gate compares with the best there is."""
_OF_COPIES: Final = 64
"""So many copies of one text are looked at, and those beside them that the journal tells of."""
_LAST_LETTER: Final = "\U0010ffff"

_FREQUENCIES: Final = """SELECT w.word, w.texts
FROM json_each(?) given CROSS JOIN memory_words w ON w.word = given.value"""
_BEGINNING: Final = "SELECT word, texts FROM memory_words WHERE word >= ? AND word < ?"
_NAMELESS: Final = "SELECT id FROM candidate_rows INDEXED BY candidate_rows_nameless WHERE name_words = 0"
_ALIASES: Final = "SELECT c.id, c.aliases FROM json_each(?) given CROSS JOIN candidate_rows c ON c.id = given.value"
_ROWS: Final = f"""SELECT c.id, c.text_key, a.name, f.line_number, c.name, c.description, c.body, c.aliases,
  {BLOCK_COLUMNS}
{FROM_CANDIDATES}"""
_TEXT: Final = """SELECT b.description, substr(p.text, b.body_start)
FROM block_rows b CROSS JOIN prose p ON p.id = b.id WHERE b.id = ?"""


_COLUMNS: Final = tuple(name.strip() for name in BLOCK_COLUMNS.split(","))
_PATH, _PROJECT, _UPDATED, _CREATED, _SUPERSEDED = (
    _COLUMNS.index(name) for name in ("s.path", "b.project", "b.updated_at", "b.created_at", "b.superseded_by")
)


class _Row(NamedTuple):
    """A row that holds words: its fields as stored, the columns of its block, and the line of a fact, else 0."""

    id: int
    text_key: int
    agent: str
    line_number: int
    texts: tuple[str, str, str]
    aliases: str
    columns: Sequence[Any]

    @property
    def path(self) -> str:
        """Return the path of its file."""
        return str(self.columns[_PATH])

    @property
    def age(self) -> str:
        """What its header says of its last change, empty where it says nothing."""
        return self.columns[_UPDATED] or self.columns[_CREATED] or ""

    @property
    def is_current(self) -> bool:
        """Tell whether its header names no successor."""
        return self.columns[_SUPERSEDED] is None

    def candidate(self) -> Candidate:
        """Return what the row itself tells."""
        name, description, body = self.words()
        if self.line_number:
            return Candidate(fact_name(self.line_number), self.path, body_words=body)
        return Candidate(stem_of(self.path), self.path, name, description, body, agent=self.agent)

    def words(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Return the words of its fields."""
        name, description, body = map(stored_words, self.texts)
        return name, description, body


class IndexCorpus:
    """A ``persist.recall.corpus.Corpus`` over an open index, at one moment (``as_of``, the index's form).

    For one prompt; the caller holds a read transaction where several answers must speak of one state.
    """

    def __init__(self, connection: sqlite3.Connection, as_of: str) -> None:
        self._connection = connection
        self._as_of = as_of
        self._resolver = ProjectResolver()
        self._scopes: dict[str | None, bool] = {}
        self._blocks: dict[tuple[str, str], StoredBlock] = {}
        self._totals: Totals | None = None

    def statistics(self, words: Iterable[str]) -> Statistics:
        """Return the counts, with the frequencies of these words."""
        execute = self._connection.execute
        totals = self._totals = read_totals(self._connection)
        frequencies = dict(execute(_FREQUENCIES, (dumps(list(words)),)).fetchall()) if totals.texts else {}
        means = (total / (totals.texts or 1) for total in (totals.name, totals.description, totals.body))
        return Statistics(totals.texts, frequencies, *means)

    def beginning_with(self, letters: str) -> Mapping[str, int]:
        """Return the words of any field that begin with these letters, with their frequencies."""
        return dict(self._connection.execute(_BEGINNING, (letters, letters + _LAST_LETTER)))

    def holding(
        self, terms: Sequence[Term], least_total: float, place: Place, limit: int, scale: Scale
    ) -> Iterable[Candidate]:
        """Return candidates that hold one of the words and count at ``place``, as the protocol says.

        And every one with an alias all of whose words are among these. Those that hold as much as the last of them are
        cut by their age, then by path.
        """
        by_alias = self._find_aliases({term.word for term in terms}, place)
        nameless = frozenset(row for (row,) in self._connection.execute(_NAMELESS))
        wanted = Wanted(terms, least_total, nameless)
        ranked = ranked_rows(self._connection, wanted, _AT_LEAST, limit)
        candidates = [candidate for _, candidate in self._candidates(self._rows(by_alias, place), place)]
        several = self._few_of_each((one for one in ranked if one[1] not in by_alias), place)
        rows = self._best_first(several, place, limit)
        first = _take(rows, _AT_LEAST)
        others = _take(rows, limit - len(first))
        current: set[int] = set()
        is_sure = True
        while first or others:
            compared = [row.candidate() for row in first if row.is_current and not row.aliases]
            for candidate in compared:
                scale.compare_with(candidate)
            kept = [row for row in others if not is_sure or row.aliases or not scale.is_refused(row.candidate())]
            more = self._candidates([*first, *kept], place)
            if is_sure and not _are_current(compared, (candidate for _, candidate in more)):
                is_sure = False  # as the journal tells, one is not: it refuses nobody
                more += self._candidates([row for row in others if row not in kept], place)
                kept = others
            current.update(row.text_key for row, candidate in more if candidate.superseded_by is None)
            current.update(row.text_key for row in others if row.is_current and row not in kept)
            candidates += (candidate for _, candidate in more)
            first, others = [], _take(rows, max(0, limit - len(current)))
        return candidates

    def _find_aliases(self, words: set[str], place: Place) -> list[int]:
        """Return the rows with an alias that these words make, of copies a few."""
        if self._totals is None or not self._totals.with_aliases:
            return []
        rows = rows_with_alias_words(self._connection, words)
        if not rows:
            return []
        found = self._connection.execute(_ALIASES, (dumps(sorted(rows)),))
        whole = [row for row, text in found if any(words.issuperset(alias) for alias in stored_aliases(text))]
        return [row for _, row in self._few_of_each(((0.0, row) for row in whole), place)]

    def _few_of_each(self, ranked: Iterable[tuple[float, int]], place: Place) -> Iterable[tuple[float, int]]:
        if self._totals is None or not self._totals.have_copies:
            return ranked
        return few_of_each(self._connection, ranked, _OF_COPIES, partial(self._counts, place=place))

    def _best_first(self, ranked: Iterable[tuple[float, int]], place: Place, limit: int) -> Iterator[_Row]:
        """Yield rows in scope by what they are worth, then the newest first, then by path and line."""
        for worth in with_equals(ranked, max(_AT_LEAST, limit // 2)):
            rows = self._rows(list(worth), place)
            rows.sort(key=lambda row: (row.path, row.line_number))
            rows.sort(key=lambda row: row.age, reverse=True)
            yield from sorted(rows, key=lambda row: -worth[row.id])

    def _rows(self, ids: Sequence[int], place: Place) -> list[_Row]:
        """Return rows by id, but for those whose own header says that they do not count at ``place``."""
        rows: list[_Row] = []
        if not ids:
            return rows
        for id_, text_key, agent, line, name, description, body, aliases, *columns in self._connection.execute(
            _ROWS, (dumps(ids),)
        ):
            if line or self._counts(agent, columns[_PATH], columns[_PROJECT], place):
                rows.append(_Row(id_, text_key, agent, line or 0, (name, description, body), aliases, columns))
        return rows

    def read_again(self, candidate: Candidate, note: Note) -> Candidate:
        """Return a block that ``holding`` gave as its file says it now; ``note`` is as ``standing.noted`` gives it.

        The very candidate where nothing changed. Its project may be another one: whether it still counts where a
        prompt was typed, the caller must ask again. Raises ``KeyError`` for what ``holding`` did not give.
        """
        block = self._blocks[candidate.key]
        changed = block._replace(note=note._replace(body="", description="", source_session=None, archived=False))
        if changed == block and (self._has_text(block.id, note) or _words_are(candidate, note)):
            return candidate
        standing = read_standings(self._connection, {block.id: changed}, self._as_of)[block.id]
        return block_candidate(candidate.path, note, standing, candidate.agent)

    def _has_text(self, block_id: int, note: Note) -> bool:
        """Tell whether a block's description and body are the stored ones: then its words are too."""
        stored = self._connection.execute(_TEXT, (block_id,)).fetchone()
        return stored is not None and stored == (note.description, note.body)

    def is_in_scope(self, candidate: Candidate, place: Place) -> bool:
        """Tell whether a candidate counts at ``place``."""
        return self._counts(candidate.agent, candidate.path, candidate.project, place)

    def _candidates(self, rows: Sequence[_Row], place: Place) -> list[tuple[_Row, Candidate]]:
        """Return rows with their candidates, in order, but for those whose project the journal tells and is another."""
        blocks = {row.id: block_of(row.id, row.columns) for row in rows if not row.line_number}
        told = read_standings(self._connection, blocks, self._as_of)
        candidates: list[tuple[_Row, Candidate]] = []
        for row in rows:
            if row.line_number:
                candidates.append((row, row.candidate()))
                continue
            block, standing = blocks[row.id], told[row.id]
            if self._counts(row.agent, row.path, standing.project, place):
                candidate = told_candidate(block.note.name, row.path, row.words(), standing, row.agent)
                self._blocks[candidate.key] = block
                candidates.append((row, candidate))
        return candidates

    def _counts(self, agent: str, path: str, project: str | None, place: Place) -> bool:
        if project is None and agent != OWN_AGENT:
            return lies_in_notes_of(path, place)
        if project not in self._scopes:
            self._scopes[project] = is_in_scope(project, place, self._resolver)
        return self._scopes[project]


def _take(rows: Iterator[_Row], count: int) -> list[_Row]:
    """Return the next rows, of so many texts."""
    taken: list[_Row] = []
    texts: set[int] = set()
    while len(texts) < count and (row := next(rows, None)) is not None:
        taken.append(row)
        texts.add(row.text_key)
    return taken


def _are_current(compared: Iterable[Candidate], told: Iterable[Candidate]) -> bool:
    """Tell whether all of these are among the others, and none of them is superseded there."""
    current = {candidate.key for candidate in told if candidate.superseded_by is None}
    return all(candidate.key in current for candidate in compared)


def _words_are(candidate: Candidate, note: Note) -> bool:
    """Tell whether a note gives the words that a candidate has."""
    fields = (candidate.name_words, candidate.description_words, candidate.body_words)
    return words_of_block(note.name, note).texts[:3] == tuple(map(" ".join, fields))
