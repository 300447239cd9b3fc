"""The options of ``asx search`` as Typer reads them: names, values, one sentence each.

Plain types only (``cli.coercion``); what goes together is ``cli.search_typed``'s to say.
"""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

import typer

from cli.search_options import DEFAULT_LIMIT

_MAX_SNIPPET: Final = 1_000_000
_MAX_TURNS: Final = 100

Query: TypeAlias = Annotated[
    list[str], typer.Argument(metavar="QUERY", help="What to find; several words are one text.")
]
In: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--in",
        metavar="WHERE",
        help="prompts (default), answers, thinking, notices, tools, memory, titles or all; several with commas.",
    ),
]
Deep: TypeAlias = Annotated[bool, typer.Option("--deep", help="Texts of tools whole, read from the agents' files.")]
Words: TypeAlias = Annotated[
    bool, typer.Option("--words", help='Words, "phrases", prefix*, -without; accents and endings do not count.')
]
Regex: TypeAlias = Annotated[bool, typer.Option("--regex", help="A regular expression.")]
Agent: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--agent", metavar="NAME", help="Of these agents: aster, aether, claude-code, codex, pi, omp."),
]
Project: TypeAlias = Annotated[
    str | None, typer.Option("--project", metavar="PATH", help="Of the project of exactly this path.")
]
Here: TypeAlias = Annotated[bool, typer.Option("--here", help="Of the project of the current folder.")]
Below: TypeAlias = Annotated[bool, typer.Option("--below", help="And of projects in folders beneath it.")]
Session: TypeAlias = Annotated[
    list[str] | None, typer.Option("--session", metavar="ID", help="Of this session (4 characters do).")
]
ExcludeSession: TypeAlias = Annotated[
    list[str] | None, typer.Option("--exclude-session", metavar="ID", help="Not of this session.")
]
Since: TypeAlias = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="From then on: 30d, 2w, today, a day, a time (local)."),
]
Until: TypeAlias = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="Before then; a day is meant with all its hours.")
]
Role: TypeAlias = Annotated[
    list[str] | None, typer.Option("--role", metavar="ROLE", help="Said by: user, agent or control.")
]
Tool: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--tool", metavar="NAME", help="Calls and results of this tool; alone it means --in tools."),
]
Branch: TypeAlias = Annotated[
    str | None, typer.Option("--branch", metavar="NAME", help="Of sessions on this git branch.")
]
MainOnly: TypeAlias = Annotated[bool, typer.Option("--main-only", help="No sub-agents.")]
Sort: TypeAlias = Annotated[
    str | None,
    typer.Option("--sort", metavar="ORDER", help="time (newest first) or relevance (best first, as with --words)."),
]
Limit: TypeAlias = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, help=f"At most N hits; {DEFAULT_LIMIT} if not given.")
]
All: TypeAlias = Annotated[bool, typer.Option("--all", help="Every hit, whatever --limit says.")]
Offset: TypeAlias = Annotated[
    int, typer.Option("--offset", metavar="N", min=0, help="Leave out the first N: the next page.")
]
Count: TypeAlias = Annotated[bool, typer.Option("--count", help="Only how many there are.")]
Context: TypeAlias = Annotated[
    int,
    typer.Option("--context", metavar="N", min=0, max=_MAX_TURNS, help="N turns before and after each hit as well."),
]
Recent: TypeAlias = Annotated[
    bool, typer.Option("--recent", help="The newest 100 prompts, with --limit and --json alone.")
]
Snippet: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--snippet", metavar="N", min=1, max=_MAX_SNIPPET, help="In JSON and lines, N characters of each text."
    ),
]
PerSession: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--per-session",
        metavar="N",
        min=0,
        help="At most N hits of one session, 0 for all; 5 where a person reads.",
    ),
]
Explain: TypeAlias = Annotated[bool, typer.Option("--explain", help="Say how the query was read.")]
NoRefresh: TypeAlias = Annotated[
    bool, typer.Option("--no-refresh", help="Neither update the index nor make it; change not one byte.")
]
Jsonl: TypeAlias = Annotated[bool, typer.Option("--jsonl", help="Print one JSON value for each hit.")]
Lines: TypeAlias = Annotated[
    bool, typer.Option("--lines", help="Print one line for each hit, with tabs: for fzf and grep.")
]
