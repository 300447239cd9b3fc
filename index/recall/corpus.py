"""The candidates of the index as ``persist.recall`` asks for them: counts from the word table, a few rows in full.

Plain ``sqlite3`` on a reading connection; must never import SQLAlchemy, Alembic, pydantic or ulid. Reads no file but
what tells worktrees (``persist.projects``). The same files give the same counts and candidates as
``persist.recall.from_files`` has.
"""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from json import dumps
from typing import Final, NamedTuple

from index.recall.foreign import lies_in_notes_of
from index.recall.projecting import stored_aliases, stored_words, words_of_block
from index.recall.ranked import Ranked, ranked_rows, rows_by_alias
from index.recall.standing import BLOCK_COLUMNS, StoredBlock, block_of, read_standings
from persist.events import Note
from persist.projects import ProjectResolver
from persist.recall.candidate import Candidate, fact_name
from persist.recall.corpus import Statistics
from persist.recall.evidence import Term
from persist.recall.from_files import block_candidate
from persist.recall.scope import Place, is_in_scope
from persist.recall.words import alias_words

OWN_AGENT: Final = "aster"
_AT_LEAST: Final = 8
"""So many of the best are candidates whatever their evidence: the gate compares with the best there is."""
_LAST_LETTER: Final = "\U0010ffff"

_TOTALS: Final = """SELECT count(*), coalesce(sum(name_words), 0), coalesce(sum(description_words), 0),
  coalesce(sum(body_words), 0) FROM candidate_rows"""
_FREQUENCIES: Final = """SELECT v.term, v.doc
FROM json_each(?) given CROSS JOIN memory_vocabulary v ON v.term = given.value"""
_BEGINNING: Final = "SELECT term, doc FROM memory_vocabulary WHERE term >= ? AND term < ?"
_LIMITED: Final = f"""SELECT b.id, a.name, s.path, b.project
FROM json_each(?) given
CROSS JOIN block_rows b ON b.id = given.value
CROSS JOIN source_rows s ON s.id = b.source_id
CROSS JOIN agents a ON a.id = s.agent_id
WHERE b.project IS NOT NULL OR a.name <> '{OWN_AGENT}'"""
"""Blocks that do not count everywhere."""
_NAMELESS: Final = "SELECT id FROM candidate_rows WHERE name_words = 0"
_ROWS: Final = f"""SELECT c.id, a.name, f.line_number, w.c0, w.c1, w.c2, {BLOCK_COLUMNS}
FROM json_each(?) given
CROSS JOIN candidate_rows c ON c.id = given.value
CROSS JOIN memory_words_content w ON w.id = c.id
CROSS JOIN source_rows s ON s.id = c.source_id
CROSS JOIN agents a ON a.id = s.agent_id
LEFT JOIN block_rows b ON b.id = c.id
LEFT JOIN memory_fact_rows f ON f.id = c.id"""


class _Row(NamedTuple):
    """A row that holds words: its fields as stored, a block or the line of a fact."""

    id: int
    agent: str
    path: str
    texts: tuple[str, str, str]
    block: StoredBlock | None
    line_number: int

    @property
    def age(self) -> str:
        """What its header says of its last change, empty where it says nothing."""
        note = None if self.block is None else self.block.note
        return "" if note is None else note.updated_at or note.created_at or ""


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

    def statistics(self, words: Iterable[str]) -> Statistics:
        """Return the counts, with the frequencies of these words."""
        execute = self._connection.execute
        count, *totals = execute(_TOTALS).fetchone()
        frequencies = dict(execute(_FREQUENCIES, (dumps(list(words)),))) if count else {}
        means = (total / (count or 1) for total in totals)
        return Statistics(count, frequencies, *means)

    def beginning_with(self, letters: str) -> Mapping[str, int]:
        """Return the words of any field that begin with these letters, with their frequencies."""
        return dict(self._connection.execute(_BEGINNING, (letters, letters + _LAST_LETTER)))

    def holding(self, terms: Sequence[Term], least_total: float, place: Place, limit: int) -> Iterable[Candidate]:
        """Return candidates that hold one of the words and count at ``place``, as the protocol says.

        And every one with an alias all of whose words are among these. Those that hold as much as the last of them are
        cut by their age, then by path.
        """
        ranked = ranked_rows(self._connection, terms, limit)
        wanted = {term.word for term in terms}
        by_alias = list(rows_by_alias(self._connection, wanted, lambda text: _has_whole(text, wanted)))
        candidates = self._candidates(self._rows(by_alias, place), place)
        for row in by_alias:
            ranked.worth.pop(row, None)
        rows = self._best_first(ranked, least_total, place, limit)
        current = 0
        while current < limit and (some := list(islice(rows, max(_AT_LEAST, limit - current)))):
            more = self._candidates(some, place)
            current += sum(candidate.superseded_by is None for candidate in more)
            candidates += more
        return candidates

    def _best_first(self, ranked: Ranked, least_total: float, place: Place, limit: int) -> Iterator[_Row]:
        """Yield rows in scope by what they are worth, then the newest first, then by path and line.

        After the first, those are left out that cannot have the least evidence: they would only be refused.
        """
        worth = ranked.worth
        if not worth:
            return
        first = heapq.nlargest(_AT_LEAST, ((value, row) for row, value in worth.items()))
        if len(worth) <= limit:
            first = [one for one in ((value, row) for row, value in worth.items()) if one[0] >= first[-1][0]]
        seen = {row for _, row in first}
        nameless = {row for (row,) in self._connection.execute(_NAMELESS)}
        least = ranked.least_worth
        rest = [
            (value, row)
            for row, value in worth.items()
            if value >= least and row not in seen and ranked.may_pass(row, least_total, has_name=row not in nameless)
        ]
        rest.sort(reverse=True)
        for some in (first, *_cut(rest, limit)):
            rows = self._rows([row for _, row in some], place)
            rows.sort(key=lambda row: (row.path, row.line_number))
            rows.sort(key=lambda row: row.age, reverse=True)
            yield from sorted(rows, key=lambda row: -worth[row.id])

    def _rows(self, ids: Sequence[int], place: Place) -> list[_Row]:
        """Return rows by id, but for those whose own header says that they do not count at ``place``."""
        if not ids:
            return []
        execute = self._connection.execute
        limited = {
            id_: self._counts(agent, path, project, place)
            for id_, agent, path, project in execute(_LIMITED, (dumps(ids),))
        }
        wanted = dumps([id_ for id_ in ids if limited.get(id_, True)])
        return [
            _Row(id_, agent, columns[0], (name, description, body), None if line else block_of(id_, columns), line or 0)
            for id_, agent, line, name, description, body, *columns in execute(_ROWS, (wanted,))
        ]

    def read_again(self, candidate: Candidate, note: Note) -> Candidate:
        """Return a block that ``holding`` gave as its file says it now; ``note`` is as ``standing.noted`` gives it.

        The very candidate where nothing changed. Its project may be another one: whether it still counts where a
        prompt was typed, the caller must ask again. Raises ``KeyError`` for what ``holding`` did not give.
        """
        block = self._blocks[candidate.key]
        changed = block._replace(note=note._replace(body="", description="", source_session=None, archived=False))
        if changed == block and words_of_block(note.name, note).texts[:3] == _texts(candidate):
            return candidate
        standing = read_standings(self._connection, {block.id: changed}, self._as_of)[block.id]
        return block_candidate(candidate.path, note, standing, candidate.agent)

    def is_in_scope(self, candidate: Candidate, place: Place) -> bool:
        """Tell whether a candidate counts at ``place``."""
        return self._counts(candidate.agent, candidate.path, candidate.project, place)

    def _candidates(self, rows: Sequence[_Row], place: Place) -> list[Candidate]:
        """Return the candidates of rows, in order, but for those whose project the journal tells and is another."""
        blocks = {row.id: row.block for row in rows if row.block is not None}
        told = read_standings(self._connection, blocks, self._as_of)
        candidates: list[Candidate] = []
        for row in rows:
            name, description, body = row.texts
            if row.block is None:
                candidates.append(Candidate(fact_name(row.line_number), row.path, body_words=stored_words(body)))
                continue
            standing = told[row.id]
            if not self._counts(row.agent, row.path, standing.project, place):
                continue
            candidate = Candidate(
                name=row.block.note.name,
                path=row.path,
                name_words=stored_words(name),
                description_words=stored_words(description),
                body_words=stored_words(body),
                aliases=tuple(found for alias in standing.aliases if (found := alias_words(alias))),
                kind=standing.kind,
                project=standing.project,
                touched_at=standing.touched_at,
                use=standing.use,
                pinned=standing.pinned,
                superseded_by=standing.superseded_by,
                agent=row.agent,
            )
            self._blocks[candidate.key] = row.block
            candidates.append(candidate)
        return candidates

    def _counts(self, agent: str, path: str, project: str | None, place: Place) -> bool:
        if project is None and agent != OWN_AGENT:
            return lies_in_notes_of(path, place)
        if project not in self._scopes:
            self._scopes[project] = is_in_scope(project, place, self._resolver)
        return self._scopes[project]


def _cut(ordered: Sequence[tuple[float, int]], size: int) -> Iterator[Sequence[tuple[float, int]]]:
    """Yield pieces of about this size; those that are worth the same are in one."""
    start = 0
    while start < len(ordered):
        end = _end_of_equals(ordered, start + size)
        yield ordered[start:end]
        start = end


def _end_of_equals(ordered: Sequence[tuple[float, int]], end: int) -> int:
    """Return where those end that are worth the same as the last before ``end``."""
    end = min(end, len(ordered))
    while 0 < end < len(ordered) and ordered[end][0] == ordered[end - 1][0]:
        end += 1
    return end


def _texts(candidate: Candidate) -> tuple[str, str, str]:
    name, description, body = candidate.name_words, candidate.description_words, candidate.body_words
    return " ".join(name), " ".join(description), " ".join(body)


def _has_whole(text: str, words: set[str]) -> bool:
    """Tell whether all words of one of the aliases in a stored text are among ``words``."""
    return any(words.issuperset(alias) for alias in stored_aliases(text))
