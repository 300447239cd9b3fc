"""A plan cut short at any moment: every file is old or new and whole, the plan finishes, or the whole is taken back."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from persist.errors import RefusedError
from persist.memory import MemoryStore
from persist.memory.steps import read_steps
from tests.conftest import REPOSITORY
from tests.faults.cut_lines import Seen, seen_after_kill
from tests.faults.memory_world import journal_lines
from tests.index import processes
from tests.persist.plan_world import PLAN, blocks, facts, fill, take_back, without_times

CHANGES = ("os.rename", "os.remove", "os.link", "os.mkdir")


class World:
    """A memory before a plan and after it, and copies of it to cut the plan short in."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.copies = 0
        self.before = base / "before"
        fill(self.before)
        self.after = self.copy()
        MemoryStore(self.after).apply(PLAN)
        self.reverted = self.copy(self.after)
        take_back(MemoryStore(self.reverted), read_steps(self.reverted)[0].id)

    def copy(self, of: Path | None = None) -> Path:
        self.copies += 1
        target = self.base / f"copy-{self.copies}"
        shutil.copytree(of or self.before, target, symlinks=True)
        return target

    def assert_whole(self, folder: Path) -> tuple[Seen, Seen]:
        """Check that every block is what it was, or what the plan makes of it; return the two files appended to.

        A line of the journal or of the facts may be cut at their ends: what the next command is to finish.
        """
        old, made = without_times(blocks(self.before)), without_times(blocks(self.after))
        for name, data in without_times(blocks(folder)).items():
            assert data in (old.get(name), made.get(name)), name
        for name, data in blocks(self.before).items():
            kept = [path.read_bytes() for path in (folder / ".archive").glob("*@*.md")]
            there = blocks(folder)
            assert data in kept or data in there.values(), f"{name} is lost"
        whole = facts(self.before), facts(self.after)
        journal, project = seen_after_kill(folder / "journal.jsonl"), seen_after_kill(folder / "ASTER.md")
        if project.cut:
            assert whole[1].startswith(facts(folder))
        else:
            assert facts(folder) in whole or whole[0] in facts(folder)
        return journal, project

    def assert_applied(self, folder: Path) -> None:
        """Check that all was done, and nothing of it twice."""
        assert without_times(blocks(folder)) == without_times(blocks(self.after))
        assert facts(folder) == facts(self.after)
        (step,) = [one for one in read_steps(folder) if not one.is_reverted]
        assert step.is_finished
        told = [line for line in journal_lines(folder) if line.get("step") == step.id]
        names = Counter((line["op"], line.get("name") or line.get("detail")) for line in told)
        assert set(names.values()) == {1}
        assert [line["op"] for line in told] == [line["op"] for line in journal_lines(self.after) if "step" in line]
        assert len(list((folder / ".archive").glob(f"*@{step.id}.md"))) == 7

    def assert_taken_back(self, folder: Path) -> None:
        assert blocks(folder) == blocks(self.before)
        assert facts(folder) == facts(self.before)

    def finish_or_take_back(self, folder: Path, number: int) -> None:
        """Go on where it was cut short, or take back what was done; both, now the one and now the other."""
        store = MemoryStore(folder)
        seen = self.assert_whole(folder)
        steps = read_steps(folder)
        if number % 2 or not steps:
            done = store.apply(PLAN)
            assert done.was_begun is bool(steps or seen[0].cut) or done.was_done
            for one in seen:
                one.assert_finished()
            self.assert_applied(folder)
            assert store.apply(PLAN).was_done
        else:
            take_back(store, steps[0].id)
            self.assert_taken_back(folder)
            assert store.revert(steps[0].id).was_done
            store.apply(PLAN)
            self.assert_applied(folder)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("killed"))


def killed_at(act: Callable[[], object], number: int) -> bool:
    """Run ``act`` in a child that ends without warning right before its change of that number; tell whether it did."""

    def run() -> None:
        seen = 0

        def watch(event: str, values: tuple[object, ...]) -> None:
            nonlocal seen
            flags = values[2] if event == "open" and len(values) > 2 and isinstance(values[2], int) else 0
            if event in CHANGES or flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                seen += 1
                if seen == number:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(watch)
        act()

    code, told = processes.start(run).wait()
    assert told == ""
    assert code in (0, -signal.SIGKILL)
    return code != 0


@pytest.mark.slow
def test_a_plan_ended_before_any_of_its_changes_finishes_or_is_taken_back(world: World) -> None:
    number = 0
    while True:
        number += 1
        folder = world.copy()
        if not killed_at(partial(MemoryStore(folder).apply, PLAN), number):
            world.assert_applied(folder)
            break
        world.finish_or_take_back(folder, number)
    assert number > 40


@pytest.mark.slow
def test_taking_back_ended_before_any_of_its_changes_goes_on(world: World) -> None:
    step = read_steps(world.after)[0].id
    number = 0
    while True:
        number += 1
        folder = world.copy(world.after)
        if not killed_at(partial(take_back, MemoryStore(folder), step), number):
            world.assert_taken_back(folder)
            break
        world.assert_whole(folder)
        take_back(MemoryStore(folder), step)
        world.assert_taken_back(folder)
        told = [line for line in journal_lines(folder) if line.get("step") == step]
        names = Counter((line["op"], line.get("name") or line.get("detail")) for line in told)
        assert set(names.values()) == {1}
        assert len(told) <= len([line for line in journal_lines(world.reverted) if line.get("step") == step])
    assert number > 40


def test_a_plan_ended_at_thirty_random_moments_finishes_or_is_taken_back(world: World) -> None:
    moments = random.Random(11)  # noqa: S311 - moments, not secrets
    cut = 0
    for number in range(30):
        folder = world.copy()
        cut += processes.run_and_kill(partial(MemoryStore(folder).apply, PLAN), moments.uniform(0.0, 0.15))
        world.finish_or_take_back(folder, number)
    assert cut


@pytest.mark.parametrize("number", range(4))
def test_the_command_ended_at_a_random_moment_finishes(number: int, world: World, tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    shutil.copytree(world.before, folder)
    (tmp_path / "plan.json").write_bytes(json.dumps(PLAN).encode())
    words = [sys.executable, "-m", "cli", "memory", "apply", "--yes", str(tmp_path / "plan.json")]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "ASTER_HOME": str(tmp_path)}
    running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    time.sleep(random.Random(number).uniform(0.2, 0.7))  # noqa: S311 - moments, not secrets
    running.kill()
    running.wait()
    seen = world.assert_whole(folder)
    assert subprocess.run(words, capture_output=True, env=environment, check=False).returncode == 0
    for one in seen:
        one.assert_finished()
    world.assert_applied(folder)


def test_two_at_once_apply_a_plan_once(world: World) -> None:
    folder = world.copy()
    running = [processes.start(lambda: MemoryStore(folder).apply(PLAN)) for _ in range(4)]
    assert [child.wait() for child in running] == [(0, "")] * 4
    world.assert_applied(folder)


@pytest.mark.slow
def test_a_block_changed_while_the_plan_was_cut_short_is_not_written_over(world: World) -> None:
    seen = set()
    for number in range(1, 60):
        folder = world.copy()
        if not killed_at(partial(MemoryStore(folder).apply, PLAN), number):
            break
        steps = read_steps(folder)
        if not steps or steps[0].is_finished:
            continue
        store = MemoryStore(folder)
        has_come_to_it = (folder / ".archive" / f"over@{steps[0].id}.md").exists()
        store.remember("By a person.", "Over")
        with pytest.raises(RefusedError, match=f"--revert {steps[0].id} --yes"):
            store.apply(PLAN)
        assert store.peek("Over").note.body == "By a person."
        back = take_back(store, steps[0].id)
        assert [one.name for one in back.done if one.changed_since] == (["over"] if has_come_to_it else [])
        theirs = blocks(folder).pop("over.md")
        assert {**blocks(folder), "over.md": b""} == {**blocks(world.before), "over.md": b""}
        assert theirs == blocks(world.before)["over.md"] if has_come_to_it else b"By a person." in theirs
        seen.add(has_come_to_it)
    assert seen == {True, False}


def test_a_full_disk_says_how_to_go_on(world: World) -> None:
    folder = world.copy()
    large = {**PLAN, "new": [*PLAN["new"], {"title": "Large", "text": "x" * 200_000}]}
    code, told = processes.run_on_small_disk(lambda: MemoryStore(folder).apply(large), 100_000)
    assert code == 1
    step = read_steps(folder)[0].id
    assert f"the plan is half done: apply it again, or: asx memory apply --revert {step} --yes" in told
    take_back(MemoryStore(folder), step)
    world.assert_taken_back(folder)
    assert MemoryStore(folder).apply(large).was_begun is False
