"""Reads what may be read from the text of an SQL statement: is it empty, what does it bind, what is it about.

Pure; standard library only. Nothing here decides whether a statement is allowed: SQLite judges that
(``index.query.guard``).
"""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = "[A-Za-z0-9_$\\u0080-\\U0010ffff]+"
"""One word to SQLite's tokenizer, a parameter's name too; all that is not ASCII is a letter to it."""
_TOKEN: Final = re.compile(
    rf"""
    (?P<blank>[\ \t\n\f\r\ufeff]+)                  # what SQLite's tokenizer skips, the byte order mark too
  | (?P<comment>--[^\n]*|/\*(?!\Z).*?(?:\*/|\Z))   # may stay open at the end; /* as the last two is no comment
  | (?P<quoted>'(?:[^']|'')*'?|"(?:[^"]|"")*"?|`(?:[^`]|``)*`?|\[[^\]]*\]?)
  | (?P<parameter>[:@$\#]{_NAME}|\?[0-9]+)
  | (?P<word>{_NAME})
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_LINE_MARK: Final = re.compile(r"^\s*(?:--|/\*)?[\s*]*|\s*\*/\s*$")


def is_blank(sql: str) -> bool:
    """Return whether the text holds no statement: only blanks, comments and semicolons."""
    return all(match.lastgroup in ("blank", "comment") or match[0] == ";" for match in _TOKEN.finditer(sql))


def parameter_names(sql: str) -> tuple[str, ...]:
    """Return the names that the statement binds (``:name``, ``@name``, ``$name``, ``#name``, ``?1``), each once."""
    found = (match["parameter"][1:] for match in _TOKEN.finditer(sql) if match["parameter"])
    return tuple(dict.fromkeys(found))


def first_comment_line(sql: str) -> str:
    """Return the first line of the comment that the text begins with, without its marks; empty without one."""
    for match in _TOKEN.finditer(sql):
        if match.lastgroup == "comment":
            for line in match[0].splitlines():
                if text := _LINE_MARK.sub("", line).strip():
                    return text
        elif match.lastgroup != "blank":
            break
    return ""
