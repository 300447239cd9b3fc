"""Times recall through the library on memory folders of several sizes: a warm process, a new connection each time.

``python -m bench.recall FOLDER`` runs in a process of its own, makes the folders and their indexes below ``FOLDER`` and
prints one line of JSON. Every prompt is put once unmeasured, and that answer is compared with the one that the files
alone give, so that what is timed is right.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from bench.measure import percentile
from bench.notes import PROJECTS, Notes, make_notes
from bench.within import expect
from index.ingest import ingest
from index.recall.recall import MemoryAnswer, recall_memory, store_corpus
from index.settings import Settings, load_settings
from persist.recall.answer import recall
from persist.recall.scope import Place
from persist.sources import Environment

MUST_MS: Final = {1_000: 5.0, 10_000: 15.0}
"""Processor time in milliseconds that 95 of 100 prompts may take, by the number of notes."""
AS_OF: Final = "2026-11-30T12:00:00.000Z"
PLACE: Final = Place(PROJECTS[0], PROJECTS[0])
TIMES: Final = 2


def measure_recall(folder: Path, count: int) -> dict[str, Any]:
    """Make so many notes and their index below ``folder``, and put the prompts."""
    environment = Environment({"ASTER_HOME": str(folder / "aster")}, folder)
    notes = make_notes(folder / "aster" / "memory", count)
    settings = load_settings(environment, folder, str(folder / "index.sqlite"))
    ingest(settings)
    given = _check(settings, notes)
    gc.collect()
    gc.freeze()  # what making and checking left in memory is not there where a prompt is put
    wall_s: list[float] = []
    processor_s: list[float] = []
    prompts = (*notes.about_a_note, *notes.at_random)
    for prompt in prompts * TIMES:
        started, began = time.perf_counter(), time.process_time()
        recall_memory(settings, prompt, PLACE, AS_OF)
        processor_s.append(time.process_time() - began)
        wall_s.append(time.perf_counter() - started)
    gc.unfreeze()
    return {
        "notes": count,
        "prompts": len(prompts),
        **given,
        "p50_s": percentile(wall_s, 0.5),
        "p95_s": percentile(wall_s, 0.95),
        "cpu_p50_s": percentile(processor_s, 0.5),
        "cpu_p95_s": percentile(processor_s, 0.95),
        "must_s": MUST_MS[count] / 1e3 if count in MUST_MS else None,
        "index_bytes": settings.index_path.stat().st_size,
    }


def _check(settings: Settings, notes: Notes) -> dict[str, int]:
    """Put every prompt once, and to the files too; tell how many of each sort were answered."""
    corpus = store_corpus(settings, AS_OF)
    answered = {"about_a_note": 0, "at_random": 0}
    for sort in answered:
        for prompt in getattr(notes, sort):
            found = recall_memory(settings, prompt, PLACE, AS_OF)
            expect(found.from_index and not found.notes, f"recall did not ask the index: {found.notes}")
            files = recall(prompt, corpus, place=PLACE, as_of=AS_OF)
            expect(names_of(found) == [one.candidate.key for one in files.chosen], f"the files say more to {prompt!r}")
            answered[sort] += bool(found.given)
    return answered


def names_of(found: MemoryAnswer) -> list[tuple[str, str]]:
    """Return what was given, in order."""
    return [given.verdict.candidate.key for given in found.given]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print the figures, by the number of notes."""
    parser = argparse.ArgumentParser(description="Time recall on memory folders of several sizes.")
    parser.add_argument("folder", type=Path, help="where to make them; must be empty or missing")
    parser.add_argument("--notes", type=int, nargs="+", default=list(MUST_MS), help="how many notes each has")
    chosen = parser.parse_args(arguments)
    told = [measure_recall(chosen.folder.resolve() / str(count), count) for count in chosen.notes]
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
