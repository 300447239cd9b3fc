"""``make bench``: every figure of one run on one corpus, as ratios, with the counts that prove equal work.

Each measured piece runs in a process of its own (``bench.floor``, ``bench.work``). Nothing is written outside a
temporary folder but, when asked with ``--save``, a file in ``bench/results``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from bench.gen import COMMON, generate

REPOSITORY: Final = Path(__file__).resolve().parent.parent
RESULTS: Final = Path(__file__).resolve().parent / "results"
LARGE_BYTES: Final = 50_000_000
MANY_FILES: Final = 20_000
FILES_OF_A_PROJECT: Final = 100
PROCESS_TIMES: Final = 9
_MIB: Final = 1024 * 1024


class Bench:
    """One run: a corpus, a folder for what is made from it, and the environment of the measured processes."""

    def __init__(self, corpus: Path, folder: Path) -> None:
        self.corpus = corpus
        self.folder = folder
        home = folder / "home"
        home.mkdir()
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
        sys.stderr.write(f"{name} {words[0]}: {time.monotonic() - started:.0f} s\n")
        return answer

    def process_s(self, *command: str) -> float:
        """Run a whole process that must end well (a search that finds nothing is other work); return its wall time."""
        started = time.perf_counter()
        done = subprocess.run(command, env=self._variables, cwd=self.folder, capture_output=True, check=False)
        spent_s = time.perf_counter() - started
        if done.returncode != 0:
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
    told["search"] = bench.module("bench.work", "search")
    told["process"] = measure_process(bench)
    told["one_line"] = measure_one_line(bench)
    return told


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


def measure_process(bench: Bench) -> dict[str, float]:
    """Run ``asx search`` and an empty Python in turn; the middle of each."""
    program = Path(sys.executable).with_name("asx")
    search = [str(program)] if program.exists() else [sys.executable, "-m", "cli"]
    searches, empties = [], []
    for _ in range(PROCESS_TIMES):
        empties.append(bench.process_s(sys.executable, "-c", "pass"))
        searches.append(bench.process_s(*search, "search", COMMON[0]))
    return {"search_s": statistics.median(searches), "python_s": statistics.median(empties)}


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


def lines_of(told: Mapping[str, Any]) -> list[str]:
    """Return the figures for a person, one a line: what, how much, and the ratio."""
    floor, rebuild, one_line = told["floor"], told["rebuild"], told["one_line"]
    unchanged, process = told["unchanged"], told["process"]
    rows = sum(floor["rows"].values())
    lines = [
        f"corpus                    {floor['bytes'] / 1e6:.0f} MB in {floor['rows']['source_rows']} files",
        f"floor                     {floor['cpu_s']:.2f} s cpu, {floor['wall_s']:.2f} s wall, {rows} rows",
        f"rebuild                   {rebuild['cpu_s'] / floor['cpu_s']:.2f} x floor (cpu), "
        f"{rebuild['wall_s'] / floor['wall_s']:.2f} x floor (wall), {sum(rebuild['rows'].values())} rows",
        f"peak memory of rebuild    {rebuild['peak_bytes'] / _MIB:.0f} MiB (floor {floor['peak_bytes'] / _MIB:.0f})",
        f"index size                {rebuild['index_bytes'] / rebuild['bytes']:.2f} x transcripts",
        f"ingest, nothing changed   {unchanged['wall_s'] / unchanged['scan_s']:.2f} x scandir and stat of "
        f"{unchanged['files']} files ({unchanged['wall_s'] * 1e3:.1f} ms)",
        f"ingest, one line more     {one_line['wall_s'] * 1e3:.1f} ms, {one_line['bytes']} bytes read of "
        f"{one_line['file_bytes'] / 1e6:.0f} MB",
    ]
    for name, figures in told["search"]["searches"].items():
        lines.append(
            f"{'search ' + name:<34}p50 {figures['p50_s'] * 1e3:.1f} ms, p95 {figures['p95_s'] * 1e3:.1f} ms, "
            f"{figures['hits']} hits of {figures['queries']} queries"
        )
    lines.append(
        f"asx search, whole process {process['search_s'] / process['python_s']:.1f} x python -c pass "
        f"({process['search_s'] * 1e3:.0f} ms)"
    )
    return lines


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
    parser.add_argument("--corpus", type=Path, help="a data home that bench.gen made, instead of a new one")
    parser.add_argument("--save", action="store_true", help="write the raw figures to bench/results")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        corpus = chosen.corpus.resolve() if chosen.corpus else folder / "corpus"
        if chosen.corpus is None:
            generate(corpus, chosen.mb)
        told = measure(Bench(corpus, folder))
    sys.stdout.write("\n".join(lines_of(told)) + "\n")
    if chosen.save:
        sys.stdout.write(f"saved {save(told, told['floor']['bytes'] / 1e6).relative_to(REPOSITORY)}\n")


if __name__ == "__main__":
    main()
