"""The options of ``asx search`` as they were typed, and which of them do not go together.

Pure values; imports Typer for its usage error. ``cli.search_options`` turns them into a request, ``cli.search_words``
writes them out again as a command.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal

import typer

from cli import choices

ALL: Final = "all"
TOOLS: Final = "tools"
"""Names of ``--in`` that options are about: every field, and the texts of tools."""

Form = Literal["text", "json", "jsonl", "lines", "count"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """The options of one search as they were typed; what was not given is ``None``, empty or false.

    After ``check`` the caller puts an absolute path in ``project``, for ``--here`` too; all else stays as typed, so
    that a command can be written out again.
    """

    query: str
    in_: tuple[str, ...] = ()
    deep: bool = False
    words: bool = False
    regex: bool = False
    agent: tuple[str, ...] = ()
    project: str | None = None
    here: bool = False
    below: bool = False
    session: tuple[str, ...] = ()
    exclude_session: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    role: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()
    branch: str | None = None
    main_only: bool = False
    sort: str | None = None
    limit: int | None = None
    all_: bool = False
    offset: int = 0
    count: bool = False
    context: int = 0
    recent: bool = False
    snippet: int | None = None
    per_session: int | None = None
    explain: bool = False
    json: bool = False
    jsonl: bool = False
    lines: bool = False
    index: str | None = None

    @property
    def form(self) -> Form:
        """Return what stdout holds."""
        if self.jsonl:
            return "jsonl"
        if self.lines:
            return "lines"
        if self.json:
            return "json"
        return "count" if self.count else "text"


def typed_of(parameters: Mapping[str, Any]) -> Typed:
    """Return the options from what Typer gives the command, by name; what is no option of ``Typed`` is passed over."""
    values = {each.name: parameters[each.name] for each in fields(Typed)}
    for each in fields(Typed):
        if each.default == ():
            values[each.name] = tuple(map(choices.typed_text, values[each.name] or ()))
        elif isinstance(values[each.name], str):
            values[each.name] = choices.typed_text(values[each.name])
    return Typed(**{**values, "query": choices.joined(parameters["query"])})


_FILTERS: Final[tuple[tuple[str, Callable[[Typed], object]], ...]] = (
    ("--agent", lambda typed: typed.agent),
    ("--here", lambda typed: typed.here),
    ("--project", lambda typed: typed.project),
    ("--session", lambda typed: typed.session),
    ("--exclude-session", lambda typed: typed.exclude_session),
    ("--since", lambda typed: typed.since),
    ("--until", lambda typed: typed.until),
    ("--role", lambda typed: typed.role),
    ("--tool", lambda typed: typed.tool),
    ("--branch", lambda typed: typed.branch),
    ("--main-only", lambda typed: typed.main_only),
)
_NOT_WITH_RECENT: Final = (
    *_FILTERS,
    ("--in", lambda typed: typed.in_),
    ("--deep", lambda typed: typed.deep),
    ("--words", lambda typed: typed.words),
    ("--regex", lambda typed: typed.regex),
    ("--sort", lambda typed: typed.sort),
    ("--all", lambda typed: typed.all_),
    ("--offset", lambda typed: typed.offset),
    ("--count", lambda typed: typed.count),
    ("--context", lambda typed: typed.context),
    ("--snippet", lambda typed: typed.snippet is not None),
    ("--per-session", lambda typed: typed.per_session is not None),
    ("--explain", lambda typed: typed.explain),
    ("--jsonl", lambda typed: typed.jsonl),
    ("--lines", lambda typed: typed.lines),
)
_CONTRADICTIONS: Final[tuple[tuple[Callable[[Typed], object], str], ...]] = (
    (lambda typed: typed.here and typed.project, "--here and --project both name a project; leave one out"),
    (lambda typed: typed.below and not (typed.here or typed.project), "--below needs --here or --project PATH"),
    (lambda typed: typed.words and typed.regex, "--words and --regex read a query in two ways; leave one out"),
    (
        lambda typed: typed.words and typed.in_ == (TOOLS,),
        "--words does not look into texts of tools; leave --words or --in tools out",
    ),
    (
        lambda typed: typed.words and typed.tool,
        "--words does not look into texts of tools; leave --words or --tool out",
    ),
    (lambda typed: typed.json and typed.jsonl, "--json and --jsonl cannot be combined; leave one out"),
    (lambda typed: typed.json and typed.lines, "--json and --lines cannot be combined; leave one out"),
    (lambda typed: typed.jsonl and typed.lines, "--jsonl and --lines cannot be combined; leave one out"),
    (lambda typed: typed.count and typed.jsonl, "--count prints no hits for --jsonl; leave it out or use --json"),
    (lambda typed: typed.count and typed.lines, "--count prints no hits for --lines; leave one out"),
    (lambda typed: typed.context and typed.lines, "--context has no room in --lines; leave one out"),
    (
        lambda typed: typed.snippet is not None and not (typed.json or typed.jsonl or typed.lines),
        "--snippet cuts the texts of --json, --jsonl and --lines; add one of them",
    ),
)


def check(typed: Typed) -> None:
    """Raise ``typer.BadParameter`` for options that contradict each other; to be asked before ``--here`` is a path."""
    if typed.recent:
        for option, given in _NOT_WITH_RECENT:
            if given(typed):
                raise typer.BadParameter(f"--recent searches the newest 100 prompts only; leave out {option}")
    for is_wrong, message in _CONTRADICTIONS:
        if is_wrong(typed):
            raise typer.BadParameter(message)
