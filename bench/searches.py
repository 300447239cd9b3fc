"""Puts each class of queries to the library, compares every answer with the plain look, and has them timed.

``python -m bench.searches`` runs in a process of its own, on the corpus and the index of its environment, and prints
one line of JSON. It holds all texts for the comparison; the clock runs in another process (``bench.timed``).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from bench.plain import Lying, Text, count_each, lying, read_heads, read_texts, read_whole
from bench.questions import Question, questions_of
from bench.within import expect, settings_here
from index.search import SearchRequest, SearchResult, Sort, search
from index.settings import Settings

_SOME_HEADS = 20_000
_SOME_WHOLE = 12
_LONG_CHARACTERS = 4000


def measure_searches(settings: Settings, questions: Sequence[Question] | None = None) -> dict[str, Any]:
    """Put every question (those of the corpus, where none are given), and return the figures of each class."""
    home = settings.places.sessions.parent
    texts = read_texts(settings.index_path)
    if questions is None:
        heads = list(islice(read_heads(settings.index_path), _SOME_HEADS))
        whole = islice((text for text in read_whole(home) if len(text) > _LONG_CHARACTERS), _SOME_WHOLE)
        questions = questions_of(texts, heads, list(whole))
    counts = _tool_counts(settings, home, questions)
    hits = {question.name: _check_each(settings, question, texts, counts) for question in questions}
    spent = timed(settings, [question.to_json() for question in questions])
    return {
        "searches": {name: {**spent[name], "hits": hits[name]} for name in hits},
        "texts": {where: len(found) for where, found in texts.items()},
        "questions": [question.to_json() for question in questions],
    }


def _check_each(
    settings: Settings, question: Question, texts: Mapping[str, Sequence[Text]], counts: Mapping[tuple[bool, str], int]
) -> int:
    """End the run if an answer to a question is not what lies there; return how many hits its queries have."""
    hits = 0
    for query in question.queries:
        request = question.request(query)
        result = search(settings, request)
        if question.where == "tools":
            number = counts[request.deep, query]
            _check_total(question.name, query, result, number)
            _check_number(question.name, query, result, request, number)
        else:
            there = lying(question.where, texts[question.where], query, question.options)
            number = len(there.times) if there.is_whole else result.total
            check(question.name, request, result, there)
        hits += number
    expect((hits > 0) == question.finds, f"{question.name}: {hits} hits")
    return hits


def timed(settings: Settings, questions: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the times of each class, by its name, from a process that holds nothing but what a search needs.

    All texts in memory, which the comparison needs, made a search of 3 ms take 5: memory is found more slowly there.
    """
    with tempfile.TemporaryDirectory() as folder:
        asked = Path(folder) / "questions.json"
        asked.write_text(json.dumps(questions), encoding="utf-8")
        words = [sys.executable, "-m", "bench.timed", str(asked)]
        places = {"ASTER_HOME": str(settings.places.sessions.parent), "ASTER_INDEX": str(settings.index_path)}
        done = subprocess.run(words, env={**os.environ, **places}, capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"the clock stopped: {done.stderr[-500:]}")
    told: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return told


def check(name: str, request: SearchRequest, result: SearchResult, there: Lying) -> None:
    """End the run if an answer is not what lies there: its total, how many it lists, and which times those have."""
    number = len(there.times)
    if there.is_whole:
        _check_total(name, request.query, result, number)
        _check_number(name, request.query, result, request, number)
    else:
        expect(result.total >= number, f"{name}: {result.total} of at least {number} for {request.query!r}")
        number = result.total
    if request.order is Sort.TIME and there.is_whole:
        end = None if request.limit is None else request.offset + request.limit
        newest = there.times[request.offset : end]
        expect([hit.ts for hit in result.hits] == newest, f"{name}: {request.query!r} lists others than the newest")


def _check_total(name: str, query: str, result: SearchResult, number: int) -> None:
    agrees = result.total == number if result.total_is_exact else result.total >= number
    expect(agrees, f"{name}: {result.total} found and {number} there for {query!r}")


def _check_number(name: str, query: str, result: SearchResult, request: SearchRequest, number: int) -> None:
    rest = max(0, number - request.offset)
    listed = rest if request.limit is None else min(rest, request.limit)
    expect(len(result.hits) == listed, f"{name}: {len(result.hits)} listed and not {listed} for {query!r}")


def _tool_counts(settings: Settings, home: Path, questions: Sequence[Question]) -> dict[tuple[bool, str], int]:
    """Return how many texts of tools hold each query: of heads, and of whole texts where a question is deep."""
    asked: dict[bool, set[str]] = {False: set(), True: set()}
    for question in questions:
        if question.where == "tools":
            asked[bool(question.options.get("deep"))].update(question.queries)
    counts = {
        (False, query): count for query, count in count_each(read_heads(settings.index_path), asked[False]).items()
    }
    if asked[True]:
        counts.update({(True, query): count for query, count in count_each(read_whole(home), asked[True]).items()})
    return counts


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print the figures."""
    parser = argparse.ArgumentParser(description="Time searches on the index that the environment names.")
    parser.add_argument(
        "--questions", type=Path, help="what to ask, as an earlier run told it; else cut from the texts"
    )
    chosen = parser.parse_args(arguments)
    questions = None
    if chosen.questions:
        questions = [Question.from_json(told) for told in json.loads(chosen.questions.read_text(encoding="utf-8"))]
    sys.stdout.write(json.dumps(measure_searches(settings_here(), questions)) + "\n")


if __name__ == "__main__":
    main()
