"""Past turns that help with a prompt: of other sessions, one hit for each, with what was said around it.

Found by the index, said by the transcripts, or nothing: the gate is the one of blocks (``persist.recall.gate``). Reads
only; must never import SQLAlchemy, Alembic, pydantic or ulid.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from index.fields import ANSWER, PROMPT
from index.opening import open_reader
from index.recall.lineage import lineage_of
from index.recall.turn_counts import counts_of
from index.recall.turn_ranking import (
    SCORED_CHARACTERS,
    Message,
    RankedTurn,
    rank_sessions,
    rank_turns,
    wanted_of,
)
from index.recall.turn_texts import Read, Said, read_texts
from index.settings import Settings
from index.sqlite_errors import SEARCH_BUSY_TIMEOUT_MS, translate_read_errors
from persist.recall import evidence, gate
from persist.recall.candidate import Candidate
from persist.recall.corpus import Statistics
from persist.recall.evidence import Evidence, Reading
from persist.recall.scope import Place
from persist.recall.stems import stem
from persist.recall.words import WHOLE_WORD_CHARACTERS, field_words, prompt_units

MAX_TURNS: Final = 5
_JUDGED: Final = 20
"""Sessions that the gate looks at, the best: of copies of one text only the first counts."""
_JUDGED_CHARACTERS: Final = 4000
_AROUND_CHARACTERS: Final = 1000
"""Of a longer text the gate sees so much: of the one that was found, and of each around it."""
_NO_NAME: Final = ("",)
"""No word: what was said in passing is never a description of itself, however short."""

_SESSION: Final = """SELECT a.name, n.session_id, n.project, n.depth, n.title FROM session_rows n
CROSS JOIN agents a ON a.id = n.agent_id WHERE n.id = ?"""
_COPIES: Final = f"""SELECT s.session_row, min(coalesce(e.ts, e.sort_ts, s.file_time))
FROM prose p INDEXED BY prose_same CROSS JOIN event_rows e ON e.id = p.id CROSS JOIN source_rows s ON s.id = e.source_id
WHERE p.text_hash = ? AND p.field IN ({PROMPT}, {ANSWER}) AND p.hidden = 0 AND s.session_row IS NOT NULL
GROUP BY s.session_row"""
_TEXT: Final = "SELECT substr(text, 1, ?) FROM prose WHERE id = ?"


class TurnHit(NamedTuple):
    """A past turn: its session, the text that fits, and what was said around it, in order.

    ``texts`` holds the fitting text too, which ``at`` (its number in ``texts``) tells. ``is_subagent`` says that no
    person took part in the session. ``copies`` counts other sessions with the same text. ``evidence``, ``coverage`` and
    ``matched`` are as of ``persist.recall.answer.Verdict``, ``score`` that of the ranking.
    """

    agent: str
    session_id: str
    title: str | None
    project: str | None
    is_subagent: bool
    texts: tuple[Said, ...]
    at: int
    copies: int
    score: float
    evidence: float
    coverage: float
    matched: tuple[str, ...]


class RefusedTurn(NamedTuple):
    """A session whose best turn was refused, and why, as one clause; the other fields are those of :class:`TurnHit`."""

    agent: str
    session_id: str
    reason: str
    score: float
    evidence: float
    coverage: float
    matched: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TurnsAnswer:
    """What past turns have to say. ``considered`` counts sessions; ``is_stale`` says that a transcript changed since it
    was indexed or cannot be read, and what it said was left out."""

    hits: tuple[TurnHit, ...]
    refused: tuple[RefusedTurn, ...]
    considered: int
    is_stale: bool = False


def recall_turns(
    settings: Settings, prompt: str, place: Place, as_of: str, session: str | None = None, limit: int = MAX_TURNS
) -> TurnsAnswer:
    """Return past turns that help with a prompt typed at ``place``, of the place's project and folders below it.

    ``session`` is the running session (``ID`` or ``AGENT:ID``): it and its lineage are left out, and so is every text
    that is the prompt itself. Raises the errors of ``open_reader``: without an index there are no turns.
    """
    path = settings.index_path
    with (
        closing(open_reader(path, SEARCH_BUSY_TIMEOUT_MS)) as connection,
        translate_read_errors(path, SEARCH_BUSY_TIMEOUT_MS),
    ):
        connection.execute("PRAGMA temp_store = memory")
        connection.execute("BEGIN")
        wanted = wanted_of(connection, prompt)
        sessions = _Sessions(connection, place, as_of, lineage_of(connection, session))
        ranked = rank_turns(connection, wanted, sessions, _echo_of(prompt))
        return _answer(settings, connection, prompt, sessions, ranked, limit)


class _Session(NamedTuple):
    agent: str
    session_id: str
    project: str | None
    depth: int
    title: str | None


class _Sessions:
    """The sessions of a prompt's place, each looked at once."""

    def __init__(self, connection: sqlite3.Connection, place: Place, as_of: str, left_out: frozenset[int]) -> None:
        self._connection = connection
        self._place = place
        self._as_of = as_of
        self._left_out = left_out
        self._known: dict[int, _Session] = {}
        self._counts: dict[int, bool] = {}

    def __getitem__(self, row: int) -> _Session:
        if row not in self._known:
            self._known[row] = _Session(*self._connection.execute(_SESSION, (row,)).fetchone())
        return self._known[row]

    def count(self, message: Message) -> bool:
        """Tell whether a message may be given: of a session that counts, not of later."""
        return message.at <= self._as_of and self.has(message.session_row)

    def with_text(self, text_hash: int) -> set[int]:
        """Return the sessions that count and have a message of this text. Cost: the messages that have it."""
        found = self._connection.execute(_COPIES, (text_hash,))
        return {row for row, at in found if at <= self._as_of and self.has(row)}

    def has(self, row: int) -> bool:
        """Tell whether a session counts: of the place's project or below, and not the running one's lineage."""
        if row not in self._counts:
            self._counts[row] = row not in self._left_out and self._is_here(self[row].project)
        return self._counts[row]

    def _is_here(self, project: str | None) -> bool:
        """Tell whether a project is the place's or lies below it; paths are compared whole."""
        root = self._place.project or self._place.cwd
        if not root or project is None:
            return project is None
        return project == root or project.startswith(f"{root.rstrip('/')}/")


def _answer(
    settings: Settings, connection: sqlite3.Connection, prompt: str, sessions: _Sessions,
    ranked: Sequence[RankedTurn], limit: int,
) -> TurnsAnswer:  # fmt: skip
    judged = list(_judged(connection, prompt, ranked, sessions))
    best = gate.best_of([found for _, found, _ in judged])
    hits: list[TurnHit] = []
    refused: list[RefusedTurn] = []
    is_stale = False
    for turn, found, copies in judged:
        told = sessions[turn.message.session_row]
        reason = gate.refusal(found, best)
        if reason is None and len(hits) >= limit:
            reason = f"{limit} better ones are chosen"
        if reason is not None:
            refused.append(
                RefusedTurn(
                    told.agent, told.session_id, reason, turn.score, found.evidence, found.coverage, found.matched
                )
            )
            continue
        ids = _in_order(turn)
        read = read_texts(settings, connection, ids)
        is_stale = is_stale or any(one.said is None for one in read)
        hit = _hit(turn, found, copies, told, read)
        if hit is not None:
            hits.append(hit)
    return TurnsAnswer(tuple(hits), tuple(refused), len(judged), is_stale)


def _judged(
    connection: sqlite3.Connection, prompt: str, ranked: Sequence[RankedTurn], sessions: _Sessions
) -> Iterator[tuple[RankedTurn, Evidence, int]]:
    """Yield the best turn of each session, the best session first, with its evidence and the number of its copies."""
    best_turns: dict[int, RankedTurn] = {}
    for turn in ranked:
        best_turns.setdefault(turn.message.session_row, turn)
    texts: dict[str, list[RankedTurn]] = {}
    for row, _ in rank_sessions(ranked):
        text = _text(connection, best_turns[row].message.id, _JUDGED_CHARACTERS)
        texts.setdefault(_plain(text), []).append(best_turns[row])
    reading, statistics = _reading(connection, prompt)
    for same in islice(texts.values(), _JUDGED):
        turn = same[0]
        around = (_text(connection, id_, _AROUND_CHARACTERS) for id_ in turn.around)
        words = field_words(_text(connection, turn.message.id, _JUDGED_CHARACTERS), *around)
        told = sessions[turn.message.session_row]
        candidate = Candidate(told.session_id, told.agent, name_words=_NO_NAME, body_words=words)
        found = evidence.weigh(reading, candidate, statistics)
        have_it = {one.message.session_row for one in same}
        for text_hash in {one.message.text_hash for one in same}:
            have_it |= sessions.with_text(text_hash)
        yield turn, found, len(have_it) - 1


def _reading(connection: sqlite3.Connection, prompt: str) -> tuple[Reading, Statistics]:
    """Return a prompt as the gate compares it, its words counted among all texts of the index."""
    units = prompt_units(prompt)
    words = evidence.words_to_count(units)
    tokens = {word: stem(word) if len(word) <= WHOLE_WORD_CHARACTERS else word for word in words}
    count, found = counts_of(connection, set(tokens.values()))
    frequencies = {word: found[token] for word, token in tokens.items() if token in found}
    statistics = Statistics(count, frequencies, 0.0, 0.0, 0.0)
    return evidence.read(units, statistics, {}), statistics


def _hit(turn: RankedTurn, found: Evidence, copies: int, told: _Session, read: Sequence[Read]) -> TurnHit | None:
    """Return the hit, null where the text that fits is not there any more."""
    texts = [one.said for one in read if one.said is not None]
    ids = [one.id for one in read if one.said is not None]
    if turn.message.id not in ids:
        return None
    return TurnHit(
        agent=told.agent,
        session_id=told.session_id,
        title=told.title,
        project=told.project,
        is_subagent=told.depth > 0,
        texts=tuple(texts),
        at=ids.index(turn.message.id),
        copies=copies,
        score=turn.score,
        evidence=found.evidence,
        coverage=found.coverage,
        matched=found.matched,
    )


def _in_order(turn: RankedTurn) -> list[int]:
    """Return the ids of a turn's texts; rows ascend with the lines of a source."""
    return sorted((turn.message.id, *turn.around))


def _text(connection: sqlite3.Connection, id_: int, characters: int) -> str:
    return str(connection.execute(_TEXT, (characters, id_)).fetchone()[0])


def _echo_of(prompt: str) -> Callable[[str], bool]:
    """Return what tells an exact copy of the prompt; of a long text only the beginning is given."""
    wanted = _plain(prompt)

    def is_echo(text: str) -> bool:
        plain = _plain(text)
        return plain == wanted or (len(text) >= SCORED_CHARACTERS and wanted.startswith(plain))

    return is_echo


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
