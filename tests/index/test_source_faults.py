"""A source whose data cannot be stored costs itself only: from any place, at any moment, in any kind of run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from index import load
from index.ingest import ingest
from index.refresh import refresh
from index.search import SearchRequest, search
from index.settings import Settings
from index.verify import verify
from persist.agents import AGENTS
from persist.events import Event, HistoryPrompt, JournalEntry, Note, Parsed, Trait, Usage
from persist.sources import Line, Parser, Record, Source, State
from tests import builders as make
from tests.builders import HomeBuilder
from tests.index.conftest import dump_of, rebuilt_dump, rows

pytestmark = pytest.mark.usefixtures("quick_schema")

HALF = "half \ud83d of a character"
FIRST = Event("user", "user_message", "an odd prompt", is_prompt=True)


class _Odd:
    """A parser that tells something that cannot be stored, behind a first event that can."""

    names_parent = False
    recognised = True

    def __init__(self, told: Parsed, session_id: str | None, state: State) -> None:
        self._told = told
        self._state = state
        self.session_id = session_id

    def feed(self, record: Record, line: Line) -> Parsed:
        return self._told._replace(events=[FIRST, *self._told.events])

    def save(self) -> State:
        return self._state


TOLD: dict[str, Parsed] = {
    "prose": Parsed(events=[Event("agent", "message_text", HALF)]),
    "head": Parsed(events=[Event("agent", "tool_result", HALF)]),
    "arguments": Parsed(events=[Event("agent", "tool_call", tool_name="t", tool_arguments=HALF)]),
    "tool": Parsed(events=[Event("agent", "tool_call", tool_name=HALF)]),
    "record id": Parsed(events=[Event("agent", "message_text", "a", record_id=HALF)]),
    "usage": Parsed(usage=[Usage(model_name=HALF)]),
    "rank": Parsed(traits=[Trait("cwd", "a", 2**63)]),
    "trait": Parsed(traits=[Trait("cwd", HALF)]),
    "project of a history": Parsed(prompts=[HistoryPrompt("a", project=HALF)]),
    "text of a history": Parsed(prompts=[HistoryPrompt(HALF)]),
    "journal": Parsed(journal=[JournalEntry(None, HALF)]),
    "no value": Parsed(traits=[Trait("cwd", ["a list"])]),  # type: ignore[arg-type]
}
PLACES: list[tuple[str, Parsed, str, State]] = [(name, told, "a", {}) for name, told in TOLD.items()]
PLACES += [("session", Parsed(), HALF, {}), ("state", Parsed(), "a", {"kept": HALF})]


@pytest.fixture
def places(home: HomeBuilder, tmp_path: Path) -> Settings:
    return home.settings(tmp_path / "cache" / "index.sqlite")


def good(home: HomeBuilder) -> None:
    """One source before the odd one in path order, one behind it."""
    home.aster("s", make.aster_header("s", 0), make.aster_prompt("before heron", 1))
    home.claude("z", make.claude_prompt("behind heron", "z", "u1", 1))


def with_odd(settings: Settings, monkeypatch: pytest.MonkeyPatch, open_odd: Callable[[], Parser]) -> Settings:
    odd = replace(AGENTS["aether"], open_parser=lambda source, state: open_odd())
    monkeypatch.setattr("index.settings.AGENTS", {**AGENTS, "aether": odd})
    return replace(settings, agents=tuple(odd if agent.name == "aether" else agent for agent in settings.agents))


def assert_costs_itself_only(settings: Settings) -> None:
    assert rows(settings, "SELECT text FROM prompts ORDER BY text") == [("before heron",), ("behind heron",)]
    marked = rows(settings, "SELECT status FROM sources WHERE agent = 'aether'")
    assert [status for (status,) in marked] == ["broken"]
    assert search(settings, SearchRequest("heron")).total == 2
    assert dump_of(settings.index_path) == rebuilt_dump(settings)
    assert verify(settings).fulltext_ok


@pytest.mark.parametrize("is_flushed_early", [False, True], ids=["together", "line by line"])
@pytest.mark.parametrize(("told", "session_id", "state"), [place[1:] for place in PLACES], ids=[p[0] for p in PLACES])
def test_what_cannot_be_stored_costs_its_source_only(
    told: Parsed, session_id: str, state: State, is_flushed_early: bool, home: HomeBuilder, places: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if is_flushed_early:
        monkeypatch.setattr(load, "FLUSH_CHARACTERS", 0)
    settings = with_odd(places, monkeypatch, lambda: _Odd(told, session_id, state))
    home.aether("a", make.aether_metadata("a", 0), make.aether_prompt("lost"), make.aether_prompt("lost again"))
    good(home)
    report = ingest(settings)
    assert report.agents["aether"].sources.failed == 1
    assert_costs_itself_only(settings)
    assert "half" not in "".join(problem.message for problem in report.problems)
    assert not ingest(settings).wrote


@pytest.mark.parametrize(("told", "session_id", "state"), [place[1:] for place in PLACES], ids=[p[0] for p in PLACES])
def test_a_refresh_passes_over_what_cannot_be_stored(
    told: Parsed, session_id: str, state: State, home: HomeBuilder, places: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = with_odd(places, monkeypatch, lambda: _Odd(told, session_id, state))
    home.aster("s", make.aster_header("s", 0), make.aster_prompt("before heron", 1))
    ingest(settings)
    home.aether("a", make.aether_metadata("a", 0), make.aether_prompt("lost"))
    home.claude("z", make.claude_prompt("behind heron", "z", "u1", 1))
    state_told = refresh(settings)
    assert (state_told.refreshed, state_told.failure) == (True, None)
    assert state_told.unread is not None
    assert next(why for _, why in state_told.unread.first).startswith("its parser failed")
    assert_costs_itself_only(settings)


def test_a_note_that_cannot_be_stored_costs_itself_only(
    home: HomeBuilder, places: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(source: Source, data: bytes) -> Note:
        return Note("odd", "body", description=HALF) if b"odd" in data else AGENTS["aster"].read_note(source, data)  # type: ignore[misc]

    monkeypatch.setattr("index.settings.AGENTS", {**AGENTS, "aster": replace(AGENTS["aster"], read_note=read)})
    settings = home.settings(places.index_path)
    for name in ("a", "odd", "z"):
        home.block(name, f"a note that is {name}")
    assert ingest(settings).agents["aster"].sources.failed == 1
    assert rows(settings, "SELECT name FROM memory_blocks ORDER BY name") == [("a",), ("z",)]
    assert dump_of(settings.index_path) == rebuilt_dump(settings)


def test_whatever_a_refresh_raises_is_told_without_a_text(
    home: HomeBuilder, places: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.aster("s", make.aster_header("s", 0), make.aster_prompt("a heron", 1))
    ingest(places)

    def settle(*_: object) -> None:
        raise ValueError("a secret text")

    monkeypatch.setattr("index.slices.settle_touched", settle)
    home.aster("t", make.aster_header("t", 0), make.aster_prompt("a stork", 1))
    told = refresh(places)
    assert (told.refreshed, told.stale) == (False, True)
    assert told.failure == "bringing it up to date failed: ValueError"
    assert search(places, SearchRequest("heron")).total == 1
