"""One event shown equals the same event of a full read; what is no longer there is told, never something else."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from index.errors import NoIndexError
from index.ingest import ingest
from index.sessions import list_sessions, show_session
from index.settings import Settings
from index.show import show_event
from persist.errors import AmbiguousError, NotFoundError, StoreIOError
from tests import builders as make
from tests.builders import HomeBuilder

pytestmark = pytest.mark.usefixtures("quick_schema")

LONG = "words of a tool " * 2000


def ingested(home: HomeBuilder) -> Settings:
    settings = home.settings()
    ingest(settings)
    return settings


def every_event_shown_equals_a_full_read(settings: Settings) -> int:
    shown = 0
    for row in list_sessions(settings)[1]:
        id_ = f"{row.agent}:{row.session_id}"
        seen: set[int] = set()
        for event in show_session(settings, id_)[1]:
            if event.event_index not in seen:  # of two files the first that has such an event
                assert show_event(settings, id_, event.event_index) == event
                shown += 1
            seen.add(event.event_index)
    return shown


def test_every_event_of_every_sample(home: HomeBuilder, data: Path) -> None:
    shutil.copytree(data / "aether", home.home / ".aether" / "sessions")
    shutil.copytree(data / "aster", home.aster_home)
    for sample in sorted((data / "claude_code").glob("*.jsonl")):
        shutil.copy(sample, home.claude(sample.stem))
    assert every_event_shown_equals_a_full_read(ingested(home)) > 150


@pytest.mark.parametrize("fault", ["B11/step2", "B13/step2", "B16", "B35", "B52", "B122"])
def test_every_event_of_damaged_and_odd_files(home: HomeBuilder, data: Path, fault: str) -> None:
    shutil.copytree(data / "faults" / fault, home.aster_home, dirs_exist_ok=True)
    assert every_event_shown_equals_a_full_read(ingested(home)) >= 3


@pytest.mark.parametrize("fault", ["B17", "B26"])
def test_every_event_of_odd_claude_files(home: HomeBuilder, data: Path, fault: str) -> None:
    shutil.copytree(data / "faults" / fault / "claude", home.claude_home, dirs_exist_ok=True)
    assert every_event_shown_equals_a_full_read(ingested(home)) >= 5


def test_every_event_of_real_files(home: HomeBuilder, shared: Path) -> None:
    files = sorted((shared / "real" / "home" / ".claude").rglob("*.jsonl"), key=lambda path: path.stat().st_size)[:10]
    if not files:
        pytest.skip("there are no real files in the design folder")
    for number, path in enumerate(files):
        shutil.copy(path, home.claude(f"real-{number}"))
    assert every_event_shown_equals_a_full_read(ingested(home)) > 0


def test_what_depends_on_earlier_lines_is_whole(home: HomeBuilder) -> None:
    """A result's tool, the session's model, and arguments that an old log has in pieces, longer than is kept."""
    call = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "function": {"name": "own", "arguments": "{}"}}],
    }
    result = {
        "type": "message",
        "role": "tool",
        "content": LONG,
        "tool_call_id": "c",
        "name": "other",
        "ts": make.at(2),
    }
    home.aster("a", make.aster_header("a", 0, model="m-1"), {"type": "message", "ts": make.at(1), **call}, result)
    pieces = "".join(f"{number:05}" for number in range(400))
    home.aether(
        "b", make.aether_metadata("b", 0),
        {"kind": "agent", "data": {"ToolCall": {"request": {"id": "t", "name": "big", "arguments": ""}}}},
        *({"kind": "agent", "data": {"ToolCallUpdate": {"tool_call_id": "t", "chunk": pieces[at : at + 500]}}}
          for at in range(0, len(pieces), 500)),
        {"kind": "agent", "data": {"ToolResult": {"result": {"id": "t", "name": "big", "result": "done"}}}},
    )  # fmt: skip
    settings = ingested(home)
    every_event_shown_equals_a_full_read(settings)
    shown = show_event(settings, "a", 1)
    assert (shown.tool_name, shown.text, shown.text_len) == ("own", LONG, len(LONG))
    assert show_event(settings, "a", 0).model_name == "m-1"
    assert show_event(settings, "b", 1).tool_arguments == pieces


def test_an_event_tells_its_place_and_its_turn(home: HomeBuilder) -> None:
    path = home.aster("s", make.aster_header("s", 0), make.aster_prompt("one", 1), b"", make.aster_prompt("two", 2))
    event = show_event(ingested(home), "s", 1)
    assert (event.event_index, event.turn_index, event.line_number, event.text) == (1, 1, 4, "two")
    assert path.read_bytes()[event.offset_bytes :] == make.lines(make.aster_prompt("two", 2))
    assert (event.source_path, event.ts, event.canonical) == (str(path), make.at(2), True)


def test_a_session_is_named_as_elsewhere(home: HomeBuilder) -> None:
    for name in ("01kab-1", "01kab-2"):
        home.aster(name, make.aster_header(name, 0), make.aster_prompt(name, 1))
    settings = ingested(home)
    assert show_event(settings, "aster:01kab-2", 0).text == "01kab-2"
    with pytest.raises(AmbiguousError):
        show_event(settings, "01kab", 0)
    with pytest.raises(NotFoundError, match="no session"):
        show_event(settings, "nobody", 0)


@pytest.mark.parametrize("number", [-1, 1, 99, 2**70])
def test_an_event_that_is_not_there_is_told_with_those_that_are(home: HomeBuilder, number: int) -> None:
    home.aster("s", make.aster_header("s", 0), make.aster_prompt("one", 1))
    with pytest.raises(NotFoundError, match=f"no event 's:{number}'; the session has one event, 0"):
        show_event(ingested(home), "s", number)


def test_a_session_without_events_says_so(home: HomeBuilder) -> None:
    home.aster("s", make.aster_header("s", 0))
    with pytest.raises(NotFoundError, match="no event 's:0'; the session has no events"):
        show_event(ingested(home), "s", 0)


def test_without_an_index_it_cannot_be_known_where_an_event_stands(home: HomeBuilder) -> None:
    home.aster("s", make.aster_header("s", 0), make.aster_prompt("one", 1))
    with pytest.raises(NoIndexError):
        show_event(home.settings(), "s", 0)


# The source is another one than the index knows.


@pytest.fixture
def changed(home: HomeBuilder) -> tuple[Settings, Path]:
    path = home.aster(
        "s", make.aster_header("s", 0), make.aster_prompt("secret one", 1), make.aster_prompt("secret two", 2)
    )
    return ingested(home), path


def refused(settings: Settings, path: Path) -> str:
    with pytest.raises(StoreIOError) as told:
        show_event(settings, "s", 1)
    assert (str(told.value.path), "secret" in str(told.value)) == (str(path), False)
    return str(told.value)


def test_a_file_that_is_gone(changed: tuple[Settings, Path]) -> None:
    changed[1].unlink()
    assert "No such file" in refused(*changed)


@pytest.mark.parametrize("cut", [1000, 100, 90, 5, 2])
def test_a_line_that_is_gone(changed: tuple[Settings, Path], cut: int) -> None:
    os.truncate(changed[1], max(0, changed[1].stat().st_size - cut))
    assert "line 3 is no longer what was indexed; run: asx ingest" in refused(*changed)


@pytest.mark.parametrize(
    "line",
    [
        make.lines({"type": "message", "role": "user", "content": "public two", "ts": make.at(2)}),
        make.lines({"type": "message", "role": "assistant", "content": "secret two", "ts": make.at(2)}),
        make.lines({"type": "brand-new"}),
        make.lines({"type": "title", "title": "t"}),
        b"not json\n",
        b"\n\n\n",
    ],
    ids=["another text", "another kind", "unknown", "title", "damage", "blank"],
)
def test_a_line_that_is_another_one(changed: tuple[Settings, Path], line: bytes) -> None:
    settings, path = changed
    kept = b"".join(path.read_bytes().splitlines(keepends=True)[:2])
    path.write_bytes(kept + line)
    assert "line 3 is no longer what was indexed; run: asx ingest" in refused(settings, path)


def test_a_file_that_moved_by_one_byte(changed: tuple[Settings, Path]) -> None:
    settings, path = changed
    path.write_bytes(b" " + path.read_bytes())
    assert "line 3 is no longer what was indexed" in refused(settings, path)


def test_a_file_that_only_grew_shows_what_it_showed(changed: tuple[Settings, Path]) -> None:
    settings, path = changed
    before = show_event(settings, "s", 1)
    with path.open("ab") as file:
        file.write(make.lines(make.aster_prompt("three", 3)))
    assert show_event(settings, "s", 1) == before


def test_limits_on_lines_are_those_of_the_index(home: HomeBuilder) -> None:
    home.aster("s", make.aster_header("s", 0), make.aster_prompt("x" * 5000, 1), make.aster_prompt("short", 2))
    settings = home.settings()
    limits = replace(settings.configuration.limits, max_line_bytes=2000)
    settings = replace(settings, configuration=replace(settings.configuration, limits=limits))
    ingest(settings)
    assert show_event(settings, "s", 0).text == "short"


def test_a_tools_result_of_equal_length_that_begins_otherwise_is_another_one(home: HomeBuilder) -> None:
    result = {"type": "message", "role": "tool", "content": "abc", "tool_call_id": "c", "ts": make.at(1)}
    path = home.aster("s", make.aster_header("s", 0), result)
    settings = ingested(home)
    path.write_bytes(path.read_bytes().replace(b"abc", b"xyz"))
    with pytest.raises(StoreIOError, match="line 2 is no longer what was indexed"):
        show_event(settings, "s", 0)
