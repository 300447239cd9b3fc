"""The look before a plan: setting apart what is unchanged makes the same plan, and costs little more than stat."""

from __future__ import annotations

import os
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from index.discovery import look
from index.ingest import ingest
from index.opening import open_reader
from index.plan import Plan
from index.run import plan_against, plan_of, read_known, without_cycles
from index.settings import Settings
from persist.sources import Root
from tests import builders as make
from tests.builders import HomeBuilder
from tests.index.histories import STEPS, World

pytestmark = pytest.mark.usefixtures("quick_schema")

MANY = 3000
MOST_TIMES_A_SCAN = 4.0
"""Far above what it is (2.1; docs/index.md), far below what one more object or statement a file would make it."""


def both_plans(settings: Settings, *, prune: bool = False) -> tuple[Plan, Plan]:
    seen = look(settings)
    with closing(open_reader(settings.index_path)) as reader:
        quick = plan_against(settings, seen, reader, prune=prune)
        return quick, plan_of(settings, seen, read_known(reader), prune=prune)


@pytest.mark.parametrize("seed", range(8))
def test_setting_apart_what_is_unchanged_changes_no_plan(seed: int, tmp_path: Path) -> None:
    world = World(tmp_path / "home")
    rng = Random(seed)  # noqa: S311
    settings = world.build.settings(tmp_path / "cache" / "index.sqlite")
    nested = Root("claude-code", world.build.claude_home / "projects")
    excluding = replace(settings.configuration, excludes=("**/s-two*",))
    variants = [
        settings,
        replace(settings, roots=(nested, *settings.roots)),
        replace(settings, roots=(*settings.roots, nested)),
        replace(settings, configuration=excluding),
        replace(settings, roots=tuple(root for root in settings.roots if root.agent != "claude-code")),
    ]
    world.take("add_many", rng.randrange(10**6))
    ingest(settings)
    for name in rng.choices([*STEPS, "add_many", "append"], k=15):
        world.take(name, rng.randrange(10**6))
        for variant in variants:
            for prune in (False, True):
                quick, whole = both_plans(variant, prune=prune)
                assert quick == whole, name
                assert quick.known_agents == whole.known_agents
        ingest(rng.choice(variants))


def test_names_of_every_kind_are_found_where_ordinary_ones_are_taken_at_once(home: HomeBuilder) -> None:
    for name in ("plain", "Größe", "日本", "with blank", "-x", "a.b"):
        home.aster(name, make.aster_header(name, 0))
        home.aether(name, make.aether_metadata(name, 0))
        home.claude(name, make.claude_prompt("x", name, "u1", 0))
    home.aster(".hidden", make.aster_header("h", 0))
    found = look(home.settings()).found
    assert [len(each.sources) for each in found if each.sources] == [6, 6, 6]
    for each in found:
        paths = [source.path for source in each.sources]
        assert paths == sorted(paths)
        for source in each.sources:
            result = Path(source.path).stat()
            assert source.stat == (result.st_size, result.st_mtime_ns, result.st_ctime_ns, result.st_ino)


def test_a_look_at_an_unchanged_store_costs_little_more_than_its_stats(home: HomeBuilder) -> None:
    for number in range(MANY):
        home.aster(f"s{number}", make.aster_header(f"s{number}", 1), project=f"p{number % 30}")
    settings = home.settings()
    ingest(settings)
    scans, looks = [], []
    for _ in range(9):
        began = time.perf_counter()
        for folder in os.scandir(home.aster_home / "sessions"):
            for entry in os.scandir(folder.path):
                entry.stat()
        scans.append(time.perf_counter() - began)
        with closing(open_reader(settings.index_path)) as reader, without_cycles():
            began = time.perf_counter()
            plan = plan_against(settings, look(settings), reader)
            looks.append(time.perf_counter() - began)
        assert plan.is_empty
        assert plan.unchanged.total() == MANY
    assert min(looks) < MOST_TIMES_A_SCAN * min(scans)
