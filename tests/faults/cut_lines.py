"""What a kill may leave of an append: the old file, the new one, or the old one and the beginning of one new line.

A system that copies a write page by page can end it between two pages when the process is killed. The next command that
appends in the folder finishes that line. Tests look at a file right after a kill with :func:`seen_after_kill` and again
after the next command with :meth:`Seen.assert_finished`.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.index.processes import start

PAGE_BYTES: Final = 4096


class Seen(NamedTuple):
    """What an appended file held right after a kill, behind what it held before: whole lines, and a cut one's begin."""

    path: Path
    old: bytes
    lines: tuple[bytes, ...]
    cut: bytes

    def assert_finished(self) -> list[bytes]:
        """Check that nothing seen was changed and that every line is whole now; return those behind the old ones."""
        data = read(self.path)
        before = self.old + b"".join(line + b"\n" for line in self.lines)
        assert data.startswith(before + self.cut)
        assert data == b"" or data.endswith(b"\n")
        added = data[len(self.old) :].splitlines()
        assert tuple(added[: len(self.lines)]) == self.lines
        if self.cut:
            assert added[len(self.lines)].startswith(self.cut)
        if self.path.suffix == ".jsonl":  # a cut line that was only ended is none
            for line in added:
                json.loads(line)
        return added


def read(path: Path) -> bytes:
    """Return a file's bytes, none where there is no file."""
    return path.read_bytes() if path.exists() else b""


def seen_after_kill(path: Path, old: bytes = b"") -> Seen:
    """Return what an appended file holds; the test fails where what it held before is not as it was."""
    data = read(path)
    assert data.startswith(old)
    *lines, cut = data[len(old) :].split(b"\n")
    return Seen(path, old, tuple(lines), cut)


def run_cut(
    act: Callable[[], object],
    path: Path,
    kept_bytes: int,
    before: Callable[[], object] = lambda: None,
    *,
    at_write: int = 1,
) -> None:
    """Run ``act`` in a child that is killed in a write to ``path``, of which so many bytes reach the file.

    ``before`` is called right before that write: what another program does at that moment.
    """

    def cut() -> None:
        write = os.write
        writes = 0

        def cut_write(descriptor: int, data: Any, /) -> int:
            nonlocal writes
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                writes += 1
                if writes == at_write:
                    before()
                    write(descriptor, bytes(data)[:kept_bytes])
                    os.kill(os.getpid(), signal.SIGKILL)
            return write(descriptor, data)

        os.write = cut_write  # in this child only, which ends here
        act()

    assert start(cut).wait() == (-signal.SIGKILL, "")


def pad_to_page(path: Path, missing_bytes: int, line: Callable[[int], bytes]) -> None:
    """Append one line, ``line(n)`` with a text of ``n`` bytes, so that the file ends so many bytes before a page does.

    What is appended next then crosses from one page into another.
    """
    size_bytes = path.stat().st_size
    shortest = len(line(0))
    text_bytes = -(size_bytes + shortest + missing_bytes) % PAGE_BYTES
    with path.open("ab") as file:
        file.write(line(text_bytes))
    assert (path.stat().st_size + missing_bytes) % PAGE_BYTES == 0
