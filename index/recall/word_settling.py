"""Settles in which rows each word of memory stands, in how many texts, and what all of them come to.

Law 2: from the candidates' rows alone, for exactly the words of the rows that were touched. A row's id is taken from
every word that it held and given to every word that it holds, so that doing it twice changes nothing; how many texts a
word has is counted anew. Inside the caller's transaction, on plain ``sqlite3``. Must run after the aliases are settled.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from json import dumps
from typing import Final, NamedTuple

from index.recall.pieces import in_pieces
from index.recall.postings import Places, ids_of, stored_ids
from index.recall.projecting import ALIAS_END

TOUCH_ALL_CANDIDATES: Final = "INSERT OR IGNORE INTO touched_candidate (id, words) SELECT id, '' FROM candidate_rows"
"""Of a new index, where no word is stored yet."""
_IS_TOUCHED: Final = "SELECT EXISTS (SELECT 1 FROM touched_candidate)"
_TOUCHED: Final = """SELECT t.id, t.words, c.name, c.description, c.body, c.aliases
FROM touched_candidate t LEFT JOIN candidate_rows c ON c.id = t.id ORDER BY t.id"""
_COPIES: Final = """SELECT c.id, c.text_key
FROM (SELECT text_key FROM candidate_rows GROUP BY text_key HAVING count(*) > 1) several
CROSS JOIN candidate_rows c INDEXED BY candidate_rows_text ON c.text_key = several.text_key"""
_STORED: Final = """SELECT w.word, w.id, w.in_aliases, w.in_name, w.in_description, w.in_body
FROM json_each(?) given CROSS JOIN memory_words w ON w.word = given.value"""
_INSERT: Final = """INSERT INTO memory_words (word, texts, in_aliases, in_name, in_description, in_body)
VALUES (?, ?, ?, ?, ?, ?)"""
_UPDATE: Final = """UPDATE memory_words SET texts = ?, in_aliases = ?, in_name = ?, in_description = ?, in_body = ?
WHERE id = ?"""
_DELETE: Final = "DELETE FROM memory_words WHERE id = ?"
_FORGET_TOTALS: Final = "DELETE FROM memory_totals"
_ADD_UP: Final = """INSERT INTO memory_totals
SELECT coalesce(sum(candidates), 0), count(*), coalesce(sum(name), 0), coalesce(sum(description), 0),
  coalesce(sum(body), 0), (SELECT count(*) FROM candidate_rows WHERE aliases <> '')
FROM (
  SELECT count(*) AS candidates, max(name_words) AS name, max(description_words) AS description, max(body_words) AS body
  FROM candidate_rows INDEXED BY candidate_rows_text GROUP BY text_key
)"""
_NO_TOTALS: Final = "DELETE FROM memory_totals WHERE candidates = 0"
STATEMENTS: Final = (_STORED, _INSERT, _UPDATE, _DELETE, _ADD_UP, _COPIES)
_ROWS_AT_ONCE: Final = 10_000
_WORDS_AT_ONCE: Final = 500


class FieldsOf(NamedTuple):
    """A row's words, by field, as they are stored."""

    name: str
    description: str
    body: str
    aliases: str


def settle_words(connection: sqlite3.Connection) -> None:
    """Settle the words of the rows in ``touched_candidate``, and the totals.

    Cost: the lists of those words, and one pass over an index with an entry for each candidate.
    """
    if not connection.execute(_IS_TOUCHED).fetchone()[0]:
        return
    copies = dict(connection.execute(_COPIES).fetchall())
    for some in in_pieces(connection.cursor().execute(_TOUCHED), _ROWS_AT_ONCE):
        gone: dict[str, list[int]] = {}
        come: dict[str, list[list[int]]] = {}
        for id_, held, *fields in some:
            for word in set(held.split()):
                gone.setdefault(word, []).append(id_)
            if fields[0] is not None:
                _add(come, id_, FieldsOf(*fields))
        _store(connection, gone, come, copies)
    connection.execute(_FORGET_TOTALS)
    connection.execute(_ADD_UP)
    connection.execute(_NO_TOTALS)


def places_in(rows: Iterable[tuple[int, FieldsOf]]) -> dict[str, list[list[int]]]:
    """Return where each word of these rows stands: the ids of the rows for each list of ``Places``."""
    places: dict[str, list[list[int]]] = {}
    for id_, fields in rows:
        _add(places, id_, fields)
    return places


def _add(places: dict[str, list[list[int]]], id_: int, fields: FieldsOf) -> None:
    name, description, body = (set(text.split()) for text in fields[:3])
    aliases = set(fields.aliases.replace(ALIAS_END, " ").split())
    body -= name
    body -= description
    body -= aliases
    description -= name
    for number, words in enumerate((aliases, name, description, body)):
        for word in words:
            if word not in places:
                places[word] = [[], [], [], []]
            places[word][number].append(id_)


def _store(
    connection: sqlite3.Connection, gone: Mapping[str, list[int]], come: Mapping[str, list[list[int]]],
    copies: Mapping[int, int],
) -> None:  # fmt: skip
    for some in in_pieces(sorted({*gone, *come}), _WORDS_AT_ONCE):
        stored = {word: (id_, Places(*map(ids_of, lists)))
                  for word, id_, *lists in connection.execute(_STORED, (dumps(some),))}  # fmt: skip
        for word in some:
            id_, places = stored.get(word, (None, None))
            lists = _changed(places, gone.get(word, ()), come.get(word))
            values = (_texts(lists, copies), *map(stored_ids, lists))
            if not any(lists):
                if id_ is not None:
                    connection.execute(_DELETE, (id_,))
            elif id_ is None:
                connection.execute(_INSERT, (word, *values))
            else:
                connection.execute(_UPDATE, (*values, id_))


def _changed(places: Places | None, gone: Iterable[int], come: list[list[int]] | None) -> list[list[int]]:
    """Return the lists of a word without the rows that held it and with those that do."""
    lists = [ids.tolist() for ids in places] if places is not None else [[], [], [], []]
    for ids in lists:
        for id_ in gone:
            _take_out(ids, id_)
    if come is not None:
        for ids, more in zip(lists, come, strict=True):
            if ids and more and more[0] <= ids[-1]:
                ids[:] = sorted({*ids, *more})
            else:
                ids += more
    return lists


def _take_out(ids: list[int], id_: int) -> None:
    place = bisect_left(ids, id_)
    if place < len(ids) and ids[place] == id_:
        del ids[place]


def _texts(lists: list[list[int]], copies: Mapping[int, int]) -> int:
    """Return of how many texts the rows of these lists are."""
    in_aliases, *others = lists
    if in_aliases:
        others.append(list(set(in_aliases).difference(*others)))
    count = sum(map(len, others))
    if not copies:
        return count
    copied = [id_ for ids in others for id_ in ids if id_ in copies]
    return count - len(copied) + len({copies[id_] for id_ in copied})


def postings_problem(connection: sqlite3.Connection) -> str | None:
    """Return what does not agree between the stored lists and the candidates' rows, null where all does.

    Cost: reads all of them once; memory for the words of 10,000 rows.
    """
    rows = connection.cursor().execute("SELECT id, name, description, body, aliases FROM candidate_rows ORDER BY id")
    expected = 0
    for some in in_pieces(((id_, FieldsOf(*fields)) for id_, *fields in rows), _ROWS_AT_ONCE):
        first, last = some[0][0], some[-1][0]
        places = places_in(some)
        expected += sum(len(ids) for lists in places.values() for ids in lists)
        for words in in_pieces(sorted(places), _WORDS_AT_ONCE):
            stored = {word: lists for word, _, *lists in connection.execute(_STORED, (dumps(words),))}
            for word in words:
                if word not in stored:
                    return "memory_words lacks a word that a candidate holds"
                for ids, other in zip(map(ids_of, stored[word]), places[word], strict=True):
                    if ids[bisect_left(ids, first) : bisect_left(ids, last + 1)].tolist() != other:
                        return "memory_words does not name the candidates that hold a word"
    sizes = "length(in_aliases) + length(in_name) + length(in_description) + length(in_body)"
    found = connection.execute(f"SELECT coalesce(sum({sizes}), 0) FROM memory_words").fetchone()[0]
    return None if found == 8 * expected else "memory_words names candidates that do not hold the word"
