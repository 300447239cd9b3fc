"""Public faults of filters, order and folding over a real index, each named by its number (``docs/search.md``)."""

from __future__ import annotations

import gc
import os
import sys
from itertools import pairwise
from random import Random

import pytest

from index.ingest import ingest
from index.search import Filters, Hit, Mode, SearchRequest, SearchResult, Sort, search
from index.settings import Settings
from tests import builders as make
from tests.builders import HomeBuilder
from tests.conftest import Asx
from tests.index.search.told_world import MANY

pytestmark = pytest.mark.usefixtures("quick_schema")

EVERYWHERE = ("prompts", "answers", "thinking", "notices", "memory", "titles")


def find(settings: Settings, query: str, *searched: str, filters: Filters | None = None) -> SearchResult:
    return search(settings, SearchRequest(query, searched or ("prompts",), filters=filters or Filters(), limit=None))


def words(settings: Settings, query: str, *searched: str, sort: Sort | None = None) -> SearchResult:
    return search(settings, SearchRequest(query, searched or ("prompts",), Mode.WORDS, sort=sort, limit=None))


def session_of(home: HomeBuilder, *texts: str) -> Settings:
    home.aster("s", make.aster_header("s", 0), *(make.aster_prompt(text, n) for n, text in enumerate(texts)))
    settings = home.settings()
    ingest(settings)
    return settings


def test_b19_one_instant_in_many_spellings_and_times_that_are_none(home: HomeBuilder) -> None:
    seconds = 1_777_888_800  # 10:00 on the builders' morning
    spellings = (seconds, seconds * 1000, "2026-05-04T10:00:00Z", "2026-05-04T15:30:00+05:30",
                 "2026-05-04T10:00:00.000000000Z", "2026-05-04 10:00:00Z")  # fmt: skip
    for number, written in enumerate(spellings):
        home.claude(
            f"good{number}", {**make.claude_prompt("heron", f"good{number}", f"u{number}", 0), "timestamp": written}
        )
    for number, written in enumerate((None, "", 0, -1, "10000-01-01T00:00:00Z", "soon")):
        record = {**make.claude_prompt("heron", f"bad{number}", f"b{number}", 0), "timestamp": written}
        path = home.claude(f"bad{number}", record)
        os.utime(path, (seconds - 3600, seconds - 3600))
    settings = home.settings()
    ingest(settings)

    def placed(**filters: str) -> list[tuple[str, str | None, str]]:
        result = search(settings, SearchRequest("heron", ("prompts",), filters=Filters(**filters), limit=None))  # type: ignore[arg-type]
        (hit,) = result.hits or [None]
        return [] if hit is None else [(hit.session_id or "", hit.ts, hit.ts_source), (str(hit.count), None, "")]

    assert placed() == [("good5", make.at(120), "record"), ("12", None, "")]
    assert placed(since=make.at(120)) == [("good5", make.at(120), "record"), ("6", None, "")]
    assert placed(until=make.at(120)) == [("bad5", make.at(60), "file"), ("6", None, "")]
    assert placed(since=make.at(60), until=make.at(120)) == placed(until=make.at(120))
    assert placed(since=make.at(60.01), until=make.at(120)) == [], "no time is no time that fits"
    assert placed(since=make.at(120.01)) == []


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata", "Europe/Berlin"])
def test_b32_since_a_day_is_cut_as_reports_cut_it(home: HomeBuilder, asx: Asx, zone: str) -> None:
    """Around midnight, on the days on which clocks change in Europe."""
    times = [
        f"2026-{day}T{clock}:30:00.000Z" for day in ("03-28", "03-29", "10-25") for clock in ("22", "23", "00", "01")
    ]
    home.aster("s", make.aster_header("s", 0), *({**make.aster_prompt(f"heron {t}", 0), "ts": t} for t in times))
    ingest(home.settings())
    environment = {"TZ": zone}
    sql = "SELECT date(ts, 'localtime') AS day, count(*) AS prompts FROM prompts GROUP BY day"
    days = asx("query", sql, "--json", env=environment).json()["rows"]
    days = [tuple(row.values()) if isinstance(row, dict) else tuple(row) for row in days]
    assert sum(count for _, count in days) == len(times)
    for day, count in days:
        found = asx("search", "heron", "--since", day, "--until", day, "--count", "--json", env=environment).json()
        assert (found["total"], found["total_is_exact"]) == (count, True), day


UUID = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
HASH = "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"


@pytest.fixture
def identifiers(home: HomeBuilder) -> Settings:
    """Newer texts hold the parts of each identifier, so that neither time nor luck puts the exact one first."""
    exact = ("set pane_pid here", "tag v1.2.3 today", f"request {UUID} failed", f"commit {HASH} broke it",
             "call foo-bar now", "see a.b.c there")  # fmt: skip
    near = ("pane pid pane pid", "pid of a pane", "tag v1.2.30 v1.2.30", "v1 2 3", f"request {UUID[:-1]}8 failed",
            UUID.replace("-", " "), f"commit {HASH[:12]} short", "foo bar foo bar", "foo", "a b c",
            "a.b.d")  # fmt: skip
    return session_of(home, *exact, *near)


@pytest.mark.parametrize("mode", [Mode.WORDS, Mode.SUBSTRING], ids=lambda mode: mode.value)
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("pane_pid", "set pane_pid here"),
        ("v1.2.3", "tag v1.2.3 today"),
        (UUID, f"request {UUID} failed"),
        (HASH, f"commit {HASH} broke it"),
        ("foo-bar", "call foo-bar now"),
        ("a.b.c", "see a.b.c there"),
    ],
)
def test_b45_an_exact_identifier_comes_first(identifiers: Settings, query: str, first: str, mode: Mode) -> None:
    hits = search(identifiers, SearchRequest(query, mode=mode)).hits
    if mode is Mode.WORDS:
        assert hits[0].text == first
    assert first in [hit.text for hit in hits]
    assert not (mode is Mode.WORDS and query == "v1.2.3" and any("v1.2.30" in hit.text for hit in hits))


@pytest.mark.parametrize("length", [8, 12])
def test_b45_the_beginning_of_a_hash_finds_it(identifiers: Settings, length: int) -> None:
    begin = HASH[:length]
    both = {f"commit {HASH} broke it", f"commit {HASH[:12]} short"}
    assert {hit.text for hit in words(identifiers, f"{begin}*").hits} == both
    assert {hit.text for hit in find(identifiers, begin).hits} == both
    whole = words(identifiers, begin)
    assert [hit.text for hit in whole.hits] == ([f"commit {HASH[:12]} short"] if length == 12 else [])


def test_b61_more_of_the_word_in_less_text_ranks_higher(home: HomeBuilder) -> None:
    dense = "heron a heron b heron c heron d heron e"
    sparse = "heron " + " ".join(f"filler{n}" for n in range(399))
    others = (f"unrelated {n} words of no matter" for n in range(60))
    home.aster(
        "s", make.aster_header("s", 0), make.aster_prompt(dense, 1), make.aster_prompt(sparse, 50),
        *(make.aster_prompt(text, 2) for text in others), make.aster_title("heron notes", 3),
    )  # fmt: skip
    settings = home.settings()
    ingest(settings)
    for result in (
        words(settings, "heron", *EVERYWHERE),
        search(settings, SearchRequest("heron", EVERYWHERE, sort=Sort.RELEVANCE)),
    ):
        assert {hit.text for hit in result.hits[:2]} == {dense, "heron notes"}
        assert result.hits[2].text == sparse
        scores = [hit.score or 0.0 for hit in result.hits]
        assert all(first > second > 0 for first, second in pairwise(scores))
    by_time = words(settings, "heron", *EVERYWHERE, sort=Sort.TIME)
    assert [hit.text for hit in by_time.hits] == [sparse, "heron notes", dense]
    assert [hit.score for hit in by_time.hits] == [None] * 3


PROJECTS = ("/a/b", "/a/bc", "/a/b/sub", "/a/b%", "/a/B", "/a_b", "/axb")


@pytest.fixture
def scoped(home: HomeBuilder) -> Settings:
    """One transcript, one block and one entry of a history in each project, and some of each in none."""
    entries = []
    folder = home.aster_home / "memory"
    folder.mkdir(parents=True)
    for number, project in enumerate((*PROJECTS, None)):
        head = make.aster_header(f"session-{number}", number)
        entry = make.claude_history_entry(f"history lantern {number}", None, number)
        named = f"project: {project}\n" if project else ""
        if project is None:
            del head["cwd"], entry["project"]
        else:
            head["cwd"] = entry["project"] = project
        home.aster(f"session-{number}", head, make.aster_prompt(f"transcript lantern {number}", number))
        entries.append(entry)
        (folder / f"n{number}.md").write_text(
            f"---\nname: n{number}\ndescription: d\n{named}---\n\nblock lantern {number}\n"
        )
    home.claude_history(*entries)
    home.facts("a fact of the lantern")
    settings = home.settings()
    ingest(settings)
    return settings


def projects_of(result: SearchResult) -> dict[str | None, int]:
    counts: dict[str | None, int] = {}
    for hit in result.hits:
        counts[hit.project] = counts.get(hit.project, 0) + 1
    return counts


@pytest.mark.parametrize("project", PROJECTS)
@pytest.mark.parametrize("mode", [Mode.SUBSTRING, Mode.WORDS, Mode.REGEX], ids=lambda mode: mode.value)
def test_b97_a_project_is_a_whole_path_for_transcripts_memory_and_histories(
    scoped: Settings, project: str, mode: Mode
) -> None:
    filters = Filters(project=project)
    result = search(scoped, SearchRequest("lantern", EVERYWHERE, mode, filters, limit=None))
    assert projects_of(result) == {project: 3}
    assert {hit.text.split()[0] for hit in result.hits if hit.field == "prompts"} == {"transcript", "history"}
    below = search(scoped, SearchRequest("lantern", EVERYWHERE, mode, Filters(project=project, below=True), limit=None))
    assert projects_of(below) == ({"/a/b": 3, "/a/b/sub": 3} if project == "/a/b" else {project: 3})


def test_b97_folders_above_and_names_like_patterns(scoped: Settings) -> None:
    def below(project: str) -> set[str | None]:
        return set(projects_of(find(scoped, "lantern", *EVERYWHERE, filters=Filters(project=project, below=True))))

    assert below("/") == set(PROJECTS)
    assert below("/a") == {"/a/b", "/a/bc", "/a/b/sub", "/a/b%", "/a/B"}
    assert below("/a/") == below("/a")
    for pattern in ("/a%", "/a/b_", "/a/%", "%", "_", "/a/*", "/A/b", "/a/b/su"):
        assert below(pattern) == set(), pattern


def test_b99_one_paragraph_of_forty_sessions_is_one_hit(home: HomeBuilder) -> None:
    paragraph = "tell me about the heron in the reeds, and what it eats in winter when the pond is frozen"
    for number in range(40):
        name = f"01kheron{number:02}"
        home.aster(name, make.aster_header(name, number), make.aster_prompt(paragraph, number))
    home.aster("note", make.aster_header("note", 0), make.aster_prompt("a heron was seen at the mill", 0.5))
    settings = home.settings()
    ingest(settings)
    for mode, sort in ((Mode.SUBSTRING, Sort.TIME), (Mode.SUBSTRING, Sort.RELEVANCE), (Mode.WORDS, Sort.TIME),
                       (Mode.WORDS, None), (Mode.REGEX, None)):  # fmt: skip
        result = search(settings, SearchRequest("heron", mode=mode, sort=sort, limit=5))
        assert {(hit.text, hit.count) for hit in result.hits} == {(paragraph, 40), ("a heron was seen at the mill", 1)}
        assert (result.total, result.total_is_exact) == (2, True)
        (folded,) = [hit for hit in result.hits if hit.count == 40]
        assert (folded.session_id, folded.ts) == ("01kheron39", make.at(39)), "the last time it was typed"
    two = search(settings, SearchRequest("heron", filters=Filters(since=make.at(10), until=make.at(12))))
    assert [(hit.count, hit.ts) for hit in two.hits] == [(2, make.at(11))]


@pytest.mark.parametrize("told_by", ["transcript", "history"])
def test_b99_a_giant_session_has_its_share_and_no_more(home: HomeBuilder, told_by: str) -> None:
    """A session of which only the history is left is as long as it was."""
    if told_by == "transcript":
        home.claude("giant", *(make.claude_prompt(f"heron {n}", "giant", f"u{n}", 100 + n) for n in range(5000)))
    else:
        home.claude_history(*(make.claude_history_entry(f"heron {n}", "giant", 100 + n) for n in range(5000)))
    for number in range(8):
        home.aster(f"small{number}", make.aster_header(f"small{number}", 0),
                   *(make.aster_prompt(f"a small heron {number} {n}", number + n / 10) for n in range(3)))  # fmt: skip
    settings = home.settings()
    ingest(settings)
    share = 5
    result = search(settings, SearchRequest("heron", limit=None, per_session=share))
    assert (result.total, result.total_is_exact, len(result.hits)) == (5024, True, share + 24)
    giant = [hit for hit in result.hits if hit.session_id == "giant"]
    assert [hit.text for hit in giant] == [f"heron {n}" for n in range(4999, 4994, -1)]
    assert [hit.more_in_session for hit in giant] == [0, 0, 0, 0, 4995]
    listed: list[Hit] = []
    for offset in range(0, 40, 10):
        page = search(settings, SearchRequest("heron", limit=10, offset=offset, per_session=share))
        assert sum(hit.session_id == "giant" for hit in page.hits) <= share
        listed += page.hits
    assert [hit.text for hit in listed] == [hit.text for hit in result.hits]
    alone = search(settings, SearchRequest("heron", limit=10))
    assert {hit.session_id for hit in alone.hits} == {"giant"}, "without a share, time alone decides"


def test_b101_the_best_comes_before_the_newest(home: HomeBuilder) -> None:
    rng = Random(3)  # noqa: S311
    best = "rotate the staging database password"
    filler = [f"word{n}" for n in range(200)]
    records = [make.aster_prompt(best, 0)]
    for number in range(50):
        records.append(make.aster_prompt(f"{rng.choice(best.split())} {number} in passing", 10 + number))
        text = " ".join(rng.sample([*filler, *best.split()], 205))
        records.append(make.aster_answer(text, 70 + number))
    home.aster("s", make.aster_header("s", 0), *records)
    settings = home.settings()
    ingest(settings)
    query = "staging database password rotate"
    default = words(settings, query, "prompts", "answers")
    assert default.sort is Sort.RELEVANCE
    assert default.hits[0].text == best
    assert len(default.hits) == 51
    assert words(settings, query, "prompts", "answers", sort=Sort.TIME).hits[-1].text == best


def test_b101_of_equal_scores_the_newest_is_first_every_time(home: HomeBuilder) -> None:
    for number in range(30):
        name = f"s{number:02}"
        home.aster(
            name,
            make.aster_header(name, 0),
            make.aster_answer(f"heron {chr(97 + number % 26)}{number:02}", number // 3),
        )
    settings = home.settings()
    ingest(settings)
    expected = [f"s{number:02}" for number in sorted(range(30), key=lambda n: (n // 3, n), reverse=True)]
    for mode in (Mode.WORDS, Mode.SUBSTRING):
        for _ in range(3):
            result = search(settings, SearchRequest("heron", ("answers",), mode, sort=Sort.RELEVANCE, limit=None))
            assert len({hit.score for hit in result.hits}) == 1
            assert [hit.session_id for hit in result.hits] == expected


def test_behaviour_60_twenty_hits_unless_a_limit_is_given_newest_first(home: HomeBuilder, asx: Asx) -> None:
    """Aether's prompt search (spec/aether.md 5), through the command."""
    session_of(home, *(f"heron {number:02}" for number in range(25)))
    found = asx("search", "--recent", "heron", "--json").json()
    assert (len(found["results"]), found["truncated"]) == (20, True)
    given = asx("search", "--recent", "heron", "--limit", "25", "--json").json()
    assert (len(given["results"]), given["truncated"]) == (25, False)
    assert given["results"][:20] == found["results"]
    assert [hit["prompt"] for hit in given["results"]] == [f"heron {number:02}" for number in range(24, -1, -1)]


@pytest.mark.parametrize("searched", [("prompts", "answers"), ("prompts", "answers", "tools")], ids="+".join)
def test_a_search_that_stops_early_leaves_nothing_that_complains_later(
    home: HomeBuilder, monkeypatch: pytest.MonkeyPatch, searched: tuple[str, ...]
) -> None:
    """What was not taken is let go after the index was closed, and said so on the terminal."""
    prompts = (make.aster_prompt(f"heron {number}", 10 + number) for number in range(40))
    said = {"type": "message", "role": "tool", "tool_call_id": "c"}
    results = ({**said, "content": f"heron {number}", "ts": make.at(number)} for number in range(5))
    home.aster("s", make.aster_header("s", 0), *results, *prompts)
    settings = home.settings()
    ingest(settings)
    for module, name, value in MANY:
        monkeypatch.setattr(module, name, value)
    complaints: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)
    for query in ("heron", "n 1"):
        assert len(search(settings, SearchRequest(query, searched, limit=1)).hits) == 1
    gc.collect()
    assert complaints == []
