"""``asx recall --hook`` as a process that ends with 0 whatever happens, in a stated time, with nothing on stderr.

A child answers; this process only waits for it. So nothing that becomes of the child (an error, a crash, a call that
answers to nothing, memory that ran out) becomes the hook's exit code. Standard library only, and little of it: until
:func:`run` has set itself up, an interrupt would still be seen.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Final, NoReturn

LIMIT_S: Final = 2.0
"""So long the answer may take: a prompt waits for it. The system ends the child then, wherever it is."""
GRACE_S: Final = 0.5
"""So much later this process ends even where its child cannot be ended, in a disk that does not answer, say."""
LOG_S: Final = 1.0
"""So long it may take to log that: on that disk it never ends, on a machine with too much to do it takes a while."""
HOOK: Final = "--hook"
_QUIET_SIGNALS: Final = (
    signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU,
)  # fmt: skip
"""Those that ask a process to end or to tell of itself: a hook does the first, with 0."""
_TOO_LATE: Final = f"the hook gave up after {LIMIT_S:g} s"

_child: list[int] = []


def is_hook(words: Sequence[str]) -> bool:
    """Tell whether a command line asks for the hook, right or wrong as the rest of it may be; pure.

    ``--hook`` is never another option's value here: a hook with a mistake in it must still end with 0.
    """
    options = words[: words.index("--")] if "--" in words else words
    return HOOK in options and next((word for word in words if not word.startswith("-")), "") == "recall"


def run(words: Sequence[str], answer: Callable[[Sequence[str]], None] | None = None) -> NoReturn:
    """Answer as a hook and end the process with 0; ``words`` are those of the command line.

    ``answer`` is what the child does, ``cli.recall_hook.answer_hook`` when not given.
    """
    try:
        for number in _QUIET_SIGNALS:
            signal.signal(number, _end)
        signal.signal(signal.SIGALRM, lambda *_: _give_up(words))
        signal.setitimer(signal.ITIMER_REAL, LIMIT_S + GRACE_S)
        if _prepare_streams():
            from cli import hook_end  # noqa: F401 - what a late end is logged with must be there by then

            _wait(words, _start(words, answer))
    finally:
        os._exit(0)


def _start(words: Sequence[str], answer: Callable[[Sequence[str]], None] | None) -> int:
    """Begin the child and return its number. Raises ``OSError``, which is logged."""
    try:
        return _fork(words, answer)
    except OSError as error:
        _log(words, "io", f"the hook could not start a process: {error.strerror or type(error).__name__}")
        raise


def _fork(words: Sequence[str], answer: Callable[[Sequence[str]], None] | None) -> int:
    signal.pthread_sigmask(signal.SIG_BLOCK, _QUIET_SIGNALS)  # none may find the child before it has its own handlers
    child = os.fork()
    if child:
        _child.append(child)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _QUIET_SIGNALS)
        return child
    try:
        for number in (*_QUIET_SIGNALS, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _QUIET_SIGNALS)
        (answer or _real_answer())(words)
        os._exit(0)
    finally:
        os._exit(1)


def _real_answer() -> Callable[[Sequence[str]], None]:
    from cli.recall_hook import answer_hook

    return answer_hook


def _wait(words: Sequence[str], child: int) -> None:
    _, status = os.waitpid(child, 0)
    _child.clear()
    if status == 0:
        return
    if not os.WIFSIGNALED(status):
        _log(words, "io", "the hook ended before it could answer or say why")
    elif os.WTERMSIG(status) == signal.SIGALRM:
        _log(words, "timeout", _TOO_LATE)
    else:
        _log(words, "io", f"the hook was ended by {signal.Signals(os.WTERMSIG(status)).name}")


def _log(words: Sequence[str], kind: str, message: str) -> None:
    from cli.hook_end import log_end

    log_end(words, kind, message)


def _give_up(words: Sequence[str]) -> None:
    """End the child, say so, and end; a log that does not answer is not waited for either."""
    try:
        signal.signal(signal.SIGALRM, _end)
        signal.setitimer(signal.ITIMER_REAL, LOG_S)
        for child in _child:
            os.kill(child, signal.SIGKILL)
        _log(words, "timeout", _TOO_LATE)
    finally:
        os._exit(0)


def _end(_number: int, _frame: FrameType | None) -> None:
    """End at once, the child first."""
    try:
        for child in _child:
            os.kill(child, signal.SIGKILL)
    finally:
        os._exit(0)


def _prepare_streams() -> bool:
    """Send stderr to nowhere; tell whether there is somebody to be answered."""
    closed = [descriptor for descriptor in (0, 1) if not _is_open(descriptor)]
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (*closed, 2):  # a file that is opened later must not take one of these numbers
        os.dup2(nowhere, descriptor)
    if nowhere > 2:
        os.close(nowhere)
    return not closed


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True
