"""No pattern hangs a search: each text has its time, and so have all of them together."""

from __future__ import annotations

import gc
from time import monotonic

import pytest

from index.errors import SearchTimeoutError
from index.ingest import ingest
from index.search import Filters, Mode, SearchRequest, matches, search
from index.settings import Settings
from tests import builders as make
from tests.builders import HomeBuilder


def store(home: HomeBuilder, prompts: int, text: str) -> Settings:
    records = [make.aster_prompt(f"{text} {number}", number) for number in range(prompts)]
    home.aster("s", make.aster_header("s", 0), *records)
    settings = home.settings()
    ingest(settings)
    return settings


def ask(settings: Settings, pattern: str) -> SearchRequest:
    return SearchRequest(pattern, mode=Mode.REGEX, filters=Filters())


@pytest.mark.usefixtures("quick_schema")
def test_a_pattern_that_runs_out_of_time_everywhere_ends_the_search(home: HomeBuilder) -> None:
    settings = store(home, 30, "a" * 5000 + "!")
    started = monotonic()
    with pytest.raises(SearchTimeoutError) as caught:
        search(settings, ask(settings, "(a|aa)+$"))
    gc.collect()  # nothing is left that would use the closed connection: pytest turns such warnings into errors
    assert caught.value.given_up > 1
    assert monotonic() - started < 20
    assert "simpler" in str(caught.value)


@pytest.mark.usefixtures("quick_schema")
def test_a_few_texts_are_given_up_and_counted_and_the_others_answer(home: HomeBuilder) -> None:
    home.aster(
        "s",
        make.aster_header("s", 0),
        make.aster_prompt("a" * 5000 + "!", 1),
        make.aster_prompt("aaaa", 2),
        make.aster_prompt("b", 3),
    )
    settings = home.settings()
    ingest(settings)
    result = search(settings, ask(settings, "(a|aa)+$"))
    assert [hit.text for hit in result.hits] == ["aaaa"]
    assert result.given_up == 1


@pytest.mark.usefixtures("quick_schema")
def test_a_pattern_that_is_slow_but_in_time_on_each_text_ends_as_well(
    home: HomeBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = store(home, 40, "the quick brown fox " * 200)
    monkeypatch.setattr(matches, "PATTERN_TIME_S", 0.0005)
    with pytest.raises(SearchTimeoutError) as caught:
        search(settings, ask(settings, r"(\w+\s)+[0-9]{9}"))
    assert caught.value.timeout_s > 0.0005


@pytest.mark.usefixtures("quick_schema")
def test_of_a_long_text_that_is_all_hits_the_first_is_given(home: HomeBuilder) -> None:
    home.aster("s", make.aster_header("s", 0), make.aster_prompt("x" * 4_000_000, 1))
    settings = home.settings()
    ingest(settings)
    [hit] = search(settings, ask(settings, "[a-z]")).hits
    assert hit.spans[0] == (0, 1)
