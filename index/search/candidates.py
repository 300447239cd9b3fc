"""Finds the texts that may hold a query: full text proposes, the matcher decides (``index.search.matches``).

Plain ``sqlite3`` on a reading connection. Keys map character by character, so every hit is among the candidates
(DESIGN 9). Few candidates are fetched at once and sorted. Of many, the newest texts are met one by one first, since the
next hit is then never far; where that takes long, because the query is common only in old texts, the rest is met among
those that full text proposes. So no query costs much more than the better of both.
"""

from __future__ import annotations

import heapq
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from index.fields import FIELD_NAMES, IN_PROMPT_KEYS
from index.match.key import fts_expression
from index.search import statements
from index.search.scope import Scope
from index.search.statements import Statement

FETCH_BELOW: Final = 1000
"""Up to so many texts with the query's trigrams are fetched at once, whatever the page needs."""
FETCH_TOGETHER: Final = 5000
"""Up to so many that must be looked at anyhow are fetched by their ids; more are met on the time index."""
MET_FIRST: Final = 4000
"""So many texts are met one by one before full text is asked for the rest."""
_READ_ALL_FROM: Final = 4
_LAST_CHARACTER: Final = "\U0010ffff"
_NOT_CHARACTERS: Final = re.compile("[\ufffe\uffff]")
"""FTS5's tokenizer reads these two as U+FFFD."""


class Candidate(NamedTuple):
    """A text that may hold the query: id, field, source, the time it is placed by, its text where it came along."""

    id: int
    field: int
    source_id: int
    at: str
    text: str | None = None


class Proposal(NamedTuple):
    """What a full-text table is asked for its candidates, and how many there are at most.

    ``narrowed`` asks for fewer at a higher price: those whose key holds the query's whole, not only its trigrams;
    ``scanned`` asks for the same by looking at every key.
    """

    table: str
    ids: Statement
    narrowed: Statement
    scanned: Statement
    at_most: int


class FullText:
    """Asks the full-text tables, each question once: what the misses ask again was asked by the search.

    Holds what it learnt for as long as one search lasts; the caller's transaction keeps it true.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection: Final = connection
        self._proposals: dict[tuple[str, str], Proposal] = {}
        self._ids: dict[Statement, list[int]] = {}

    def propose(self, key: str, fields: Sequence[int]) -> list[Proposal]:
        """Return what to ask each table that holds one of ``fields`` for texts whose key holds ``key``.

        Cost: counting postings, a millisecond or three for the commonest trigram of 100,000 texts.
        """
        found = []
        for table in _tables(fields):
            if (table, key) not in self._proposals:
                self._proposals[table, key] = _proposal(self.connection, table, key)
            found.append(self._proposals[table, key])
        return found

    def ids(self, statement: Statement) -> list[int]:
        """Return the ids that a proposal selects. Cost: all of them."""
        if statement not in self._ids:
            self._ids[statement] = [row[0] for row in self.connection.execute(*statement)]
        return self._ids[statement]


def newest_first(full_text: FullText, proposals: Sequence[Proposal], scope: Scope) -> Iterator[Candidate]:
    """Yield candidates by time, newest first; those of equal time in no order. Cost: what is taken."""
    at_most = sum(proposal.at_most for proposal in proposals)
    if at_most <= FETCH_BELOW:
        yield from among_newest_first(full_text, [proposal.ids for proposal in proposals], scope)
        return
    texts: int | None = None
    met = None
    for count, candidate in enumerate(all_newest_first(full_text.connection, scope)):
        if count >= MET_FIRST and candidate.at != met:
            if texts is None:
                texts = count_texts(full_text.connection, scope)
            if texts > at_most:
                break  # else meeting the rest costs less than looking every key up
        yield candidate
        met = candidate.at
    else:
        return
    ids = [narrowed(full_text.connection, proposal) for proposal in proposals]
    yield from among_newest_first(full_text, ids, scope._replace(until=met))


def narrowed(connection: sqlite3.Connection, proposal: Proposal) -> Statement:
    """Return what selects the texts whose key holds the query's whole.

    Looking up the key of every fourth text costs more than reading all keys in a row.
    """
    if proposal.at_most <= FETCH_BELOW or proposal.at_most * _READ_ALL_FROM <= _texts_of(connection, proposal.table):
        return proposal.narrowed
    return proposal.scanned


def among_newest_first(full_text: FullText, proposals: Sequence[Statement], scope: Scope) -> Iterator[Candidate]:
    """Yield the texts whose ids the proposals select, by time, newest first; of many, the texts do not come along.

    Cost: each proposal once, then what is taken: of many, entries of the time index that are passed.
    """
    ids = [id_ for proposal in proposals for id_ in full_text.ids(proposal)]
    if len(ids) <= FETCH_TOGETHER:
        return iter(sorted(with_ids(full_text.connection, ids, scope), key=_at, reverse=True))
    among = statements.listed_ids(ids)
    pairs = [(family, field) for family in scope.families for field in family.fields]
    return _merged(
        full_text.connection,
        [statements.by_time_among(family, scope, field, among) for family, field in pairs],
        [statements.without_time(family, scope, field, among) for family, field in pairs],
    )


def with_ids(connection: sqlite3.Connection, ids: Sequence[int], scope: Scope) -> Iterator[Candidate]:
    """Yield those texts among ``ids`` that the scope lets in, in no order; the texts do not come along."""
    for family in scope.families:
        for row in connection.execute(*statements.with_ids(family, scope, ids)):
            yield Candidate(*row)


def all_newest_first(connection: sqlite3.Connection, scope: Scope) -> Iterator[Candidate]:
    """Yield every text of the scope, newest first, texts included. Cost: what is taken."""
    return _merged(
        connection,
        [statements.by_time(family, scope, field) for family in scope.families for field in family.fields],
        [statements.without_time(family, scope, field) for family in scope.families for field in family.fields],
    )


def count_texts(connection: sqlite3.Connection, scope: Scope) -> int:
    """Return how many texts the scope holds. Cost: linear in them, on an index."""
    counts = [connection.execute(*statements.count_texts(family, scope)) for family in scope.families]
    return sum(row.fetchone()[0] for row in counts)


def count_tool_events(connection: sqlite3.Connection, scope: Scope) -> int:
    """Return how many events of tools there are, without its times and roles. Cost: one index, or that of sources."""
    if scope.sources is None:
        return int(connection.execute(statements.COUNT_TOOL_EVENTS).fetchone()[0])
    sources = scope.sources
    row = connection.execute(f"SELECT total(events) FROM source_rows WHERE id IN ({sources.sql})", sources.values)
    return int(row.fetchone()[0])


def _merged(
    connection: sqlite3.Connection, timed: Iterable[Statement], untimed: Iterable[Statement]
) -> Iterator[Candidate]:
    """Merge streams that are each newest first. Texts without a time are few: they are fetched at once.

    ``heapq.merge`` closes the last of its streams if that can be closed, and a cursor refuses after its connection.
    """
    streams: list[Iterable[Candidate]] = [map(Candidate._make, connection.execute(*one)) for one in timed]
    for statement in untimed:
        rows = connection.execute(*statement).fetchall()
        if rows:
            streams.append(map(Candidate._make, rows))
    return iter(streams[0]) if len(streams) == 1 else heapq.merge(*streams, key=_at, reverse=True)


def _at(candidate: Candidate) -> str:
    return candidate.at


def _proposal(connection: sqlite3.Connection, table: str, key: str) -> Proposal:
    expression = fts_expression(key)
    if expression is not None:
        ids = statements.proposed_ids(table, expression)
        at_most = int(connection.execute(f"SELECT count(*) FROM ({ids.sql})", ids.values).fetchone()[0])
        # Trigrams alone let in texts that have them apart from each other: a rare phrase of common ones.
        whole = statements.proposed_ids(table, expression, key)
        return Proposal(table, ids, whole, statements.scanned_ids(table, key), at_most)
    return _proposal_of_short(connection, table, key)


def _proposal_of_short(connection: sqlite3.Connection, table: str, key: str) -> Proposal:
    """Ask for every trigram that begins with a key of one or two characters: keys end in an end mark for this.

    A key of no characters is that of a query of marks alone: every text is a candidate. One character outside the Latin
    alphabet begins trigrams by the ten thousand, so their postings are read one after the other and never joined.
    """
    if not key:
        scan = statements.scanned_ids(table, key)
        return Proposal(table, scan, scan, scan, _texts_of(connection, table))
    for kind in ("row", "instance"):
        connection.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{table}_{kind} USING fts5vocab('main', '{table}', '{kind}')"
        )
    begin = _NOT_CHARACTERS.sub("\ufffd", key)
    end = begin + _LAST_CHARACTER * (3 - len(key))
    ids = statements.ids_of_trigrams(table, begin, end)
    counted = connection.execute(
        f"SELECT coalesce(sum(doc), 0) FROM {table}_row WHERE term >= ? AND term <= ?", (begin, end)
    )
    at_most = int(counted.fetchone()[0])  # a text with several of them is counted for each
    if at_most > FETCH_BELOW:
        at_most = min(at_most, _texts_of(connection, table))
    return Proposal(table, ids, ids, ids, at_most)


def _texts_of(connection: sqlite3.Connection, table: str) -> int:
    """Return how many texts have their key in a table. Cost: the time index."""
    fields = [field for field in FIELD_NAMES if (field in IN_PROMPT_KEYS) == (table == "prompt_keys")]
    marks = ", ".join(map(str, fields))
    sql = f"SELECT count(*) FROM prose INDEXED BY prose_newest WHERE field IN ({marks})"
    return int(connection.execute(sql).fetchone()[0])


def _tables(fields: Sequence[int]) -> list[str]:
    tables = []
    if any(field in IN_PROMPT_KEYS for field in fields):
        tables.append("prompt_keys")
    if any(field not in IN_PROMPT_KEYS for field in fields):
        tables.append("prose_keys")
    return tables
