"""Filters, order, folding, shares, pages, counts and misses equal a scan over what was written (``docs/search.md``).

The scan knows the texts as they were written (``told_world``) and none of the product's SQL. What one text holds is
decided by the definition for literal queries, by Python's ``re`` for patterns, by the matcher of one text for words.
"""

from __future__ import annotations

import re
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from index.errors import EmptyQueryError
from index.fields import SEARCHED
from index.match.words import read_words
from index.search import (
    Filters,
    Hit,
    Mode,
    SearchRequest,
    SearchResult,
    Sort,
    search,
)
from index.search.misses import COUNTED
from index.search.relevance import score_of
from index.search.words import WordMatcher
from persist.errors import AmbiguousError, NotFoundError
from tests import builders as make
from tests.builders import HomeBuilder
from tests.index.match.definition import defined_form, defined_key, defined_spans, is_uppercase
from tests.index.search.told_world import (
    ASTER,
    CLAUDE,
    FORK,
    GONE,
    GONE_AETHER,
    IMPORTED,
    MANY,
    SUB_AGENT,
    Told,
    ToldWorld,
    build_world,
)

T = TypeVar("T")
PROJECTS: Final = ("/a/b", "/a/b", "/a/b", "/a/bc", "/a/b/sub", "/a/b%", "/a/B", "/a_b", "/a", "/", "/axb", "/nowhere")
NAMES: Final = {
    ASTER[0].id: ("aster", ASTER[0].id),
    ASTER[1].id[:8]: ("aster", ASTER[1].id),
    "aster:twin-id-0001": ("aster", "twin-id-0001"),
    "aether:twin-id-0001": ("aether", "twin-id-0001"),
    "c-main-00001": ("claude-code", "c-main-00001"),
    "c-main": ("claude-code", "c-main-00001"),
    "claude-code:c-two": ("claude-code", "c-two-000002"),
    SUB_AGENT.id: ("claude-code", SUB_AGENT.id),
    FORK.id: ("claude-code", FORK.id),
    IMPORTED.id: ("aster", IMPORTED.id),
    GONE.id: (None, GONE.id),
    f"claude-code:{GONE.id}": ("claude-code", GONE.id),
    GONE_AETHER.id: (None, GONE_AETHER.id),
}
"""What a person may type for a session, and which it is (agent unknown where only a history names it)."""

LITERAL: Final = (
    "lantern", "lantern", "Lantern", "LANTERN", "läntern", "Läntern", "zephyrine", "Zephyrine", "zephyríne", "heron",
    "漢字", "漢", "a", "ab", "of", "rn", "A", "ä", "old lantern", "lantern old", "1", "reed-bed", "bed reed", "typed",
    "kept", "note-1", "c-main", "command", "\u0301", "nowhere at all", "héron of", "beyond", "lantern 7", "ff",
)  # fmt: skip
WORDS: Final = (
    "lantern", "lanterns", "läntern", "zephyrine", "heron old", '"old lantern"', "lan*", "lantern -old", "漢",
    "漢 heron", "reed-bed", "bed reed", "of", "note-1", "typed", "nowhere lantern", "kept lantern", "-heron lantern",
    '"of of"',
)  # fmt: skip
PATTERNS: Final = (
    r"l.ntern", r"lantern \d+", r"\bold\b", r"Lantern|heron", r"zephyrin\w", r"^of", r"\d$", r"漢.", r"(?:ab )+",
    r"kept$", r"no.where", r"\S+-\d",
)  # fmt: skip


Places = Callable[[str], Sequence[object]]
"""Says where a text holds a query: nothing where it does not."""


class Listed(NamedTuple):
    """A hit as the scan gives it; ``rank`` is what the order goes by."""

    told: Told
    times: int
    rank: tuple[object, ...]


def scan(world: ToldWorld, request: SearchRequest, places: Places) -> list[Listed]:
    """Return all hits in order, equal prompts folded into the first; of words in the order of time."""
    told = [one for one in scope_of(world, request) if request.mode is not Mode.WORDS or one.field != "tools"]
    prompts = Counter(one.text for one in told if one.field == "prompts")
    by_score = request.order is Sort.RELEVANCE and request.mode is not Mode.WORDS
    found: list[Listed] = []
    for one in told:
        where = places(one.text)
        if where:
            score = score_of(len(where), len(one.text)) if by_score else 0.0
            times = prompts[one.text] if one.field == "prompts" else 1
            found.append(Listed(one, times, (by_score and not one.is_summary, score, one.order)))
    found.sort(key=lambda listed: listed.rank, reverse=True)
    seen: set[str] = set()
    hits: list[Listed] = []
    for listed in found:
        is_prompt = listed.told.field == "prompts"
        if not (is_prompt and listed.told.text in seen):
            hits.append(listed)
        if is_prompt:
            seen.add(listed.told.text)
    return hits


def scope_of(world: ToldWorld, request: SearchRequest) -> list[Told]:
    return [one for one in world.texts(request.searched) if lets_in(request.filters, one)]


@contextmanager
def decided(request: SearchRequest) -> Iterator[Places]:
    """Give what decides for one text."""
    if request.mode is Mode.WORDS:
        with WordMatcher(read_words(request.query)) as matcher:
            yield lambda text: [0] if matcher.matches(text) else []
    elif request.mode is Mode.REGEX:
        yield pattern_places(request.query)
    else:
        yield literal_places(request.query)


def literal_places(query: str, *, ignores_case: bool = False) -> Places:
    exact = not ignores_case and any(map(is_uppercase, unicodedata.normalize("NFC", query)))
    wanted = defined_form(query, exact)

    def places(text: str) -> Sequence[object]:
        return defined_spans(text, query) if wanted in defined_form(text, exact) else []

    def other_case(text: str) -> Sequence[object]:
        return [0] if wanted in defined_form(text, exact=False) else []

    return other_case if ignores_case else places


def pattern_places(query: str) -> Places:
    plain = re.sub(r"\\.", "", query)
    pattern = re.compile(query, re.MULTILINE | (0 if any(map(is_uppercase, plain)) else re.IGNORECASE))

    def places(text: str) -> Sequence[object]:
        found = [match.span() for match in pattern.finditer(text) if match[0]]
        return [(len(text[:start].encode()), len(text[:end].encode())) for start, end in found]

    return places


def lets_in(filters: Filters, one: Told) -> bool:
    """Say whether a text counts: each sentence of the docs' table of filters, all at once."""
    is_memory = one.family in ("block", "fact")
    session = None if is_memory else one.session
    return (
        (not filters.agents or one.agent in filters.agents)
        and (filters.project is None or is_of_project(one, filters.project, filters.below))
        and (not filters.sessions or any(is_of(one, name) for name in filters.sessions))
        and not any(is_of(one, name) for name in filters.exclude_sessions)
        and (filters.since is None or one.at >= filters.since)
        and (filters.until is None or one.at < filters.until)
        and (not filters.roles or (not is_memory and one.kind in filters.roles))
        and (not filters.tools or (one.field == "tools" and (one.tool or "").lower() in map(str.lower, filters.tools)))
        and (filters.branch is None or (session is not None and session.branch == filters.branch))
        and not (filters.main_only and session is not None and session.parent is not None)
    )


def is_of_project(one: Told, path: str, below: bool) -> bool:
    if one.project is None:
        return False
    return one.project == path or (below and one.project.startswith(path.rstrip("/") + "/"))


def is_of(one: Told, name: str) -> bool:
    agent, session_id = NAMES[name]
    if one.session_id != session_id:
        return False
    return one.family == "block" or agent is None or one.agent == agent  # a block names no agent


def shown(listed: Listed, places: Places, mode: Mode) -> tuple[object, ...]:
    told = listed.told
    spans = () if mode is Mode.WORDS else tuple(places(told.text))
    number = told.number if told.family != "block" else None
    return (told.field, told.part, told.agent, told.session_id, told.path, number, told.at, told.ts_source, told.kind,
            told.project, told.text, told.whole_length, spans, listed.times)  # fmt: skip


def as_shown(hit: Hit, mode: Mode) -> tuple[object, ...]:
    number = hit.event_index if hit.event_index is not None else hit.place.line_number
    spans = () if mode is Mode.WORDS else hit.spans
    return (hit.field, hit.part, hit.agent, hit.session_id, hit.place.path, number, hit.ts, hit.ts_source, hit.kind,
            hit.project, hit.text, hit.whole_length, spans, hit.count)  # fmt: skip


# --- What is asked --------------------------------------------------------------------------------------------------

MINUTES: Final = st.integers(0, 41).map(lambda minute: make.at(minute))


@st.composite
def some_filters(draw: st.DrawFn) -> Filters:
    """Draw any of the filters, each now and then, so that they meet alone and together."""

    def now_and_then(strategy: st.SearchStrategy[T], otherwise: T, one_in: int = 5) -> T:
        return draw(strategy) if draw(st.integers(1, one_in)) == 1 else otherwise

    names = st.lists(st.sampled_from(sorted(NAMES)), min_size=1, max_size=3, unique=True).map(tuple)
    return Filters(
        agents=now_and_then(subsets("aster", "aether", "claude-code", "codex"), ()),
        project=now_and_then(st.sampled_from(PROJECTS), None, one_in=3),
        below=draw(st.booleans()),
        sessions=now_and_then(names, ()),
        exclude_sessions=now_and_then(names, ()),
        since=now_and_then(MINUTES, None),
        until=now_and_then(MINUTES, None),
        roles=now_and_then(subsets("user", "agent", "control"), ()),
        tools=now_and_then(subsets("Bash", "Read", "bash", "none"), ()) if draw(st.booleans()) else (),
        branch=now_and_then(st.sampled_from(("main", "dev", "ma")), None),
        main_only=draw(st.integers(0, 4)) == 0,
    )


def subsets(*names: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True).map(tuple)


@st.composite
def some_requests(draw: st.DrawFn) -> SearchRequest:
    mode, queries = draw(st.sampled_from(((Mode.SUBSTRING, LITERAL), (Mode.WORDS, WORDS), (Mode.REGEX, PATTERNS))))
    fields = st.lists(st.sampled_from(tuple(SEARCHED)), min_size=1, max_size=3, unique=True).map(tuple)
    return SearchRequest(
        draw(st.sampled_from(queries)),
        draw(st.one_of(st.just(("prompts",)), fields, st.just(tuple(SEARCHED)))),
        mode,
        draw(some_filters()),
        draw(st.sampled_from((None, Sort.TIME, Sort.RELEVANCE))),
        draw(st.sampled_from((None, 0, 1, 2, 5, 20, 100))),
        draw(st.sampled_from((0, 0, 1, 3, 20, 400))),
        draw(st.sampled_from((None, None, 1, 2, 5))),
        exact_total=draw(st.booleans()),
    )


@pytest.fixture(scope="module")
def world() -> Iterator[ToldWorld]:
    with tempfile.TemporaryDirectory() as folder:
        yield build_world(HomeBuilder(Path(folder)), 20260504)


@pytest.fixture(params=["few", "many"])
def sizes(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the world be a small one, or so large that no list is fetched whole: all ways to candidates are gone."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in MANY if request.param == "many" else ():
            patch.setattr(module, name, value)
        yield


@pytest.mark.usefixtures("sizes")
@hypothesis_settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(request=some_requests())
def test_a_search_equals_a_scan_of_what_was_written(world: ToldWorld, request: SearchRequest) -> None:
    whole = ask(world, replace(request, limit=None, offset=0, per_session=None))
    with decided(request) as places:
        wanted = scan(world, request, places)
        listed = [shown(each, places, request.mode) for each in wanted]
        found = [as_shown(hit, request.mode) for hit in whole.hits]
        if request.mode is Mode.WORDS and request.order is Sort.RELEVANCE:
            assert Counter(found) == Counter(listed)
            assert_best_first(whole, dict(zip(listed, wanted, strict=True)))
        else:
            assert found == listed
        if request.order is Sort.RELEVANCE and request.mode is not Mode.WORDS:
            assert [hit.score for hit in whole.hits] == [each.rank[1] for each in wanted]
    assert (whole.total, whole.total_is_exact) == (len(wanted), True)
    assert whole.borrowed_times == sum(each.told.ts_source != "record" for each in wanted)
    assert all(hit.spans for hit in whole.hits)
    assert_page(ask(world, request), whole, request)
    assert_misses(world, request, whole)
    if request.limit:
        assert_pages_join(world, request, whole)


def ask(world: ToldWorld, request: SearchRequest) -> SearchResult:
    assert world.settings is not None
    return search(world.settings, request)


def assert_best_first(whole: SearchResult, told: dict[tuple[object, ...], Listed]) -> None:
    """Scores fall; of equal ones the newest comes first. As typed comes before the score, and summaries after all."""
    with WordMatcher(read_words(whole.query)) as matcher:
        ranks = [
            (not one.is_summary, matcher.as_typed(hit.text), hit.score or 0.0, one.order)
            for hit in whole.hits
            for one in [told[as_shown(hit, Mode.WORDS)].told]
        ]
    assert all(first > second for first, second in pairwise(ranks))


def share_of(hit: Hit) -> tuple[str, str] | None:
    """Return whose share a hit takes: its session's; memory is no session's."""
    return None if hit.field == "memory" or hit.session_id is None else (hit.agent, hit.session_id)


def cut(whole: Sequence[Hit], request: SearchRequest) -> tuple[list[Hit], Counter[tuple[str, str]]]:
    """Return the page of a request, and how many hits of each session its share leaves out."""
    allowed: list[Hit] = []
    met: Counter[tuple[str, str]] = Counter()
    left_out: Counter[tuple[str, str]] = Counter()
    for hit in whole:
        share = share_of(hit)
        if share is not None and request.per_session is not None:
            met[share] += 1
            if met[share] > request.per_session:
                left_out[share] += 1
                continue
        allowed.append(hit)
    end = None if request.limit is None else request.offset + request.limit
    return allowed[request.offset : end], left_out


def assert_page(page: SearchResult, whole: SearchResult, request: SearchRequest) -> None:
    listed, left_out = cut(whole.hits, request)
    assert [replace(hit, more_in_session=0) for hit in page.hits] == listed
    assert page.total == whole.total if page.total_is_exact else page.total >= whole.total
    if request.exact_total or request.limit is None:
        assert page.total_is_exact
    last = {share: number for number, hit in enumerate(listed) if (share := share_of(hit)) is not None}
    for number, hit in enumerate(page.hits):
        share = share_of(hit)
        more = left_out[share] if share is not None and last[share] == number else 0
        assert hit.more_in_session == more if page.total_is_exact else hit.more_in_session <= more


def assert_pages_join(world: ToldWorld, request: SearchRequest, whole: SearchResult) -> None:
    every, _ = cut(whole.hits, replace(request, offset=0, limit=None))
    size = max(request.limit or 1, len(every) // 5 + 1)
    joined: list[Hit] = []
    while len(joined) <= len(every):
        page = ask(world, replace(request, limit=size, offset=len(joined), exact_total=False)).hits
        joined.extend(page)
        if len(page) < size:
            break
    assert [replace(hit, more_in_session=0) for hit in joined] == every


def assert_misses(world: ToldWorld, request: SearchRequest, whole: SearchResult) -> None:
    if whole.total:
        assert (whole.texts, whole.misses) == (None, ())
        return
    scope = [one for one in scope_of(world, request) if request.mode is not Mode.WORDS or one.field != "tools"]
    assert whole.texts == len(scope)
    prose = replace(request, searched=tuple(name for name in request.searched if name != "tools"), sort=Sort.TIME)
    misses: list[tuple[str, str | None, int]] = []

    def count(kind: str, asked: SearchRequest, places: Places, name: str | None = None) -> None:
        total = len(scan(world, asked, places))
        if total:
            misses.append((kind, name, total))

    if request.mode is Mode.SUBSTRING and scope:
        count("case", prose, literal_places(request.query, ignores_case=True))
        key = defined_key(request.query)
        if not misses and key:
            count("accents", prose, lambda text: [0] if key in defined_key(text) else [])
        with suppress(EmptyQueryError):
            as_words = replace(prose, mode=Mode.WORDS)
            with decided(as_words) as places:
                count("words", as_words, places)
    with decided(request) as places:
        for name in SEARCHED:
            if name not in request.searched and name != "tools":
                count("field", replace(prose, searched=(name,)), places, name)
        if not request.filters.is_empty:
            count("filters", replace(prose, filters=Filters()), places)
    assert [(miss.kind, miss.name) for miss in whole.misses] == [(kind, name) for kind, name, _ in misses]
    for miss, (_, _, total) in zip(whole.misses, misses, strict=True):
        assert (miss.total == total) if miss.is_exact else (COUNTED <= miss.total <= total)


# --- Sessions that are named ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "filters", [Filters(sessions=("twin-id-0001",)), Filters(exclude_sessions=("twin-id-0001",))], ids=["only", "not"]
)
def test_one_id_of_two_agents_is_ambiguous_until_the_agent_is_named(world: ToldWorld, filters: Filters) -> None:
    with pytest.raises(AmbiguousError, match="aether:twin-id-0001"):
        ask(world, SearchRequest("lantern", filters=filters))


def test_a_session_that_is_none_is_not_found_but_can_be_excluded(world: ToldWorld) -> None:
    with pytest.raises(NotFoundError):
        ask(world, SearchRequest("lantern", filters=Filters(sessions=("no-such-session",))))
    with pytest.raises(NotFoundError):
        ask(world, SearchRequest("lantern", filters=Filters(sessions=(f"aster:{GONE.id}",))))
    excluded = ask(world, SearchRequest("lantern", filters=Filters(exclude_sessions=("no-such-session",))))
    assert excluded.hits == ask(world, SearchRequest("lantern")).hits


def test_main_only_keeps_a_fork_and_leaves_sub_agents_out(world: ToldWorld) -> None:
    """A person types in a fork; a session that works for another one is another agent's."""
    of_all = SearchRequest("lantern", tuple(SEARCHED), limit=None)
    found = {hit.session_id for hit in ask(world, of_all).hits}
    kept = ask(world, replace(of_all, filters=Filters(main_only=True))).hits
    assert found - {hit.session_id for hit in kept} == {SUB_AGENT.id, ASTER[5].id}
    of_fork = [hit for hit in kept if hit.session_id == FORK.id and hit.field != "memory"]
    assert {(hit.parent_session_id, hit.forked_from) for hit in of_fork} == {(None, CLAUDE[0].id)}
    assert "prompts" in {hit.field for hit in of_fork}


def test_the_world_has_every_kind_of_text(world: ToldWorld) -> None:
    """The comparison above is worth what its world holds."""
    assert {one.family for one in world.told} == {"event", "history", "block", "fact"}
    assert {(one.agent, one.field) for one in world.told} >= {
        *((agent, name) for agent in ("aster", "aether", "claude-code") for name in ("prompts", "answers", "tools")),
        ("aster", "memory"), ("claude-code", "memory"), ("claude-code", "notices"), ("aster", "titles"),
    }  # fmt: skip
    assert {one.ts_source for one in world.told} == {"record", "previous", "session", "file"}
    assert {one.project for one in world.told} >= {"/a/b", "/a/bc", "/a/b/sub", "/a/b%", "/a/B", "/a_b", None}
    assert any(one.whole_length > len(one.text) for one in world.told)
    assert 300 < len(world.told) < 900
