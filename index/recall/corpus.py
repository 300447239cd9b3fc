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
from index.recall.projecting import Settled, projected_block, stored_aliases, stored_words
from index.recall.ranked import Wanted, ranked_rows
from index.recall.settling import SETTLED_COLUMNS
from index.recall.standing import note_aliases, read_blocks, read_standings
from index.recall.totals import Totals, read_totals
from persist.events import Note
from persist.memory.standing import Standing, noted
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
"""So many copies of one text are looked at, and the marked ones beside them."""
_LAST_LETTER: Final = "\U0010ffff"

_FREQUENCIES: Final = """SELECT w.word, w.texts
FROM json_each(?) given CROSS JOIN memory_words w ON w.word = given.value"""
_BEGINNING: Final = "SELECT word, texts FROM memory_words WHERE word >= ? AND word < ?"
_NAMELESS: Final = "SELECT id FROM candidate_rows INDEXED BY candidate_rows_nameless WHERE name_words = 0"
_ALIASES: Final = "SELECT c.id, c.aliases FROM json_each(?) given CROSS JOIN candidate_rows c ON c.id = given.value"
_ROWS: Final = f"""SELECT c.id, c.text_key, a.name, s.path, f.line_number, c.name, c.description, c.body, c.aliases,
  {SETTLED_COLUMNS}
FROM json_each(?) given
CROSS JOIN candidate_rows c ON c.id = given.value
CROSS JOIN source_rows s ON s.id = c.source_id
CROSS JOIN agents a ON a.id = s.agent_id
LEFT JOIN memory_fact_rows f ON f.id = c.id"""
_NOTE: Final = """SELECT b.name, substr(p.text, b.body_start), b.description, b.kind, b.project, b.created_at,
  b.updated_at, b.aliases, b.superseded_by, b.pinned, b.title
FROM block_rows b CROSS JOIN prose p ON p.id = b.id WHERE b.id = ?"""


class _Row(NamedTuple):
    """A row that holds words: its fields as stored, and what is known of it; ``line_number`` is a fact's, else 0.

    ``told`` is what the journal tells of a block where what is settled does not hold or does not tell all.
    """

    id: int
    text_key: int
    agent: str
    path: str
    line_number: int
    texts: tuple[str, str, str]
    aliases: str
    settled: Settled
    told: Standing | None

    @property
    def age(self) -> str:
        """When it was touched last, empty where nothing tells."""
        return (self.settled.touched_at if self.told is None else self.told.touched_at) or ""

    @property
    def project(self) -> str | None:
        """What it is limited to."""
        return self.settled.project if self.told is None else self.told.project

    @property
    def is_current(self) -> bool:
        """Tell whether it has no successor."""
        return self.told is None or self.told.superseded_by is None

    def candidate(self) -> Candidate:
        """Return it as it is compared."""
        name, description, body = map(stored_words, self.texts)
        if self.line_number:
            return Candidate(fact_name(self.line_number), self.path, body_words=body)
        stem, words = stem_of(self.path), (name, description, body)
        if self.told is not None:
            return told_candidate(stem, self.path, words, self.told, self.agent)
        kind, project, touched_at, use, pinned, _, last_mark, _ = self.settled
        return Candidate(
            stem, self.path, *words, stored_aliases(self.aliases), kind, project, touched_at, use, bool(pinned),
            agent=self.agent, last_mark=last_mark,
        )  # fmt: skip


class IndexCorpus:
    """A ``persist.recall.corpus.Corpus`` over an open index, at one moment (``as_of``, the index's form).

    For one prompt; the caller holds a read transaction where several answers must speak of one state.
    """

    def __init__(self, connection: sqlite3.Connection, as_of: str) -> None:
        self._connection = connection
        self._as_of = as_of
        self._resolver = ProjectResolver()
        self._scopes: dict[str | None, bool] = {}
        self._ids: dict[tuple[str, str], int] = {}
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
        ranked = ranked_rows(self._connection, Wanted(terms, least_total, nameless), _AT_LEAST, limit)
        candidates = [self._candidate(row) for row in self._rows(by_alias, place)]
        several = self._few_of_each((one for one in ranked if one[1] not in by_alias), place)
        rows = self._best_first(several, place, limit)
        texts: set[int] = set()
        for row in _take(rows, _AT_LEAST):
            candidates.append(self._candidate(row))
            scale.compare_with(candidates[-1])
            if row.is_current:
                texts.add(row.text_key)
        taken = _AT_LEAST
        while more := _take(rows, limit - taken):
            for row in more:
                candidate = self._candidate(row)
                if not scale.is_refused(candidate):
                    candidates.append(candidate)
                if row.is_current:
                    texts.add(row.text_key)
            taken = len(texts)
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
        return few_of_each(self._connection, ranked, _OF_COPIES, self._as_of, partial(self._counts, place=place))

    def _best_first(self, ranked: Iterable[tuple[float, int]], place: Place, limit: int) -> Iterator[_Row]:
        """Yield rows in scope by what they are worth, then the newest first, then by path and line."""
        for worth in with_equals(ranked, max(_AT_LEAST, limit // 2)):
            rows = self._rows(list(worth), place)
            rows.sort(key=lambda row: (row.path, row.line_number))
            rows.sort(key=lambda row: row.age, reverse=True)
            yield from sorted(rows, key=lambda row: -worth[row.id])

    def _rows(self, ids: Sequence[int], place: Place) -> list[_Row]:
        """Return rows by id, but for those that do not count at ``place``."""
        if not ids:
            return []
        found = self._connection.execute(_ROWS, (dumps(ids),)).fetchall()
        told = self._ask_journal([row[0] for row in found if row[4] is None and not self._is_settled(row)])
        rows: list[_Row] = []
        for id_, text_key, agent, path, line, name, description, body, aliases, *settled in found:
            row = _Row(id_, text_key, agent, path, line or 0, (name, description, body), aliases,
                       Settled(*settled), told.get(id_))  # fmt: skip
            if self._counts(agent, path, row.project, place):
                rows.append(row)
        return rows

    def _is_settled(self, row: Sequence[Any]) -> bool:
        """Tell whether what is stored of a block holds at this moment and is all there is to tell."""
        *_, is_superseded, _, latest_at = row
        return not is_superseded and latest_at <= self._as_of

    def _ask_journal(self, ids: Sequence[int]) -> Mapping[int, Standing]:
        return read_standings(self._connection, read_blocks(self._connection, ids), self._as_of) if ids else {}

    def _candidate(self, row: _Row) -> Candidate:
        candidate = row.candidate()
        self._ids[candidate.key] = row.id
        return candidate

    def read_again(self, candidate: Candidate, note: Note) -> Candidate:
        """Return a block that ``holding`` gave as its file says it now; ``note`` is as ``standing.noted`` gives it.

        The very candidate where nothing changed. Its project may be another one: whether it still counts where a
        prompt was typed, the caller must ask again. Raises ``KeyError`` for what ``holding`` did not give.
        """
        id_ = self._ids[candidate.key]
        compared = note._replace(source_session=None, archived=False)
        if self._stored_note(id_, candidate.path) == compared:
            return candidate
        block = read_blocks(self._connection, [id_])[id_]
        changed = block._replace(note=compared._replace(body="", description=""))
        if changed == block and _words_are(candidate, note):
            return candidate
        standing = read_standings(self._connection, {id_: changed}, self._as_of)[id_]
        return block_candidate(candidate.path, note, standing, candidate.agent)

    def _stored_note(self, id_: int, path: str) -> Note:
        """Return a block with its text as it is stored; of which session and whether archived is left out."""
        name, body, description, kind, project, created_at, updated_at, aliases, superseded_by, pinned, title = (
            self._connection.execute(_NOTE, (id_,)).fetchone()
        )
        note = Note(
            name, body, description, kind, project, None, created_at, updated_at, note_aliases(aliases), False,
            superseded_by, bool(pinned), title,
        )  # fmt: skip
        return noted(stem_of(path), note)

    def is_in_scope(self, candidate: Candidate, place: Place) -> bool:
        """Tell whether a candidate counts at ``place``."""
        return self._counts(candidate.agent, candidate.path, candidate.project, place)

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


def _words_are(candidate: Candidate, note: Note) -> bool:
    """Tell whether a note gives the words that a candidate has."""
    fields = (candidate.name_words, candidate.description_words, candidate.body_words)
    words, _ = projected_block(note.name, note)
    return words.texts[:3] == tuple(map(" ".join, fields))
