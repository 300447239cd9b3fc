"""Each writing command, ended before each of its steps on the disk and in the middle of each new file's bytes.

Whatever the step, files are the old ones or the new ones, whole; the next command works, and no half-made file is left
behind it. The interpreter's audit events tell the steps, so none is missed by chance as a random moment may miss it.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from cli.app import main
from persist.memory import MemoryStore
from tests import builders as make
from tests.builders import HomeBuilder
from tests.faults.memory_world import assert_sound, long_text
from tests.index.processes import start

STEPS: Final = {"os.rename", "os.link", "os.remove", "os.mkdir", "os.truncate"}
WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
LONG_AGO: Final = (1_700_000_000, 1_700_000_000)
STRIDES: Final = [pytest.param(5, id="some"), pytest.param(1, id="all", marks=pytest.mark.soak)]
RELOCATE: Final = ["sessions", "relocate"]
COMMANDS: Final[dict[str, list[str]]] = {
    "start": ["sessions", "start", "--cwd", "/w/alpha"],
    "rename": ["sessions", "rename", "s1", "A title"],
    "relocate": [*RELOCATE, "s1", "/w/beta"],
    "delete": ["sessions", "delete", "--yes", "s1"],
    "history": ["sessions", "history", "--rebuild"],
    "import": ["sessions", "import", "--all"],
    "aether start": ["sessions", "start", "--aether", "--model", "a:b", "--cwd", "/w"],
    "aether relocate": [*RELOCATE, "e1", "/w/beta"],
    "new block": ["memory", "add", "--title", "New", long_text("new")],
    "over a block": ["memory", "add", "--title", "There", long_text("over")],
    "supersede": ["memory", "add", "--title", "Next", "--supersedes", "There", long_text("next")],
    "archive": ["memory", "archive", "There"],
    "remove": ["memory", "remove", "There"],
    "restore": ["memory", "restore", "Gone"],
}


def filled(home: HomeBuilder) -> None:
    prompts = [make.aster_prompt(f"prompt {number}", number) for number in range(20)]
    os.utime(home.aster("s1", make.aster_header("s1", 0), *prompts), LONG_AGO)
    os.utime(home.aether("e1", make.aether_metadata("e1", 0), make.aether_prompt("heron")), LONG_AGO)
    home.claude("c1", *(make.claude_prompt(f"their words {n}", "c1", f"u{n}", n) for n in range(5)))
    store = MemoryStore(home.aster_home / "memory")
    store.remember(long_text("old"), "There")
    store.remember(long_text("gone"), "Gone")
    store.forget("Gone")


def end_at(step: int, *, half: bool, below: Path) -> None:
    """End this process without warning at a step: before a change of names, or in the middle of a new file's bytes."""
    left = [step]

    def count() -> None:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def is_ours(value: object) -> bool:
        name = os.fsdecode(value) if isinstance(value, (str, bytes, os.PathLike)) else ""
        return (name.startswith(str(below)) or (bool(name) and "/" not in name)) and ".cache" not in name

    def watch(event: str, values: tuple[object, ...]) -> None:
        opens = event == "open" and isinstance(values[2], int) and values[2] & WRITES
        if (opens or event in STEPS) and is_ours(values[0]):
            count()

    whole_write = os.write

    def write_half(descriptor: int, data: bytes) -> int:
        if is_ours(Path(f"/proc/self/fd/{descriptor}").readlink()):
            is_new = not fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_APPEND
            if is_new and left[0] == 0:
                whole_write(descriptor, bytes(data)[: len(data) // 2])
            count()
        return whole_write(descriptor, data)

    if half:
        os.write = write_half  # type: ignore[assignment]
    else:
        sys.addaudithook(watch)


def act(words: list[str], prepare: Callable[[], None]) -> Callable[[], object]:
    def run() -> None:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        prepare()
        os._exit(main(words))

    return run


def assert_whole(home: HomeBuilder) -> None:
    for folder in (home.aster_home / "sessions", home.home / ".aether"):
        for path in folder.rglob("*.jsonl"):
            data = path.read_bytes()
            assert data.endswith(b"\n"), path
            assert all(line.startswith(b"{") and line.endswith(b"}") for line in data.splitlines()), path
    assert_sound(home.aster_home / "memory")


def steps(stride: int) -> Iterator[tuple[int, bool]]:
    for step in range(0, 200, stride):
        yield step, False
        yield step, True


@pytest.mark.skipif(sys.platform != "linux", reason="descriptors are named by /proc")
@pytest.mark.parametrize("stride", STRIDES)
@pytest.mark.parametrize("what", COMMANDS)
def test_a_command_ended_at_a_step_leaves_whole_files_and_the_next_one_works(
    what: str, stride: int, isolated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main(["paths", "--json"])
    ended: set[bool] = set()
    killed = 0
    for step, half in steps(stride):
        if half in ended:
            continue
        folder = tmp_path / f"{step}-{half}"
        monkeypatch.setenv("HOME", str(folder))
        home = HomeBuilder(folder)
        filled(home)
        before = (home.aster_home / "sessions" / "alpha" / "s1.jsonl").read_bytes().partition(b"\n")[2]
        code, told = start(
            act(COMMANDS[what], lambda step=step, half=half, folder=folder: end_at(step, half=half, below=folder))  # type: ignore[misc]
        ).wait()
        assert told == ""
        if code != -signal.SIGKILL:
            assert code == 0
            ended.add(half)
        killed += code != 0
        assert_whole(home)
        for path in home.aster_home.rglob("s1.jsonl"):
            assert path.read_bytes().partition(b"\n")[2].startswith(before)
        if what in ("delete", "archive", "remove", "restore"):
            assert start(act(COMMANDS[what], lambda: None)).wait()[0] in (0, 1)  # it may be done already
        else:
            assert start(act(COMMANDS[what], lambda: None)).wait()[0] == 0
        assert_whole(home)
        if what == "import":  # with nothing to import it takes no lock; the next prompt does, or this
            assert start(act(COMMANDS["history"], lambda: None)).wait()[0] == 0
        assert list(home.home.rglob(".tmp-*")) == []
        if ended == {False, True}:
            break
    assert killed
