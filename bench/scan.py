"""What the same question costs without an index: a scan of the files, one of the texts in the index, and ``rg``.

``python -m bench.scan`` runs in a process of its own, on the corpus and the index of its environment, and prints one
line of JSON. The scans decide with the product's own verifier and count every text that holds the query; so does the
search with ``--count``, while the other gives a page of the newest. ``rg`` counts lines of JSON that hold the query
anywhere, in texts of tools too.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from bench.plain import read_prose
from bench.within import expect, settings_here
from index.fields import SEARCHED
from index.match import read_query
from index.search import SearchRequest, search
from index.settings import Settings

FIELDS: Final = ("prompts", "answers")
_SCANS: Final = 3
_SEARCHES: Final = 9
_TEXTS: Final = "SELECT text FROM prose WHERE hidden = 0 AND field IN (SELECT value FROM json_each(?))"


def compare(settings: Settings, queries: Sequence[str]) -> dict[str, Any]:
    """Return, for each query, the middle times of each way and what each of them counted."""
    return {query: _compare(settings, query) for query in queries}


def _compare(settings: Settings, query: str) -> dict[str, Any]:
    home = settings.places.sessions.parent
    files_s, files_hits = _timed(_SCANS, lambda: _holding(query, read_prose(home)))
    texts_s, texts_hits = _timed(_SCANS, lambda: _holding(query, _stored(settings.index_path)))
    expect(
        files_hits == texts_hits, f"{query!r} stands in {files_hits} texts of the files and {texts_hits} of the index"
    )
    page = SearchRequest(query, FIELDS)
    counted = SearchRequest(query, FIELDS, limit=1, exact_total=True)
    page_s, listed = _timed(_SEARCHES, lambda: len(search(settings, page).hits))
    counted_s, total = _timed(_SEARCHES, lambda: search(settings, counted).total)
    expect((total == 0) == (texts_hits == 0) and total <= texts_hits, f"{query!r}: {total} hits of {texts_hits} texts")
    told: dict[str, Any] = {
        "files_s": files_s, "texts_s": texts_s, "page_s": page_s, "counted_s": counted_s,
        "texts": texts_hits, "listed": listed, "total": total,
    }  # fmt: skip
    if program := shutil.which("rg"):
        told["rg_s"], told["rg_lines"] = _timed(_SCANS, lambda: _grep(program, query, home / "sessions"))
        told["rg_case_s"], _ = _timed(_SCANS, lambda: _grep(program, query, home / "sessions", ignore_case=False))
    return told


def _timed(times: int, work: Callable[[], int]) -> tuple[float, int]:
    """Return the middle of several times, after one that is not counted, and what the work gave."""
    given = work()
    spent_s = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        spent_s.append(time.perf_counter() - started)
    return statistics.median(spent_s), given


def _holding(query: str, texts: Iterable[str]) -> int:
    matches = read_query(query).verifier().matches
    return sum(1 for text in texts if matches(text))


def _stored(index_path: Path) -> Iterator[str]:
    fields = json.dumps([field for name in FIELDS for field in SEARCHED[name]])
    connection = sqlite3.connect(f"file:{index_path}?mode=ro", uri=True)
    try:
        for (text,) in connection.execute(_TEXTS, (fields,)):
            yield text
    finally:
        connection.close()


def _grep(program: str, query: str, folder: Path, *, ignore_case: bool = True) -> int:
    """Return how many lines hold the query; ends the run if the program fails."""
    command = [program, "--no-config", "--no-ignore", "--no-filename", "-F", "-c", *(["-i"] if ignore_case else [])]
    done = subprocess.run([*command, "-e", query, str(folder)], stdout=subprocess.PIPE, check=False)
    expect(done.returncode in {0, 1}, f"rg ended with {done.returncode}")
    return sum(map(int, done.stdout.split()))


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare and print the figures."""
    parser = argparse.ArgumentParser(description="Compare searches with scans, on the index of the environment.")
    parser.add_argument("queries", nargs="+")
    chosen = parser.parse_args(arguments)
    sys.stdout.write(json.dumps(compare(settings_here(), chosen.queries)) + "\n")


if __name__ == "__main__":
    main()
