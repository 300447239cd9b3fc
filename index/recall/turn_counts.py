"""How common words are among what was said: numbers that one huge session, or many copies of a message, cannot move.

Plain ``sqlite3`` on a reading connection; knows stems as the word table has them. A word of few sessions counts for at
most ``PER_SESSION`` texts in each of them on the average, and a message that several sessions have counts as one
session; a word of many sessions is common however it is spread. The number of all texts is what it would be if no
session were much longer than others are. All of it depends on what was said alone, not on the order in which it came
into the index.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from json import dumps
from statistics import median_low
from typing import Final, NamedTuple

from index.fields import ANSWER, PROMPT

PER_SESSION: Final = 3
MAX_LOOKED_AT: Final = 40_000
"""Places of words that are looked at for one prompt, the rarest words first; a word that is left then is common."""
_LONG: Final = 4
_SHORT: Final = 20
"""A session is much longer than others with so many times their events, and so many more."""

VOCABULARIES: Final = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.prose_vocabulary USING fts5vocab(main, prose_words, 'row')",
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.prose_instances USING fts5vocab(main, prose_words, 'instance')",
)
"""The words that the word table holds, and every place of each."""
_COUNTS: Final = """SELECT v.term, v.doc, v.cnt
FROM json_each(?) given CROSS JOIN temp.prose_vocabulary v ON v.term = given.value"""
_HELD: Final = f"""SELECT DISTINCT s.session_row, p.text_hash
FROM temp.prose_instances v CROSS JOIN prose p ON p.id = v.doc CROSS JOIN source_rows s ON s.id = p.source_id
WHERE v.term = ? AND p.hidden = 0 AND p.field IN ({PROMPT}, {ANSWER}) AND s.session_row IS NOT NULL"""
_TEXTS: Final = "SELECT count(*) FROM prose"
_SESSIONS: Final = "SELECT coalesce(first_prompt, id), events FROM session_rows WHERE events > 0"


class TurnCounts(NamedTuple):
    """The number of texts, and in how many of them each stem stands; a stem that stands in none is missing."""

    texts: int
    frequencies: dict[str, int]


class _Size(NamedTuple):
    """The number of texts and of sessions."""

    texts: int
    sessions: int

    def most(self, sessions: int) -> int:
        """Return as how many texts a word of so many sessions counts at most."""
        share = min(1.0, sessions / max(1, self.sessions))
        return round(PER_SESSION * sessions + self.texts * share * share)


def stored_counts(connection: sqlite3.Connection, stems: Iterable[str]) -> TurnCounts:
    """Return the counts of these stems as they are stored, giants and copies among them: to tell words of one prompt
    from each other it is enough."""
    found = _stored(connection, stems)
    texts = int(connection.execute(_TEXTS).fetchone()[0])
    return TurnCounts(texts, {term: count for term, count, _ in found})


def counts_of(connection: sqlite3.Connection, stems: Iterable[str]) -> TurnCounts:
    """Return the counts of these stems.

    Cost: their places, as far as ``MAX_LOOKED_AT``, and a pass over the sessions.
    """
    size = _size(connection)
    frequencies: dict[str, int] = {}
    left = MAX_LOOKED_AT
    for term, count, places in sorted(_stored(connection, stems), key=lambda row: (row[2], row[0])):
        frequencies[term] = min(count, size.texts)
        if count > PER_SESSION and places <= left:
            left -= places
            frequencies[term] = min(frequencies[term], size.most(_sessions_with(connection, term)))
    return TurnCounts(size.texts, frequencies)


def _stored(connection: sqlite3.Connection, stems: Iterable[str]) -> list[tuple[str, int, int]]:
    """Return (stem, texts, places) of these stems."""
    for create in VOCABULARIES:
        connection.execute(create)
    return connection.execute(_COUNTS, (dumps(sorted(set(stems))),)).fetchall()


def _sessions_with(connection: sqlite3.Connection, term: str) -> int:
    """Return how many sessions have a word in a message of their own, and how many messages of several have it."""
    sessions_of: dict[int, list[int]] = {}
    for session_row, text_hash in connection.execute(_HELD, (term,)):
        sessions_of.setdefault(text_hash, []).append(session_row)
    alone = {sessions[0] for sessions in sessions_of.values() if len(sessions) == 1}
    shared = sum(len(sessions) > 1 for sessions in sessions_of.values())
    return max(1, len(alone) + shared)


def _size(connection: sqlite3.Connection) -> _Size:
    """Return the sizes less what sessions have that are much longer, or begin as others do."""
    texts = int(connection.execute(_TEXTS).fetchone()[0])
    longest: dict[str | int, int] = {}
    events = 0
    for begins, count in connection.execute(_SESSIONS):
        events += count
        longest[begins] = max(count, longest.get(begins, 0))
    if not events:
        return _Size(texts, 0)
    usual = _LONG * median_low(longest.values()) + _SHORT
    kept = sum(min(count, usual) for count in longest.values())
    return _Size(max(1, round(texts * kept / events)), len(longest))
