"""Ranks the texts of past transcripts for a prompt, and their sessions: what ``recall --turns`` and its bench ask.

Plain ``sqlite3`` on a reading connection. The word table finds texts by their own words; what stands around them is
read and joined here, for a stored window would cost as much as the trigram table (``docs/decisions.md``).
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from json import dumps
from typing import Final, NamedTuple, Protocol

from index.fields import ANSWER, PROMPT
from index.projection import TYPE_CODES
from index.recall.pieces import with_equals
from index.recall.turn_counts import stored_counts
from index.recall.turn_scores import (
    AROUND,
    Around,
    Counted,
    beginnings_of,
    count_tokens,
    folded,
    raised,
    rarity,
    scores,
    session_score,
)
from persist.recall.small_words import GRAMMAR, NO_CONTENT
from persist.recall.stems import stem

FOUND: Final = 100
"""Texts that are found by their own words; they and those around them are scored."""
OF_SESSION: Final = 50
"""So many of these are of one session at most."""
OF_TEXT: Final = 8
"""So many are copies of one text at most."""
_LOOKED_AT: Final = 20_000
"""So many texts of any session are looked at before those of the sessions that count are asked for alone: a look into
where each stands is dearer than its rank."""
_AT_ONCE: Final = 400
SCORED_CHARACTERS: Final = 4000
"""Of a longer text so much is scored."""
MAX_WORDS: Final = 64
"""Words of a prompt that are looked for, the first."""

_WORD = re.compile(r"[^\W_]+")
_CAPITALS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_TYPES: Final = f"{TYPE_CODES['user_message']}, {TYPE_CODES['message_text']}"
_STATEMENTS: Final = {
    "best": "SELECT rank, rowid FROM prose_words WHERE prose_words MATCH ? ORDER BY rank",
    "best of sources": f"""SELECT w.rank, w.rowid FROM prose_words w CROSS JOIN prose p ON p.id = w.rowid
WHERE w.prose_words MATCH ? AND p.source_id IN (SELECT value FROM json_each(?)) AND p.hidden = 0
  AND p.field IN ({PROMPT}, {ANSWER})
ORDER BY w.rank""",
    "sources": "SELECT id, session_row FROM source_rows WHERE session_row IS NOT NULL",
    "messages": f"""SELECT p.id, e.source_id, e.line_number, e.event_index, s.session_row,
  coalesce(e.ts, e.sort_ts, s.file_time), p.text_hash
FROM json_each(?) given
CROSS JOIN prose p ON p.id = given.value
CROSS JOIN event_rows e ON e.id = p.id
CROSS JOIN source_rows s ON s.id = e.source_id
WHERE p.hidden = 0 AND p.field IN ({PROMPT}, {ANSWER}) AND s.session_row IS NOT NULL""",
    "before": f"""SELECT e.id FROM event_rows e INDEXED BY event_rows_place
WHERE e.source_id = :source_id AND e.line_number <= :line_number AND e.type_code IN ({_TYPES}) AND e.hidden = 0
  AND (e.line_number < :line_number OR e.event_index < :event_index)
ORDER BY e.line_number DESC, e.event_index DESC LIMIT :limit""",
    "after": f"""SELECT e.id FROM event_rows e INDEXED BY event_rows_place
WHERE e.source_id = :source_id AND e.line_number >= :line_number AND e.type_code IN ({_TYPES}) AND e.hidden = 0
  AND (e.line_number > :line_number OR e.event_index > :event_index)
ORDER BY e.line_number, e.event_index LIMIT :limit""",
    "texts": "SELECT p.id, substr(p.text, 1, ?) FROM json_each(?) given CROSS JOIN prose p ON p.id = given.value",
}
STATEMENTS: Final = tuple(_STATEMENTS.values())


class Message(NamedTuple):
    """A text of a transcript: where it stands, its session's row, its time, a hash of it."""

    id: int
    source_id: int
    line_number: int
    event_index: int
    session_row: int
    at: str
    text_hash: int


class Sessions(Protocol):
    """Which sessions may be given."""

    def has(self, row: int) -> bool:
        """Tell whether a session is one of them."""

    def count(self, message: Message) -> bool:
        """Tell whether a message of one may be given."""


class RankedTurn(NamedTuple):
    """A message with its score; ``around`` are the ids of up to two messages before it and after it, in order."""

    message: Message
    score: float
    around: tuple[int, ...]


class Wanted(NamedTuple):
    """What of a prompt is looked for: words as typed, for the word table, and weights by stem.

    More words are weighed than looked for: ``use`` and ``make`` tell texts apart, but each finds half of all texts.
    """

    words: tuple[str, ...]
    weights: Mapping[str, float]


def wanted_of(connection: sqlite3.Connection, prompt: str) -> Wanted:
    """Return the words of a prompt that tell something, with the rarity of each among all texts."""
    typed = (folded(word) for word in (*_WORD.findall(prompt), *_WORD.findall(_CAPITALS.sub(" ", prompt))))
    words = tuple(islice(dict.fromkeys(word for word in typed if word not in GRAMMAR and len(word) > 1), MAX_WORDS))
    looked_for = tuple(word for word in words if word not in NO_CONTENT)
    if not looked_for:
        return Wanted((), {})
    count, frequencies = stored_counts(connection, {stem(word) for word in words})
    return Wanted(looked_for, {token: rarity(frequency, count) for token, frequency in frequencies.items()})


def rank_turns(
    connection: sqlite3.Connection, wanted: Wanted, sessions: Sessions, is_echo: Callable[[str], bool]
) -> list[RankedTurn]:
    """Return the messages that fit best, the best first; of equals the newest.

    ``sessions`` says which may be given. A text of which ``is_echo`` is true (the prompt itself, say) is no hit and
    adds nothing to what stands beside it. Cost: a score of SQLite's for each text with one of the words, then the texts
    of about a thousand messages.
    """
    found = list(islice(_several(_found(connection, wanted, sessions)), FOUND))
    if not found:
        return []
    chains = _Chains(connection)
    for message in found:
        chains.add(message)
    met = {
        id_: None for message in found for id_ in (message.id, *chains.before(message.id), *chains.after(message.id))
    }
    around = {id_: (chains.before(id_), chains.after(id_)) for id_ in met}
    needed = {*around, *(id_ for sides in around.values() for side in sides for id_ in side)}
    tokens = frozenset(wanted.weights)
    beginnings = beginnings_of(tokens)
    counted: dict[int, Counted] = {}
    for id_, text in connection.execute(_STATEMENTS["texts"], (SCORED_CHARACTERS, dumps(sorted(needed)))):
        if not is_echo(text):
            counted[id_] = count_tokens(text, tokens, beginnings)
    messages = {message.id: message for message in found}
    messages |= {one.id: one for one in _messages(connection, [id_ for id_ in around if id_ not in messages])}
    judged = [id_ for id_ in around if id_ in counted and id_ in messages and sessions.count(messages[id_])]
    near = [Around(*(tuple(counted[one] for one in side if one in counted) for side in around[id_])) for id_ in judged]
    told = scores([counted[id_] for id_ in judged], near, wanted.weights)
    told = raised(told, [messages[id_].session_row for id_ in judged])
    ranked = [
        RankedTurn(messages[id_], score, tuple(chain.from_iterable(around[id_])))
        for id_, score in zip(judged, told, strict=True)
        if score > 0
    ]
    ranked.sort(key=lambda turn: (turn.message.at, turn.message.event_index), reverse=True)
    ranked.sort(key=lambda turn: -turn.score)
    return ranked


def rank_sessions(ranked: Sequence[RankedTurn]) -> list[tuple[int, float]]:
    """Return (session's row, score) of the sessions of ranked turns, the best first; of equals the first found."""
    by_session: dict[int, list[float]] = {}
    for turn in ranked:
        by_session.setdefault(turn.message.session_row, []).append(turn.score)
    told = [(row, session_score(each)) for row, each in by_session.items()]
    return sorted(told, key=lambda one: -one[1])


def _found(connection: sqlite3.Connection, wanted: Wanted, sessions: Sessions) -> Iterator[Message]:
    """Yield messages as SQLite ranks them by their own words: of any session, and if those are many of these alone."""
    if not wanted.words:
        return
    expression = " OR ".join(f'"{word}"' for word in wanted.words)
    best = connection.execute(_STATEMENTS["best"], (expression,))
    known: set[int] = set()
    for message in _counted(connection, islice(best, _LOOKED_AT), sessions):
        known.add(message.id)
        yield message
    if next(best, None) is not None:
        sources = [id_ for id_, row in connection.execute(_STATEMENTS["sources"]) if sessions.has(row)]
        best = connection.execute(_STATEMENTS["best of sources"], (expression, dumps(sources)))
        yield from (one for one in _counted(connection, best, sessions) if one.id not in known)


def _counted(
    connection: sqlite3.Connection, best: Iterable[tuple[float, int]], sessions: Sessions
) -> Iterator[Message]:
    for some in with_equals(best, _AT_ONCE):
        found = [one for one in _messages(connection, list(some)) if sessions.count(one)]
        found.sort(key=lambda one: (one.at, one.event_index), reverse=True)
        found.sort(key=lambda one: some[one.id])
        yield from found


def _several(found: Iterable[Message]) -> Iterator[Message]:
    """Yield messages of several sessions and texts: of one session and of copies only the first ones."""
    sessions: Counter[int] = Counter()
    texts: Counter[int] = Counter()
    for message in found:
        sessions[message.session_row] += 1
        texts[message.text_hash] += 1
        if sessions[message.session_row] <= OF_SESSION and texts[message.text_hash] <= OF_TEXT:
            yield message


def _messages(connection: sqlite3.Connection, ids: Sequence[int]) -> Iterator[Message]:
    for row in connection.execute(_STATEMENTS["messages"], (dumps(ids),)):
        yield Message(*row)


class _Chains:
    """Which message follows which, as far as it was asked."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._next: dict[int, int] = {}
        self._previous: dict[int, int] = {}

    def add(self, message: Message) -> None:
        """Look up twice ``AROUND`` messages to each side: those around the ones around it."""
        place = {**message._asdict(), "limit": 2 * AROUND}
        before = [row[0] for row in self._connection.execute(_STATEMENTS["before"], place)]
        after = [row[0] for row in self._connection.execute(_STATEMENTS["after"], place)]
        in_order = [*reversed(before), message.id, *after]
        for first, second in pairwise(in_order):
            self._next[first] = second
            self._previous[second] = first

    def before(self, id_: int) -> tuple[int, ...]:
        """Return up to ``AROUND`` messages before it, in order."""
        return tuple(reversed(_follow(self._previous, id_)))

    def after(self, id_: int) -> tuple[int, ...]:
        """Return up to ``AROUND`` messages after it, in order."""
        return tuple(_follow(self._next, id_))


def _follow(links: Mapping[int, int], id_: int) -> list[int]:
    found: list[int] = []
    while len(found) < AROUND and id_ in links:
        id_ = links[id_]
        found.append(id_)
    return found
