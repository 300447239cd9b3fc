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
from bench.gen import COMMON
from bench.measure import Spent, percentile, spent_since
from index.fields import ANSWER, HISTORY_PROMPT, PROMPT, SUMMARY
from index.ingest import ingest
from index.rebuild import rebuild
from index.results import IngestReport
from index.search import SearchRequest, search
from index.settings import Settings, load_settings
from persist.places import current_environment

TIMES: Final = 5
"""Short work is done this often, and the middle one counts."""
QUERIES: Final = 10
"""Queries of each sort; all of them are put ``TIMES`` times and every answer counts for the percentiles."""
SEARCHED: Final = {"prompts": (PROMPT, HISTORY_PROMPT), "answers": (ANSWER, SUMMARY)}
_FIRST_CJK: Final = "\u3042"


def settings_here() -> Settings:
    """Return the settings that this process's environment gives."""
    return load_settings(current_environment(), Path.cwd())


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
        _expect(not report.wrote, "an ingest of an unchanged store wrote")
        _expect(seen == files, f"{files} files lie there and {seen} were looked at")
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
        _expect(
            tailed == 1 and report.lines_indexed == 1, f"{tailed} sources were read on, {report.lines_indexed} lines"
        )
    return {"wall_s": percentile(runs, 0.5), "bytes": max(read), "file_bytes": transcript.stat().st_size}


def measure_search() -> dict[str, Any]:
    """Put queries of four sorts to prompts and to answers; count hits and compare them with a plain look."""
    settings = settings_here()
    told: dict[str, Any] = {}
    for where, fields in SEARCHED.items():
        texts = _texts(settings.index_path, fields)
        for sort, queries in _queries(texts).items():
            times: list[float] = []
            hits = 0
            for query in queries:
                request = SearchRequest(query, (where,))
                for _ in range(TIMES):
                    started = Spent.now()
                    result = search(settings, request)
                    times.append(spent_since(started).wall_s)
                lying = _lying_there(texts, query, folded=where == "prompts")
                agrees = result.total == lying if result.total_is_exact else result.total >= lying
                _expect(agrees, f"a {sort} query found {result.total} of {lying} texts in {where}")
                hits += result.total
            middle_s, slow_s = percentile(times, 0.5), percentile(times, 0.95)
            told[f"{where}, {sort}"] = {"p50_s": middle_s, "p95_s": slow_s, "queries": len(queries), "hits": hits}
    return {"searches": told, "peak_bytes": Spent.now().peak_bytes}


def _texts(path: Path, fields: tuple[int, ...]) -> list[str]:
    marks = ", ".join("?" * len(fields))
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    rows = connection.execute(f"SELECT text FROM prose WHERE field IN ({marks}) ORDER BY id", fields).fetchall()
    connection.close()
    return [text for (text,) in rows]


def _queries(texts: list[str]) -> dict[str, list[str]]:
    """Return queries of each sort, all of which occur; the same corpus gives the same queries."""
    step = max(1, len(texts) // (QUERIES * 4))
    sample = texts[::step]
    latin = [words for text in sample if text.isascii() and len(words := text.lower().split()) > 6]
    east = [text[:8] for text in texts if text[0] >= _FIRST_CJK]
    east = east[:: max(1, len(east) // QUERIES)][:QUERIES]
    two_latin = [words[1][:2] for words in latin if len(words[1]) > 1]
    return {
        "rare": [" ".join(words[2:5]) for words in latin[:QUERIES]],
        "common": COMMON[:QUERIES],
        "CJK": [text[:4] for text in east],
        "two characters": [*two_latin[: QUERIES // 2], *(text[1:3] for text in east[: QUERIES // 2])],
    }


def _lying_there(texts: list[str], query: str, *, folded: bool) -> int:
    """Count the texts that hold the query, case apart; ``folded``: equal texts once."""
    wanted = query.casefold()
    found = [text for text in texts if wanted in text.casefold()]
    return len(set(found)) if folded else len(found)


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


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise SystemExit(f"the benchmark measured something else than it says: {otherwise}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Do one piece of work and print what it took."""
    parser = argparse.ArgumentParser(description="Measure one piece of the product's work.")
    parser.add_argument("work", choices=("rebuild", "unchanged", "one-line", "search"))
    parser.add_argument("--transcript", type=Path)
    chosen = parser.parse_args(arguments)
    work: dict[str, Callable[[], dict[str, Any]]] = {
        "rebuild": measure_rebuild,
        "unchanged": measure_unchanged,
        "search": measure_search,
        "one-line": lambda: measure_one_line(chosen.transcript),
    }
    sys.stdout.write(json.dumps(work[chosen.work]()) + "\n")


if __name__ == "__main__":
    main()
