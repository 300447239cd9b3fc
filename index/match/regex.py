"""A regular expression as typed, read once: its case mode, its search key, and where it matches in a text.

Pure; of ours it imports this package and ``index.errors`` only. The module ``regex`` is imported inside functions, so
that no other search waits for it. ``index.match.pattern`` looks through a pattern before that module sees it: what it
cannot bound is refused there.

As ``grep`` does, ``^`` and ``$`` stand at every line's ends and ``.`` does not match a newline; ``\\s`` and ``[^x]``
do. A text is matched as stored, in no normal form: a pattern with ``é`` as one character does not match it as two.
Version 0 of the module's syntax is used, which is that of ``re``: in version 1 ``[`` within a class, ``--``, ``&&`` and
``||`` have meanings that nobody expects. Without case, folding is full: ``ss`` matches ``ß``; and ``\\p{Lu}`` matches
every cased letter, as it does in that module: ``(?-i:\\p{Lu})`` asks for capitals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from time import process_time
from typing import TYPE_CHECKING, Final, NamedTuple
from unicodedata import category

from index.errors import BadPatternError, PatternTimeoutError
from index.match.case import is_exact
from index.match.key import search_key
from index.match.pattern import Gap, PatternParts, look_through
from index.match.spans import Span, in_bytes
from index.match.typed import clean

if TYPE_CHECKING:
    from regex import Pattern

TEXT_TIMEOUT_S: Final = 0.2
"""Seconds of processor time (as the module counts) for one text: honest patterns need a hundredth of it.

Memory grows by up to 230 MB in that time.
"""
MAX_TIMEOUTS: Final = 7
"""Texts given up before a search had better stop: with the time lost on each, within 2 seconds."""
MAX_PATTERN_CHARS: Final = 1000
OUTLINE_TIMEOUT_S: Final = 0.01
"""For one search key; what the outline does not tell in that time, the pattern itself decides."""

_TELL_NOTHING_OUTSIDE: Final = frozenset({Gap.NOTHING, Gap.MAYBE_BLANKS, Gap.SIGNS, Gap.LINE, Gap.ANYTHING})
"""Gaps that say nothing of a text where no literal stands before or behind them."""
_TELLS_MORE: Final = 2
"""An outline of fewer parts says what its key says."""
_REPEATED: Final = frozenset({Gap.BLANKS, Gap.MAYBE_BLANKS, Gap.SIGNS, Gap.LINE, Gap.ANYTHING})
_WIDE: Final = frozenset({Gap.LINE, Gap.ANYTHING})
_PLAIN_CHARS: Final = 2000
"""Of a key of so many characters a plain outline tries them all in milliseconds. A clock costs twice what it does."""
_LIKE_I: Final = "Iıİi"
"""The letters that the module takes for equal without case."""
_LIKE_S: Final = "sSſßẞﬅﬆ"
"""Letters whose folding has an s: two of them can be one letter to the module, and which two is not known."""
_S: Final = "s"
_WITH_I: Final = "ﬁﬃ"
"""Letters whose folding has an i, which the module takes for equal to the dotless one there too."""
_GRACE_S: Final = 0.01
_CASED_END: Final = 0x20000
"""No letter with case stands in a higher plane."""
_STEADY_CHARS: Final = 20_000
_STEADY_WORK: Final = 500_000
"""Up to so many characters, and so many times the pattern's, the module looks at its clock every few milliseconds.

It counts steps, and one step may run along the whole text: ``[^\\W\\d]+\\d`` took 7.5 s on 4 MB of one letter with a
timeout of 0.05 s, a class of 128 properties 25 s on 0.3 MB. Longer texts are matched in a thread, which can be left.
"""


class Outline(NamedTuple):
    """What the search key of every text that matches holds, as a pattern.

    ``is_plain`` says that it has so few repetitions, all of blanks or of signs, that no short key can keep it busy.
    """

    pattern: Pattern[str]
    is_plain: bool


@dataclass(frozen=True, slots=True)
class RegexQuery:
    """What is looked for. ``text`` is as typed, but for lone surrogates.

    ``exact`` is smart case's answer: a capital in the pattern that is no part of an escape, a name, a flag or a class's
    name; false where the pattern itself asks to ignore case. ``key`` is part of the search key of every text that
    matches, and empty where no literal is certain to be in each match (then every text is a candidate). ``has_outline``
    says that the literals' order and the blanks between them tell more of a key than ``key`` and ``more_keys`` do.
    """

    text: str
    exact: bool
    key: str
    more_keys: tuple[str, ...]
    _pattern: Pattern[str] = field(repr=False, compare=False)
    _outline: Outline | None = field(repr=False, compare=False, default=None)

    @property
    def has_outline(self) -> bool:
        """Return whether ``may_match`` can tell anything."""
        return self._outline is not None

    def may_match(self, key: str) -> bool:
        """Return whether a text with this search key may match; false is certain. A third of what ``matches`` costs.

        Raises ``PatternTimeoutError`` where the outline takes longer than ``OUTLINE_TIMEOUT_S``; keys of more than
        20,000 characters, in which that would not be noticed in time, may always match.
        """
        if self._outline is None or len(key) > _STEADY_CHARS:
            return True
        timeout_s = None if self._outline.is_plain and len(key) <= _PLAIN_CHARS else OUTLINE_TIMEOUT_S
        try:
            return self._outline.pattern.search(key, timeout=timeout_s) is not None
        except (TimeoutError, MemoryError):
            raise PatternTimeoutError(OUTLINE_TIMEOUT_S) from None

    def spans(self, text: str) -> list[Span]:
        """Return the spans of all matches in a stored text, in order, in UTF-8 bytes; empty matches are left out.

        ``text`` must not hold lone surrogates. Raises ``PatternTimeoutError`` when the text is not done within
        ``TEXT_TIMEOUT_S`` (or within the memory there is); at most 50 ms later, where the machine is free.
        """
        return self._spans(text, None)

    def first_span(self, text: str) -> list[Span]:
        """Return the span of the first match alone, none for no match: enough to know a hit. Raises as ``spans``."""
        return self._spans(text, 1)

    def matches(self, text: str) -> bool:
        """Return whether the pattern matches anything in a stored text but nothing. Raises as ``spans``."""
        return bool(self._places(text, 1))

    def _spans(self, text: str, most: int | None) -> list[Span]:
        places = self._places(text, most)
        return places if text.isascii() else list(in_bytes(text, iter(places)))

    def _places(self, text: str, most: int | None) -> list[Span]:
        if len(text) <= _STEADY_CHARS and len(text) * len(self.text) <= _STEADY_WORK:
            places = _places(self._pattern, text, most)
        else:
            places = _watched_places(self._pattern, text, most)
        if places is None:
            raise PatternTimeoutError(TEXT_TIMEOUT_S)
        return places


def read_regex(pattern: str) -> RegexQuery:
    """Read the regular expression that a person typed. Lone surrogates become U+FFFD, as in stored texts.

    Raises ``EmptyQueryError`` for blanks alone and ``BadPatternError`` for what is no pattern, is longer than
    ``MAX_PATTERN_CHARS``, or cannot be bounded in time and memory (``index.match.pattern``).
    """
    typed = clean(pattern)
    if len(typed) > MAX_PATTERN_CHARS:
        raise BadPatternError(f"is longer than {MAX_PATTERN_CHARS:,} characters")
    parts = look_through(typed)
    has_capital = is_exact(parts.literals)
    compiled, ignores_case = _compile(typed, has_capital)
    pieces = _cut(parts, ignores_case)
    keys = _keys(pieces)
    return RegexQuery(typed, not ignores_case, keys[0] if keys else "", keys[1:], compiled, _outline(pieces))


def _compile(pattern: str, has_capital: bool) -> tuple[Pattern[str], bool]:
    """Return the compiled pattern and whether it ignores case."""
    import regex

    flags = regex.VERSION0 | regex.MULTILINE | regex.FULLCASE
    if not has_capital:
        flags |= regex.IGNORECASE
    try:
        compiled = regex.compile(pattern, flags, cache_pattern=False)
    except regex.error as error:
        reason = getattr(error, "msg", "it does not say which")
        raise BadPatternError(f"has an error ({reason})", getattr(error, "pos", None)) from error
    except (TypeError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise BadPatternError("is too deep or at odds with itself") from error
    return compiled, bool(compiled.flags & regex.IGNORECASE)


def _places(pattern: Pattern[str], text: str, most: int | None, concurrent: bool | None = None) -> list[Span] | None:
    """Return the matches in characters, ``most`` or all, or null when time or memory ran out."""
    try:
        if most == 1:  # what many texts are asked: half the cost of beginning to go through all matches
            first = pattern.search(text, concurrent=concurrent, timeout=TEXT_TIMEOUT_S)
            if first is None or first.end() > first.start():
                return [] if first is None else [first.span()]
        found = pattern.finditer(text, concurrent=concurrent, timeout=TEXT_TIMEOUT_S)
        return list(islice((match.span() for match in found if match.end() > match.start()), most))
    except (TimeoutError, MemoryError):
        return None


def _watched_places(pattern: Pattern[str], text: str, most: int | None) -> list[Span] | None:
    """Do the same in a thread that is left to itself when it is late: it ends at the module's next look at its clock.

    ``concurrent`` makes the module let other threads run while it matches, so that this one can look at its own.
    """
    from threading import Thread

    done: list[list[Span] | None] = []
    thread = Thread(target=lambda: done.append(_places(pattern, text, most, concurrent=True)), daemon=True)
    late_at_s = process_time() + TEXT_TIMEOUT_S + _GRACE_S
    thread.start()
    while thread.is_alive() and process_time() < late_at_s:
        thread.join(_GRACE_S)
    return done[0] if done else None


def _cut(parts: PatternParts, ignores_case: bool) -> list[str | Gap]:
    """Return the outline with letters cut out of its literals that match, without case, what keys do not fold alike."""
    outline = [Gap.NOTHING, *parts.outline, Gap.NOTHING]
    pieces: list[str | Gap] = []
    for before, part, after in zip(outline, outline[1:], outline[2:], strict=False):
        if isinstance(part, str) and ignores_case and _has_letters(part):
            pieces += _folded_alike(part, before is Gap.ANYTHING, after is Gap.ANYTHING)
        else:
            pieces.append(part)
    return [piece for piece in pieces if piece not in ("", Gap.NOTHING)]


def _has_letters(run: str) -> bool:
    return any(each.isalpha() or each.isnumeric() or each > "\x7f" for each in run)


def _folded_alike(run: str, is_open_before: bool, is_open_after: bool) -> Iterator[str | Gap]:
    """Cut ``run`` at letters that match, without case, what the search key does not fold with them.

    An s at an open end may be half of what the module reads as one letter: it joins ``\\x73s`` and ``[s]s`` to ``ss``.
    """
    begin, end = 0, len(run)
    with_more = f"{_S * is_open_before}{run}{_S * is_open_after}"
    for apart in _folded_apart().finditer(with_more):
        found, found_end = (max(0, place - is_open_before) for place in apart.span())
        yield run[begin:found]
        yield Gap.LIKE_I if apart[0] in _LIKE_I else Gap.SIGNS
        begin = min(end, found_end)
    yield run[begin:]


def _keys(pieces: Sequence[str | Gap]) -> tuple[str, ...]:
    """Return the keys of the literals that stand in every match, each once, the longest first."""
    keys = {key for piece in pieces if isinstance(piece, str) and (key := search_key(piece))}
    return tuple(sorted(keys, key=lambda key: (-len(key), key)))


def _outline(pieces: Sequence[str | Gap]) -> Outline | None:
    """Return the outline of a pattern; null where its literals tell as much."""
    import regex

    told = [search_key(piece) if isinstance(piece, str) else piece for piece in pieces]
    told = [piece for piece in told if piece]
    while told and told[-1] in _TELL_NOTHING_OUTSIDE:
        told.pop()
    while told and told[0] in _TELL_NOTHING_OUTSIDE:
        del told[0]
    if len(told) < _TELLS_MORE:
        return None
    for end in (0, -1):
        if told[end] is Gap.BLANKS:
            told[end] = Gap.BLANK
    return Outline(regex.compile(_written(told), regex.VERSION0, cache_pattern=False), _is_plain(told))


def _written(told: Sequence[str | Gap]) -> str:
    """Return an outline as a pattern that begins with its longest literal and looks back from there.

    The module finds a literal five times as fast as what begins with a short one or with a gap.
    """
    import regex

    pieces = [regex.escape(piece) if isinstance(piece, str) else piece.value for piece in told]
    lengths = [len(piece) if isinstance(piece, str) else 0 for piece in told]
    anchor = lengths.index(max(lengths))
    if anchor == 0 or not lengths[anchor]:
        return "".join(pieces)
    return f"{pieces[anchor]}(?<={''.join(pieces[: anchor + 1])}){''.join(pieces[anchor + 1 :])}"


def _is_plain(told: Sequence[str | Gap]) -> bool:
    """Tell whether at most the square of a key's length is tried.

    That is so for one repetition, wherever it begins, and for blanks, signs and blanks between literals that have no
    blank: what stands beside one of them in two places is never the same run.
    """
    places = [place for place, piece in enumerate(told) if piece in _REPEATED]
    gaps = [told[place] for place in places]
    if _WIDE.intersection(gaps):
        return False
    if len(gaps) <= 1:
        return True
    if gaps != [Gap.BLANKS, Gap.SIGNS, Gap.BLANKS] or places[-1] - places[0] != len(places) - 1 or not places[0]:
        return False
    beside = (told[places[0] - 1], *told[places[-1] + 1 : places[-1] + 2])
    return all(one is Gap.LIKE_I or (isinstance(one, str) and not any(map(str.isspace, one))) for one in beside)


@lru_cache(maxsize=1)
def _folded_apart() -> Pattern[str]:
    """Compile the letters that the module folds with others and Python does not. Costs 15 ms, once.

    They are the Turkish ones, which the module takes for equal to ``I``, and those of newer versions of Unicode than
    Python's (U+1DF95 equals ``ss``): what both know folds the same, by Unicode's promise of stability.
    """
    import regex

    known_planes = "".join(map(chr, (*range(0x80, 0xD800), *range(0xE000, _CASED_END))))
    cased = regex.findall(r"[\p{Changes_When_Casemapped}\p{Changes_When_Casefolded}]", known_planes, regex.VERSION0)
    newer = "".join(letter for letter in cased if category(letter) == "Cn")
    told = f"(?-i:[{_LIKE_S}{newer}]{{2,}})|[{_LIKE_I}{_WITH_I}{newer}]"
    return regex.compile(told, regex.VERSION0 | regex.IGNORECASE | regex.FULLCASE, cache_pattern=False)
