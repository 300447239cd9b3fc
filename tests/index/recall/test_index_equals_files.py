"""What the index answers is what the files answer: the same memory, the same prompt, the same words and reasons."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bench.evals.world import folder_of
from bench.evals.yaml_cases import read_cases
from bench.notes import PROJECTS, make_notes
from index.ingest import ingest
from index.settings import Settings, load_settings
from index.verify import verify
from persist.recall.scope import Place, place_of
from persist.sources import Environment
from tests.builders import HomeBuilder
from tests.conftest import REPOSITORY
from tests.index.conftest import dump_of, rebuilt_dump
from tests.index.recall.memory_world import (
    AS_OF,
    PLACE,
    MemoryWorld,
    assert_equal,
    day,
    from_files,
    from_index,
    names,
)

HISTORIES = int(os.environ.get("ASTER_HISTORIES", "12"))
"""More are tried where that is set, as of ``test_history_equals_rebuild``."""
EVALS = [
    case
    for name in ("memory-evals.yaml", "own-cases.yaml")
    for case in read_cases(REPOSITORY / "tests" / "evals" / name)
]
PLACES = (
    PLACE,
    Place("", ""),
    Place("/r/ledger", "/r/ledger"),
    Place("/home/ines/r/x", "/home/ines/r/x", "/home/ines"),
)


@pytest.fixture
def settings(home: HomeBuilder, quick_schema: None, tmp_path: Path) -> Settings:
    return home.settings(tmp_path / "cache" / "index.sqlite")


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_of_any_memory_the_index_says_what_the_files_say(seed: int, settings: Settings) -> None:
    world = MemoryWorld(settings.places.data, seed)
    world.fill()
    ingest(settings)
    given = 0
    for number in range(60):
        prompt, place = world.prompt(), PLACES[number % len(PLACES)]
        found = from_index(settings, prompt, place)
        assert_equal(found, from_files(settings, prompt, place), (prompt, place))
        assert found.status in ("ok", "nothing_relevant"), (prompt, found.notes)
        given += len(found.given)
    assert given > 5


@pytest.mark.parametrize("seed", range(3000, 3000 + HISTORIES))
def test_of_any_moment_before_too(seed: int, settings: Settings) -> None:
    """What was told later is not known yet: what the index has settled holds for now, and the journal is asked."""
    world = MemoryWorld(settings.places.data, seed)
    world.fill(60)
    world.forget_journal_aliases()
    ingest(settings)
    differs = 0
    for number in range(60):
        prompt, place, as_of = world.prompt(), PLACES[number % len(PLACES)], f"{day(world.rng)[:19]}.000Z"
        found = from_index(settings, prompt, place, as_of)
        assert_equal(found, from_files(settings, prompt, place, as_of), (prompt, place, as_of))
        differs += found.given != from_index(settings, prompt, place).given
    assert differs, "no moment made a difference"


@pytest.mark.parametrize("seed", range(1000, 1000 + HISTORIES // 2))
def test_after_any_history_too_and_the_words_are_those_of_a_rebuild(seed: int, settings: Settings) -> None:
    world = MemoryWorld(settings.places.data, seed)
    world.fill(20)
    ingest(settings, prune=True)
    for _ in range(12):
        for _ in range(world.rng.randint(1, 3)):
            world.step()
        ingest(settings, prune=True)
        assert dump_of(settings.index_path) == rebuilt_dump(settings)
        prompt = world.prompt()
        assert_equal(from_index(settings, prompt), from_files(settings, prompt), prompt)
    assert verify(settings).differences == ()


@pytest.mark.parametrize("seed", range(2000, 2000 + HISTORIES // 2))
def test_of_several_homes_too(seed: int, home: HomeBuilder, quick_schema: None, tmp_path: Path) -> None:
    """The data home, an older one, and one more of the first rank; each may have a journal or none."""
    worlds = [MemoryWorld(folder, seed + number) for number, folder in enumerate(
        (home.aster_home, home.home / ".aster", tmp_path / "another")
    )]  # fmt: skip
    settings = load_settings(
        Environment({}, home.home), home.home, str(tmp_path / "index.sqlite"), [("aster", str(tmp_path / "another"))]
    )
    assert [root.rank for root in settings.roots if root.agent == "aster"] == [0, 1, 0]
    for world in worlds:
        world.fill(25)
    for _ in range(4):
        for world in worlds:
            world.rng.choice([world.step, world.lose_journal])()
        ingest(settings, prune=True)
        for _ in range(15):
            prompt = worlds[0].prompt()
            assert_equal(from_index(settings, prompt), from_files(settings, prompt), prompt)


@pytest.mark.parametrize("case", EVALS, ids=lambda case: case.id)
def test_every_evaluation_case_has_the_same_answer(case: object, home: HomeBuilder, quick_schema: None) -> None:
    assert isinstance(case, type(EVALS[0]))
    with folder_of(case) as folder:
        settings = home.settings(None, ASTER_HOME=str(folder.parent))
        ingest(settings)
        place = place_of(case.cwd)
        assert_equal(from_index(settings, case.prompt, place), from_files(settings, case.prompt, place), case.id)


def test_among_many_that_hold_the_words_the_same_five_come_first(home: HomeBuilder, quick_schema: None) -> None:
    notes = make_notes(home.aster_home / "memory", 600)
    settings = home.settings()
    ingest(settings)
    place = Place(PROJECTS[0], PROJECTS[0])
    for prompt in (*notes.about_a_note[:30], *notes.at_random[:30]):
        assert_equal(from_index(settings, prompt, place), from_files(settings, prompt, place), prompt)


def test_superseded_ones_and_those_of_other_projects_take_nobodys_place(settings: Settings) -> None:
    memory = settings.places.data / "memory"
    memory.mkdir(parents=True)
    note = "---\nname: {}\ndescription: how the billing deploy of the staging tenant works\n{}---\n\nbody\n"
    for number in range(60):
        (memory / f"old-{number}.md").write_text(note.format(f"old-{number}", "superseded_by: the-new-one\n"))
        (memory / f"other-{number}.md").write_text(note.format(f"other-{number}", "project: /r/ledger\n"))
    (memory / "the-new-one.md").write_text(note.format("the-new-one", "") + "billing deploy\n")
    ingest(settings)
    found = from_index(settings, "how does the billing deploy of the staging tenant work?")
    assert names(found) == ["the-new-one"]


def test_of_many_alike_the_newest_come(settings: Settings) -> None:
    memory = settings.places.data / "memory"
    memory.mkdir(parents=True)
    for number in range(120):
        month, day = number % 9 + 1, number % 28 + 1
        when = f"2026-{month:02d}-{day:02d}"
        about = f"release checklist smoke announce changelog {number}"
        text = f"---\nname: n-{number}\ndescription: {about}\nupdated_at: {when}\n---\n"
        (memory / f"n-{number}.md").write_text(text)
    (memory / "n-new.md").write_text(
        "---\nname: n-new\ndescription: release checklist smoke announce changelog x\nupdated_at: 2026-11-29\n---\n"
    )
    ingest(settings)
    prompt = "walk me through the release checklist: smoke, announce, changelog"
    found = from_index(settings, prompt)
    assert names(found)[0] == "n-new"
    assert_equal(found, from_files(settings, prompt), prompt)


def test_an_alias_admits_however_many_hold_its_word(settings: Settings) -> None:
    memory = settings.places.data / "memory"
    memory.mkdir(parents=True)
    for number in range(400):
        (memory / f"n-{number}.md").write_text(f"---\nname: ci-{number}\ndescription: about ci and runs\n---\nci ci\n")
    (memory / "woodpecker.md").write_text("---\nname: woodpecker\ndescription: where it is\naliases: [ci]\n---\nx\n")
    ingest(settings)
    assert names(from_index(settings, "is ci broken again?")) == ["woodpecker"]


def test_what_a_rewrite_dropped_is_found_by_the_aliases_that_the_journal_has(settings: Settings) -> None:
    memory = settings.places.data / "memory"
    memory.mkdir(parents=True)
    line = {"ts": "2026-05-01T08:00:00Z", "op": "remember", "name": "Deploy window", "aliases": ["release freeze"],
            "kind": "decision"}  # fmt: skip
    (memory / "journal.jsonl").write_text(json.dumps(line) + "\n")
    rewritten = (
        "---\nname: deploy-window\ndescription: x\ntitle: Deploy window\nupdated_at: 2026-05-02\n---\nnever then\n"
    )
    (memory / "deploy-window.md").write_text(rewritten)
    ingest(settings)
    assert names(from_index(settings, "is there a release freeze?")) == ["deploy-window"]
    (memory / "journal.jsonl").unlink()
    ingest(settings, prune=True)
    assert names(from_index(settings, "is there a release freeze?")) == []
    (memory / "journal.jsonl").write_text(json.dumps(line) + "\n")
    ingest(settings)
    assert names(from_index(settings, "is there a release freeze?")) == ["deploy-window"]
    rival = "---\nname: deploy-window-2\ntitle: Deploy window\ndescription: y\nupdated_at: 2026-05-03\n---\nanother\n"
    (memory / "deploy-window-2.md").write_text(rival)
    ingest(settings)
    assert dump_of(settings.index_path) == rebuilt_dump(settings)
    assert_equal(from_index(settings, "a release freeze?"), from_files(settings, "a release freeze?"), AS_OF)
