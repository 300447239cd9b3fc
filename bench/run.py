"""``make bench``: every figure of one run on one corpus, as ratios, with the counts that prove equal work.

Each measured piece runs in a process of its own (``bench.floor``, ``bench.work``, ``bench.searches``, ``bench.scan``,
``bench.recall``); each index is made once and serves all that is asked of it. Nothing is written outside a temporary
folder but, when asked with ``--save``, a file in ``bench/results``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from bench.gen import generate
from bench.table import growth_lines, lines_of
from bench.whole import measure_processes

REPOSITORY: Final = Path(__file__).resolve().parent.parent
RESULTS: Final = Path(__file__).resolve().parent / "results"
LARGE_BYTES: Final = 50_000_000
MANY_FILES: Final = 20_000
FILES_OF_A_PROJECT: Final = 100
COMMON_WORD: Final = "the"


class Bench:
    """One run: a corpus, a folder for what is made from it, and the environment of the measured processes."""

    def __init__(self, corpus: Path, folder: Path) -> None:
        self.corpus = corpus
        self.folder = folder
        home = folder / "home"
        home.mkdir(parents=True)
        self._variables = {
            "HOME": str(home),
            "PATH": os.environ.get("PATH", os.defpath),
            "PYTHONPATH": str(REPOSITORY),
            "LANG": "C.UTF-8",
            "ASTER_HOME": str(corpus),
            "ASTER_INDEX": str(folder / "index" / "index.sqlite"),
        }

    def module(self, name: str, *words: str | Path, **variables: str) -> dict[str, Any]:
        """Run a module of this package in a process of its own; return the JSON that it prints."""
        command = [sys.executable, "-m", name, *map(str, words)]
        started = time.monotonic()
        done = subprocess.run(
            command, env={**self._variables, **variables}, cwd=REPOSITORY, stdout=subprocess.PIPE, check=True
        )
        answer: dict[str, Any] = json.loads(done.stdout)
        sys.stderr.write(f"{' '.join([name, *map(str, words[:1])])}: {time.monotonic() - started:.0f} s\n")
        return answer

    def process_s(self, command: Sequence[str], code: int) -> float:
        """Run a whole process that must end with ``code``; return its wall time."""
        started = time.perf_counter()
        done = subprocess.run(command, env=self._variables, cwd=self.folder, capture_output=True, check=False)
        spent_s = time.perf_counter() - started
        if done.returncode != code:
            raise SystemExit(f"{' '.join(command)} ended with {done.returncode}")
        return spent_s


def measure(bench: Bench) -> dict[str, Any]:
    """Measure everything; the order matters: an index is made before it is used."""
    told: dict[str, Any] = {"floor": bench.module("bench.floor", bench.corpus, bench.folder / "floor.sqlite")}
    (bench.folder / "floor.sqlite").unlink()
    told["rebuild"] = bench.module("bench.work", "rebuild")
    if told["floor"]["rows"] != told["rebuild"]["rows"]:
        raise SystemExit(
            f"unequal work: the floor's rows are {told['floor']['rows']}, the index's {told['rebuild']['rows']}"
        )
    told["unchanged"] = measure_unchanged(bench)
    told["one_line"] = measure_one_line(bench)
    return {**told, **measure_search(bench), **measure_recall(bench)}


def measure_recall(bench: Bench) -> dict[str, Any]:
    """Measure recall on memory folders of its own; the corpus is not looked at."""
    return {"recall": bench.module("bench.recall", bench.folder / "recall")}


def measure_search_alone(bench: Bench) -> dict[str, Any]:
    """Make the index and measure what is asked of it."""
    return {"rebuild": bench.module("bench.work", "rebuild"), **measure_search(bench)}


def measure_search(bench: Bench) -> dict[str, Any]:
    """Measure searches in the library, the same questions without an index, and whole processes."""
    search = bench.module("bench.searches")
    queries = {question["name"]: question["queries"] for question in search["questions"]}
    rare, absent = queries["answers, rare"][0], queries["answers, nothing found"][0]
    asked = {
        "prompts": [COMMON_WORD],
        "answers": ["--in", "answers", COMMON_WORD],
        "nothing found": ["--in", "answers", absent],
        "words": ["--words", "--in", "answers", queries["answers, words: one rare"][0]],
        "regex": ["--regex", "--in", "answers", queries["answers, regex with a literal"][0]],
    }
    return {
        "search": search,
        "scan": bench.module("bench.scan", rare, COMMON_WORD, absent),
        "process": measure_processes(bench.process_s, asked),
    }


def measure_growth(bench: Bench, search: Mapping[str, Any]) -> dict[str, Any]:
    """Make the index of a larger corpus and put the questions of the smaller one to it."""
    questions = bench.folder / "questions.json"
    questions.write_text(json.dumps(search["questions"]), encoding="utf-8")
    rebuild = bench.module("bench.work", "rebuild")
    return {"rebuild": rebuild, "search": bench.module("bench.searches", "--questions", questions)}


def measure_unchanged(bench: Bench) -> dict[str, Any]:
    """Ingest a home of many small sessions once, and then again and again without a change."""
    home = bench.folder / "many"
    for number in range(MANY_FILES):
        project = f"/home/dev/src/p{number // FILES_OF_A_PROJECT}"
        ts = f"2026-01-01T00:{number // 60 % 60:02d}:{number % 60:02d}.000Z"
        head = {"type": "session", "id": f"01many{number:020d}", "v": 1, "created_at": ts, "cwd": project}
        prompt = {"type": "message", "role": "user", "content": f"prompt number {number}", "ts": ts}
        path = home / "sessions" / project.strip("/").replace("/", "-") / f"{head['id']}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{json.dumps({**head, 'repo_root': project})}\n{json.dumps(prompt)}\n", encoding="utf-8")
    places = {"ASTER_HOME": str(home), "ASTER_INDEX": str(bench.folder / "many.sqlite")}
    bench.module("bench.work", "rebuild", **places)
    return bench.module("bench.work", "unchanged", **places)


def measure_one_line(bench: Bench) -> dict[str, Any]:
    """Put the corpus's messages into one large transcript, ingest it, and add lines to it one at a time."""
    home = bench.folder / "large"
    transcript = home / "sessions" / "large" / "01aaaaaaaaaaaaaaaaaaaaaaaa.jsonl"
    transcript.parent.mkdir(parents=True)
    sources = sorted((bench.corpus / "sessions").glob("*/*.jsonl"))
    with transcript.open("wb") as large:
        large.write(sources[0].read_bytes())
        while large.tell() < LARGE_BYTES:
            for source in sources:
                with source.open("rb") as file:
                    next(file)  # the header
                    shutil.copyfileobj(file, large)
                if large.tell() >= LARGE_BYTES:
                    break
    places = {"ASTER_HOME": str(home), "ASTER_INDEX": str(bench.folder / "large.sqlite")}
    bench.module("bench.work", "rebuild", **places)
    return bench.module("bench.work", "one-line", "--transcript", transcript, **places)


def save(told: Mapping[str, Any], mb: float) -> Path:
    """Write the raw figures with what they were measured on; return the file."""
    packages = ("sqlalchemy", "alembic", "typer", "orjson")
    machine = {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "packages": {name: version(name) for name in packages},
    }
    RESULTS.mkdir(exist_ok=True)
    now = datetime.now(UTC)
    path = RESULTS / f"{now:%Y-%m-%d-%H%M}-{mb:g}mb.json"
    whole = {"at": f"{now:%Y-%m-%dT%H:%M:%SZ}", "mb": mb, "machine": machine, "figures": told}
    path.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    return path


def main(arguments: Sequence[str] | None = None) -> None:
    """Make a corpus, measure everything on it, print the figures."""
    parser = argparse.ArgumentParser(prog="bench", description="Measure the product against the floor of the same run.")
    parser.add_argument("--mb", type=float, default=50, help="the corpus's size in million bytes (default 50)")
    parser.add_argument(
        "--corpus",
        type=Path,
        action="append",
        default=[],
        help="a data home that bench.gen made, instead of a new one; given again, a larger one of the same seed: "
        "searches are then put to that as well",
    )
    parser.add_argument("--only", choices=("search",), help="leave out the floor and ingest")
    parser.add_argument("--save", action="store_true", help="write the raw figures to bench/results")
    chosen = parser.parse_args(arguments)
    if len(chosen.corpus) > 2:
        parser.error("--corpus can be given twice")
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        corpus, *larger = [path.resolve() for path in chosen.corpus] or [folder / "corpus"]
        if not chosen.corpus:
            generate(corpus, chosen.mb)
        bench = Bench(corpus, folder)
        told = measure_search_alone(bench) if chosen.only else measure(bench)
        told["load"] = [load, os.getloadavg()[0]]
        _print(lines_of(told))
        if larger:
            told["larger"] = measure_growth(Bench(larger[0], folder / "larger"), told["search"])
            told["larger"]["load"] = os.getloadavg()[0]
            _print(["", *growth_lines(told)])
    if chosen.save:
        _print([f"saved {save(told, told['rebuild']['bytes'] / 1e6).relative_to(REPOSITORY)}"])


def _print(lines: Sequence[str]) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
