"""Finds the texts that may hold a query: full text proposes, the matcher decides (``index.search.matches``).

Plain ``sqlite3`` on a reading connection. Keys map character by character, so every hit is among the candidates
(DESIGN 9). Of few texts with the query's trigrams, all keys are looked at, and those that hold it are sorted. Of many,
the keys of the newest texts are looked at first, since the next hit is then never far; where that takes long, because
the query is rare or old, the rest is found among those that full text proposes. So no query costs much more than the
better of both. A look at a key is SQLite's: what does not hold the query never reaches Python.
"""

from __future__ import annotations

import heapq
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

from index.match.key import fts_expression, trigrams
from index.search import statements
from index.search.scope import Condition, Family, Scope
from index.search.statements import Statement

FETCH_BELOW: Final = 1500
"""Up to so many texts with the query's trigrams are all looked at, whatever the page needs."""
LISTED_BELOW: Final = 4000
"""Up to so many are listed instead of counted: full text is not asked for them again."""
FETCH_TOGETHER: Final = 20_000
"""Up to so many that must be looked at anyhow are fetched by their ids; more are met on the time index."""
FIRST_STRETCH: Final = 1000
"""Texts of each field whose keys are looked at before it is asked how far to go on so."""
DEARER: Final = 3
"""A key that is looked up by its id costs as much as so many that are met on the time index."""
_LONGER: Final = 4
"""A stretch is at most so many times as long as all before it: a few texts are a rough guess at the rest."""
_READ_ALL_FROM: Final = 3
_CHEAP_TRIGRAMS: Final = 2
_HALF: Final = 2
Row = tuple[int, int, int, str, str]
"""What a statement selects of a text: id, field, source, time, and its text or key."""
_TRIGRAM: Final = 3
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


class Passed(NamedTuple):
    """So many texts, none newer than ``at``, were found to be no candidates."""

    at: str
    texts: int


class Proposal(NamedTuple):
    """What a full-text table is asked for its candidates, and how many there are at most.

    ``ids`` selects the texts with the query's trigrams, and ``listed`` holds them where they are few. ``is_whole`` says
    that each of them holds the query's key: it has at most two characters.
    """

    table: str
    key: str
    ids: Statement
    at_most: int
    listed: tuple[int, ...] | None
    is_whole: bool = False


class KeyTest(NamedTuple):
    """What is known of the keys of hits besides the query's own: conditions for SQL, then a look at the key itself."""

    conditions: tuple[Condition, ...]
    fits: Callable[[str], bool]


class FullText:
    """Asks the full-text tables, each question once: what the misses ask again was asked by the search.

    Holds what it learnt for as long as one search lasts; the caller's transaction keeps it true.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection: Final = connection
        self._proposals: dict[tuple[str, str], Proposal] = {}
        self._narrowed: dict[tuple[str, str], Statement] = {}
        self._ids: dict[Statement, list[int]] = {}

    def propose(self, key: str, fields: Sequence[int]) -> list[Proposal]:
        """Return what to ask each table that holds one of ``fields`` for texts whose key holds ``key``.

        Cost: counting postings, a millisecond or three for the commonest trigram of 100,000 texts.
        """
        found = []
        for table in statements.tables_of(fields):
            if (table, key) not in self._proposals:
                self._proposals[table, key] = _proposal(self.connection, table, key)
            found.append(self._proposals[table, key])
        return found

    def narrowed(self, proposal: Proposal) -> Statement:
        """Return what selects the texts whose key holds the query's whole."""
        asked = (proposal.table, proposal.key)
        if asked not in self._narrowed:
            self._narrowed[asked] = _narrowed(self.connection, proposal)
        return self._narrowed[asked]

    def ids(self, statement: Statement) -> list[int]:
        """Return the ids that a proposal selects. Cost: all of them."""
        if statement not in self._ids:
            self._ids[statement] = [row[0] for row in self.connection.execute(*statement)]
        return self._ids[statement]


def newest_first(
    full_text: FullText, proposals: Sequence[Proposal], scope: Scope, wanted: int, keys: KeyTest | None = None
) -> Iterator[Candidate | Passed]:
    """Yield candidates by time, newest first; those of equal time in no order.

    ``keys`` is what is known of the keys of hits besides. ``wanted`` is about how many will be taken; from it and from
    those found so far follows what is cheaper. Cost: what is taken, and the rest of its stretch.
    """
    at_most = sum(proposal.at_most for proposal in proposals)
    found, passed, stretch = 0, 0, FIRST_STRETCH
    is_last = False
    while at_most > FETCH_BELOW and not is_last:
        since = _end_of_stretch(full_text.connection, scope, stretch)
        part = scope if since is None else scope._replace(since=since)
        for candidate in _holding_newest_first(full_text.connection, proposals, part, keys, stretch):
            found += 1
            yield candidate
        if since is None:
            return
        yield Passed(since, stretch)
        scope = scope._replace(until=since)
        passed += stretch
        # Enough were found and more are wanted: few of them are hits.
        stretch = passed if found >= wanted else int(passed * (wanted - found) / max(found, 0.5))
        is_last = stretch > at_most * DEARER or passed > 2 * at_most * DEARER
        stretch = min(stretch, _LONGER * passed)
    if is_last and not has_more_texts(full_text.connection, scope, at_most * DEARER):
        yield from _holding_newest_first(full_text.connection, proposals, scope, keys, stretch)
        return
    if keys is None:
        ids = [full_text.narrowed(proposal) for proposal in proposals]
    else:
        ids = [statements.listed_ids(_passing(full_text.connection, proposal, keys)) for proposal in proposals]
    yield from among_newest_first(full_text, ids, scope)


def _narrowed(connection: sqlite3.Connection, proposal: Proposal) -> Statement:
    """Return what selects the texts whose key holds the query's whole."""
    return proposal.ids if proposal.is_whole else _holding(connection, proposal, (), "k.id")


def _passing(connection: sqlite3.Connection, proposal: Proposal, keys: KeyTest) -> list[int]:
    """Return the ids of the texts whose key holds the query's whole and passes the test."""
    fits = keys.fits
    found = connection.execute(*_holding(connection, proposal, keys.conditions, f"k.id, {statements.KEY}"))
    return [id_ for id_, key in found if fits(key)]


def _holding(
    connection: sqlite3.Connection, proposal: Proposal, more: tuple[Condition, ...], columns: str
) -> Statement:
    """Return the cheapest statement for ``columns`` of the keys that hold the query's whole and fulfil ``more``.

    Looking up the key of every third text costs more than reading all keys in a row.
    """
    held = (statements.key_holds(proposal.key), *more)
    if proposal.listed is not None:
        return statements.keys_of_listed(proposal.table, proposal.listed, held, columns)
    keys_in_a_row = proposal.at_most * _READ_ALL_FROM
    if connection.execute(*statements.nth_key(proposal.table, keys_in_a_row)).fetchone():
        return statements.keys_of_proposed(proposal.table, proposal.ids, held, columns)
    return statements.keys_in_a_row(proposal.table, held, columns)


def _end_of_stretch(connection: sqlite3.Connection, scope: Scope, length: int) -> str | None:
    """Return a time from which on there are at most ``length`` texts of a field, but for others of that very time.

    Null where no field has more. Filters other than times are not asked: it is the work that is to be bounded.
    """
    ends = (connection.execute(*statements.nth_time(field, scope, length)).fetchone() for field in scope.fields)
    return max((row[0] for row in ends if row is not None), default=None)


def _holding_newest_first(
    connection: sqlite3.Connection, proposals: Sequence[Proposal], scope: Scope, keys: KeyTest | None, length: int
) -> Iterator[Candidate]:
    """Yield every text of the scope, of about ``length``, whose key holds what is proposed, newest first.

    Texts come along, but for those that have a time and passed a test of keys: these are fetched when they are taken.
    """
    more = () if keys is None else keys.conditions
    held = {proposal.table: (*_proposed(proposal, length), statements.key_holds(proposal.key), *more)
            for proposal in proposals}  # fmt: skip
    column = "p.text" if keys is None else statements.KEY
    timed = []
    untimed = []
    for family in scope.families:
        for field in family.fields:
            table = statements.table_of(field)
            timed.append(statements.by_time_holding(family, scope, field, table, held[table], column))
            untimed.append(statements.without_time(family, scope, field))
    return _merged(connection, timed, untimed, None if keys is None else keys.fits)


def _proposed(proposal: Proposal, length: int) -> tuple[Condition, ...]:
    """Return the condition that a text is one of those proposed, where asking for all of them is cheap.

    That saves the look-up of every other key: worth it where about as many are passed as are proposed.
    """
    is_cheap = not proposal.is_whole and len(trigrams(proposal.key)) <= _CHEAP_TRIGRAMS
    if not is_cheap or length * _HALF < proposal.at_most:
        return ()
    return (Condition(f"p.id IN ({proposal.ids.sql})", proposal.ids.values),)


def among_newest_first(full_text: FullText, proposals: Sequence[Statement], scope: Scope) -> Iterator[Candidate]:
    """Yield the texts whose ids the proposals select, by time, newest first; of few, short texts come along.

    Cost: each proposal once, then what is taken: of many, entries of the time index that are passed.
    """
    ids = [id_ for proposal in proposals for id_ in full_text.ids(proposal)]
    if len(ids) <= FETCH_TOGETHER:
        select = statements.short_texts_with_ids if len(ids) <= FETCH_BELOW else statements.with_ids
        return iter(sorted(_selected(full_text.connection, select, ids, scope), key=_at, reverse=True))
    among = statements.listed_ids(ids)
    pairs = [(family, field) for family in scope.families for field in family.fields]
    return _merged(
        full_text.connection,
        [statements.by_time_among(family, scope, field, among) for family, field in pairs],
        [statements.without_time(family, scope, field, among) for family, field in pairs],
    )


def _selected(
    connection: sqlite3.Connection,
    select: Callable[[Family, Scope, Sequence[int]], Statement],
    ids: Sequence[int],
    scope: Scope,
) -> Iterator[Candidate]:
    for family in scope.families:
        yield from map(Candidate._make, connection.execute(*select(family, scope, ids)))


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


def has_more_texts(connection: sqlite3.Connection, scope: Scope, number: int) -> bool:
    """Return whether a family of the scope has more texts than ``number``. Cost: entries of an index up to there."""
    return any(
        connection.execute(*statements.nth_text(family, scope, number + 1)).fetchone() for family in scope.families
    )


def count_tool_events(connection: sqlite3.Connection, scope: Scope) -> int:
    """Return how many events of tools there are, without its times and roles. Cost: one index, or that of sources."""
    if scope.sources is None:
        return int(connection.execute(statements.COUNT_TOOL_EVENTS).fetchone()[0])
    sources = scope.sources
    row = connection.execute(f"SELECT total(events) FROM source_rows WHERE id IN ({sources.sql})", sources.values)
    return int(row.fetchone()[0])


def _merged(
    connection: sqlite3.Connection,
    timed: Iterable[Statement],
    untimed: Iterable[Statement],
    fits: Callable[[str], bool] | None = None,
) -> Iterator[Candidate]:
    """Merge streams that are each newest first. Texts without a time are few: they are fetched at once.

    With ``fits``, the timed ones have their key in the place of their text, and only those that fit are passed on.
    ``heapq.merge`` closes the last of its streams if that can be closed, and a cursor refuses after its connection.
    """
    streams: list[Iterable[Candidate]] = []
    for statement in timed:
        cursor = connection.execute(*statement)
        if (row := cursor.fetchone()) is not None:  # merging costs more than fetching
            rows = chain((row,), cursor)
            streams.append(map(Candidate._make, rows) if fits is None else map(_without_text, _fitting(rows, fits)))
    for statement in untimed:
        found = connection.execute(*statement).fetchall()
        if found:
            streams.append(map(Candidate._make, found))
    return iter(streams[0]) if len(streams) == 1 else heapq.merge(*streams, key=_at, reverse=True)


def _fitting(rows: Iterable[Row], fits: Callable[[str], bool]) -> Iterator[Row]:
    return (row for row in rows if fits(row[-1]))


def _without_text(row: Row) -> Candidate:
    return Candidate(*row[:-1])


def _at(candidate: Candidate) -> str:
    return candidate.at


def _proposal(connection: sqlite3.Connection, table: str, key: str) -> Proposal:
    expression = fts_expression(key)
    if expression is None:
        return _proposal_of_short(connection, table, key)
    ids = statements.proposed_ids(table, expression)
    # To list the texts of several trigrams costs what it costs to count them; to count those of one costs far less.
    at_most = LISTED_BELOW if len(key) > _TRIGRAM else _count(connection, ids)
    if at_most <= LISTED_BELOW:
        found = connection.execute(f"{ids.sql} LIMIT {LISTED_BELOW + 1}", ids.values).fetchall()
        if len(found) <= LISTED_BELOW:
            return Proposal(table, key, ids, len(found), tuple(row[0] for row in found))
        at_most = _count(connection, ids)
    return Proposal(table, key, ids, at_most, None)


def _count(connection: sqlite3.Connection, ids: Statement) -> int:
    return int(connection.execute(f"SELECT count(*) FROM ({ids.sql})", ids.values).fetchone()[0])


def _proposal_of_short(connection: sqlite3.Connection, table: str, key: str) -> Proposal:
    """Ask for every trigram that begins with a key of one or two characters: keys end in an end mark for this.

    A key of no characters is that of a query of marks alone: every text is a candidate. One character outside the Latin
    alphabet begins trigrams by the ten thousand, so their postings are read one after the other and never joined.
    """
    if not key:
        ids = statements.keys_in_a_row(table, (statements.key_holds(key),), "k.id")
        return Proposal(table, key, ids, _texts_of(connection, table), None, is_whole=True)
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
    return Proposal(table, key, ids, at_most, None, is_whole=True)


def _texts_of(connection: sqlite3.Connection, table: str) -> int:
    """Return how many texts have their key in a table. Cost: the time index."""
    counted = statements.keys_of(table)
    return int(connection.execute(f"SELECT count(*) FROM ({counted.sql})", counted.values).fetchone()[0])
