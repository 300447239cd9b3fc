"""Copies are texts that differ in numbers and dates alone; they count once."""

from __future__ import annotations

import pytest

from persist.recall.candidate import Candidate
from persist.recall.copies import text_of
from persist.recall.from_files import FileCorpus
from persist.recall.words import field_words, name_words


def noted(name: str, body: str, description: str = "") -> Candidate:
    return Candidate(name, f"/m/{name}.md", name_words(name, None), field_words(description), field_words(body))


@pytest.mark.parametrize(
    "other",
    [
        "Deployed build 4712 on 3 May 2026, all green",
        "deployed the build 4712 on Monday, 2026-05-03: all is green",
        "Deployed build v2-9f3ac1 on December 31 at 15:00 UTC, all green",
    ],
)
def test_numbers_dates_and_grammar_make_no_other_text(other: str) -> None:
    assert text_of(noted("a", "Deployed build 17 on 1 March, all green")) == text_of(noted("b", other))


@pytest.mark.parametrize("other", ["Deployed build 17 on 1 March, all red", "All green: build 17 deployed", "Deployed"])
def test_any_other_word_does(other: str) -> None:
    assert text_of(noted("a", "Deployed build 17 on 1 March, all green")) != text_of(noted("b", other))


def test_a_text_of_numbers_alone_is_told_by_them_and_an_empty_one_by_its_name() -> None:
    assert text_of(noted("a", "17 18")) != text_of(noted("a", "17 19"))
    assert text_of(noted("kiln", "")) != text_of(noted("oven", ""))


def test_copies_count_once_with_the_words_and_the_length_of_all() -> None:
    copies = [noted(f"report-{number}", f"The kiln drifts, batch {number}") for number in range(30)]
    corpus = FileCorpus([*copies, noted("canteen", "soup, and a much longer text than the others have")])
    found = corpus.statistics(["kiln", "report", "7", "soup", "nowhere"])
    assert (found.count, found.frequencies) == (2, {"kiln": 1, "report": 1, "7": 1, "soup": 1})
    assert found.mean_body == (4 + len(corpus.candidates[-1].body_words)) / 2
    assert corpus.beginning_with("kil") == {"kiln": 1}
