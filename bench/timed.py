"""Times each class of queries through the library, in a process that holds nothing but what a search needs.

``python -m bench.timed FILE`` reads questions as ``bench.questions`` tells them, on the corpus and the index of its
environment, and prints one line of JSON. Each query is put once unmeasured, so that what is timed is warm.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.measure import percentile
from bench.questions import Question
from bench.within import settings_here
from index.search import search
from index.settings import Settings


def time_question(settings: Settings, question: Question) -> dict[str, Any]:
    """Return the times of a class: wall and processor time in seconds, and what they must keep."""
    times_s: list[float] = []
    processor_s: list[float] = []
    for query in question.queries:
        request = question.request(query)
        search(settings, request)
        for _ in range(question.times):
            started, began = time.perf_counter(), time.process_time()
            search(settings, request)
            times_s.append(time.perf_counter() - started)
            processor_s.append(time.process_time() - began)
    return {
        "p50_s": percentile(times_s, 0.5),
        "p95_s": percentile(times_s, 0.95),
        "cpu_p95_s": percentile(processor_s, 0.95),
        "must_s": question.must_s,
        "queries": len(question.queries),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Time the questions of a file and print the figures."""
    parser = argparse.ArgumentParser(description="Time searches on the index that the environment names.")
    parser.add_argument("questions", type=Path, help="what to ask")
    chosen = parser.parse_args(arguments)
    questions = [Question.from_json(told) for told in json.loads(chosen.questions.read_text(encoding="utf-8"))]
    settings = settings_here()
    sys.stdout.write(json.dumps({question.name: time_question(settings, question) for question in questions}) + "\n")


if __name__ == "__main__":
    main()
