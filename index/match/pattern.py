"""A look through a regular expression before it is compiled: which characters stand for themselves, and how big it is.

Pure; standard library and ``index.errors`` only. Knows the syntax of the module ``regex`` in version 0, as far as it is
let in. Refused is what that module cannot bound or what would make this look unsure: approximate matching, the flags
that change the syntax or the direction, repetitions that multiply beyond ``MAX_SIZE`` (the module copies what is
repeated: ``((a{1000}){1000}){1000}`` took all memory there was), groups deeper than ``MAX_DEPTH``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from index.errors import BadPatternError

MAX_SIZE: Final = 20_000
"""Single elements after repetition, each some 260 bytes and a microsecond to compile."""
MAX_DEPTH: Final = 50
"""Groups within groups: the module recurses, and reaches Python's limit near 200."""

_ESCAPE: Final = re.compile(
    r"""\\(?:
    (?P<named>[pP](?:\{\^?[A-Za-z0-9\ &_.:=/-]*\}|[CLMNPSZ])|N\{[A-Za-z0-9\ -]*\})
    |(?P<code>x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})
    |(?P<unsure>[gL0-9])
    |(?P<vague>[pPN])
    |(?P<letter>[A-Za-z])
    |(?P<literal>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
_CLASS_NAME: Final = re.compile(r"\[:\^?[A-Za-z0-9_ -]+:\]")
_COUNT: Final = re.compile(r"\{(?:([0-9]*),([0-9]*)|([0-9]+))\}")
_APPROXIMATE: Final = re.compile(r"\{[0-9deis]")
"""What may be a limit on errors, ``{e<=3}``: it can make a pattern match nearly anything, at any cost."""
_OPENING: Final = re.compile(
    r"""\((?:
    (?P<verb>\*[A-Za-z]+\))
    |(?P<comment>\?\#(?:[^\\)]|\\.)*\))
    |(?P<flags>\?(?P<on>[aims]*)(?:-[aims]+)?(?P<scope>[:)]))
    |(?P<reference>\?P=\w+\)|\?(?:R|[0-9]+|[+-][0-9]+|&\w+|P[>&]\w+)\))
    |(?P<condition>\?(?:\(\w+\)|(?=\(\?)))
    |(?P<group>\?(?:P?<[^\W\d]\w*>|[=!>|]|<[=!])|(?!\?))
    )""",
    re.VERBOSE | re.DOTALL,
)


class Gap(Enum):
    """What stands in a match between two literals; the value is a regular expression on the search key of the text.

    Each lets in at least what the pattern does: a key may lack a mark that the text has (``index.match.key``), and has
    the same blanks. ``LIKE_I`` is what a letter matches that is equal to an i without case.
    """

    NOTHING = ""
    BLANK = r"\s"
    BLANKS = r"\s+"
    MAYBE_BLANKS = r"\s*"
    SIGNS = r"\S*"
    LINE = r"[^\n]*"
    ANYTHING = r"[\s\S]*?"
    LIKE_I = "[iı]"


_GAPS: Final = {
    r"\s": Gap.BLANKS,
    r"\S": Gap.SIGNS,
    r"\w": Gap.SIGNS,
    r"\d": Gap.SIGNS,
    r"\b": Gap.NOTHING,
    r"\B": Gap.NOTHING,
}


@dataclass(slots=True)
class PatternParts:
    """``literals``: all characters that stand for themselves, apart from each other by a blank where they do not touch.

    ``outline``: what every match is made of, in order: literals as they are, and gaps; none where that is not certain.
    """

    literals: str
    outline: list[str | Gap]


def look_through(pattern: str) -> PatternParts:
    """Return the parts of ``pattern``. Linear. What is no pattern may pass: compiling tells.

    Raises ``BadPatternError`` for what is refused.
    """
    look = _Look(pattern)
    while look.place < len(pattern):
        look.take_next()
    look.end_run()
    return PatternParts("".join(look.literals), [] if look.is_unsure else look.outline)


@dataclass(slots=True)
class _Level:
    """A group while it is open: the size of what it holds so far, and of its last element."""

    size: int = 0
    last: int = 0


@dataclass(slots=True)
class _Look:
    pattern: str
    place: int = 0
    literals: list[str] = field(default_factory=list)
    outline: list[str | Gap] = field(default_factory=list)
    run: list[str] = field(default_factory=list)
    levels: list[_Level] = field(default_factory=lambda: [_Level()])
    is_unsure: bool = False

    def take_next(self) -> None:
        letter = self.pattern[self.place]
        if letter == "\\":
            self.take_escape()
        elif letter == "[":
            self.take_class()
        elif letter == "(":
            self.take_opening()
        elif letter == ")":
            self.take_closing()
        elif letter == "|":
            self.take_alternative()
        elif letter in "?*+{":
            self.take_quantifier(letter)
        elif letter in ".^$":
            self.take_element(1, Gap.LINE if letter == "." else Gap.NOTHING)
        else:
            self.take_literal(letter, 1)

    def refuse(self, reason: str) -> BadPatternError:
        return BadPatternError(reason, self.place)

    def end_run(self) -> None:
        if self.run:
            self.outline.append("".join(self.run))
            self.run.clear()
        self.literals.append(" ")

    def end_run_before(self, gap: Gap) -> None:
        """End the run; behind it the match has ``gap``. What a group holds is in the gap that it began with."""
        self.end_run()
        if len(self.levels) == 1 and self.outline[-1:] != [gap]:
            self.outline.append(gap)

    def take_element(self, length: int, gap: Gap) -> None:
        """Step over ``length`` characters of something that is no literal."""
        self.end_run_before(gap)
        self.add(1)
        self.place += length

    def take_literal(self, letter: str, length: int) -> None:
        self.literals.append(letter)
        if len(self.levels) == 1:
            self.run.append(letter)
        self.add(1)
        self.place += length

    def add(self, size: int) -> None:
        level = self.levels[-1]
        level.size += size
        level.last = size
        if level.size > MAX_SIZE:
            raise self.refuse(f"repeats more than {MAX_SIZE:,} elements in all")

    def take_escape(self) -> None:
        found = _ESCAPE.match(self.pattern, self.place)
        if found is None:
            self.place += 1  # a backslash at the end: compiling tells
        elif found.lastgroup == "literal":
            self.take_literal(found["literal"], len(found[0]))
        elif found.lastgroup == "vague":
            raise self.refuse(f"has \\{found['vague']} without a name in braces behind it")
        else:
            self.is_unsure |= found.lastgroup == "unsure"
            self.take_element(len(found[0]), _GAPS.get(found[0], Gap.ANYTHING))

    def take_class(self) -> None:
        start = self.place
        self.end_run_before(Gap.ANYTHING)
        self.place += 2 if self.pattern.startswith("[^", self.place) else 1
        first = self.place
        while self.place < len(self.pattern) and (self.place == first or self.pattern[self.place] != "]"):
            self.take_class_item()
        self.place += 1
        self.literals.append(" ")
        self.add(self.place - start)

    def take_class_item(self) -> None:
        if self.pattern.startswith("[:", self.place):
            name = _CLASS_NAME.match(self.pattern, self.place)
            if name is None:
                raise self.refuse("has [: in a class without a name and :]; write \\[ for a bracket")
            self.place = name.end()
        elif self.pattern[self.place] == "\\":
            found = _ESCAPE.match(self.pattern, self.place)
            if found is not None and found.lastgroup == "vague":
                raise self.refuse(f"has \\{found['vague']} without a name in braces behind it")
            if found is not None and found.lastgroup == "literal":
                self.literals.append(found["literal"])
            self.place = found.end() if found else self.place + 1
        else:
            self.literals.append(self.pattern[self.place])
            self.place += 1

    def take_opening(self) -> None:
        found = _OPENING.match(self.pattern, self.place)
        if found is None:
            raise self.refuse("has a group or flag that is not supported here")
        self.end_run_before(Gap.ANYTHING)
        opens = found["group"] is not None or found["condition"] is not None or found["scope"] == ":"
        self.is_unsure |= found["group"] is None and found[0] != "(?:"
        self.place = found.end()
        if opens:
            self.levels.append(_Level())
            if len(self.levels) > MAX_DEPTH:
                raise self.refuse(f"has more than {MAX_DEPTH} groups within each other")
        elif found["verb"] is not None or found["reference"] is not None:
            self.add(1)

    def take_closing(self) -> None:
        self.end_run()
        self.place += 1
        if len(self.levels) == 1:
            self.is_unsure = True  # compiling tells
        else:
            inside = self.levels.pop()
            self.add(inside.size + 1)

    def take_alternative(self) -> None:
        self.end_run()
        self.is_unsure |= len(self.levels) == 1
        self.levels[-1].last = 0
        self.place += 1

    def take_quantifier(self, letter: str) -> None:
        count = _COUNT.match(self.pattern, self.place)
        if letter == "{" and count is None:
            if _APPROXIMATE.match(self.pattern, self.place):
                raise self.refuse("has { that is no count, and matching with errors is not supported; write \\{")
            self.take_literal(letter, 1)
            return
        least, most = _bounds(letter, count)
        if self.run:
            if least == 0:
                self.run.pop()
            self.end_run_before(Gap.ANYTHING)
        else:
            self.end_run()
            if least == 0 and self.outline[-1:] == [Gap.BLANKS]:
                self.outline[-1] = Gap.MAYBE_BLANKS
        level = self.levels[-1]
        self.place += len(count[0]) if count else 1
        if self.pattern[self.place : self.place + 1] in {"?", "+"}:
            self.place += 1
        # The module writes out what must be there, and then a loop for the rest.
        copies = max(1, least + (most is None or most > least))
        last = level.last
        level.size -= last
        self.add(last * copies)


def _bounds(letter: str, count: re.Match[str] | None) -> tuple[int, int | None]:
    """Return how often at least and at most (null: any number)."""
    if count is None:
        return (1, None) if letter == "+" else (0, 1 if letter == "?" else None)
    if count[3] is not None:
        return int(count[3]), int(count[3])
    return int(count[1] or 0), int(count[2]) if count[2] else None
