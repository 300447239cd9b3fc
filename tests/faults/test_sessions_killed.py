"""Each writing command of ``asx sessions``, killed at any moment, on a full disk, and beside Aster itself.

Whatever happens a file is the old one or the new one, whole, and the next command works. The commands run as their own
functions do, in forked processes that are ended without warning.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.app import main
from tests import builders as make
from tests.builders import HomeBuilder
from tests.conftest import REPOSITORY, Asx
from tests.faults.cut_lines import PAGE_BYTES, pad_to_page, seen_after_kill
from tests.index.processes import run_and_kill, run_on_small_disk, start

CHANCE = random.Random()  # noqa: S311 - moments to be killed at, no secrets
LINES = 300
LONG_AGO = (1_700_000_000, 1_700_000_000)
FEW, MANY = 5, 50


def rounds() -> list[object]:
    """Return how often a command is killed: a few times always, as often as it matters in the long run."""
    return [pytest.param(FEW, id="few"), pytest.param(MANY, id="many", marks=pytest.mark.soak)]


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    builder = HomeBuilder(isolated)
    main(["paths", "--json"])  # what is imported here is not imported by each forked process
    return builder


def talk(home: HomeBuilder, session_id: str, minute: float = 0) -> Path:
    prompts = [make.aster_prompt(f"{session_id} {n} " + "x" * 500, minute + n) for n in range(LINES)]
    path = home.aster(session_id, make.aster_header(session_id, minute), *prompts)
    os.utime(path, LONG_AGO)
    return path


def quietly(*words: str) -> Callable[[], object]:
    def act() -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        os._exit(main(list(words)))

    return act


def duration_s(words: list[str]) -> float:
    """Run a command to its end and return how long it took."""
    begun = time.monotonic()
    start(quietly(*words)).wait()
    return time.monotonic() - begun


def no_leftovers_but(home: HomeBuilder, *allowed: str) -> bool:
    names = {path.name for path in home.aster_home.rglob("*") if path.is_file()}
    return all(name in allowed or name.startswith(".tmp-") or name in (".lock", ".redo") for name in names)


def entries(home: HomeBuilder) -> list[str]:
    path = home.aster_home / "sessions" / "prompt-history.jsonl"
    return [json.loads(line)["prompt"] for line in path.read_bytes().splitlines()] if path.exists() else []


@pytest.mark.parametrize("times", rounds())
def test_delete(home: HomeBuilder, times: int) -> None:
    old_history = ["of s1", "of s2"]
    took_s = 0.0
    for number in range(times + 1):
        path, other = talk(home, "s1"), talk(home, "s2")
        before = path.read_bytes(), other.read_bytes()
        home.prompt_history("aster", *(make.history_entry(text, text[-2:], 1) for text in old_history))
        words = ["sessions", "delete", "--yes", "s1"]
        if number == 0:
            took_s = duration_s(words)
        else:
            run_and_kill(quietly(*words), CHANCE.random() * took_s)
        assert not path.exists() or path.read_bytes() == before[0]
        assert other.read_bytes() == before[1]
        assert entries(home) in (old_history, ["of s2"])
        if path.exists():
            assert main(words) == 0
        assert entries(home) == ["of s2"]


@pytest.mark.parametrize("times", rounds())
def test_rename(home: HomeBuilder, times: int) -> None:
    path = talk(home, "s1")
    words = ["sessions", "rename", "s1", "A", "title"]
    took_s = duration_s(words)
    for _ in range(times):
        before = path.read_bytes()
        run_and_kill(quietly(*words), CHANCE.random() * took_s)
        seen = seen_after_kill(path, before)
        assert len(seen.lines) + bool(seen.cut) <= 1
        assert main(words) == 0
        added = [json.loads(line)["title"] for line in seen.assert_finished()]
        assert added == ["A title"] * (len(seen.lines) + bool(seen.cut) + 1)


@pytest.mark.parametrize("times", rounds())
def test_rename_across_a_page(home: HomeBuilder, times: int) -> None:
    """The line crosses a page each time, at another of its bytes: where a system that copies by pages can cut it."""
    path = talk(home, "s1")
    words = ["sessions", "rename", "s1", "A title"]
    took_s = duration_s(words)
    for number in range(times):
        pad_to_page(path, 1 + number, lambda length: make.lines(make.aster_prompt("p" * length, LINES)))
        before = path.read_bytes()
        run_and_kill(quietly(*words), (0.5 + CHANCE.random() / 2) * took_s)
        seen = seen_after_kill(path, before)
        assert not seen.cut or path.stat().st_size % PAGE_BYTES == 0
        assert main(words) == 0
        added = [json.loads(line)["title"] for line in seen.assert_finished()]
        assert added == ["A title"] * (len(seen.lines) + bool(seen.cut) + 1)


@pytest.mark.parametrize("times", rounds())
def test_relocate(home: HomeBuilder, tmp_path: Path, times: int) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
    path = talk(home, "s1")
    rest = path.read_bytes().partition(b"\n")[2]
    took_s = duration_s(["sessions", "relocate", "s1", str(folders[0])])
    for number in range(times):
        target = folders[(number + 1) % 2]
        words = ["sessions", "relocate", "s1", str(target)]
        run_and_kill(quietly(*words), CHANCE.random() * took_s)
        (path,) = home.aster_home.rglob("s1.jsonl")
        header, _, after = path.read_bytes().partition(b"\n")
        assert after == rest
        assert json.loads(header)["cwd"] in map(str, folders)
        assert main(words) == 0
        (path,) = home.aster_home.rglob("s1.jsonl")
        header, _, after = path.read_bytes().partition(b"\n")
        assert (after, json.loads(header)["cwd"]) == (rest, str(target))
        assert path.parent.name.endswith(target.name)
    leftovers = [found for found in path.parent.parent.rglob(".tmp-relocate-*") if found.parent == path.parent]
    assert leftovers == []


@pytest.mark.parametrize("times", rounds())
def test_prune(home: HomeBuilder, times: int) -> None:
    words = ["sessions", "prune", "--project", "/w/alpha", "--keep", "1", "--yes"]
    took_s = 0.0
    for number in range(times + 1):
        paths = [talk(home, f"s{n}", n) for n in range(4)]
        before = [path.read_bytes() for path in paths]
        if number == 0:
            took_s = duration_s(words)
        else:
            run_and_kill(quietly(*words), CHANCE.random() * took_s)
        assert paths[3].read_bytes() == before[3]
        for path, data in zip(paths, before, strict=True):
            assert not path.exists() or path.read_bytes() == data
        assert main(words) == 0
        assert [path.exists() for path in paths] == [False, False, False, True]


@pytest.mark.parametrize("times", rounds())
def test_history_rebuild(home: HomeBuilder, times: int) -> None:
    talk(home, "s1")
    home.prompt_history("aster", make.history_entry("old", "s0", 1))
    words = ["sessions", "history", "--rebuild"]
    made = 0
    took_s = 0.2
    for number in range(times):
        home.prompt_history("aster", make.history_entry("old", "s0", 1))
        if number == 0:
            took_s = duration_s(words)
        else:
            run_and_kill(quietly(*words), CHANCE.random() * took_s)
        found = entries(home)
        assert found == ["old"] or (len(found) == 100 and found[-1].startswith(f"s1 {LINES - 1} "))
        made += len(found) == 100
        assert main(words) == 0
        assert len(entries(home)) == 100
    assert made


def test_a_full_disk_is_one_sentence_and_loses_nothing(home: HomeBuilder, tmp_path: Path) -> None:
    path = talk(home, "s1")
    before = path.read_bytes()
    home.prompt_history("aster", *(make.history_entry("x" * 100, "s2", n) for n in range(50)))
    history = home.aster_home / "sessions" / "prompt-history.jsonl"
    old_history = history.read_bytes()
    for words in (
        ["sessions", "rename", "s1", "A title"],
        ["sessions", "relocate", "s1", str(tmp_path)],
        ["sessions", "history", "--rebuild"],
    ):

        def act(words: list[str] = words) -> None:
            told = io.StringIO()
            with contextlib.redirect_stderr(told):
                code = main(words)
            raise SystemExit(f"{code} {told.getvalue()}")

        _, text = run_on_small_disk(act, 1000)
        assert text.startswith("SystemExit: 6 asx: cannot "), text
        assert text.partition("\n")[0].count("asx:") == 1
        assert path.read_bytes() == before
        assert history.read_bytes() == old_history
    assert main(["sessions", "delete", "--yes", "s1"]) == 0
    assert not path.exists()


ASTER = """
import sys, time
path, count, stop = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
with open(path, "ab", buffering=0) as file:
    print(flush=True)
    for number in range(count):
        text = '{"type":"message","role":"assistant","content":"%d %s"}' % (number, "y" * (9000 if number % 2 else 10))
        file.write(text.encode())
        file.write(b"\\n")
        time.sleep(stop)
"""


class TestBesideAster:
    """A program that appends as Aster does: it keeps the file open, knows no lock, writes each line in two pieces."""

    def aster(self, path: Path, count: int, pause_s: float) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-c", ASTER, str(path), str(count), str(pause_s)]
        running = subprocess.Popen(words, stdout=subprocess.PIPE, cwd=REPOSITORY)
        assert running.stdout is not None
        running.stdout.readline()
        return running

    def told(self, path: Path) -> list[str]:
        records = [json.loads(line) for line in path.read_bytes().splitlines() if line]
        return [record["content"].split()[0] for record in records if record.get("role") == "assistant"]

    def test_renaming_loses_neither_its_lines_nor_ours(self, home: HomeBuilder) -> None:
        path = talk(home, "s1")
        with self.aster(path, 400, 0.002) as running:
            for number in range(10):
                assert main(["sessions", "rename", "s1", f"Title {number}"]) == 0
            assert running.wait(30) == 0
        assert self.told(path) == [str(number) for number in range(400)]
        titles = [record["title"] for line in path.read_bytes().splitlines() if b'"title"' in line
                  if (record := json.loads(line))["type"] == "title"]  # fmt: skip
        assert titles == [f"Title {number}" for number in range(10)]

    @pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a file open")
    def test_relocating_waits_for_its_end_and_loses_nothing(self, home: HomeBuilder, tmp_path: Path) -> None:
        path = talk(home, "s1")
        words = ["sessions", "relocate", "s1", str(tmp_path)]
        with self.aster(path, 100, 0.005) as running:
            codes = [main(words) for _ in range(3)]
            assert running.wait(30) == 0
        assert codes == [5, 5, 5]
        assert main(words) == 0
        (moved,) = home.aster_home.rglob("s1.jsonl")
        assert moved != path
        assert self.told(moved) == [str(number) for number in range(100)]

    @pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a file open")
    def test_programs_that_open_it_for_each_line_lose_nothing_to_a_relocation(
        self, home: HomeBuilder, tmp_path: Path
    ) -> None:
        path = talk(home, "s1")
        paths = [path]

        def append(number: int) -> None:
            line = b'{"type":"message","role":"assistant","content":"%d"}\n' % number
            for _ in range(1000):
                try:
                    descriptor = os.open(paths[-1], os.O_WRONLY | os.O_APPEND)
                except FileNotFoundError:
                    paths.extend(home.aster_home.rglob("s1.jsonl"))
                    continue
                os.write(descriptor, line)
                os.close(descriptor)
                return

        def append_all() -> None:
            for number in range(300):
                append(number)

        writer = start(append_all)
        for number in range(6):
            folder = tmp_path / str(number)
            folder.mkdir()
            start(quietly("sessions", "relocate", "s1", str(folder))).wait()
        assert writer.wait() == (0, "")
        (moved,) = home.aster_home.rglob("s1.jsonl")
        assert self.told(moved) == [str(number) for number in range(300)]

    @pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a file open")
    def test_pruning_leaves_it_alone(self, home: HomeBuilder) -> None:
        path, other = talk(home, "s1"), talk(home, "s2", 1)
        with self.aster(path, 1, 60) as running:
            os.utime(path, LONG_AGO)
            assert main(["sessions", "prune", "--project", "/w/alpha", "--older-than", "1d", "--yes"]) == 0
            running.kill()
        assert path.exists()
        assert not other.exists()


def test_a_home_that_cannot_be_written_is_one_sentence(home: HomeBuilder, asx: Asx, tmp_path: Path) -> None:
    path = talk(home, "s1")
    lock = path.with_name(".lock")
    lock.mkdir()  # what stands here cannot be locked, by root neither
    before = path.read_bytes()
    for words in (["delete", "--yes", "s1"], ["rename", "s1", "x"], ["relocate", "s1", str(tmp_path)]):
        told = asx("sessions", *words)
        assert told.code == 6
        assert told.stderr.startswith(f"asx: cannot lock {lock}: ")
        assert told.stderr.count("\n") == 1
    assert path.read_bytes() == before
    assert asx("sessions", "list", "--all").code == 0
    assert asx("sessions", "show", "s1").code == 0


def test_ten_deletions_and_renames_at_once(home: HomeBuilder) -> None:
    paths = [talk(home, f"s{number}-x", number) for number in range(10)]
    kept = talk(home, "kept", 20)
    before = kept.read_bytes()
    home.prompt_history("aster", *(make.history_entry(f"of {n}", f"s{n}-x", n) for n in range(10)),
                        make.history_entry("of kept", "kept", 11))  # fmt: skip
    assert main(["ingest", "--quiet"]) == 0
    children = [start(quietly("sessions", "delete", "--yes", f"s{number}-x")) for number in range(10)]
    children += [start(quietly("sessions", "rename", "kept", f"Title {number}")) for number in range(5)]
    assert [child.wait()[0] for child in children] == [0] * 15
    assert not any(path.exists() for path in paths)
    assert entries(home) == ["of kept"]
    added = [json.loads(line)["title"] for line in kept.read_bytes().removeprefix(before).splitlines()]
    assert sorted(added) == [f"Title {number}" for number in range(5)]
    main(["ingest", "--quiet", "--prune"])  # whoever found the index busy left it behind, and said so
    assert main(["verify"]) == 0
