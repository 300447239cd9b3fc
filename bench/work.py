"""One measured piece of the product's work, run in a process of its own; prints one line of JSON.

A process of its own, because peak memory is that of a process; the clocks start after the imports. ``bench.run`` starts
it with ``ASTER_HOME`` set to the corpus and no other agent's files in sight.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from bench.floor import COUNTED
from bench.measure import Spent, percentile, spent_since
from bench.within import expect, settings_here
from index.ingest import ingest
from index.rebuild import rebuild
from index.results import IngestReport

TIMES: Final = 5
"""Short work is done this often, and the middle one counts."""


def measure_rebuild() -> dict[str, Any]:
    """Make the index anew; tell its size and the rows of the tables that the floor fills too."""
    settings = settings_here()
    started = Spent.now()
    report = rebuild(settings)
    spent = spent_since(started)
    path = settings.index_path
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        rows = {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in COUNTED}
    connection.close()
    return {**spent._asdict(), "bytes": report.bytes_read, "rows": rows, "index_bytes": path.stat().st_size}


def measure_unchanged() -> dict[str, Any]:
    """Ingest where nothing changed, and look at the same files without the product, in turn."""
    settings = settings_here()
    root = settings.places.sessions
    looks, runs = [], []
    seen = 0
    for _ in range(TIMES):
        started = Spent.now()
        files = _scan(root)
        looks.append(spent_since(started).wall_s)
        started = Spent.now()
        report = ingest(settings)
        runs.append(spent_since(started).wall_s)
        seen = sum(agent.sources.unchanged for agent in report.agents.values())
        expect(not report.wrote, "an ingest of an unchanged store wrote")
        expect(seen == files, f"{files} files lie there and {seen} were looked at")
    return {"wall_s": percentile(runs, 0.5), "scan_s": percentile(looks, 0.5), "files": seen}


def measure_one_line(transcript: Path) -> dict[str, Any]:
    """Add one line to a large transcript that is indexed, ingest, and tell what was read; repeated."""
    settings = settings_here()
    runs: list[float] = []
    read: list[int] = []
    for number in range(TIMES):
        prompt = {"type": "message", "role": "user", "content": f"one more line, number {number}"}
        with transcript.open("ab") as file:
            file.write(json.dumps({**prompt, "ts": f"2026-01-01T00:00:0{number}.000Z"}).encode() + b"\n")
        started = Spent.now()
        report: IngestReport = ingest(settings)
        runs.append(spent_since(started).wall_s)
        read.append(report.bytes_read)
        tailed = sum(agent.sources.tailed for agent in report.agents.values())
        expect(
            tailed == 1 and report.lines_indexed == 1, f"{tailed} sources were read on, {report.lines_indexed} lines"
        )
    return {"wall_s": percentile(runs, 0.5), "bytes": max(read), "file_bytes": transcript.stat().st_size}


def _scan(folder: Path) -> int:
    """Look at every transcript below a folder as cheaply as can be; return how many there are."""
    files = 0
    with os.scandir(folder) as projects:
        for project in projects:
            if project.is_dir():
                with os.scandir(project) as entries:
                    for entry in entries:
                        entry.stat()
                        files += 1
    return files


def main(arguments: Sequence[str] | None = None) -> None:
    """Do one piece of work and print what it took."""
    parser = argparse.ArgumentParser(description="Measure one piece of the product's work.")
    parser.add_argument("work", choices=("rebuild", "unchanged", "one-line"))
    parser.add_argument("--transcript", type=Path)
    chosen = parser.parse_args(arguments)
    work: dict[str, Callable[[], dict[str, Any]]] = {
        "rebuild": measure_rebuild,
        "unchanged": measure_unchanged,
        "one-line": lambda: measure_one_line(chosen.transcript),
    }
    sys.stdout.write(json.dumps(work[chosen.work]()) + "\n")


if __name__ == "__main__":
    main()
