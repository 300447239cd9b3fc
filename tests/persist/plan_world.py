"""What the tests of applied plans share: a memory with something of everything, a plan over it, looks at a folder."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Final

from persist.memory import MemoryStore
from persist.memory.applied import Applied

PLAN: Final[dict[str, Any]] = {
    "session": "01m32j3he024b2zft51ksjccbw",
    "summary": "Two blocks are one.",
    "new": [
        {"title": "Rates", "text": "In rates.csv.\n\nWeekly.", "aliases": ["VAT"], "kind": "fact"},
        {"title": "Over", "text": "New words.", "supersedes": ["Old host"]},
    ],
    "merge": [
        {"from": ["One", "two"], "into": {"title": "Both", "text": "One and two."}},
        {"from": ["Three", "Four"], "into": {"title": "Three", "text": "Three, and four."}, "then": "supersede"},
    ],
    "archive": [{"name": "Useless", "reason": "It was never true."}],
    "lessons": ["Main is protected.", "Known already.", "Two lines\nof one fact."],
}
"""Writes ``rates`` and ``both``, writes over ``over`` and ``three``, supersedes ``old-host`` and ``four``, archives
``one``, ``two`` and ``useless``, and appends two facts."""
CRLF: Final = b"---\r\nname: four\r\n# by hand\r\nodd:  'x'\r\n---\r\n\r\nFour, caf\xe9.\r\n"


def fill(folder: Path) -> MemoryStore:
    """Make a memory in which ``PLAN`` finds all that it names; ``useless`` was archived once before."""
    store = MemoryStore(folder)
    for title in ("Over", "Old host", "One", "Two", "Three", "Useless", "Beside"):
        store.remember(f"{title}, as it was.", title, session="before", pin=title == "Over")
    store.archive("Useless")
    store.remember("Useless again.", "Useless")
    (folder / "four.md").write_bytes(CRLF)
    store.append_project("Known already.")
    return store


def blocks(folder: Path) -> dict[str, bytes]:
    """Return every block's file, archived ones too and older versions not, by its path below the folder."""
    paths = [path for path in folder.rglob("*.md") if "@" not in path.name and path.name != "ASTER.md"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return every file below a folder with its time of change."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file()
    }


def lines(folder: Path) -> list[dict[str, Any]]:
    """Return the journal's lines; the test fails where one is not whole."""
    return [json.loads(line) for line in (folder / "journal.jsonl").read_bytes().splitlines()]


def facts(folder: Path) -> bytes:
    """Return the bytes of ``ASTER.md``."""
    return (folder / "ASTER.md").read_bytes()


def without_times(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files with their times of writing made equal."""
    return {name: re.sub(rb"(created|updated)_at: \S+", rb"\1_at: T", data) for name, data in files.items()}


def take_back(store: MemoryStore, step: str | None) -> Applied:
    """Take a step back; where the system knows no leases, only an ``ASTER.md`` that is quiet may be changed."""
    assert step is not None
    if (store.folder / "ASTER.md").exists():
        os.utime(store.folder / "ASTER.md", (1_700_000_000, 1_700_000_000))
    return store.revert(step)
