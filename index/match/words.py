"""A query of words as typed, read once: its terms, and how each of them is matched.

Pure; of ours it imports this package and ``index.errors`` only, never sqlite3. Terms of the Latin alphabet are words
with English stems, which SQLite's own tokenizer decides (``index.search.words``); ``index.match.spelled`` decides the
others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from index.errors import NoWordError
from index.match.key import search_key
from index.match.letters import is_latin, is_unspaced, words_of
from index.match.typed import clean

_PIECE = re.compile(
    r'(?P<minus>(?<!\S)-)?"(?P<phrase>(?:[^"]++|"")*+)(?:"(?P<star>\*?)|\Z)'  # a quote never closed reads to the end
    r"|(?P<plain>\S+)"
)
_NO_SIGN = re.compile(r"[\W_]")
_BEFORE_WORDS: Final = "([{<\"'`* "
_BEHIND_WORDS: Final = ".,;:!?…)]}>\"'`* "


class Kind(Enum):
    """How a term is matched."""

    WORD = "word"
    """A word, or several that follow each other, by SQLite's tokens and English stems."""
    SPELLED = "spelled"
    """The same without stems, letter by letter: alphabets other than Latin."""
    PREFIX = "prefix"
    """The beginning of a word, perhaps after whole words."""
    PART = "part"
    """Letters of a script without blanks, which may stand anywhere."""


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a query. ``text`` is as typed, without minus, quotes and star; ``key`` is its search key.

    ``words`` are the key's words in order, at least one: they must follow each other with nothing but signs and blanks
    between. Where ``kind`` is not ``WORD``, each is part of the search key of every text that matches.
    """

    kind: Kind
    text: str
    key: str
    words: tuple[str, ...]

    @property
    def typed(self) -> str | None:
        """Return the key of what was typed if signs or blanks in it tell more than its words do, else null.

        Signs that sentences put around a word do not count: null for ``drill,``, not for ``C++`` or ``pane_pid``.
        """
        typed = self.key.lstrip(_BEFORE_WORDS).rstrip(_BEHIND_WORDS)
        return typed if _NO_SIGN.search(typed) else None


@dataclass(frozen=True, slots=True)
class WordsQuery:
    """What is looked for. A text matches if all of ``terms`` match and none of ``without`` does.

    ``text`` is as typed, but for lone surrogates. ``ignored`` are pieces without any letter or digit, as typed.
    """

    text: str
    terms: tuple[Term, ...]
    without: tuple[Term, ...]
    ignored: tuple[str, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """Return what the search key of every matching text holds: empty if all terms are words for SQLite."""
        return tuple(dict.fromkeys(word for term in self.terms if term.kind is not Kind.WORD for word in term.words))


def read_words(text: str) -> WordsQuery:
    """Read what a person typed: words, ``"phrases"``, ``prefix*``, each with ``-`` before it to leave it out.

    A quote opens a phrase only where a term begins; doubled inside a phrase it is a quote. A star counts only at the
    end and behind a letter or digit, a minus only before something else than a minus (``--all`` is a word). All else is
    text. Raises ``EmptyQueryError`` for blanks alone, and ``NoWordError`` where there is no word to find.
    """
    typed = clean(text)
    wanted: dict[Term, None] = {}
    without: dict[Term, None] = {}
    ignored: list[str] = []
    for piece in _PIECE.finditer(typed):
        leave_out, term = _read_piece(typed, piece)
        if term is None:
            ignored.append(piece[0])
        else:
            (without if leave_out else wanted)[term] = None
    if not wanted:
        raise NoWordError(typed, only_without=bool(without))
    return WordsQuery(typed, tuple(wanted), tuple(without), tuple(ignored))


def _read_piece(typed: str, piece: re.Match[str]) -> tuple[bool, Term | None]:
    phrase = piece["phrase"]
    if phrase is not None:
        return piece["minus"] is not None, _term(phrase.replace('""', '"'), bool(piece["star"]))
    plain = piece["plain"]
    begins = piece.start() == 0 or typed[piece.start() - 1].isspace()
    leave_out = begins and plain[0] == "-" and plain[1:2] != "-"
    if leave_out:
        plain = plain[1:]
    term = _term(plain.removesuffix("*"), plain.endswith("*"))
    if term is not None and term.kind in (Kind.WORD, Kind.SPELLED):
        term = _term(plain, False)  # a star behind another sign is a sign too
    return leave_out, term


def _term(text: str, star: bool) -> Term | None:
    key = search_key(text)
    words = words_of(key)
    if not words:
        return None
    if star and key.endswith(words[-1]) and not is_unspaced(words[-1][-1]):
        kind = Kind.PREFIX
    elif is_unspaced("".join(words)):
        kind = Kind.PART
    else:
        kind = Kind.WORD if is_latin(text) and is_latin("".join(words)) else Kind.SPELLED
    return Term(kind, text, key, words)
