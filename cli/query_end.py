"""How a statement ends that cannot be stopped: at its time limit and on Ctrl-C the process ends from another thread.

One long function call of SQLite answers to nothing, so whoever waits for it must be left behind. Nothing is lost: a
statement only reads.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from cli import exits, output
from index.errors import QueryTimeoutError


def end_at_limit(timeout_s: float, *, as_json: bool) -> Callable[[], None]:
    """Return what the watchdog calls: tells the time limit as any failure is told, and ends the process."""

    def end() -> None:
        _end(exits.failure_of(QueryTimeoutError(timeout_s)), as_json=as_json)

    return end


@contextmanager
def ending_on_interrupt(*, as_json: bool) -> Iterator[None]:
    """Let Ctrl-C end the process at once in this block, with exit code 130.

    Python's own handler runs only when the main thread is back from SQLite. The signal's number also goes into a
    pipe, in C, at once; a thread that waits there ends the process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    waiting = threading.Thread(target=_wait_for_interrupt, args=(reader, as_json), name="interrupt", daemon=True)
    handler = signal.signal(signal.SIGINT, _leave_to_the_thread)
    other = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    waiting.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(other)
        signal.signal(signal.SIGINT, handler)
        os.close(writer)
        waiting.join()
        os.close(reader)


def _leave_to_the_thread(_number: int, _frame: FrameType | None) -> None: ...


def _wait_for_interrupt(reader: int, as_json: bool) -> None:
    while numbers := os.read(reader, 64):
        if signal.SIGINT in numbers:
            _end(exits.Failure(exits.INTERRUPTED, "interrupted", "interrupted"), as_json=as_json)


def _end(failure: exits.Failure, *, as_json: bool) -> None:
    """Tell a failure and end the process without waiting for any other thread. Nothing is lost: nothing was written."""
    try:
        if as_json:
            output.emit_json({"error": {"kind": failure.kind, "message": failure.message, "hint": failure.hint}})
        else:
            output.talk(f"asx: {failure.message}")
        output.flush()
    except OSError:
        pass
    finally:
        os._exit(failure.code)
