"""omp writes its title into the first line of a file that grows at its end: the index follows both."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from index.ingest import ingest
from index.settings import Settings
from index.verify import verify
from tests.builders import HomeBuilder, at, lines
from tests.index.conftest import dump_of, rebuilt_dump, rows

pytestmark = pytest.mark.usefixtures("quick_schema")

SLOT_BYTES = 256
NAME = "2026-05-04T08-00-00-000Z_6a6a6a6a6a6a6a6a"


def slot(title: str, by: str, minute: float) -> bytes:
    """Return the first line: always of the same length, whatever the title's."""
    line = {"type": "title", "v": 1, "title": title, "source": by, "updatedAt": at(minute), "pad": ""}
    room = SLOT_BYTES - 1 - len(json.dumps(line, ensure_ascii=False).encode())
    return json.dumps({**line, "pad": " " * room}, ensure_ascii=False).encode() + b"\n"


def message(text: str, minute: float, entry_id: str) -> dict[str, object]:
    return {"type": "message", "id": entry_id, "timestamp": at(minute), "message": {"role": "user", "content": text}}


def retitle(path: Path, title: str, by: str, minute: float) -> None:
    """Write the first line anew in its place, as omp does."""
    with path.open("r+b") as file:
        file.write(slot(title, by, minute))


def append(path: Path, *records: dict[str, object]) -> None:
    with path.open("ab") as file:
        file.write(lines(*records))


@pytest.fixture
def places(home: HomeBuilder, tmp_path: Path) -> Settings:
    return home.settings(tmp_path / "i" / "index.sqlite")


@pytest.fixture(params=[1, 400], ids=["short", "longer than both edges"])
def session(request: pytest.FixtureRequest, home: HomeBuilder) -> Path:
    folder = home.home / ".omp" / "agent" / "sessions" / "-orchard"
    folder.mkdir(parents=True)
    path = folder / f"{NAME}.jsonl"
    header = {
        "type": "session",
        "version": 3,
        "id": "6a6a6a6a6a6a6a6a",
        "timestamp": at(0),
        "cwd": "/w",
        "title": "Old",
    }
    talk = [message(f"prompt {number}", number / 10, f"e{number}") for number in range(request.param)]
    path.write_bytes(slot("Pears", "auto", 1) + lines(header, *talk))
    return path


def titles(places: Settings) -> list[tuple[str, int]]:
    return rows(places, "SELECT title, turns FROM sessions")


def assert_sound(places: Settings) -> None:
    assert dump_of(places.index_path) == rebuilt_dump(places)
    assert verify(places).differences == ()


def test_a_new_title_in_the_old_place_is_seen_and_the_end_that_grew_too(session: Path, places: Settings) -> None:
    ingest(places)
    ((_, turns),) = titles(places)
    assert titles(places) == [("Pears", turns)]

    append(session, message("water it", 50, "f1"))
    report = ingest(places)
    assert report.agents["omp"].sources.tailed == 1
    assert titles(places) == [("Pears", turns + 1)]
    assert_sound(places)

    retitle(session, "Grafting", "user", 51)
    append(session, {"type": "title_change", "id": "f2", "timestamp": at(51), "title": "Grafting", "source": "user"},
           message("and prune it", 52, "f3"))  # fmt: skip
    report = ingest(places)
    assert (report.agents["omp"].sources.replaced, report.agents["omp"].sources.tailed) == (1, 0)
    assert titles(places) == [("Grafting", turns + 2)]
    assert rows(places, "SELECT count(*) FROM events WHERE text = 'Pears'") == [(0,)]
    assert_sound(places)

    retitle(session, "Plums", "user", 53)
    ingest(places)
    assert titles(places) == [("Plums", turns + 2)]
    assert rows(places, "SELECT updated_at FROM sessions") == [(at(52),)]  # a name is no activity
    assert_sound(places)


def test_a_title_of_the_same_length_is_seen_too(session: Path, places: Settings) -> None:
    ingest(places)
    retitle(session, "Plums", "auto", 1)
    append(session, message("water it", 50, "f1"))
    ingest(places)
    assert titles(places)[0][0] == "Plums"
    assert_sound(places)


def test_a_sub_agent_works_for_its_session_in_any_order(home: HomeBuilder, data: Path, places: Settings) -> None:
    folder = home.home / ".omp" / "agent" / "sessions" / "-orchard"
    (folder / NAME).mkdir(parents=True)
    shutil.copy(data / "omp" / "sub-agent.jsonl", folder / NAME / "Scout.jsonl")
    ingest(places)
    shutil.copy(data / "omp" / "every-kind-of-entry.jsonl", folder / f"{NAME}.jsonl")
    ingest(places)
    assert rows(places, "SELECT session_id, parent_session_id, title, turns FROM sessions ORDER BY session_id") == [
        ("6a6a6a6a6a6a6a6a", None, "Grafting", 3),
        ("7b7b7b7b7b7b7b7b", "6a6a6a6a6a6a6a6a", None, 0),
    ]
    assert rows(places, "SELECT agent, count(*), sum(input_tokens), sum(reasoning_tokens) FROM llm_calls") == [
        ("omp", 4, 67, 8)
    ]
    assert_sound(places)
