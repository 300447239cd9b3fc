"""Says on stderr what a person must know of an answer: what was searched, what was left out, what comes near.

An answer with no hits names the texts it looked through and the commands that would find something (law 4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from cli import output
from cli.cells import padded, width
from cli.moments import count, local
from cli.search_typed import ALL, TOOLS
from cli.search_words import home_path, search_command, without_filters
from index.fields import SEARCHED
from index.search import Mode

if TYPE_CHECKING:
    from cli.search_typed import Typed
    from index.freshness import Freshness
    from index.search import Filters, Miss, Reading, SearchRequest, SearchResult

_GAP: Final = "  "
_MAX_UNREAD_TOLD: Final = 5


def print_reading(reading: Reading) -> None:
    """Print how the query was read, names and values aligned."""
    wide = max((width(output.safe_line(name)) for name, _ in reading.lines), default=0)
    for name, value in reading.lines:
        output.talk(f"{padded(output.safe_line(name), wide)}{_GAP}{output.safe_line(value)}".rstrip())


def print_nothing_found(result: SearchResult, typed: Typed) -> None:
    """Say what was searched, how much of it there is, and what comes near, each with a command that finds it."""
    typed = replace(typed, offset=0)
    query = f"'{output.safe_line(result.query)}'"
    searched = enumerated(result.searched, "and")
    output.talk(f"nothing found for {query} in {searched} ({count(result.texts or 0, 'text')})")
    told = list(filters_told(result.filters))
    if told:
        output.talk(f"only {'; '.join(told)}")
    if typed.project is not None and not typed.here:
        _tell_project(typed, typed.project)
    kinds = {miss.kind for miss in result.misses}
    for miss in result.misses:
        if miss.total and not (miss.kind == "words" and "accents" in kinds):  # one command, told once
            output.talk(_miss(miss, result, typed))
    others = [name for name in SEARCHED if name not in (*result.searched, TOOLS)]
    if others and not result.misses and result.mode is not Mode.REGEX and not result.filters.tools:
        output.talk(f"nor in {enumerated(others, 'or')}{', nor outside of that' if told else ''}")
    if TOOLS not in result.searched and result.mode is not Mode.WORDS and not result.filters.roles:
        output.talk(f"texts of tools were not searched: {search_command(typed, in_=(TOOLS,))}")


def _tell_project(typed: Typed, folder: str) -> None:
    """Say of which project a folder is that is none itself: sessions are told by the project's root."""
    from persist.projects import project_of

    project = project_of(folder)
    if project != folder:
        shown = output.safe_line(home_path(folder))
        output.talk(f"{shown} is a folder of a project: {search_command(typed, project=project)}")


def _miss(miss: Miss, result: SearchResult, typed: Typed) -> str:
    """Return what would have been found, and the command for it."""
    number = f"{miss.total:,}" if miss.is_exact else f"{miss.total:,} or more"
    if miss.kind == "field":
        name = miss.name or ALL
        return f"0 in {enumerated(result.searched, 'and')}, {number} in {name}: {search_command(typed, in_=(name,))}"
    if miss.kind == "case":
        return f"{number} in another case: {search_command(typed, query=typed.query.lower())}"
    if miss.kind == "filters":
        return f"{number} without these options: {without_filters(typed)}"
    as_words = search_command(typed, words=True, regex=False)
    if miss.kind == "words":
        how = "with the same words in any order" if len(typed.query.split()) > 1 else "with other endings of the word"
        return f"{number} {how}: {as_words}"
    has_words = any(other.kind == "words" for other in result.misses)
    return f"{number} where accents or case differ" + (f": {as_words}" if has_words else "")


def filters_told(filters: Filters) -> Iterator[str]:
    """Give each filter that is set in a few words, safe for the eye."""
    several = (
        ("agent", filters.agents),
        ("session", filters.sessions),
        ("not session", filters.exclude_sessions),
        ("role", filters.roles),
        ("tool", filters.tools),
    )
    for name, values in several:
        if values:
            yield f"{name} {output.safe_line(enumerated(values, 'or'))}"
    if filters.project is not None:
        below = " and below" if filters.below else ""
        yield f"project {output.safe_line(home_path(filters.project))}{below}"
    for name, value in (("since", filters.since), ("until", filters.until), ("branch", filters.branch)):
        if value is not None:
            yield f"{name} {output.safe_line(value if name == 'branch' else local(value))}"
    if filters.main_only:
        yield "no sub-agents"


def enumerated(names: Sequence[str], last: str) -> str:
    """Return names as a sentence has them: ``a, b and c``."""
    return f" {last} ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def print_listed(result: SearchResult, request: SearchRequest, typed: Typed) -> None:
    """Say what the list leaves out, and what its order rests on."""
    at = result.offset + result.listed
    if not result.listed:
        output.talk(f"the list ends before: {count(result.total, 'hit')} in all")
    elif request.limit is not None and result.listed == request.limit and at < result.total:
        left = result.total - at - sum(hit.more_in_session for hit in result.hits)
        if left > 0:
            exact = "" if _is_exact(left, result, request) else "at most "
            output.talk(f"{exact}{left:,} more; --all shows them, or: {search_command(typed, offset=at)}")
    if result.borrowed_times:
        hits = count(result.borrowed_times, "hit")
        output.talk(f"{hits} without a recorded time, placed by the time of session or file")


def _is_exact(left: int, result: SearchResult, request: SearchRequest) -> bool:
    """Return whether so many hits follow the page: no share leaves out any of them.

    What a share leaves out of a session is known only where the page lists one of its hits. A session that the first
    page lists none of has at most ``left`` hits, so its share leaves none out where it is no smaller.
    """
    if not result.total_is_exact:
        return False
    return request.per_session is None or (not result.offset and left <= request.per_session)


def print_unjudged(result: SearchResult, typed: Typed) -> None:
    """Say which texts were not looked at whole, or not at all."""
    if result.heads_only:
        command = search_command(typed, deep=True, offset=0)
        output.talk(f"of longer texts of tools only the beginnings were searched; whole: {command}")
    if result.given_up:
        output.talk(f"on {count(result.given_up, 'text')} the pattern ran out of time; they may hold it or not")
    for path, why in result.unread[:_MAX_UNREAD_TOLD]:
        output.talk(
            f"{output.safe_line(home_path(path))} could not be read as indexed, its beginnings were searched: {why}"
        )
    if len(result.unread) > _MAX_UNREAD_TOLD:
        output.talk(f"{count(len(result.unread) - _MAX_UNREAD_TOLD, 'more file')} could not be read as indexed")


def print_unread_sources(state: Freshness) -> None:
    """Say, of an answer without hits, which files could not be read: what was looked for may stand in them."""
    if state.unread is None or not state.unread.total:
        return
    named = [f"{output.safe_line(home_path(path))} ({output.safe_line(why)})" for path, why in state.unread.first]
    left = state.unread.total - len(named)
    more = [f"and {left:,} more"] if left else []
    output.talk(
        f"{count(state.unread.total, 'file')} could not be read, and what is new there was not searched: "
        f"{'; '.join([*named, *more])}"
    )


def print_freshness(state: Freshness) -> None:
    """Say how far the index is behind the files, and what bringing it up to date met."""
    for sentence in (*state.notes, *filter(None, [state.sentence])):
        output.talk(output.safe_line(sentence))
