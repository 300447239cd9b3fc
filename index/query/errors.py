"""What can be wrong with a statement of a person, in one sentence each, and SQLite's messages without foreign words.

Standard library, ``index.errors`` and the names of the public schema only; the texts of the index never get into an
error.
"""

from __future__ import annotations

import re
from typing import Final

from index.errors import QueryFailedError

MAX_ANSWER_BYTES: Final = 24_000_000
"""What an answer may take in memory: rows are kept until the last is there, and a table is laid out whole."""
_WORD: Final = re.compile(r"\w+")
_MASKED: Final = re.compile(r"…(?:\W*…)+")
_NAMELESS_HERE: Final = re.compile(r"no such (column|table): (?:\w+\.)*(\w+)\Z")
_MOST_VIEWS: Final = 4
_WORDS_OF_SQLITE: Final = frozenset(
    """
    a aggregate all already ambiguous an and any argument arguments array as at bad be big binding bindings blob
    bound by call can cannot changed character check clause column columns compound constant constraint contains
    context could current
    data database datatype decode default did different disk distinct does duplicate each element else empty end
    error escape exceeds execute exists expected expression file filter for found frame from fts5 full function
    functions group has have image in incomplete incorrect index infinite input instead integer interrupted into
    invalid is it join json key large left limit literal locked logic long malformed many match memory mismatch
    misuse more most must name named near negative nested no non nor not null number numbers of offset on one only
    open operator or order ordering ordinary out over overflow parameter parser passed path pattern phrase preceding
    prefix queries query range real recursion recursive reference referenced references requested result results
    right row rowid rows same schema select set short side simple single size special stack starting statement
    statements string sub such supplied supply support supported syntax table tables term terms test text than the
    time to token too transaction type types unable unbounded unknown unrecognized unsupported usage use used uses
    using value values view was window with within without wrong you
    """.split()  # noqa: SIM905 - words read better than a list of literals
)


class EmptyStatementError(QueryFailedError):
    """There is no statement: blank, or nothing but comments."""

    def __init__(self) -> None:
        super().__init__("it is empty", "there is no statement to run: blank, or nothing but comments")


class SeveralStatementsError(QueryFailedError):
    """There is more after the statement's end; none of it was run."""

    hint: Final = "give one at a time"

    def __init__(self) -> None:
        reason = "there are several statements"
        super().__init__(reason, f"{reason}, and none was run; {self.hint}")


class StatementParametersError(QueryFailedError):
    """A value is missing for a name in the statement, or given for one that is not there; ``reason`` says which."""

    hint: Final = "-p NAME=VALUE binds :NAME"

    def __init__(self, reason: str) -> None:
        super().__init__(reason, reason)


class AnswerTooLargeError(QueryFailedError):
    """The rows take more memory than an answer may."""

    hint: Final = "select fewer columns, lower --limit or --max-cell, or read the index with sqlite3"

    def __init__(self) -> None:
        reason = f"the answer is larger than {MAX_ANSWER_BYTES // 1_000_000} MB"
        super().__init__(reason, f"{reason}; {self.hint}")


def without_foreign_words(reason: str, sql: str) -> str:
    """Return SQLite's message with ``…`` for every word that is neither SQLite's own nor in the statement.

    Some messages quote a value that was read (a JSON path, a full-text query): a transcript's text, which must not
    get into an error.
    """
    known = {word.casefold() for word in _WORD.findall(sql)} | _WORDS_OF_SQLITE
    shown = _WORD.sub(lambda match: match[0] if match[0].casefold() in known else "…", reason)
    return _MASKED.sub("…", shown).rstrip(". ")


def where_it_is(reason: str) -> str:
    """Return, after a comma, the public names nearest to one that a statement misspelt; of a column the views with it.

    Empty where SQLite's ``reason`` is another, and where nothing is near.
    """
    found = _NAMELESS_HERE.search(reason)
    if found is None:
        return ""
    from difflib import get_close_matches

    from index.view_columns import FULL_TEXT, VIEWS

    what, name = found.groups()
    tables = (*VIEWS, *FULL_TEXT)
    having = [table.name for table in tables if name in [column.name for column in table.columns]]
    if what == "column" and having:
        more = ", …" if len(having) > _MOST_VIEWS else ""
        return f", a column of {', '.join(having[:_MOST_VIEWS])}{more}"
    near: list[str] = []
    for some in (VIEWS, FULL_TEXT):  # what is for full text alone is seldom meant
        names = {column.name for table in some for column in table.columns} if what == "column" else set()
        near = near or get_close_matches(name, sorted(names or {table.name for table in some}))
    return f", the nearest: {', '.join(near)}" if near else ""
