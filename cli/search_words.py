"""Writes commands that can be pasted into a shell: a search like the one typed, but for what is to change.

Pure. A word that a terminal would obey or a shell would split is quoted so that the shell reads exactly that word.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from typing import Any, Final, cast

from cli import output
from cli.choices import split
from cli.search_typed import ALL, TOOLS, Typed

_CONTROLS: Final = {"\n": "\\n", "\t": "\\t", "\\": "\\\\", "'": "\\'"}
_NO_FILTERS: Final[dict[str, object]] = {
    "agent": (),
    "project": None,
    "here": False,
    "below": False,
    "session": (),
    "exclude_session": (),
    "since": None,
    "until": None,
    "role": (),
    "tool": (),
    "branch": None,
    "main_only": False,
}


def shell_word(word: str) -> str:
    """Return a word as a shell reads it back; one with control characters as ``$'…'`` (bash, zsh, ksh).

    Bytes of a file's name that are no UTF-8 are written as such: ``\\xff``.
    """
    if output.safe_line(word) == word:
        return shlex.quote(word)
    return "$'" + "".join(map(_escaped, word)) + "'"


def _escaped(character: str) -> str:
    number = ord(character)
    if character in _CONTROLS:
        return _CONTROLS[character]
    if 0xDC80 <= number <= 0xDCFF:
        return f"\\x{number - 0xDC00:02x}"
    if output.safe_line(character) == character:
        return character
    return f"\\x{number:02x}" if number < 0x80 else f"\\u{number:04x}"


def shell_path(path: str) -> str:
    """Return an absolute path as a shell reads it, with a home folder that the shell writes out again."""
    short = home_path(path)
    if short == "~" or not short.startswith("~/"):
        return short if short == "~" else shell_word(path)
    return f"~/{shell_word(short[2:])}"


def home_path(path: str) -> str:
    """Return ``path`` with the home folder as ``~``."""
    home = os.path.expanduser("~").rstrip("/")  # noqa: PTH111 - text, never looked at on disk
    return f"~{path[len(home) :]}" if home and (path == home or path.startswith(f"{home}/")) else path


def search_command(typed: Typed, **changes: object) -> str:
    """Return ``asx search …`` for the options typed, with ``changes`` to fields of ``Typed``.

    ``--deep`` and ``--tool`` go where the texts of tools are no longer searched.
    """
    wanted = replace(typed, **cast("dict[str, Any]", changes))
    if wanted.in_ and not {TOOLS, ALL} & set(split(wanted.in_)):
        wanted = replace(wanted, deep=False, tool=())
    words = ["asx", "search", *_options(wanted)]
    words += ["--"] if wanted.query.startswith("-") else []
    return " ".join([*words, shell_word(wanted.query)])


def without_filters(typed: Typed) -> str:
    """Return the command of the same search in every text. The texts of tools stay those that are searched."""
    kept = typed.in_ or ((TOOLS,) if typed.tool else ())
    return search_command(typed, **{**_NO_FILTERS, "in_": kept})


def _options(typed: Typed) -> list[str]:
    words = _reading_options(typed) + _filter_options(typed)
    for option, given in (
        ("--all", typed.all_),
        ("--count", typed.count),
        ("--explain", typed.explain),
        ("--json", typed.json),
        ("--jsonl", typed.jsonl),
        ("--lines", typed.lines),
    ):
        words += [option] if given else []
    for option, value in (
        ("--sort", typed.sort),
        ("--limit", typed.limit),
        ("--offset", typed.offset or None),
        ("--context", typed.context or None),
        ("--snippet", typed.snippet),
        ("--per-session", typed.per_session),
        ("--index", typed.index),
    ):
        words += [] if value is None else [option, shell_word(str(value))]
    return words


def _reading_options(typed: Typed) -> list[str]:
    words = ["--in", shell_word(",".join(typed.in_))] if typed.in_ else []
    for option, given in (("--deep", typed.deep), ("--words", typed.words), ("--regex", typed.regex)):
        words += [option] if given else []
    return words


def _filter_options(typed: Typed) -> list[str]:
    words: list[str] = []
    for option, values in (
        ("--agent", typed.agent),
        ("--session", typed.session),
        ("--exclude-session", typed.exclude_session),
        ("--role", typed.role),
        ("--tool", typed.tool),
    ):
        for value in values:
            words += [option, shell_word(value)]
    if typed.here:
        words.append("--here")
    elif typed.project is not None:
        words += ["--project", shell_path(typed.project)]
    for option, given in (("--since", typed.since), ("--until", typed.until), ("--branch", typed.branch)):
        words += [] if given is None else [option, shell_word(given)]
    words += ["--below"] if typed.below else []
    return [*words, "--main-only"] if typed.main_only else words
