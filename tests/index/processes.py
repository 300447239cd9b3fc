"""Child processes for tests of the index: they run what a command runs, and can be killed or put on a small disk.

Forked, so that they start at once; what they raise is told to the parent as text.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Child:
    """A running child process and the pipe on which it tells what it raised."""

    pid: int
    told: int

    def wait(self) -> tuple[int, str]:
        """Return its exit code (negative: ended by that signal) and what it raised, empty for nothing."""
        with os.fdopen(self.told, "rb") as pipe:
            text = pipe.read().decode()
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]), text


def start(act: Callable[[], object]) -> Child:
    """Run ``act`` in a child process; it ends with 0, or with 1 when ``act`` raised."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return Child(pid, reader)
    code = 1
    try:
        act()
        code = 0
    except BaseException as error:  # noqa: BLE001 - told to the parent, whatever it is
        frames = "".join(traceback.format_tb(error.__traceback__))
        os.write(writer, f"{type(error).__name__}: {error}\n{frames}".encode()[:60_000])
    finally:
        os._exit(code)


def run_and_kill(act: Callable[[], object], after_s: float) -> bool:
    """Run ``act`` in a child and end it without warning after so many seconds; tell whether it was still at it."""
    child = start(act)
    time.sleep(after_s)
    os.kill(child.pid, signal.SIGKILL)
    code, told = child.wait()
    assert told == ""
    return code == -signal.SIGKILL


def run_on_small_disk(act: Callable[[], object], largest_file_bytes: int) -> tuple[int, str]:
    """Run ``act`` in a child in which no file can grow beyond so many bytes."""

    def limited() -> None:
        sys.dont_write_bytecode = True  # what is cut there would be imported by every later process
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file_bytes, largest_file_bytes))
        act()

    return start(limited).wait()
