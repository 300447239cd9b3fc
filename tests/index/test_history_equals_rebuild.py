"""Law 2: after any history of ingests the index equals what a rebuild makes of the same files."""

from __future__ import annotations

import tempfile
from difflib import unified_diff
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from index import ingest as ingesting
from index import load
from index.ingest import ingest
from index.settings import Settings
from index.verify import verify
from tests.index.conftest import dump_of, rebuilt_dump
from tests.index.histories import STEPS, World

Steps = list[tuple[str, int]]

HISTORIES = st.lists(
    st.tuples(st.sampled_from([*STEPS, "add", "add", "append", "append"]), st.integers(0, 2**32 - 1)),
    min_size=6,
    max_size=20,
)
SLOW_CHECKS = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]


def assert_equal(ours: list[str], fresh: list[str], step: tuple[str, int]) -> None:
    if ours != fresh:
        difference = "\n".join(unified_diff(ours, fresh, "index", "rebuild", lineterm="", n=0))
        pytest.fail(f"after {step}:\n{difference[:6000]}")


@pytest.fixture
def small_steps(quick_schema: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit and flush after very little, so that a small store goes through what a large one does."""
    monkeypatch.setattr(ingesting, "SLICE_SOURCES", 2)
    monkeypatch.setattr(load, "FLUSH_CHARACTERS", 1500)


def live(folder: str, history: Steps) -> tuple[World, Settings]:
    world = World(Path(folder) / "home")
    world.take("add_many", len(history))
    return world, world.build.settings(Path(folder) / "cache" / "index.sqlite")


@pytest.mark.usefixtures("quick_schema")
@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=SLOW_CHECKS)
@given(HISTORIES)
def test_after_each_step_the_dump_is_that_of_a_rebuild(history: Steps) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world, places = live(folder, history)
        ingest(places)
        for step in history:
            world.take(*step)
            ingest(places, prune=True)
            assert_equal(dump_of(places.index_path), rebuilt_dump(places), step)
        assert verify(places).differences == ()


@pytest.mark.usefixtures("small_steps")
@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=SLOW_CHECKS)
@given(HISTORIES)
def test_what_is_held_back_is_apart_and_the_rest_is_that_of_a_rebuild(history: Steps) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world, places = live(folder, history)
        for step in history:
            ingest(places)
            report = verify(places)
            assert report.differences == (), step
            world.take(*step)
        ingest(places, prune=True)
        assert_equal(dump_of(places.index_path), rebuilt_dump(places), ("prune", 0))
