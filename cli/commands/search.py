"""``asx search``: find a text in what was said to agents and by them."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli import choices, exits, options, output, shapes
from cli.hit_text import print_hits, print_notes, print_nothing_found
from cli.settings import open_settings

if TYPE_CHECKING:
    from index.search import SearchRequest, SearchResult
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
        bool, typer.Option("--no-refresh", help="Never make an index that is missing; change not one byte.")
    ] = False,
    json: options.Json = False,
    index: options.Index = None,
) -> int:
    """Find a text in what was said to agents and by them.

    Finds the query literally, anywhere in a text, newest first. Lower case finds both cases; one capital letter
    makes it exact. Tool calls and results are not searched: asx query reads them. Exits with 1 when nothing is
    found, and says where it would have been.
    """
    text = choices.joined(query)
    settings = open_settings(index)
    if recent:
        return _print_recent(settings, text, limit, as_json=json)
    from index.freshness import freshness_of

    request = _request(text, in_, None if all_ or count else limit)
    result = _answer(settings, request, may_make=not no_refresh)
    state = freshness_of(settings)
    if json:
        shown = replace(result, hits=()) if count else result
        output.emit_json(shapes.search(shown, state, snippet_characters=snippet))
        return exits.DONE if result.total else exits.NOTHING_FOUND
    if count:
        output.line(str(result.total))
    else:
        print_hits(result.hits)
    if not result.total:
        print_nothing_found(result)
    if not count:
        print_notes(result, state)
    return exits.DONE if result.total else exits.NOTHING_FOUND


def _request(text: str, searched: list[str] | None, limit: int | None) -> SearchRequest:
    from index.fields import SEARCHED
    from index.search import SearchRequest

    names = choices.names(searched, [*SEARCHED, _ALL], "--in")
    if _ALL in names:
        names = tuple(SEARCHED)
    return SearchRequest(query=text, searched=names, limit=limit) if names else SearchRequest(query=text, limit=limit)


def _print_recent(settings: Settings, text: str, limit: int, *, as_json: bool) -> int:
    """Answer as Aether does: of the newest 100 prompts, the spans in each, at most 50."""
    from index.search import newest_prompts

    trimmed, hits, truncated = newest_prompts(settings, text, limit)
    if as_json:
        output.emit_json(shapes.recent(trimmed, hits, truncated=truncated))
    else:
        print_hits(hits)
        if truncated:
            output.talk("there are more; --limit shows up to 50")
        if not hits:
            output.talk(f"nothing found for {output.safe_line(trimmed)!r} in the newest 100 prompts")
    return exits.DONE if hits else exits.NOTHING_FOUND


def _answer(settings: Settings, request: SearchRequest, *, may_make: bool) -> SearchResult:
    """Search; on a terminal a missing index is made first (DESIGN 7)."""
    from index.errors import NoIndexError
    from index.search import search

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
