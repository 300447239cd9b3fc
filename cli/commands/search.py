"""``asx search``: find a text in what was said to agents and by them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli import choices, exits, options, output, shapes
from cli.hit_text import print_hits, print_notes, print_nothing_found
from cli.settings import open_settings

if TYPE_CHECKING:
    from index.search import SearchRequest

    from index.results import SearchResult
    from index.settings import Settings

EXAMPLES: Final = (
    "asx search connection refused",
    "asx search --in answers,thinking retry budget",
    "asx search --count --json TODO",
    "asx search -- --force",
)
_ALL: Final = "all"
_MAX_SNIPPET: Final = 1_000_000


def command(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="What to find; several words are one text.")],
    in_: Annotated[
        list[str] | None,
        typer.Option(
            "--in", metavar="WHERE", help="prompts (default), answers, thinking, notices, memory, titles or all."
        ),
    ] = None,
    limit: options.Limit = 20,
    all_: Annotated[bool, typer.Option("--all", help="Every hit, whatever --limit says.")] = False,
    count: Annotated[bool, typer.Option("--count", help="Only how many there are.")] = False,
    snippet: Annotated[
        int | None,
        typer.Option("--snippet", metavar="N", min=1, max=_MAX_SNIPPET, help="In JSON, N characters of each text."),
    ] = None,
    recent: Annotated[bool, typer.Option("--recent", help="Only the newest 100 prompts.")] = False,
    no_refresh: Annotated[
        bool, typer.Option("--no-refresh", help="Answer from the index as it is; change not one byte.")
    ] = False,
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Find a text in what was said to agents and by them.

    Finds the query literally, anywhere in a text, newest first. Lower case finds both cases; one capital letter
    makes it exact. Exits with 1 when nothing is found, and says where it would have been.
    """
    from index.search import SearchRequest

    from index.fields import SEARCHED

    text = choices.joined(query)
    if not text:
        raise typer.BadParameter("there is nothing to search for", param_hint="QUERY")
    settings = open_settings(index)
    fields = choices.names(in_, [*SEARCHED, _ALL], "--in") or ("prompts",)
    request = SearchRequest(
        query=text,
        fields=tuple(SEARCHED) if _ALL in fields else fields,
        limit=limit,
        all=all_,
        count_only=count,
        recent=recent,
        refresh=not no_refresh,
    )
    result = _answer(settings, request, may_make=not no_refresh)
    if json:
        output.emit_json(shapes.recent(result) if recent else shapes.search(result, snippet_characters=snippet))
    elif count:
        output.line(f"{'' if result.total_is_exact else 'at most '}{result.total}")
    elif result.hits:
        print_hits(result)
    if result.total == 0:
        if not json:
            print_nothing_found(result)
        return exits.NOTHING_FOUND
    if not json:
        print_notes(result)
    return exits.DONE


def _answer(settings: Settings, request: SearchRequest, *, may_make: bool) -> SearchResult:
    """Search; on a terminal a missing index is made first (DESIGN 7)."""
    from index.search import search

    from index.errors import NoIndexError

    try:
        return search(settings, request)
    except NoIndexError:
        if not (may_make and output.is_terminal(sys.stdout)):
            raise
    from cli.progress import progress
    from index.ingest import ingest

    output.talk("there is no index yet; it is made now")
    with progress() as shown:
        ingest(settings, progress=shown)
    return search(settings, request)
