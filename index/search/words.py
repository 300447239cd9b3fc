"""What a query of words needs of SQLite's own tokenizer: expressions for the word table, decisions, spans.

Plain ``sqlite3``, on a database of its own in memory with the tokenizer of the index's word table: so what is a token
and what its stem is always SQLite's answer, never ours. It never touches the index. Terms that are not matched by
tokens are decided by ``index.match.spelled``.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from types import TracebackType
from typing import Final, NamedTuple, TypeAlias
from unicodedata import combining

from index.match.key import search_key
from index.match.spans import Span
from index.match.spelled import count_term, key_counter, matches_term, merge_places, places_of_term
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

_SIGN = re.compile(f"[{_ASCII_SIGN}]")
_FOREIGN_BLOCK = re.compile(rf"[^\x00-\x7f][^{_ASCII_SIGN}]*+")
"""The rest of a block from its first character beyond ASCII."""
_STEM_DIFFERS: Final = 3
"""A word begins like its stem, all but its last letters: English stems end in other letters than their words (``ble``
of ``bility``) in one or two of them."""
_FEW_TOKENS: Final = 8
_NEAR: Final = 64

_USUAL_CHARACTERS: Final = 1000
"""The mean length that is assumed of a text, in place of the one that SQLite knows in words."""


Counts: TypeAlias = tuple[int | None, ...]
"""How often each term stands in a text that SQLite does not decide; null where its key does not tell."""


class _Beginnings(NamedTuple):
    """How many tokens the longest term has, and how those begin in ASCII; null where none begins so."""

    longest: int
    of_terms: re.Pattern[str] | None


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
        self._counters: Final = tuple(map(key_counter, self._spelled))
        self._counters_without: Final = tuple(map(key_counter, self._spelled_without))
        self._without_in_text: Final = tuple(term for term in self._spelled_without if key_counter(term) is None)
        self.has_spelled: Final = bool(self._spelled or self._spelled_without)
        self._beginnings: _Beginnings | None = None
        self._typed: Final = tuple(typed for term in query.terms if (typed := term.typed) is not None)
        self._opened: sqlite3.Connection | None = None

    def __enter__(self) -> WordMatcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give up the database in memory."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def spelled_match(self, text: str) -> bool:
        """Say whether all terms that SQLite does not decide match ``text``, and none of those to be left out does."""
        return all(matches_term(term, text) for term in self._spelled) and not any(
            matches_term(term, text) for term in self._spelled_without
        )

    def count_spelled(self, keys: Sequence[str]) -> list[Counts | None]:
        """Return for each search key of a text how often each term that SQLite does not decide stands in it.

        Null where the key tells that ``spelled_match`` fails; a count is null where only the text tells (``weight``).
        A key may have something behind it that is neither letter nor mark. Cost: one pass over it for each term.
        """
        found: list[Counts | None] = [()] * len(keys)
        for counter in self._counters:
            if counter is None:
                found = [None if counts is None else (*counts, None) for counts in found]
                continue
            there = iter(counter([key for key, counts in zip(keys, found, strict=True) if counts is not None]))
            found = [None if counts is None or not (count := next(there)) else (*counts, count) for counts in found]
        for counter in self._counters_without:
            if counter is not None:
                unwanted = counter(keys)
                found = [None if count else counts for counts, count in zip(found, unwanted, strict=True)]
        return found

    def weight(self, counts: Counts, text: str) -> float | None:
        """Return what the terms that SQLite does not decide add to a text's rank; null where ``spelled_match`` fails.

        More is better, 0 without such terms; of the size of ``-bm25(prose_words)``, to which it is added. ``counts``
        is what ``count_spelled`` returned for the text's key.
        """
        weight = 0.0
        length = len(text)
        for number, counted in enumerate(counts):
            count = count_term(self._spelled[number], text) if counted is None else counted
            if not count:
                return None
            weight += weight_of(count, length, _USUAL_CHARACTERS)
        for term in self._without_in_text:
            if matches_term(term, text):
                return None
        return weight

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
        return not self._typed or self.key_as_typed(search_key(text))

    def key_as_typed(self, key: str) -> bool:
        """Say the same of the text with this search key."""
        return not self._typed or all(typed in key for typed in self._typed)

    def count_typed(self, text: str) -> int:
        """Return how often the words of the query stand in ``text`` as they were typed, inside of others too; rough."""
        key = search_key(text)
        return sum(key.count(word) for term in self.query.terms for word in term.words)

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
        pieces = self._pieces(text)
        if not pieces:
            return
        self._hold_all(pieces)
        opening, closing = _unused_characters(text)
        for number, marked in self._connection.execute(_MARKED, (opening, closing, self._marking)):
            before, *marks = marked.split(opening)
            place = pieces[number][0] + len(before)
            for mark in marks:
                found, _, rest = mark.partition(closing)
                end = after = place + len(found)
                while after < len(text) and combining(text[after]):
                    after += 1
                yield place, after
                place = end + len(rest)

    @property
    def _connection(self) -> sqlite3.Connection:
        """Return the database in memory, which many queries never need: made when first asked for."""
        if self._opened is None:
            self._opened = sqlite3.connect(":memory:", isolation_level=None)
            for statement in _SCHEMA:
                self._opened.execute(statement)
        return self._opened

    def _hold(self, text: str) -> None:
        """Make ``text`` the one text in memory."""
        self._hold_all([(0, text)])

    def _pieces(self, text: str) -> list[tuple[int, str]]:
        """Return the pieces of ``text`` that may hold words of the query, each with where it begins, in order.

        None holds more than one piece of a long text: ``highlight`` copies all it has written for each word it marks,
        the square of the number of hits.
        """
        if self._beginnings is None:
            tokens = [self.tokens(term.text) for term in self.query.terms if term.kind is Kind.WORD]
            self._beginnings = _Beginnings(max(map(len, tokens)), _beginning_of_any([row[0] for row in tokens]))
        longest, beginning = self._beginnings
        if longest > _FEW_TOKENS:
            return list(_overlapping_pieces(text, longest))
        return list(_pieces_from(text, _possible_starts(text, beginning), longest))

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


def _beginning_of_any(stems: Iterable[str]) -> re.Pattern[str] | None:
    """Compile what finds the beginning of each word of ASCII whose stem may be one of ``stems``."""
    found = dict.fromkeys(stem[: max(1, len(stem) - _STEM_DIFFERS)] for stem in stems)
    # An ASCII word has an ASCII stem.
    spelled = ["".join(f"[{letter}{letter.upper()}]" for letter in begin) for begin in found if begin.isascii()]
    return re.compile("|".join(f"{begin}(?<![^{_ASCII_SIGN}]{begin})" for begin in spelled)) if spelled else None


def _possible_starts(text: str, beginning: re.Pattern[str] | None) -> list[int]:
    """Return where words of the query may begin, in order: at words that begin so, and at every block beyond ASCII."""
    starts = [match.start() for match in beginning.finditer(text)] if beginning is not None else []
    if text.isascii():
        return starts
    block = _FOREIGN_BLOCK.search(text)
    while block is not None:
        start = block.start()
        while start > 0 and not _SIGN.match(text, start - 1):
            start -= 1
        starts.append(start)
        block = _FOREIGN_BLOCK.search(text, block.end())
    return sorted(set(starts))


def _pieces_from(text: str, starts: list[int], tokens: int) -> Iterator[tuple[int, str]]:
    """Yield where a piece of ``text`` begins, and the piece: it holds ``tokens`` tokens from each start in it.

    What lies near is one piece, up to a length: a piece costs as much as ``_NEAR`` characters.
    """
    first = end = -1
    for start in starts:
        if first >= 0 and (start > end + _NEAR or start - first > _PIECE_LENGTH):
            yield first, text[first:end]
            first = -1
        if first < 0:
            first = start
        place = start
        for _ in range(tokens):
            block = _BLOCK.search(text, place)
            place = block.end() if block is not None else len(text)
        end = place
    if first >= 0:
        yield first, text[first:end]


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
