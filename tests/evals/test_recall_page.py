"""The page on recall tells the constants and figures that hold: its numbers are looked up in the code, or measured."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench.evals.scoring import figures
from bench.evals.sets import HALVES, EvalSet, measure, our_sets, outcomes, public_sets
from persist.recall.answer import MAX_RECALLED
from persist.recall.background import PSEUDO_DOCUMENTS
from persist.recall.frame import CLOSING, OPENING
from persist.recall.tuning import TUNING
from persist.recall.words import MAX_PROMPT_CHARACTERS
from tests.conftest import REPOSITORY

PAGE = " ".join((REPOSITORY / "docs" / "recall.md").read_text(encoding="utf-8").split())
SHOWN_HALVES = dict(zip(HALVES, ("even", "odd"), strict=True))


@pytest.mark.parametrize(
    "told",
    [
        f"(matched in name or description + {TUNING.body_share} x matched in the text alone)",
        f"({TUNING.coverage_floor} + {1 - TUNING.coverage_floor:.1f} x coverage)",
        f"its evidence is under {TUNING.evidence}",
        f"is under {TUNING.relative} of the best",
        f"its evidence is under {TUNING.dominated:g}",
        f"weights {TUNING.name:g}, {TUNING.description:g} and {TUNING.body:g}",
        f"({TUNING.recency_floor} + {1 - TUNING.recency_floor:.2f} x 2^(-days since the last touch / "
        f"{TUNING.half_life_days:g}))",
        f"more than {TUNING.window} words the best stretch of {TUNING.window} counts",
        f"N + {PSEUDO_DOCUMENTS} - n",
        f"Of a prompt over {MAX_PROMPT_CHARACTERS:,} characters its two ends count",
        f"at {TUNING.repaired} of its weight",
        f"between `{OPENING}` and `{CLOSING}`",
    ],
)
def test_a_constant_is_as_told(told: str) -> None:
    assert told in PAGE


def test_words_for_numbers_are_right_too() -> None:
    assert "the prompt's six heaviest" in PAGE
    assert TUNING.coverage_words == 6
    assert "at most five are" in PAGE
    assert MAX_RECALLED == 5
    assert "weigh a fifth" in PAGE
    assert TUNING.light == 1 / 5


def row(label: str, which: str, one: EvalSet) -> str:
    told = figures(outcomes(one.prepared))
    return (
        f"| {label} | {which} | {told.exact} of {told.cases} | {told.asked_exact} of {told.asked} "
        f"| {told.silent_kept} of {told.silent} | {told.precision:.2f} | {told.recall:.2f} |"
    )


def assert_told(one: EvalSet) -> None:
    if one.is_ranked:
        for which, half in (("all", one), *((SHOWN_HALVES[name], one.half(name)) for name in HALVES)):
            told = measure(half)
            assert f"| {which} | {told['recall_at_5']:.3f} | {told['gain_at_5']:.3f} |" in PAGE
        return
    assert row(f"`{one.name}`", "all", one) in PAGE
    if one.name != "fresh-cases":
        for name in HALVES:
            assert re.sub(r"\|  \|", "| |", row("", SHOWN_HALVES[name], one.half(name))) in PAGE


@pytest.mark.parametrize("one", our_sets(), ids=lambda one: str(one.name))
def test_the_figures_of_our_cases_are_as_told(one: EvalSet) -> None:
    assert_told(one)


@pytest.mark.parametrize("name", ["precision-mem-bench", "toon-memory"])
def test_the_figures_of_the_public_sets_are_as_told(shared: Path, name: str) -> None:
    found = {one.name: one for one in public_sets(shared / "evals")}
    if name not in found:
        pytest.skip(f"the set {name} is not there")
    assert_told(found[name])
