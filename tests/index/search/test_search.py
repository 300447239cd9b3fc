"""Search through a real ingest equals a scan of all texts by the definition, in the order and number promised."""

from __future__ import annotations

import json
import os
import unicodedata
from itertools import pairwise
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from index.errors import EmptyQueryError
from index.fields import SEARCHED
from index.ingest import ingest
from index.search import Hit, SearchRequest, SearchResult, newest_prompts, search
from index.search.candidates import FETCH_BELOW
from index.settings import Settings
from tests import builders as make
from tests.builders import HomeBuilder, Record
from tests.index.match.definition import PIECES, SPELLINGS, defined_form, defined_spans, is_uppercase

SESSIONS = ("01kaaaaaaaaaaaaaaaaaaaaaaa", "01kbbbbbbbbbbbbbbbbbbbbbbb", "tele-1")
ANY_CHARACTER = [
    *map(chr, range(0x20)),
    "\x7f",
    "\u00ad",
    "\u0600",
    "漢",
    "字",
    "한",
    "\u1100",
    "\U0001f600",
    "\U000e0001",
]
TEXTS_OF_A_SESSION = 150
CROWD = 2100
"""More candidates than are all looked at."""


class Told(NamedTuple):
    """One text of the store, as it was written into a file: what search must know of it."""

    field: str
    ts: str
    session_id: str
    path: str
    event_index: int
    text: str


class World(NamedTuple):
    """A store that was ingested, and all texts in it."""

    settings: Settings
    told: list[Told]


def some_text(rng: Random) -> str:
    def piece() -> str:
        chosen = rng.random()
        if chosen < 0.8:
            return rng.choice(PIECES)
        if chosen < 0.9:
            return rng.choice(ANY_CHARACTER)
        letter = chr(rng.randrange(0x110000))
        return "?" if unicodedata.category(letter) == "Cs" else letter

    return "".join(piece() for _ in range(rng.randint(1, 12)))


def records_of(field: str, text: str, minute: int) -> Record:
    if field == "prompts":
        return make.aster_prompt(text, minute)
    if field == "answers":
        return make.aster_answer(text, minute)
    if field == "summaries":
        return {"type": "summary", "content": text, "ts": make.at(minute)}
    if field == "thinking":
        return {**make.aster_answer("", minute), "reasoning": {"text": text}}
    if field == "notices":
        return {**make.aster_prompt(text, minute), "role": "system"}
    return make.aster_title(text, minute)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Several sessions of odd texts in every field; times are few, so that most of them are tied."""
    rng = Random(20260504)  # noqa: S311
    home = HomeBuilder(tmp_path_factory.mktemp("world"))
    told: list[Told] = []
    written: set[tuple[str, str, int]] = set()
    texts = [some_text(rng) for _ in range(250)]
    for session_id in SESSIONS:
        records: list[Record] = []
        places: list[tuple[str, int, str]] = []
        while len(records) < TEXTS_OF_A_SESSION:
            field = rng.choice(
                ("prompts", "prompts", "prompts", "answers", "summaries", "thinking", "notices", "titles")
            )
            text, minute = rng.choice(texts), rng.randrange(12)
            if (field, text, minute) in written:  # an equal text of the same moment would be a copy
                continue
            written.add((field, text, minute))
            records.append(records_of(field, text, minute))
            places.append(("answers" if field == "summaries" else field, minute, text))
        path = home.aster(session_id, make.aster_header(session_id, 0), *records)
        told.extend(
            Told(field, make.at(minute), session_id, str(path), number, text)
            for number, (field, minute, text) in enumerate(places)
        )
    settings = home.settings()
    report = ingest(settings)
    assert report.problems == []
    return World(settings, told)


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> World:
    """More prompts and answers that hold one word than are looked at for a limited answer; many are equal or tied."""
    rng = Random(7)  # noqa: S311
    home = HomeBuilder(tmp_path_factory.mktemp("crowd"))
    told: list[Told] = []
    for number in range(7):
        session_id = f"01kcrowd{number}aaaaaaaaaaaaaaaaa"
        records: list[Record] = []
        path = home.aster(session_id)
        for place in range(CROWD // 7):
            minute = rng.randrange(60) + number / 1000
            field = "prompts" if rng.random() < 0.85 else "answers"
            text = rng.choice((f"a lantern {place % 40}", "Lantern", f"läntern {place}", f"{place} a-lantern-b"))
            moment = make.at(minute + place / 60000 if text == "Lantern" else minute)
            told.append(Told(field, moment, session_id, str(path), place, text))
            records.append({**records_of(field, text, 0), "ts": moment})
        home.aster(session_id, make.aster_header(session_id, 0), *records)
    copies = {(one.field, one.ts, one.text) for one in told}
    assert len(copies) > CROWD * 0.8
    settings = home.settings()
    ingest(settings)
    return World(settings, _canonical(told))


def _canonical(told: list[Told]) -> list[Told]:
    """Leave out what is told twice of one moment by two sessions: all heads are equally old, so the least id has it."""
    kept: dict[tuple[object, ...], Told] = {}
    number: dict[tuple[object, ...], int] = {}
    for one in sorted(told, key=lambda one: (one.session_id, one.event_index)):
        key = (one.field, one.ts, one.text)
        number[*key, one.session_id] = number.get((*key, one.session_id), 0) + 1
        kept.setdefault((*key, number[*key, one.session_id]), one)
    return list(kept.values())


def find(settings: Settings, query: str, *searched: str, limit: int | None = None) -> SearchResult:
    return search(settings, SearchRequest(query, searched or ("prompts",), limit=limit))


def expected(told: list[Told], query: str, *searched: str) -> list[tuple[object, ...]]:
    """Scan all texts by the definition (DESIGN 9): newest first, equal prompts folded into the newest."""
    exact = any(map(is_uppercase, unicodedata.normalize("NFC", query)))
    wanted = defined_form(query, exact)
    found = [one for one in told if one.field in searched and wanted in defined_form(one.text, exact)]
    found.sort(key=lambda one: (one.ts, "aster", one.session_id, one.path, one.event_index), reverse=True)
    hits: list[tuple[object, ...]] = []
    seen: set[str] = set()
    for one in found:
        is_prompt = one.field == "prompts"
        if is_prompt and one.text in seen:
            continue
        if is_prompt:
            seen.add(one.text)
        count = sum(other.field == "prompts" and other.text == one.text for other in told) if is_prompt else 1
        spans = tuple(defined_spans(one.text, query))
        hits.append((one.field, one.ts, one.session_id, one.event_index, one.text, spans, count))
    return hits


def as_told(hits: tuple[Hit, ...]) -> list[tuple[object, ...]]:
    return [(hit.field, hit.ts, hit.session_id, hit.event_index, hit.text, hit.spans, hit.count) for hit in hits]


@pytest.mark.usefixtures("isolated")
@hypothesis_settings(max_examples=250, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_search_equals_a_scan_by_the_definition(world: World, data: st.DataObject) -> None:
    one = data.draw(st.sampled_from(world.told))
    source = data.draw(
        st.sampled_from([one.text, unicodedata.normalize("NFD", one.text), defined_form(one.text, False)])
    )
    start = data.draw(st.integers(0, len(source) - 1))
    length = data.draw(st.sampled_from([1, 1, 2, 2, 3, 4, 8, 40]))
    query = data.draw(st.sampled_from(SPELLINGS))(source[start : start + length])
    if data.draw(st.integers(0, 7)) == 0:
        query += data.draw(st.sampled_from(PIECES))
    if not query.strip():
        query += "\0"
    searched = data.draw(
        st.sampled_from([("prompts",), (one.field,), (one.field,), ("titles", "answers"), tuple(SEARCHED)])
    )
    wanted = expected(world.told, query, *searched)
    result = find(world.settings, query, *searched)
    assert as_told(result.hits) == wanted
    assert (result.total, result.total_is_exact) == (len(wanted), True)
    limited = find(world.settings, query, *searched, limit=2)
    assert as_told(limited.hits) == wanted[:2]
    assert (limited.total, limited.total_is_exact) == (len(wanted), True)
    if not wanted:
        elsewhere = {name: len(expected(world.told, query, name)) for name in SEARCHED if name not in searched}
        assert result.elsewhere == {name: count for name, count in elsewhere.items() if count}
        assert result.texts == sum(told.field in searched for told in world.told)
    for hit in result.hits:
        _assert_spans_are_what_matched(hit, query, result.exact_case)


def _assert_spans_are_what_matched(hit: Hit, query: str, exact: bool) -> None:
    stored = hit.text.encode()
    assert hit.spans
    assert all(first[1] <= second[0] for first, second in pairwise(hit.spans))
    for start, end in hit.spans:
        assert defined_form(query, exact) in defined_form(stored[start:end].decode(), exact)


@pytest.mark.parametrize("query", ["lantern", "Lantern", "rn", "a", "läntern", "a lantern 3", "lanterne"])
@pytest.mark.parametrize("searched", [("prompts",), ("prompts", "answers"), ("answers",)], ids="+".join)
def test_of_many_candidates_the_newest_are_the_same_as_when_all_are_looked_at(
    crowd: World, query: str, searched: tuple[str, ...]
) -> None:
    wanted = expected(crowd.told, query, *searched)
    every = find(crowd.settings, query, *searched)
    assert as_told(every.hits) == wanted
    assert (every.total, every.total_is_exact) == (len(wanted), True)
    for limit in (1, 20, 100):
        some = find(crowd.settings, query, *searched, limit=limit)
        assert as_told(some.hits) == wanted[:limit]
        assert some.total == len(wanted) if some.total_is_exact else some.total >= len(wanted)


def test_a_total_that_is_only_a_bound_says_so(crowd: World) -> None:
    assert CROWD * 0.8 > FETCH_BELOW
    some = find(crowd.settings, "lantern", limit=5)
    assert not some.total_is_exact
    assert some.total >= len(expected(crowd.told, "lantern", "prompts"))


def test_a_title_is_counted_exactly_however_many_answers_hold_the_word(home: HomeBuilder) -> None:
    answers = (make.aster_answer(f"lantern {minute}", minute) for minute in range(CROWD))
    home.aster("s", make.aster_header("s", 0), *answers, make.aster_title("lantern", 5))
    settings = home.settings()
    ingest(settings)
    result = find(settings, "lantern", "titles", limit=20)
    assert (result.total, result.total_is_exact) == (1, True)


# What is a hit once, where several sources tell it.


@pytest.mark.usefixtures("quick_schema")
def test_equal_prompts_are_one_hit_with_a_count_and_the_newest_is_shown(home: HomeBuilder) -> None:
    paragraph = "tell me about the heron in the reeds"
    for number in range(40):
        name = f"01kheron{number:02}"
        home.aster(name, make.aster_header(name, number), make.aster_prompt(paragraph, number))
    home.aster(
        "note", make.aster_header("note", 0), make.aster_prompt("the heron note", 1), make.aster_prompt("heron", 2)
    )
    settings = home.settings()
    ingest(settings)
    result = find(settings, "heron", limit=5)
    assert [(hit.text, hit.count) for hit in result.hits] == [(paragraph, 40), ("heron", 1), ("the heron note", 1)]
    assert result.hits[0].session_id == "01kheron39"
    assert (result.total, result.total_is_exact) == (3, True)


@pytest.mark.usefixtures("quick_schema")
def test_two_equal_prompts_of_one_session_count_as_two(home: HomeBuilder) -> None:
    home.aether("s", make.aether_metadata("s", 0), make.aether_prompt("yes"), make.aether_prompt("yes"))
    settings = home.settings()
    ingest(settings)
    (hit,) = find(settings, "yes").hits
    assert (hit.count, hit.event_index) == (2, 1)


@pytest.mark.usefixtures("quick_schema")
def test_answers_are_not_folded(home: HomeBuilder) -> None:
    home.aster("s", make.aster_header("s", 0), *(make.aster_answer("done", minute) for minute in (1, 2, 3)))
    settings = home.settings()
    ingest(settings)
    result = find(settings, "done", "answers")
    assert [(hit.ts, hit.count) for hit in result.hits] == [(make.at(minute), 1) for minute in (3, 2, 1)]


@pytest.mark.usefixtures("quick_schema")
def test_what_a_fork_copied_is_found_once(home: HomeBuilder) -> None:
    first = [make.claude_prompt("mend the roof", "orig", "u1", 1), make.claude_answer("roof mended", "orig", "u2", 2)]
    origin = {"forkedFrom": {"sessionId": "orig", "messageUuid": "u2"}}
    copied = [{**one, "sessionId": "fork", **origin} for one in first]
    home.claude("orig", *first)
    home.claude("fork", *copied, make.claude_prompt("mend the roof of the barn", "fork", "u3", 3))
    settings = home.settings()
    ingest(settings)
    prompts = find(settings, "roof").hits
    assert [(hit.session_id, hit.text, hit.count) for hit in prompts] == [
        ("fork", "mend the roof of the barn", 1),
        ("orig", "mend the roof", 1),
    ]
    assert [hit.session_id for hit in find(settings, "roof", "answers").hits] == ["orig"]
    home.claude("orig", make.claude_prompt("else", "orig", "u9", 1)).unlink()
    ingest(settings, prune=True)
    assert [hit.session_id for hit in find(settings, "roof").hits] == ["fork", "fork"]


@pytest.mark.usefixtures("quick_schema")
def test_a_prompt_that_only_a_history_knows_is_found_and_a_known_one_once(home: HomeBuilder) -> None:
    home.claude("c1", make.claude_prompt("pick the plums", "c1", "u1", 1))
    history = home.claude_history(
        make.claude_history_entry("pick the plums", "c1", 4),
        make.claude_history_entry("pickle the plums", "gone", 2),
        make.claude_history_entry("pickle the plums", None, 3),
    )
    settings = home.settings()
    ingest(settings)
    result = find(settings, "plums")
    assert [(hit.text, hit.count, hit.event_index) for hit in result.hits] == [
        ("pickle the plums", 2, None),
        ("pick the plums", 1, 0),
    ]
    hit = result.hits[0]
    assert (hit.session_id, hit.turn_index, hit.kind, hit.event_type, hit.ts_source) == (
        None,
        None,
        "user",
        None,
        "record",
    )
    assert (hit.place.path, hit.place.line_number) == (str(history), 3)
    stored = history.read_bytes()[hit.place.offset_bytes or 0 :]
    assert json.loads(stored)["display"] == "pickle the plums"


@pytest.mark.usefixtures("quick_schema")
def test_entries_of_one_history_at_one_moment_come_last_line_first(home: HomeBuilder) -> None:
    home.claude_history(*(make.claude_history_entry(f"plum {number}", None, 5) for number in range(6)))
    settings = home.settings()
    ingest(settings)
    assert [hit.place.line_number for hit in find(settings, "plum").hits] == [6, 5, 4, 3, 2, 1]


@pytest.mark.usefixtures("quick_schema")
def test_a_session_told_by_two_files_is_found_whole_and_no_line_twice(home: HomeBuilder) -> None:
    lines = [make.claude_prompt(f"swallow {number}", "x", f"u{number}", number) for number in range(6)]
    for order in (("p1", "p2"), ("p2", "p1")):
        for name in order:
            home.claude("x", *(lines[:4] if name == "p1" else lines), project=name)
            settings = home.settings()
            ingest(settings)
        result = find(settings, "swallow")
        assert [hit.text for hit in result.hits] == [f"swallow {number}" for number in range(5, -1, -1)]
        assert {hit.session_id for hit in result.hits} == {"x"}


@pytest.mark.usefixtures("quick_schema")
def test_what_a_sub_agent_was_told_is_found_and_labelled(home: HomeBuilder) -> None:
    home.claude("top", make.claude_prompt("count the swifts", "top", "u1", 1))
    home.claude_agent(
        "top", "x1", make.claude_prompt("count them by the barn", "top", "u2", 2, agentId="x1", isSidechain=True)
    )
    settings = home.settings()
    ingest(settings)
    assert [hit.session_id for hit in find(settings, "count").hits] == ["top"], "nobody typed the sub-agent's task"
    told = find(settings, "count", "notices").hits
    assert [(hit.session_id, hit.parent_session_id) for hit in told] == [("top/x1", "top")]


# Times.


@pytest.mark.usefixtures("quick_schema")
def test_at_one_moment_agent_session_source_and_event_decide_descending(home: HomeBuilder) -> None:
    def prompt(text: str, session_id: str) -> Record:
        return make.claude_prompt(f"wren {text}", session_id, text, 5)

    home.aster(
        "s2", make.aster_header("s2", 0), make.aster_prompt("wren A1", 5), make.aster_prompt("wren A2", 5), project="a"
    )
    home.aster("s1", make.aster_header("s1", 0), make.aster_prompt("wren A3", 5), project="z")
    home.claude("one", prompt("C1", "m1"), project="-p-b")
    home.claude("two", prompt("C2", "m2"), prompt("C3", "m2"), project="-p-a")
    home.claude("three", prompt("C4", "m2"), project="-p-b")
    settings = home.settings()
    ingest(settings)
    ordered = ["C4", "C3", "C2", "C1", "A2", "A1", "A3"]
    assert [hit.text.removeprefix("wren ") for hit in find(settings, "wren").hits] == ordered
    assert [hit.text.removeprefix("wren ") for hit in newest_prompts(settings, "wren", 9)[1]] == ordered


@pytest.mark.usefixtures("quick_schema")
def test_texts_without_a_time_stand_where_their_file_does(home: HomeBuilder) -> None:
    home.aster("a", make.aster_header("a", 0), make.aster_prompt("kelp early", 10), make.aster_prompt("kelp late", 30))
    path = home.aether(
        "b", {"sessionId": "b", "cwd": "/w"}, make.aether_prompt("kelp one"), make.aether_prompt("kelp two")
    )
    between = 1_777_881_600 + 20 * 60  # twenty minutes after the builders' morning
    os.utime(path, (between, between))
    settings = home.settings()
    ingest(settings)
    result = find(settings, "kelp")
    assert [hit.text for hit in result.hits] == ["kelp late", "kelp two", "kelp one", "kelp early"]
    assert [hit.ts_source for hit in result.hits] == ["record", "file", "file", "record"]
    assert (result.borrowed_times, result.hits[1].ts) == (2, make.at(20))


@pytest.mark.usefixtures("quick_schema")
def test_a_text_without_a_time_takes_the_last_one_before_it_or_the_sessions(home: HomeBuilder) -> None:
    bare = {"type": "message", "role": "user", "content": "moss bare"}
    home.aster(
        "a", make.aster_header("a", 3), bare, make.aster_prompt("moss told", 5), {**bare, "content": "moss after"}
    )
    settings = home.settings()
    ingest(settings)
    hits = find(settings, "moss").hits
    assert [(hit.text, hit.ts, hit.ts_source) for hit in hits] == [
        ("moss after", make.at(5), "previous"),
        ("moss told", make.at(5), "record"),
        ("moss bare", make.at(3), "session"),
    ]


# Memory.


@pytest.mark.usefixtures("quick_schema")
def test_memory_is_searched_by_name_description_body_and_facts(home: HomeBuilder) -> None:
    home.block("deploy-window", "never on fridays", description="when a deploy may run")
    home.facts("the gate code is written down", "deploy from the lane host")
    settings = home.settings()
    ingest(settings)
    result = find(settings, "deploy", "memory")
    assert {(hit.name, hit.kind, hit.field) for hit in result.hits} == {
        ("deploy-window", "memory", "memory"),
        ("ASTER.md:4", "memory", "memory"),
    }
    for query in ("fridays", "may run", "deploy-window"):
        (hit,) = find(settings, query, "memory").hits
        assert next(hit.text.encode()[start:end].decode() for start, end in hit.spans) == query
    assert find(settings, "deploy").elsewhere == {"memory": 2}


# What is said when there is nothing to say.


@pytest.mark.parametrize("query", ["", " ", "\t\n", "\u3000"], ids=ascii)
def test_a_blank_query_is_refused(world: World, query: str) -> None:
    with pytest.raises(EmptyQueryError, match="empty or only blanks"):
        find(world.settings, query)


@pytest.mark.usefixtures("quick_schema")
@pytest.mark.parametrize(
    ("query", "found"),
    [("!!!", ["wow!!!"]), ("—", ["a — b"]), ("\u200b", ["zero\u200bwidth"]), ("\0", ["nul\0l"]), ('""', ['say ""'])],
    ids=ascii,
)
def test_a_query_of_signs_is_a_literal_one(home: HomeBuilder, query: str, found: list[str]) -> None:
    texts = ["wow!!!", "a — b", "zero\u200bwidth", "nul\0l", 'say ""', "plain", "wow!"]
    home.aster("s", make.aster_header("s", 0), *(make.aster_prompt(text, n) for n, text in enumerate(texts)))
    settings = home.settings()
    ingest(settings)
    assert [hit.text for hit in find(settings, query).hits] == found


# Aether's prompt search: the newest hundred (spec/aether.md 5, behaviours 56 to 63).


@pytest.fixture
def hundred(home: HomeBuilder, quick_schema: None) -> Settings:
    prompts = [make.aster_prompt(f"prompt {number} heron", number) for number in range(104)]
    home.aster("s", make.aster_header("s", 0), *prompts, make.aster_answer("prompt heron answer", 200))
    home.claude_history(make.claude_history_entry("prompt of a history heron", None, 300))
    settings = home.settings()
    ingest(settings)
    return settings


def test_only_the_newest_hundred_prompts_are_searched(hundred: Settings) -> None:
    assert newest_prompts(hundred, "prompt 4 heron", 20)[1] == []
    assert [hit.text for hit in newest_prompts(hundred, "prompt 5 heron", 20)[1]] == ["prompt 5 heron"]


@pytest.mark.parametrize(("limit", "given"), [(0, 1), (-3, 1), (2, 2), (20, 20), (50, 50), (1000, 50)])
def test_a_limit_is_between_one_and_fifty_and_more_is_told(hundred: Settings, limit: int, given: int) -> None:
    query, hits, truncated = newest_prompts(hundred, "  heron \n", limit)
    assert (query, len(hits), truncated) == ("heron", given, True)
    assert hits[0].text == "prompt of a history heron"
    assert [hit.text for hit in hits[1:]] == [f"prompt {number} heron" for number in range(103, 104 - given, -1)]


@pytest.mark.parametrize("query", ["", "  ", "\n"], ids=ascii)
def test_a_blank_query_gives_nothing(hundred: Settings, query: str) -> None:
    assert newest_prompts(hundred, query, 20) == ("", [], False)


@pytest.mark.usefixtures("quick_schema")
def test_case_literals_offsets_and_parts_of_the_newest_prompts(home: HomeBuilder) -> None:
    parts = {"kind": "user", "data": {"type": "message", "content": [
        {"type": "text", "text": "first"}, {"type": "image", "data": "imagedata", "mimeType": "image/png"},
        {"type": "text", "text": "second"}]}}  # fmt: skip
    home.aether("s", make.aether_metadata("s", 0), make.aether_prompt("a fé x"), make.aether_prompt("a.b Upper"),
                make.aether_prompt("axb upper"), parts, make.aether_answer("answertext", "m1"))  # fmt: skip
    settings = home.settings()
    ingest(settings)

    def texts(query: str) -> list[str]:
        return [hit.text for hit in newest_prompts(settings, query, 20)[1]]

    assert texts("upper") == ["axb upper", "a.b Upper"]
    assert texts("Upper") == ["a.b Upper"]
    assert texts("a.b") == ["a.b Upper"]
    assert texts("first\nsecond") == ["first\nsecond"]
    assert texts("answertext") == texts("imagedata") == []
    (hit,) = newest_prompts(settings, "x", 1)[1]
    assert newest_prompts(settings, "fé", 1)[1][0].spans == ((2, 5),)
    assert hit.text.encode()[slice(*hit.spans[0])] == b"x"
