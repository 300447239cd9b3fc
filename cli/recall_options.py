"""The options of ``asx recall --prompt`` and ``--hook``, and what they come to; imports Typer for its usage error."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeAlias

import typer

from cli import choices
from cli.recall_answer import Asked
from cli.settings import current_folder, folder_at

DEFAULT_LIMIT: Final = 5
MAX_LIMIT: Final = 50
LEAST_CHARACTERS: Final = 400
"""Less has no room for one item in its frame."""
MAX_PROMPT_BYTES: Final = 1024 * 1024
"""Of a prompt on stdin so much is read."""

Name: TypeAlias = Annotated[
    list[str] | None, typer.Argument(metavar="NAME", help="The block's title or name, or ASTER.md:LINE.")
]
Prompt: TypeAlias = Annotated[
    str | None, typer.Option("--prompt", metavar="TEXT", help="Print what helps with this prompt; - reads stdin.")
]
Hook: TypeAlias = Annotated[
    bool, typer.Option("--hook", help="For an agent's prompt hook: its JSON on stdin, always exit code 0.")
]
Cwd: TypeAlias = Annotated[
    str | None, typer.Option("--cwd", metavar="PATH", help="Where the prompt was typed, else the current folder.")
]
Session: TypeAlias = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="The session that is running, noted in the journal.")
]
AsOf: TypeAlias = Annotated[
    str | None, typer.Option("--as-of", metavar="TIME", help="As if it were then: 2027-06-01, or 90d for days ago.")
]
Limit: TypeAlias = Annotated[
    int, typer.Option("--limit", "-n", metavar="N", min=1, max=MAX_LIMIT, help="At most N notes, and N turns.")
]
MaxChars: TypeAlias = Annotated[
    int | None, typer.Option("--max-chars", metavar="N", help="Print at most N characters (4000).")
]
Turns: TypeAlias = Annotated[bool, typer.Option("--turns", help="Past turns of other sessions too; needs the index.")]
Explain: TypeAlias = Annotated[
    bool, typer.Option("--explain", help="Say why each candidate was chosen or refused, and note nothing.")
]
NoJournal: TypeAlias = Annotated[bool, typer.Option("--no-journal", help="Do not note it in the memory journal.")]
NoRefresh: TypeAlias = Annotated[bool, typer.Option("--no-refresh", help="Do not bring the index up to date first.")]


@dataclass(frozen=True, slots=True)
class RecallOptions:
    """What was typed, as far as it is the same for a prompt and a hook; ``as_of`` is checked, in the index's form."""

    cwd: str | None
    session: str | None
    as_of: str | None
    limit: int
    max_characters: int
    with_turns: bool
    is_journaled: bool
    may_refresh: bool
    index: str | None


def options_of(values: Mapping[str, Any]) -> RecallOptions:
    """Return the options from the command's parameters by name. Raises ``typer.BadParameter``."""
    from persist.recall.frame import DEFAULT_MAX_CHARACTERS

    characters = values["max_chars"]
    if characters is not None and characters < LEAST_CHARACTERS:
        raise typer.BadParameter(f"{characters} is less than {LEAST_CHARACTERS}", param_hint="--max-chars")
    session = values["session"]
    as_of = choices.moment(values["as_of"], "--as-of")
    return RecallOptions(
        cwd=values["cwd"],
        session=None if session is None else choices.typed_text(session),
        as_of=as_of,
        limit=values["limit"],
        max_characters=characters or DEFAULT_MAX_CHARACTERS,
        with_turns=values["turns"],
        is_journaled=not values["no_journal"] and as_of is None,
        may_refresh=not values["no_refresh"],
        index=values["index"],
    )


def asked_of(
    options: RecallOptions,
    prompt: str,
    cwd: str | None = None,
    session: str | None = None,
    *,
    is_hook: bool = False,
    counts_turns: bool = False,
    looks_elsewhere: bool = False,
) -> Asked:
    """Return the question that a prompt is; ``cwd`` and ``session`` are what a hook knows, an option goes before it."""
    from persist import times

    folder = folder_at(options.cwd or cwd or "") if options.cwd or cwd else current_folder()
    return Asked(
        prompt=prompt,
        cwd=choices.typed_text(os.path.normpath(folder)),
        as_of=options.as_of or times.now(),
        session=options.session or session,
        limit=options.limit,
        with_turns=options.with_turns,
        is_hook=is_hook,
        counts_turns=counts_turns,
        looks_elsewhere=looks_elsewhere,
        may_refresh=options.may_refresh,
        index=options.index,
    )
