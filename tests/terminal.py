"""Runs the command as a process whose three streams are one pseudo-terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys

from tests.conftest import REPOSITORY


def on_a_terminal(*words: str, no_color: str = "") -> tuple[int, str]:
    """Return the command's exit code and all that reached the screen, colours too unless ``no_color`` says no."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "cli", *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color", "NO_COLOR": no_color, "PYTHONPATH": str(REPOSITORY)},
    )
    os.close(theirs)
    shown = b""
    while select.select([ours], [], [], 30)[0]:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux's way of saying that the other side is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    return running.wait(30), shown.decode("utf-8")
