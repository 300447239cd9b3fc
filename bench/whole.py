"""Whole processes: what a person waits for, as ratios to a Python that does nothing."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

TIMES: Final = 9
MUST_RATIO: Final = 25
AIM_RATIO: Final = 12
NOTHING_FOUND: Final = 1

Timed = Callable[[Sequence[str], int], float]
"""Runs a command that must end with a code; returns its wall time in seconds."""


def program() -> list[str]:
    """Return the words that start the program: the installed one, else the module."""
    installed = Path(sys.executable).with_name("asx")
    return [str(installed)] if installed.exists() else [sys.executable, "-m", "cli"]


def measure_processes(timed: Timed, asked: Mapping[str, Sequence[str]], times: int = TIMES) -> dict[str, float]:
    """Run each search of ``asked`` (the words behind ``asx search``), help and an empty Python in turn.

    Searches run with and without the look at the disk first. Each must find something, but for those whose name
    begins with "nothing".
    """
    asx = program()
    commands: dict[str, tuple[list[str], int]] = {"python -c pass": ([sys.executable, "-c", "pass"], 0)}
    commands["asx --help"] = ([*asx, "--help"], 0)
    for name, words in asked.items():
        code = NOTHING_FOUND if name.startswith("nothing") else 0
        commands[f"search, {name}"] = ([*asx, "search", *words], code)
        commands[f"search, {name}, --no-refresh"] = ([*asx, "search", "--no-refresh", *words], code)
    spent: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(times):
        for name, (command, code) in commands.items():
            spent[name].append(timed(command, code))
    return {name: statistics.median(took_s) for name, took_s in spent.items()}
