"""What a candidate has of a prompt: wholes beside parts, joined neighbours, slips, endings, light words."""

from __future__ import annotations

import pytest
from hypothesis import given

from persist.recall.candidate import Candidate
from persist.recall.corpus import Statistics
from persist.recall.evidence import MAX_UNITS, distinct, read, weigh
from persist.recall.gate import Best, best_of, is_dominated, refusal
from persist.recall.words import prompt_units, words_of
from tests.persist.recall.candidates import ask, candidate, names, texts, worlds


def test_an_identifier_is_found_by_another_spelling_of_it() -> None:
    note = candidate("streaming", "exportCsv streams with a cursor")
    for prompt in ("export_csv is slow", "look at exportCsv", "why does export-csv time out"):
        assert names(ask(prompt, note)) == ["streaming"], prompt


def test_neighbours_that_a_note_writes_as_one_word_are_found() -> None:
    note = candidate("datepicker-flaky", "freeze the clock")
    assert names(ask("the date picker is broken", note)) == ["datepicker-flaky"]


def test_a_compound_weighs_no_more_than_its_parts_or_its_whole() -> None:
    unit, *_ = prompt_units("exportCsv")
    statistics = Statistics(1, dict.fromkeys(unit.words, 1), 1, 1, 2)
    reading = read((unit,), statistics, {})
    parts = sum(reading.terms[part].weight for part in unit.parts)
    both = weigh(reading, candidate("x", description="exportCsv"), statistics)
    assert both.head == max(parts, reading.terms["exportcsv"].weight)
    assert both.coverage == 1.0


def test_file_endings_and_small_talk_admit_nothing() -> None:
    note = candidate("py-notes", "py files: fix add update review")
    assert names(ask("please fix and update main.py, add a review", note)) == []


def test_a_match_in_the_body_is_worth_less_than_one_in_the_head() -> None:
    body, head = candidate("aa", "zephyr lantern"), candidate("bb", "", description="zephyr lantern")
    answer = ask("zephyr lantern", body, head)
    told = {verdict.candidate.name: verdict.evidence for verdict in (*answer.chosen, *answer.refused)}
    assert told["bb"] > told["aa"]


def test_one_word_alone_counts_only_in_name_or_description() -> None:
    assert names(ask("where is the zephyr", candidate("aa", "zephyr"))) == []
    assert names(ask("where is the zephyr", candidate("aa", "", description="zephyr"))) == ["aa"]


def test_the_parts_of_one_name_are_no_several_words() -> None:
    note = candidate("mirror", "the mirror lies on GitHub and is pushed at night")
    assert names(ask("rotate the GitHub token of the deploy bot", note)) == []
    assert names(ask("is the GitHub mirror pushed?", note)) == ["mirror"]


@pytest.mark.parametrize("name", ["export_csv", "exportCsv", "eu-north-1", "zephyrctl.toml"])
def test_a_name_that_only_one_thing_has_is_enough_wherever_it_stands(name: str) -> None:
    note = candidate("aa", f"it has to do with {name} and with much else besides")
    assert names(ask(f"what about {name} in the quarterly report", note)) == ["aa"]


@pytest.mark.parametrize("name", ["README.md", "index.ts", "main.py", "GitHub", "date-picker"])
def test_a_name_that_many_things_have_is_not(name: str) -> None:
    note = candidate("aa", f"it has to do with {name} and with much else besides")
    assert names(ask(f"what about {name} in the quarterly report", note)) == []


def test_a_prompt_that_stands_in_a_note_whole_finds_it_though_its_words_are_light() -> None:
    note = candidate("runner", "the ingest tests run with TZ=UTC", description="pytest")
    assert names(ask("run the ingest tests", note)) == ["runner"]
    assert names(ask("run the ingest tests of the zephyr", note)) == []
    assert names(ask("run the tests", note)) == []


def test_what_has_only_a_part_of_what_a_better_one_has_needs_more() -> None:
    better = candidate("ci-pipeline", "runs on every push")
    lesser = candidate("pipeline-functional", "pipe")
    assert names(ask("how does the ci pipeline handle tokens", better, lesser)) == ["ci-pipeline"]
    assert names(ask("how does the pipeline handle tokens", lesser)) == ["pipeline-functional"]


def test_words_of_many_units_are_cut_in_the_middle() -> None:
    units = prompt_units(" ".join(f"w{number}q" for number in range(1000)))
    kept = distinct(units)
    assert len(kept) == MAX_UNITS
    assert kept[0] == units[0]
    assert kept[-1] == units[-1]


@given(texts(10), worlds())
def test_evidence_is_bounded_by_what_was_asked(prompt: str, world: list[Candidate]) -> None:
    units = prompt_units(prompt)
    if not units:
        return
    count = len(world)
    statistics = Statistics(count, dict.fromkeys(words_of(prompt), min(1, count)), 1, 1, 1)
    reading = read(units, statistics, {})
    for one in world:
        found = weigh(reading, one, statistics)
        assert 0 <= found.head <= sum(term.weight for term in reading.terms.values()) + 1e-9
        assert 0 <= found.coverage <= 1
        assert found.telling <= set(found.matched)
        assert not is_dominated(found, found) or found.alias


@given(texts(10), worlds())
def test_a_refusal_says_why_and_the_best_is_never_refused_for_its_score(prompt: str, world: list[Candidate]) -> None:
    answer = ask(prompt, *[one for one in world if one.superseded_by is None])
    for verdict in answer.refused:
        assert verdict.reason
    both = (*answer.chosen, *answer.refused)
    if both:
        best = max(both, key=lambda verdict: verdict.score)
        assert not best.reason.startswith("score")


def test_nothing_is_no_evidence() -> None:
    assert best_of([]) == Best(0.0, 0.0)
    units = prompt_units("zephyr")
    statistics = Statistics(1, {}, 1, 1, 1)
    found = weigh(read(units, statistics, {}), candidate("x", "lantern"), statistics)
    assert found.matched == ()
    assert refusal(found, best_of([found])) == "shares no word with the prompt"
