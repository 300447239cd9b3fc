"""The index's own error tree: one sentence each (what, where, what to do), with what is known as fields.

Imports the standard library only; the command line turns each into its exit code (DESIGN 12).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

_SHOWN_CHARACTERS: Final = 60
"""So much of a query is repeated in an error."""


class AsterIndexError(Exception):
    """Base of every error that the index raises on purpose."""


class NoIndexError(AsterIndexError):
    """There is no index at ``path`` yet."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(f"no index at {path}; run: asx ingest")


class IndexUnusableError(AsterIndexError):
    """What lies at ``path`` cannot serve as the index; ``cure`` is the command or step that helps."""

    def __init__(self, path: Path, reason: str, cure: str) -> None:
        self.path = path
        self.reason = reason
        self.cure = cure
        super().__init__(f"{path} {reason}; {cure}")


class IndexNewerError(AsterIndexError):
    """A newer version of this program made the index; it is left as it is."""

    def __init__(self, path: Path, generation: int, known: int) -> None:
        self.path = path
        self.generation = generation
        self.known = known
        super().__init__(
            f"{path} is of generation {generation}, this program knows {known}; "
            "update aster-index, or move the file away and run: asx rebuild"
        )


class IndexBusyError(AsterIndexError):
    """Another process writes the index and did not end within ``timeout_s`` seconds.

    The sentence tells of the wait only where a person noticed it: from a second on.
    """

    def __init__(self, path: Path, timeout_s: float) -> None:
        self.path = path
        self.timeout_s = timeout_s
        waited = f" (waited {timeout_s:g} s)" if timeout_s >= 1 else ""
        super().__init__(f"another ingest is writing {path}{waited}; try again when it is done")


class IndexWriteError(AsterIndexError):
    """The index could not be written: a full disk, say. What was committed before stands, and nothing else."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"cannot write {path}: {reason}; see to its disk and run the command again")


class EmptyQueryError(AsterIndexError):
    """The query has nothing to look for: it is empty or all blanks."""

    def __init__(self) -> None:
        super().__init__("the query is empty or only blanks; give at least one visible character")


class NoWordError(EmptyQueryError):
    """A query by words has no word to find: signs alone, or only words to leave out (``only_without``)."""

    def __init__(self, text: str, only_without: bool = False) -> None:
        self.text = text
        self.only_without = only_without
        shown = repr(text) if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]!r}…"
        if only_without:
            reason = f"{shown} only says what to leave out; add a word to find"
        else:
            reason = f"no word in {shown}; without --words it is found literally"
        AsterIndexError.__init__(self, reason)


class BadPatternError(AsterIndexError):
    """A regular expression cannot be used: ``reason`` says why.

    ``offset_chars`` is where, in characters from its beginning (from 0; null: as a whole).
    """

    def __init__(self, reason: str, offset_chars: int | None = None) -> None:
        self.reason = reason
        self.offset_chars = offset_chars
        where = "" if offset_chars is None else f" at character {offset_chars + 1}"
        super().__init__(f"the regular expression {reason}{where}; mend it, or search for the text without --regex")


class PatternTimeoutError(AsterIndexError):
    """A regular expression was not done with one text within ``timeout_s`` seconds."""

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        super().__init__(f"the regular expression was not done with a text within {timeout_s:g} s; make it simpler")


class QueryRefusedError(AsterIndexError):
    """A statement asked for something that the guard denies; ``denied`` names it."""

    def __init__(self, denied: str) -> None:
        self.denied = denied
        super().__init__(f"refused: {denied}; asx query only reads the views that asx schema prints")


class QueryFailedError(AsterIndexError):
    """SQLite could not prepare or run the statement; its own reason is kept.

    ``message`` is the whole sentence where the schema would not help to put it right.
    """

    def __init__(self, reason: str, message: str | None = None) -> None:
        self.reason = reason
        super().__init__(message or f"the statement failed: {reason}; asx schema prints the views and columns")


class QueryTimeoutError(AsterIndexError):
    """A statement ran into its time limit."""

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        super().__init__(f"the statement was stopped at its limit of {timeout_s:g} s; narrow it or give --timeout")


class SearchTimeoutError(AsterIndexError):
    """A pattern took more than ``timeout_s`` seconds in all, or ran out of time on too many texts (``given_up``)."""

    def __init__(self, given_up: int, timeout_s: float) -> None:
        self.given_up = given_up
        self.timeout_s = timeout_s
        texts = f", {given_up} texts of which were not done in their time" if given_up else ""
        super().__init__(
            f"the pattern was stopped after {timeout_s:.1f} s{texts}; make it simpler, or narrow the search"
        )


class UnknownReportError(AsterIndexError):
    """No report has that name; ``known`` lists those that exist, in order, ``near`` those that may be meant."""

    def __init__(self, name: str, known: tuple[str, ...], near: tuple[str, ...] = ()) -> None:
        self.name = name
        self.known = known
        self.near = near
        super().__init__(f"no report {name!r}" + (f"; the nearest: {', '.join(near)}" if near else ""))
