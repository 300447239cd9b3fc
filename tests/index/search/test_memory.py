"""What a search holds does not grow with what it finds, where each hit is given on (DESIGN, law 6)."""

from __future__ import annotations

import tracemalloc

import pytest

from index.ingest import ingest
from index.search import Hit, SearchRequest, search
from tests import builders as make
from tests.builders import HomeBuilder

ANSWERS = 500
CHARACTERS = 40_000


@pytest.mark.usefixtures("quick_schema")
@pytest.mark.parametrize("query", ["swift", "swift 4", "zz"], ids=["all of them", "some", "two characters"])
def test_hits_that_are_given_on_are_not_kept(home: HomeBuilder, query: str) -> None:
    answers = [make.aster_answer(f"zz swift {number} " + "x" * CHARACTERS, number % 60) for number in range(ANSWERS)]
    home.aster("s", make.aster_header("s", 0), *answers)
    settings = home.settings()
    ingest(settings)
    request = SearchRequest(query, ("answers",), limit=None)
    kept = search(settings, request)
    lengths: list[int] = []

    def take(hit: Hit) -> None:
        lengths.append(len(hit.text))

    tracemalloc.start()
    try:
        result = search(settings, request, take)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (result.hits, result.listed, result.total) == ((), len(kept.hits), kept.total)
    assert lengths == [len(hit.text) for hit in kept.hits]
    assert len(lengths) > 100
    assert peak_bytes < ANSWERS * CHARACTERS / 4
