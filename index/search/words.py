"""What a query of words needs of SQLite's own tokenizer: expressions for the word table, decisions, spans.

Plain ``sqlite3``, on a database of its own in memory with the tokenizer of the index's word table: so what is a token
and what its stem is always SQLite's answer, never ours. It never touches the index. Terms that are not matched by
tokens are decided by ``index.match.spelled``.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from itertools import chain
from types import TracebackType
from typing import Final
from unicodedata import combining

from index.match.key import search_key
from index.match.spans import Span
from index.match.spelled import count_term, matches_term, merge_places, places_of_term
from index.match.words import Kind, Term, WordsQuery
from index.search.relevance import weight_of

TOKENIZER: Final = "porter unicode61 remove_diacritics 2"
"""That of the index's table ``prose_words``, which a test compares."""

_SCHEMA: Final = (
    "PRAGMA journal_mode = off",
    "CREATE TABLE texts(id INTEGER PRIMARY KEY, text TEXT NOT NULL)",
    f"CREATE VIRTUAL TABLE words USING fts5(text, content = 'texts', content_rowid = 'id', tokenize = '{TOKENIZER}')",
    "CREATE VIRTUAL TABLE tokens USING fts5vocab(words, instance)",
)
_ADD: Final = "INSERT INTO words(rowid, text) SELECT id, text FROM texts"
_CLEAR: Final = "INSERT INTO words(words) VALUES('delete-all')"
_MATCHES: Final = "SELECT 1 FROM words WHERE words MATCH ?"
_MARKED: Final = "SELECT rowid, highlight(words, 0, ?, ?) FROM words WHERE words MATCH ?"

_PIECE_LENGTH: Final = 1024
_CHARACTERS_PER_TOKEN: Final = 16
_ASCII_SIGN: Final = r"\x00-/:-@\[-`{-\x7f"
"""What is neither letter nor digit in ASCII, as the inside of a class: always between tokens, never in one."""
_CUT = re.compile(rf"(?<=[{_ASCII_SIGN}])[^\W_]")
_BLOCK = re.compile(rf"[^\W_\u19b0-\u19c9\u1cf2-\u1cff][^{_ASCII_SIGN}]*+")
"""A stretch with at least one token, up to a place where none goes on. A few letters are none for SQLite."""

_USUAL_CHARACTERS: Final = 1000
"""The mean length that is assumed of a text, in place of the one that SQLite knows in words."""


class WordMatcher:
    """Decides for one query of words, text after text. Close it after use, or use it in a ``with``.

    ``expression`` is the complete MATCH expression for ``prose_words``: all terms of kind ``WORD``, and none that are
    to be left out; null where no term is of that kind, and then candidates come from ``query.keys`` alone.
    ``without_expression`` finds texts with any ``WORD`` term that is to be left out; null where there is none. Needed
    only where ``expression`` is null. Both hold what was typed in quotes only, so that none of it is syntax.
    ``has_spelled`` says that candidates of these must also pass ``spelled_match``.
    """

    def __init__(self, query: WordsQuery) -> None:
        self.query: Final = query
        words = _words(query.terms)
        self._marking: Final = " OR ".join(words)
        self.without_expression: Final = " OR ".join(_words(query.without)) or None
        expression = " AND ".join(words) or None
        if expression is not None and self.without_expression is not None:
            expression = f"({expression}) NOT ({self.without_expression})"
        self.expression: Final = expression
        self._spelled: Final = _spelled(query.terms)
        self._spelled_without: Final = _spelled(query.without)
        self.has_spelled: Final = bool(self._spelled or self._spelled_without)
        self._longest: int | None = None
        self._typed: Final = tuple(typed for term in query.terms if (typed := term.typed) is not None)
        self._connection: Final = sqlite3.connect(":memory:", isolation_level=None)
        for statement in _SCHEMA:
            self._connection.execute(statement)

    def __enter__(self) -> WordMatcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give up the database in memory."""
        self._connection.close()

    def spelled_match(self, text: str) -> bool:
        """Say whether all terms that SQLite does not decide match ``text``, and none of those to be left out does."""
        return all(matches_term(term, text) for term in self._spelled) and not any(
            matches_term(term, text) for term in self._spelled_without
        )

    def matches(self, text: str) -> bool:
        """Say whether ``text``, which need not be in any index, matches the whole query. Cost: tokenizes it."""
        if not self.spelled_match(text):
            return False
        if self.expression is None and self.without_expression is None:
            return True
        self._hold(text)
        if self.expression is not None:
            return self._holds(self.expression)
        return not self._holds(self.without_expression or "")

    def as_typed(self, text: str) -> bool:
        """Say whether each term with signs or blanks in it stands in ``text`` as typed, but for case and accents.

        True where no term has any. Such texts come before those that have the same words only: ``pane_pid`` before
        ``pane pid``.
        """
        if not self._typed:
            return True
        key = search_key(text)
        return all(typed in key for typed in self._typed)

    def count_typed(self, text: str) -> int:
        """Return how often the words of the query stand in ``text`` as they were typed, inside of others too; rough."""
        key = search_key(text)
        return sum(key.count(word) for term in self.query.terms for word in term.words)

    def spelled_weight(self, text: str) -> float | None:
        """Return what the terms that SQLite does not decide add to a text's rank; null where ``spelled_match`` fails.

        More is better, 0 without such terms; of the size of ``-bm25(prose_words)``, to which it is added.
        """
        weight = 0.0
        for term in self._spelled:
            count = count_term(term, text)
            if not count:
                return None
            weight += weight_of(count, len(text), _USUAL_CHARACTERS)
        return None if any(matches_term(term, text) for term in self._spelled_without) else weight

    def spans(self, text: str) -> list[Span]:
        """Return where the terms to be found stand in ``text``: in order, joined where they touch or overlap.

        Whole characters with the marks that follow them, in UTF-8 bytes. Cost: tokenizes the text twice.
        """
        places = chain(self._word_places(text), *(places_of_term(term, text) for term in self._spelled))
        return merge_places(text, places)

    def tokens(self, text: str) -> tuple[str, ...]:
        """Return the tokens that SQLite makes of ``text``, in order: folded, without accents, stemmed."""
        self._hold(text)
        return tuple(row[0] for row in self._connection.execute("SELECT term FROM tokens ORDER BY offset"))

    def _word_places(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where SQLite finds words of the query, in characters, each with the marks that follow it."""
        if not self._marking:
            return
        starts = self._hold_pieces(text)
        opening, closing = _unused_characters(text)
        for number, marked in self._connection.execute(_MARKED, (opening, closing, self._marking)):
            before, *pieces = marked.split(opening)
            place = starts[number] + len(before)
            for piece in pieces:
                found, _, rest = piece.partition(closing)
                end = after = place + len(found)
                while after < len(text) and combining(text[after]):
                    after += 1
                yield place, after
                place = end + len(rest)

    def _hold(self, text: str) -> None:
        """Make ``text`` the one text in memory."""
        self._hold_all([(0, text)])

    def _hold_pieces(self, text: str) -> list[int]:
        """Make ``text`` the only one in memory, a long one in pieces that overlap; return where each begins.

        ``highlight`` copies all it has written for each word it marks: the square of the number of hits in one piece.
        """
        if len(text) <= _PIECE_LENGTH:
            self._hold(text)
            return [0]
        if self._longest is None:
            terms = [term for term in self.query.terms if term.kind is Kind.WORD]
            self._longest = max(len(self.tokens(term.text)) for term in terms)
        pieces = list(_overlapping_pieces(text, self._longest))
        self._hold_all(pieces)
        return [start for start, _ in pieces]

    def _hold_all(self, pieces: list[tuple[int, str]]) -> None:
        """Make these the texts in memory, numbered from 0. ``highlight`` ends at U+0000: U+0001 separates just so."""
        self._connection.execute(_CLEAR)
        self._connection.execute("DELETE FROM texts")
        numbered = [(number, piece.replace("\0", "\1")) for number, (_, piece) in enumerate(pieces)]
        self._connection.executemany("INSERT INTO texts VALUES(?, ?)", numbered)
        self._connection.execute(_ADD)

    def _holds(self, expression: str) -> bool:
        return self._connection.execute(_MATCHES, (expression,)).fetchone() is not None


def _words(terms: tuple[Term, ...]) -> list[str]:
    """Return an FTS5 string for each term of kind ``WORD``: whatever stands in it, SQLite cuts it into tokens only."""
    return ['"' + term.text.replace('"', '""').replace("\0", "\1") + '"' for term in terms if term.kind is Kind.WORD]


def _overlapping_pieces(text: str, tokens: int) -> Iterator[tuple[int, str]]:
    """Yield where a piece of ``text`` begins, and the piece: cut between tokens, and going on into the next for so long
    that each row of ``tokens`` tokens is whole in one of them. A long row makes long pieces, not many.
    """
    start = 0
    while True:
        cut = _CUT.search(text, start + max(_PIECE_LENGTH, _CHARACTERS_PER_TOKEN * tokens))
        if cut is None:
            yield start, text[start:]
            return
        end = cut.start()
        for _ in range(tokens - 1):
            block = _BLOCK.search(text, end)
            end = block.end() if block is not None else len(text)
        yield start, text[start:end]
        start = cut.start()


def _spelled(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    return tuple(term for term in terms if term.kind is not Kind.WORD)


def _unused_characters(text: str) -> tuple[str, str]:
    """Return two characters that do not stand in ``text``, to mark places in it."""
    if text.isascii():
        return "\ue000", "\ue001"
    used = set(text)
    free = (chr(point) for point in chain(range(0xE000, 0x110000), range(0x80, 0xD800)))
    unused = (letter for letter in free if letter not in used)
    return next(unused), next(unused)
