"""Many writers at once, and writers ended without warning: every fact and every block is there, whole."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from persist.memory import MemoryStore
from tests.conftest import REPOSITORY
from tests.faults.cut_lines import pad_to_page
from tests.faults.memory_world import (
    assert_sound,
    assert_sound_after_kill,
    is_whole,
    journal_lines,
    long_text,
    note_files,
)
from tests.index import processes

Act = Callable[[MemoryStore], object]


def add_through_the_store(folder: Path, worker: str, count: int) -> None:
    store = MemoryStore(folder)
    for number in range(count):
        word = f"{worker}-{number}"
        if number % 2:
            store.remember(f"fact {word} {'x' * 500} end")
        else:
            store.remember(long_text(word), f"Block {word}", session=worker)


def add_through_the_command(home: Path, worker: str, count: int) -> None:
    environment = {**os.environ, "HOME": str(home), "PYTHONPATH": str(REPOSITORY)}
    for number in range(count):
        word = f"{worker}-{number}"
        text = f"fact {word} {'x' * 500} end" if number % 2 else long_text(word)
        title = [] if number % 2 else ["--title", f"Block {word}", "--session", worker]
        done = subprocess.run(
            [sys.executable, "-m", "cli", "memory", "add", *title, "-"],
            input=text.encode(), capture_output=True, env=environment, check=False,
        )  # fmt: skip
        if done.returncode:
            raise AssertionError(done.stderr.decode())


def race(home: Path, *, stores: int, commands: int, count: int) -> Path:
    """Let so many processes add ``count`` notes each, half of them blocks; return the memory folder."""
    folder = home / ".local" / "share" / "aster" / "memory"
    workers = [f"s{number}" for number in range(stores)]
    callers = [f"c{number}" for number in range(commands)]
    running = [processes.start(partial(add_through_the_store, folder, name, count)) for name in workers]
    running += [processes.start(partial(add_through_the_command, home, name, count)) for name in callers]
    assert [child.wait() for child in running] == [(0, "")] * len(running)
    return folder


def assert_all_there(folder: Path, workers: list[str], count: int) -> None:
    facts = (folder / "ASTER.md").read_text().splitlines()
    assert facts[:2] == ["# Project memory", ""]
    words = [f"{worker}-{number}" for worker in workers for number in range(count)]
    assert sorted(facts[2:]) == sorted(
        f"- fact {word} {'x' * 500} end" for word in words if int(word.split("-")[1]) % 2
    )
    blocks = {block.title: block for block in MemoryStore(folder).list_blocks()}
    assert set(blocks) == {f"Block {word}" for word in words if not int(word.split("-")[1]) % 2}
    for title, block in blocks.items():
        assert block.note.body == long_text((title or "").removeprefix("Block "))
    assert_sound(folder)


def test_b91_writers_at_once_lose_nothing(isolated: Path) -> None:
    folder = race(isolated, stores=6, commands=1, count=4)
    assert_all_there(folder, [*(f"s{number}" for number in range(6)), "c0"], 4)
    assert len(journal_lines(folder)) == 28


@pytest.mark.soak
def test_b91_twenty_processes_with_twenty_notes_each_lose_nothing(isolated: Path) -> None:
    folder = race(isolated, stores=19, commands=1, count=20)
    assert_all_there(folder, [*(f"s{number}" for number in range(19)), "c0"], 20)
    lines = journal_lines(folder)
    assert len(lines) == 400
    assert sum(line["op"] == "remember" for line in lines) == 200


def test_writers_of_one_block_keep_every_text(isolated: Path) -> None:
    folder = isolated / "memory"

    def write(worker: int) -> None:
        for number in range(5):
            MemoryStore(folder).remember(long_text(f"w{worker}-{number}"), "One block")

    running = [processes.start(partial(write, worker)) for worker in range(5)]
    assert [child.wait() for child in running] == [(0, "")] * 5
    assert [block.path.name for block in MemoryStore(folder).list_blocks()] == ["one-block.md"]
    texts = {data.rpartition(b"\n\n")[2].split()[0].decode() for data in note_files(folder).values()}
    assert texts == {f"w{worker}-{number}" for worker in range(5) for number in range(5)}
    assert_sound(folder)


def test_titles_of_one_slug_written_at_once_are_blocks_of_their_own(isolated: Path) -> None:
    folder = isolated / "memory"
    titles = ["Build command", "build_command", "Build-command!", "\u65e5\u672c", "\u4e2d\u56fd", "build.command"]

    def write(title: str) -> None:
        for _ in range(4):
            MemoryStore(folder).remember(long_text("w"), title)

    running = [processes.start(partial(write, title)) for title in titles]
    assert [child.wait() for child in running] == [(0, "")] * len(titles)
    assert sorted(str(block.title) for block in MemoryStore(folder).list_blocks()) == sorted(titles)


def test_another_program_that_appends_beside_us_loses_nothing_and_nor_do_we(isolated: Path) -> None:
    folder = isolated / "memory"
    folder.mkdir()

    def append(name: str, line: Callable[[int], bytes]) -> None:
        for number in range(300):
            descriptor = os.open(folder / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            os.write(descriptor, line(number))
            os.close(descriptor)

    def theirs(number: int) -> bytes:
        entry = {"ts": "2026-09-22T07:10:02.031Z", "op": "recall", "name": f"theirs {number}"}
        return json.dumps(entry, separators=(",", ":")).encode() + b"\n"

    MemoryStore(folder).append_project("the heading is there")
    running = [
        processes.start(lambda: append("journal.jsonl", theirs)),
        processes.start(lambda: append("ASTER.md", lambda number: f"- theirs {number}\n".encode())),
        *(processes.start(partial(add_through_the_store, folder, name, 10)) for name in ("a", "b")),
    ]
    assert [child.wait() for child in running] == [(0, "")] * 4
    facts = (folder / "ASTER.md").read_text().splitlines()
    assert [fact for fact in facts if fact.startswith("- theirs")] == [f"- theirs {number}" for number in range(300)]
    assert sum(fact.startswith("- fact") and fact.endswith("end") for fact in facts) == 10
    lines = journal_lines(folder)
    assert [line["name"] for line in lines if line["op"] == "recall"] == [f"theirs {number}" for number in range(300)]
    assert len(lines) == 300 + 20 + 1


def forget_and_restore(store: MemoryStore) -> None:
    store.forget("There")
    store.restore("There")


def archive_and_restore(store: MemoryStore) -> None:
    store.archive("There")
    store.restore("There")


WRITING: dict[str, Act] = {
    "a new block": lambda store: store.remember(long_text("new"), f"New {time.monotonic_ns()}"),
    "over a block": lambda store: store.remember(long_text("over"), "There", aliases=["a"], pin=True),
    "a fact": lambda store: store.append_project("fact " + "x" * 3000 + " end"),
    "supersede": lambda store: store.remember(long_text("next"), f"Next {time.monotonic_ns()}", supersedes="There"),
    "forget and restore": forget_and_restore,
    "archive and restore": archive_and_restore,
}


def helpful(length: int) -> bytes:
    """Return a line of the journal that is longer by so many bytes."""
    return b'{"ts":"2026-05-04T08:00:00Z","op":"helpful","name":"there","detail":"' + b"d" * length + b'"}\n'


def end_at_random(tmp_path: Path, act: Act, times: int) -> None:
    """End a writer at random moments; after each, all is whole, nothing is lost, and the next change works."""
    moments = random.Random(5)  # noqa: S311 - moments, not secrets
    for number in range(times):
        folder = tmp_path / str(number)
        store = MemoryStore(folder)
        store.remember(long_text("old"), "There")
        store.append_project("first")

        def write(store: MemoryStore = store) -> None:
            while True:
                act(store)

        pad_to_page(folder / "journal.jsonl", 1 + number % 90, helpful)
        assert processes.run_and_kill(write, moments.uniform(0.0, 0.06))
        journal, project = assert_sound_after_kill(folder, b"# Project memory\n\n- first\n")
        assert any(data.endswith(b"old ends here\n") for data in note_files(folder).values())
        assert all(line.endswith(b" end") for line in project.lines)
        store.remember(long_text("after"), "There")
        journal.assert_finished()
        assert all(line.endswith(b" end") for line in project.assert_finished())
        store.append_project("after end")
        assert store.peek("There").note.body == long_text("after")
        assert is_whole((folder / "there.md").read_bytes())
        assert_sound(folder)


@pytest.mark.parametrize("what", WRITING)
def test_a_writer_that_is_ended_at_any_moment_leaves_the_old_or_the_new(what: str, tmp_path: Path) -> None:
    end_at_random(tmp_path, WRITING[what], 5)


@pytest.mark.soak
@pytest.mark.parametrize("what", WRITING)
def test_a_writer_that_is_ended_fifty_times_leaves_the_old_or_the_new(what: str, tmp_path: Path) -> None:
    end_at_random(tmp_path, WRITING[what], 50)


COMMANDS: dict[str, list[str]] = {
    "add": ["memory", "add", "--title", "There", "-"],
    "fact": ["memory", "add", "fact of the command end"],
    "remove": ["memory", "remove", "There"],
    "archive": ["memory", "archive", "There"],
    "restore": ["memory", "restore", "Gone"],
}


def end_command_at_random(home: Path, words: list[str], times: int) -> None:
    moments = random.Random(7)  # noqa: S311 - moments, not secrets
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    for number in range(times):
        folder = home / str(number) / "memory"
        store = MemoryStore(folder)
        store.remember(long_text("gone"), "Gone")
        store.forget("Gone")
        store.remember(long_text("old"), "There")
        store.append_project("first")
        running = subprocess.Popen(
            [sys.executable, "-m", "cli", *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={**environment, "ASTER_HOME": str(folder.parent)},
        )  # fmt: skip
        assert running.stdin is not None
        running.stdin.write(long_text("typed").encode())
        running.stdin.close()
        time.sleep(moments.uniform(0.08, 0.5))
        running.kill()
        running.wait()
        seen = assert_sound_after_kill(folder, b"# Project memory\n\n- first\n")
        texts = {data.rsplit(b"\n", 2)[1].split()[0] for data in note_files(folder).values()}
        assert {b"old", b"gone"} <= texts
        store.remember(long_text("after"), "There")
        for one in seen:
            one.assert_finished()
        assert_sound(folder)
        assert store.peek("There").note.body == long_text("after")


@pytest.mark.parametrize("what", COMMANDS)
def test_a_command_that_is_ended_at_any_moment_loses_nothing(what: str, isolated: Path) -> None:
    end_command_at_random(isolated, COMMANDS[what], 2)


@pytest.mark.soak
@pytest.mark.parametrize("what", COMMANDS)
def test_a_command_that_is_ended_fifty_times_loses_nothing(what: str, isolated: Path) -> None:
    end_command_at_random(isolated, COMMANDS[what], 50)
