"""``asx search``: find a text in what was said to agents and by them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cli import exits, options, output, shapes
from cli import search_parameters as parameters
from cli.search_options import DEFAULT_LIMIT, request_of
from cli.search_typed import Typed, check, typed_of
from cli.settings import chosen_project, open_settings

if TYPE_CHECKING:
    from index.freshness import Freshness
    from index.search import Hit, SearchRequest, SearchResult
    from index.settings import Settings

EXAMPLES: Final = (
    "asx search connection refused",
    "asx search --in answers,thinking --here retry budget",
    "asx search --since 7d --agent claude-code --context 1 deploy",
    "asx search --words 'deploy* \"on tuesday\" -staging'",
    "asx search --tool Bash --deep 'npm run build'",
    "asx search --regex 'E\\d{4}' --all --jsonl | head",
    "asx search --lines --all deploy | fzf --delimiter '\\t' --with-nth 2.. --preview 'asx show {1}'",
    "asx search --count --json TODO",
    "asx search -- --force",
)


def command(
    query: parameters.Query,
    in_: parameters.In = None,
    deep: parameters.Deep = False,
    words: parameters.Words = False,
    regex: parameters.Regex = False,
    agent: parameters.Agent = None,
    project: parameters.Project = None,
    here: parameters.Here = False,
    below: parameters.Below = False,
    session: parameters.Session = None,
    exclude_session: parameters.ExcludeSession = None,
    since: parameters.Since = None,
    until: parameters.Until = None,
    role: parameters.Role = None,
    tool: parameters.Tool = None,
    branch: parameters.Branch = None,
    main_only: parameters.MainOnly = False,
    sort: parameters.Sort = None,
    limit: parameters.Limit = None,
    all_: parameters.All = False,
    offset: parameters.Offset = 0,
    count: parameters.Count = False,
    context: parameters.Context = 0,
    recent: parameters.Recent = False,
    snippet: parameters.Snippet = None,
    per_session: parameters.PerSession = None,
    explain: parameters.Explain = False,
    no_refresh: parameters.NoRefresh = False,
    json: options.Json = False,
    jsonl: parameters.Jsonl = False,
    lines: parameters.Lines = False,
    index: options.Index = None,
) -> int:
    """Find a text in what was said to agents and by them.

    Finds the query literally, anywhere in a text, newest first. Lower case finds both cases; one capital letter
    makes it exact. Exits with 1 when nothing is found, and says what was searched and what comes near.
    """
    typed = typed_of(locals())
    check(typed)
    project = chosen_project(typed.project, here=typed.here)
    return _search(replace(typed, project=project), may_refresh=not no_refresh)


def _search(typed: Typed, *, may_refresh: bool) -> int:
    settings = open_settings(typed.index)
    if typed.recent:
        return _print_recent(settings, typed, _fresh(settings, may_refresh=may_refresh))
    from index.search import search

    request = request_of(typed, [agent.name for agent in settings.agents])
    state = _fresh(settings, may_refresh=may_refresh)
    result = search(settings, request, _taker(typed))
    if typed.form == "json":
        _print_json(result, state, request, typed)
    else:
        _print_for_people(result, state, request, typed)
    return _exit_code(result)


def _taker(typed: Typed) -> Callable[[Hit], None] | None:
    """Return what prints a hit the moment it is found; null for forms that need all of them at once."""
    if typed.jsonl and not typed.per_session:  # what a share leaves out is known at the end
        return lambda one: _print_json_line(one, typed)
    if typed.lines:
        from cli.hit_lines import print_line

        return lambda one: print_line(one, typed.snippet)
    return None


def _print_json_line(one: Hit, typed: Typed) -> None:
    told = shapes.hit(one, snippet_characters=typed.snippet, with_context=bool(typed.context))
    output.line(output.json_text({"schema_version": output.SCHEMA_VERSION, **told}))


def _fresh(settings: Settings, *, may_refresh: bool) -> Freshness:
    """Bring the index up to date if that is little work, and return how it stands; never waits.

    On a terminal a missing index is made first (DESIGN 7).
    """
    from index.errors import NoIndexError

    if not may_refresh:
        from index.freshness import freshness_of

        return freshness_of(settings)
    from index.refresh import refresh

    try:
        return refresh(settings)
    except NoIndexError:
        if not output.is_terminal(sys.stdout):
            raise
    from cli.progress import progress
    from index.ingest import ingest

    output.talk("there is no index yet; it is made now")
    with progress() as shown:
        ingest(settings, progress=shown)
    return refresh(settings)


def _exit_code(result: SearchResult) -> int:
    """Return 1 for nothing found, but what says why it may be wrong where not every text could be judged."""
    if result.total:
        return exits.DONE
    if result.unread:
        return exits.PARTLY_DONE
    return exits.REFUSED if result.given_up else exits.NOTHING_FOUND


def _print_json(result: SearchResult, state: Freshness, request: SearchRequest, typed: Typed) -> None:
    shown = replace(result, hits=(), listed=0) if typed.count else result
    told = shapes.search(
        shown,
        state,
        limit=request.limit,
        snippet_characters=typed.snippet,
        with_context=bool(typed.context),
        with_reading=typed.explain,
    )
    output.emit_json(told)


def _print_for_people(result: SearchResult, state: Freshness, request: SearchRequest, typed: Typed) -> None:
    """Print hits on stdout in the form asked for, and what must be known of them on stderr."""
    from cli import search_notes

    if typed.explain:
        search_notes.print_reading(result.reading)
    if typed.count:
        output.line(str(result.total))
    elif typed.jsonl:
        for one in result.hits:  # none are kept where each was printed as it came
            _print_json_line(one, typed)
    elif not typed.lines:
        from cli.hit_text import print_hits

        print_hits(result.hits, typed)
    if not result.total:
        search_notes.print_freshness(state)  # the likeliest reason comes first
        search_notes.print_nothing_found(result, typed)
        search_notes.print_unread_sources(state)
    elif not typed.count:
        search_notes.print_listed(result, request, typed)
    search_notes.print_unjudged(result, typed)
    if result.total:
        search_notes.print_freshness(state)


def _print_recent(settings: Settings, typed: Typed, state: Freshness) -> int:
    """Answer as Aether does: of the newest 100 prompts, the spans in each, at most 50."""
    from index.search import newest_prompts

    trimmed, hits, truncated = newest_prompts(settings, typed.query, typed.limit or DEFAULT_LIMIT)
    if typed.json:
        output.emit_json(shapes.recent(trimmed, hits, truncated=truncated))
    else:
        from cli.hit_text import print_hits
        from cli.search_notes import print_freshness

        print_hits(hits, typed)
        if truncated:
            output.talk("there are more; --limit shows up to 50")
        if not hits:
            output.talk(f"nothing found for '{output.safe_line(trimmed)}' in the newest 100 prompts")
        print_freshness(state)
    return exits.DONE if hits else exits.NOTHING_FOUND
