"""How far a long work is: a bar on a terminal's stderr, nothing elsewhere.

``index`` calls the three methods as plain callbacks and knows no more of it; rich is imported only where a bar is
drawn. Standard library otherwise.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from cli import output

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID


class Progress(Protocol):
    """What long work tells of itself. ``advance`` is called often and must cost next to nothing."""

    def start(self, total_bytes: int) -> None:
        """Say how much there is to read, as far as is known."""

    def advance(self, bytes_read: int) -> None:
        """Say that so many more bytes are read."""

    def note(self, text: str) -> None:
        """Say what goes on now, in a few words; no text of a transcript."""


class Silent:
    """A progress that nobody sees."""

    def start(self, total_bytes: int) -> None:
        """Do nothing."""

    def advance(self, bytes_read: int) -> None:
        """Do nothing."""

    def note(self, text: str) -> None:
        """Do nothing."""


class Bar:
    """A bar of bytes, drawn by rich on its own thread and gone when the work is done."""

    def __init__(self, drawing: RichProgress, task: TaskID) -> None:
        self._drawing = drawing
        self._task = task

    def start(self, total_bytes: int) -> None:
        """Set the bar's full length."""
        self._drawing.update(self._task, total=max(total_bytes, 1), completed=0)

    def advance(self, bytes_read: int) -> None:
        """Move the bar."""
        self._drawing.advance(self._task, bytes_read)

    def note(self, text: str) -> None:
        """Name the step beside the bar."""
        self._drawing.update(self._task, description=output.safe_line(text))


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[Progress]:
    """Show a bar for the block when a person watches stderr, else nothing."""
    if quiet or not output.is_terminal(sys.stderr):
        yield Silent()
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    drawing = RichProgress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
    )
    with drawing:
        yield Bar(drawing, drawing.add_task("reading", total=None))
