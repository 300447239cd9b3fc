"""Sessions as listed and shown, from the index and, where there is none, from the files: both say the same."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from index.ingest import ingest
from index.results import EventRow, SessionRow
from index.sessions import list_sessions, show_session
from index.settings import Settings
from persist.errors import AmbiguousError, NotFoundError, StoreIOError
from tests import builders as make
from tests.builders import HomeBuilder, make_unreadable

pytestmark = pytest.mark.usefixtures("quick_schema")

Open = Callable[[HomeBuilder], Settings]
LONG = "one two three " * 1000


def with_index(home: HomeBuilder) -> Settings:
    settings = home.settings()
    ingest(settings)
    return settings


def without_index(home: HomeBuilder) -> Settings:
    settings = home.settings()
    assert not settings.index_path.exists()
    return settings


@pytest.fixture(params=[with_index, without_index], ids=["index", "files"])
def opened(request: pytest.FixtureRequest) -> Open:
    """A store to be asked with an index or without one."""
    opener: Open = request.param
    return opener


def touch(path: Path, minute: float) -> None:
    moment = 1_777_881_600 + minute * 60
    os.utime(path, (moment, moment))


def ids(
    settings: Settings, project: str | None = None, agent: str | None = None, limit: int | None = None
) -> list[str]:
    return [row.session_id for row in list_sessions(settings, project, agent, limit)[1]]


def shown(settings: Settings, text: str) -> tuple[SessionRow, list[EventRow]]:
    row, events = show_session(settings, text)
    return row, list(events)


# The list.


def test_the_last_active_session_comes_first(home: HomeBuilder, opened: Open) -> None:
    home.aster("old", make.aster_header("old", 50), make.aster_prompt("late words", 90))
    home.aster("new", make.aster_header("new", 60), make.aster_prompt("early words", 61))
    home.claude("mid", make.claude_prompt("words", "mid", "u1", 70))
    touch(home.aether("untimed", make.aether_metadata("untimed", 0), make.aether_prompt("words")), 80)
    settings = opened(home)
    assert ids(settings) == ["old", "untimed", "mid", "new"]
    assert (ids(settings, limit=2), list_sessions(settings, limit=2)[0]) == (["old", "untimed"], 4)
    assert ids(settings, limit=0) == []
    assert ids(settings, agent="claude-code") == ["mid"]


def test_of_equally_active_sessions_the_greater_id_comes_first_then_the_agent(home: HomeBuilder, opened: Open) -> None:
    for name in ("s1", "s3", "s2"):
        home.aster(name, make.aster_header(name, 0), make.aster_prompt(name, 10))
    for agent in ("s2", "s3"):
        touch(home.aether(agent, make.aether_metadata(agent, 0), make.aether_prompt("x")), 10)
    found = list_sessions(opened(home))[1]
    assert [(row.session_id, row.agent) for row in found] == [
        ("s3", "aether"), ("s3", "aster"), ("s2", "aether"), ("s2", "aster"), ("s1", "aster"),
    ]  # fmt: skip


PROJECTS = ("/a/b", "/a/bc", "/a/b/sub", "/a/b%", "/a/B", "/a/_", "/a/b ")


@pytest.mark.parametrize("project", PROJECTS)
def test_b97_a_project_is_compared_whole(home: HomeBuilder, opened: Open, project: str) -> None:
    for number, cwd in enumerate(PROJECTS):
        header = make.aster_header(f"s{number}", number, cwd=cwd)
        home.aster(f"s{number}", header, make.aster_prompt("lantern", number))
    settings = opened(home)
    total, rows = list_sessions(settings, project)
    assert [row.project for row in rows] == [project]
    assert total == 1


@pytest.mark.parametrize("project", ["/a", "/a/", "%", "/a/b%%", "", "/A/B"])
def test_no_session_is_of_a_project_that_is_only_alike(home: HomeBuilder, opened: Open, project: str) -> None:
    home.aster("s", make.aster_header("s", 0, cwd="/a/b"), make.aster_prompt("lantern", 1))
    assert list_sessions(opened(home), project) == (0, [])


def test_a_row_tells_all_of_its_session(home: HomeBuilder, opened: Open) -> None:
    path = home.aster(
        "01kab", make.aster_header("01kab", 1, model="m-3", parent="01kaa"), make.aster_prompt("  \n why\nso? ", 2),
        make.aster_answer("because", 3), make.aster_prompt("well", 4),
    )  # fmt: skip
    assert list_sessions(opened(home)) == (1, [SessionRow(
        session_id="01kab", agent="aster", project="/w/alpha", cwd="/w/alpha", title="why", created_at=make.at(1),
        updated_at=make.at(4), model="m-3", turns=2, events=3, parent_id="01kaa", forked_from=None,
        paths=(str(path),), size_bytes=path.stat().st_size, imported_from=None,
    )])  # fmt: skip


def test_a_fork_tells_what_it_was_forked_from(home: HomeBuilder, opened: Open) -> None:
    home.claude("orig", make.claude_prompt("mend", "orig", "u1", 1))
    home.claude("fork", make.claude_prompt("mend", "fork", "u1", 1, forkedFrom={"sessionId": "orig"}))
    settings = opened(home)
    assert [(shown(settings, id_)[0].parent_id, shown(settings, id_)[0].forked_from) for id_ in ("orig", "fork")] == [
        (None, None), (None, "orig"),
    ]  # fmt: skip


# Ids.


@pytest.fixture
def named(home: HomeBuilder, opened: Open) -> Settings:
    """Sessions whose ids begin alike, two of one id, and one with the id's letters in another case."""
    for name in ("s1", "s10", "s11", "01kabcde-one", "01kabcde-two", "01KABCDE-one", "twin-0001"):
        home.aster(name, make.aster_header(name, 0), make.aster_prompt(name, 1))
    home.aether("twin-0001", make.aether_metadata("twin-0001", 0), make.aether_prompt("the other"))
    home.aether("pa%d", make.aether_metadata("pa%d", 0), make.aether_prompt("percent"))
    return opened(home)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("s1", ("aster", "s1")),
        ("s11", ("aster", "s11")),
        ("01kabcde-o", ("aster", "01kabcde-one")),
        ("01KA", ("aster", "01KABCDE-one")),
        ("aster:twin-0001", ("aster", "twin-0001")),
        ("aether:twin", ("aether", "twin-0001")),
        ("pa%d", ("aether", "pa%d")),
        ("aether:pa%d", ("aether", "pa%d")),
    ],
)
def test_an_id_names_its_session(named: Settings, text: str, found: tuple[str, str]) -> None:
    row, events = shown(named, text)
    assert (row.agent, row.session_id) == found
    assert len(events) == 1


@pytest.mark.parametrize(
    ("text", "candidates"),
    [
        ("01kabcde", ("aster:01kabcde-one", "aster:01kabcde-two")),
        ("01ka", ("aster:01kabcde-one", "aster:01kabcde-two")),
        ("twin-0001", ("aether:twin-0001", "aster:twin-0001")),
        ("twin", ("aether:twin-0001", "aster:twin-0001")),
    ],
)
def test_an_id_that_fits_two_is_ambiguous_and_both_are_named(
    named: Settings, text: str, candidates: tuple[str, ...]
) -> None:
    with pytest.raises(AmbiguousError) as told:
        show_session(named, text)
    assert told.value.candidates == candidates


@pytest.mark.parametrize(
    "text", ["", "s", "01k", "s1%", "pa_d", "%%%%", "*", "..", "aster:", "aster:s", "nobody:s1", "/s1"]
)
def test_what_fits_nothing_is_not_found(named: Settings, text: str) -> None:
    with pytest.raises(NotFoundError):
        show_session(named, text)


@pytest.mark.parametrize("text", ["01k", "s", "aster:01"])
def test_too_short_a_prefix_is_told(named: Settings, text: str) -> None:
    with pytest.raises(NotFoundError, match="a prefix needs at least 4 characters"):
        show_session(named, text)


def test_a_prefix_that_a_sessions_sub_agents_share_is_the_sessions(home: HomeBuilder, opened: Open) -> None:
    home.claude("abcd-1", make.claude_prompt("do it", "abcd-1", "u1", 1))
    for agent in ("x1", "x2"):
        home.claude_agent("abcd-1", agent, make.claude_prompt("part", "abcd-1", f"u{agent}", 2, agentId=agent))
    settings = opened(home)
    assert sorted(ids(settings)) == ["abcd-1", "abcd-1/x1", "abcd-1/x2"]
    assert shown(settings, "abcd")[0].session_id == "abcd-1"
    assert shown(settings, "abcd-1/x2")[0].parent_id == "abcd-1"
    with pytest.raises(AmbiguousError):
        show_session(settings, "abcd-1/x")


# A session's events.


def test_texts_are_whole_beyond_what_the_index_keeps(home: HomeBuilder, opened: Open) -> None:
    home.claude(
        "s", make.claude_prompt("go", "s", "u1", 1), make.claude_tool_call("c1", "s", "u2", 2, command=LONG),
        make.claude_tool_result("c1", LONG, "s", "u3", 3),
    )  # fmt: skip
    _, events = shown(opened(home), "s")
    assert [event.event_type for event in events] == ["user_message", "tool_call", "tool_result"]
    assert LONG.strip() in (events[1].tool_arguments or "")
    assert (events[2].text, events[2].text_len, events[2].tool_name) == (LONG, len(LONG), "Bash")


def test_a_line_over_the_limit_is_the_same_for_both(home: HomeBuilder, opened: Open, tmp_path: Path) -> None:
    home.aster("s", make.aster_header("s", 0), make.aster_prompt("x" * 5000, 1), make.aster_prompt("short", 2))
    settings = home.settings()
    limits = replace(settings.configuration.limits, max_line_bytes=2000)
    settings = replace(settings, configuration=replace(settings.configuration, limits=limits))
    if opened is with_index:
        ingest(settings)
    row, events = shown(settings, "s")
    assert [(event.event_index, event.text) for event in events] == [(0, "short")]
    assert (row.events, row.turns, row.title) == (1, 1, "short")


def test_b30_a_session_told_by_two_files_is_read_file_after_file(home: HomeBuilder, opened: Open) -> None:
    lines = [make.claude_prompt(f"swallow {number}", "x", f"u{number}", number) for number in range(6)]
    first = home.claude("x", *lines[:4], project="p1")
    second = home.claude("x", *lines, project="p2")
    row, events = shown(opened(home), "x")
    assert row.paths == (str(first), str(second))
    assert (row.turns, row.size_bytes) == (6, first.stat().st_size + second.stat().st_size)
    assert [(event.source_path, event.event_index) for event in events] == [
        *((str(first), number) for number in range(4)),
        *((str(second), number) for number in range(6)),
    ]


def test_copies_are_marked(home: HomeBuilder) -> None:
    lines = [make.claude_prompt(f"swallow {number}", "x", f"u{number}", number) for number in range(6)]
    home.claude("x", *lines[:4], project="p1")
    home.claude("x", *lines, project="p2")
    _, events = shown(with_index(home), "x")
    assert [event.text for event in events if event.canonical] == [f"swallow {number}" for number in range(6)]


def test_a_transcript_that_is_gone_is_a_clear_error(home: HomeBuilder) -> None:
    path = home.aster("s", make.aster_header("s", 0), make.aster_prompt("secret words", 1))
    settings = with_index(home)
    path.unlink()
    row, events = show_session(settings, "s")
    assert row.events == 1
    with pytest.raises(StoreIOError, match=f"cannot read {path}: No such file") as told:
        list(events)
    assert "secret" not in str(told.value)


def test_what_was_appended_since_is_shown(home: HomeBuilder) -> None:
    path = home.aster("s", make.aster_header("s", 0), make.aster_prompt("one", 1))
    settings = with_index(home)
    with path.open("ab") as file:
        file.write(make.lines(make.aster_prompt("two", 2)))
    assert [event.text for event in shown(settings, "s")[1]] == ["one", "two"]


# Both ways agree.


def everything(settings: Settings) -> list[tuple[SessionRow, list[EventRow]]]:
    """Return every session and its events; whether an event is a copy only an index knows."""
    total, rows = list_sessions(settings)
    assert total == len(rows)
    found = [shown(settings, f"{row.agent}:{row.session_id}") for row in rows]
    assert [row for row, _ in found] == rows
    return [(row, [replace(event, canonical=True) for event in events]) for row, events in found]


def test_the_files_say_what_the_index_says_of_the_samples(home: HomeBuilder, data: Path) -> None:
    shutil.copytree(data / "aether", home.home / ".aether" / "sessions")
    shutil.copytree(data / "aster", home.aster_home)
    for sample in sorted((data / "claude_code").glob("*.jsonl")):
        shutil.copy(sample, home.claude(sample.stem))
    settings = home.settings()
    from_files = everything(settings)
    assert len(from_files) >= 15
    ingest(settings)
    from_index = everything(settings)
    assert [row for row, _ in from_files] == [row for row, _ in from_index]
    assert from_files == from_index


def test_what_is_no_transcript_is_in_neither(home: HomeBuilder, opened: Open) -> None:
    home.aster("good", make.aster_header("good", 0), make.aster_prompt("x", 1))
    home.aster("empty")
    home.aster("numbers", b"1", b"2", b"[]")
    home.claude("foreign", {"hello": 1})
    assert ids(opened(home)) == ["good"]


def test_without_an_index_a_file_that_cannot_be_read_is_listed_by_its_name(home: HomeBuilder) -> None:
    home.aster("good", make.aster_header("good", 0), make.aster_prompt("hello", 1))
    make_unreadable(home.aster("lost", make.aster_header("lost", 0)))
    total, listed = list_sessions(home.settings())
    assert total == 2
    assert {(row.session_id, row.title) for row in listed} == {("good", "hello"), ("lost", None)}
