"""Law 2: after any history of ingests the index equals what a rebuild makes of the same files.

Histories are seeded, so a failure names the steps that make it again. ``ASTER_HISTORIES=500`` tries more of them.
"""

from __future__ import annotations

import os
from difflib import unified_diff
from pathlib import Path
from random import Random

import pytest

from index import load
from index import slices as slicing
from index.ingest import ingest
from index.settings import Settings
from index.verify import verify
from tests.index.conftest import dump_of, rebuilt_dump
from tests.index.histories import STEPS, World

HISTORIES = int(os.environ.get("ASTER_HISTORIES", "12"))
LENGTH = 18
ALWAYS_READABLE = [name for name in STEPS if name != "become_link"]

Steps = list[tuple[str, int]]


def history(seed: int, names: list[str]) -> Steps:
    rng = Random(seed)  # noqa: S311
    drawn = rng.choices([*names, "add", "add", "append", "append"], k=LENGTH)
    return [("add_many", rng.randrange(10**6)), *((name, rng.randrange(10**6)) for name in drawn)]


def assert_same(ours: list[str], fresh: list[str], steps: Steps) -> None:
    if ours != fresh:
        difference = "\n".join(unified_diff(ours, fresh, "index", "rebuild", lineterm="", n=0))
        pytest.fail(f"after {steps}:\n{difference[:6000]}")


@pytest.fixture
def world(quick_schema: None, tmp_path: Path) -> World:
    return World(tmp_path / "home")


@pytest.fixture
def places(world: World, tmp_path: Path) -> Settings:
    return world.build.settings(tmp_path / "cache" / "index.sqlite")


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_after_each_step_the_dump_is_that_of_a_rebuild(seed: int, world: World, places: Settings) -> None:
    steps = history(seed, ALWAYS_READABLE)
    for number, step in enumerate(steps, start=1):
        world.take(*step)
        ingest(places, prune=True)
        assert_same(dump_of(places.index_path), rebuilt_dump(places), steps[:number])
    assert verify(places).differences == ()


@pytest.mark.parametrize("seed", range(1000, 1000 + HISTORIES // 2))
def test_what_is_held_stays_apart_and_the_rest_is_that_of_a_rebuild(
    seed: int, world: World, places: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slicing, "SLICE_SOURCES", 2)  # a small store then goes through what a large one does
    monkeypatch.setattr(load, "FLUSH_CHARACTERS", 1500)
    steps = history(seed, list(STEPS))
    for number, step in enumerate(steps, start=1):
        world.take(*step)
        ingest(places)
        assert verify(places).differences == (), steps[:number]
    world.take("clear_way", 0)
    ingest(places, prune=True)
    assert_same(dump_of(places.index_path), rebuilt_dump(places), steps)


def test_files_may_come_in_any_order(world: World, tmp_path: Path) -> None:
    for number in range(25):
        world.take("add", number)
        world.take("fork", number)
    files = world.files()
    dumps = []
    shuffled = Random(3).sample(files, len(files))  # noqa: S311
    for name, order in (("sorted", files), ("reversed", files[::-1]), ("shuffled", shuffled)):
        places = world.build.settings(tmp_path / name / "index.sqlite")
        away = [path.rename(path.with_name(f"{path.name}.away")) for path in order]
        for hidden, path in zip(away, order, strict=True):
            hidden.rename(path)
            ingest(places)
        dumps.append(dump_of(places.index_path))
    assert_same(dumps[1], dumps[0], [])
    assert_same(dumps[2], dumps[0], [])
    assert len(files) > 20
