"""Every set of cases reaches what ``thresholds.yaml`` says, with the product's own constants."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench.evals.__main__ import main
from bench.evals.case import Block, Case, Expected
from bench.evals.scoring import Outcome, figures, ranks
from bench.evals.sets import EvalSet, measure, missed, our_sets, outcomes, public_sets, read_thresholds
from bench.evals.world import prepare
from bench.evals.yaml_cases import read_cases
from persist.recall.tuning import TUNING

OURS = Path(__file__).parent


@pytest.fixture(scope="module")
def sets() -> Mapping[str, EvalSet]:
    return {one.name: one for one in our_sets()}


@pytest.fixture(scope="module")
def public(shared: Path) -> Mapping[str, EvalSet]:
    return {one.name: one for one in public_sets(shared / "evals")}


@pytest.mark.parametrize("name", ["memory-evals", "own-cases", "fresh-cases"])
def test_our_cases_reach_their_thresholds(sets: Mapping[str, EvalSet], name: str) -> None:
    assert missed(measure(sets[name]), read_thresholds()[name]) == []


@pytest.mark.parametrize("name", ["precision-mem-bench", "toon-memory"])
def test_public_cases_reach_their_thresholds(public: Mapping[str, EvalSet], name: str) -> None:
    if name not in public:
        pytest.skip(f"the set {name} is not there")
    assert missed(measure(public[name]), read_thresholds()[name]) == []


def test_a_set_that_is_not_there_is_told_and_fails_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--public", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    for name in ("precision-mem-bench", "toon-memory"):
        assert re.search(rf"^{name} +not measured: it is not in {re.escape(str(tmp_path))}$", told, re.MULTILINE)
    assert re.search(r"^memory-evals +cases 43 ", told, re.MULTILINE)


def test_each_none_case_is_silent(sets: Mapping[str, EvalSet]) -> None:
    spoke = [outcome.case.id for outcome in outcomes(sets["memory-evals"].prepared)
             if outcome.case.group == "none" and outcome.names]  # fmt: skip
    assert spoke == []


def test_the_copy_is_the_design_folders(shared: Path) -> None:
    ours = (OURS / "memory-evals.yaml").read_bytes()
    assert ours == (shared / "evals" / "memory-evals.yaml").read_bytes()


@pytest.mark.parametrize("path", sorted(OURS.glob("*-*.yaml")), ids=lambda path: path.stem)
def test_each_file_is_read_whole(path: Path) -> None:
    told = yaml.safe_load(path.read_text(encoding="utf-8"))
    cases = read_cases(path)
    assert len({case.id for case in cases}) == len(cases) == len(told["cases"])
    for case in cases:
        known = {block.name for block in case.blocks} | {f"ASTER.md:{line}" for line, _ in enumerate(case.facts, 1)}
        expected = case.expected
        assert expected.recall | expected.may | expected.refused | expected.archived | expected.active <= known, case.id


def test_a_gate_that_always_answers_does_not_pass(sets: Mapping[str, EvalSet]) -> None:
    open_gate = TUNING._replace(evidence=0.0, head=0.0, relative=0.0, alone=0.0, dominated=0.0)
    assert missed(measure(sets["memory-evals"], open_gate), read_thresholds()["memory-evals"])


def test_a_gate_that_never_answers_does_not_pass(sets: Mapping[str, EvalSet]) -> None:
    shut = TUNING._replace(evidence=1e9)
    assert missed(measure(sets["memory-evals"], shut), read_thresholds()["memory-evals"])


def case(expected: Expected, **more: Any) -> Case:
    blocks = (Block("lantern-oil", "kept in the shed", "Lantern oil"), Block("tide", "from the office", "Tide tables"))
    return Case("x", "g", "where is the lantern oil", "/", "2026-11-30", blocks, expected, **more)


@pytest.mark.parametrize(
    ("expected", "came", "exact"),
    [
        (Expected(recall=frozenset({"a"})), ("a",), True),
        (Expected(recall=frozenset({"a"})), ("a", "b"), False),
        (Expected(recall=frozenset({"a"}), may=frozenset({"b"})), ("b", "a"), True),
        (Expected(recall=frozenset({"a"}), may=frozenset({"b"}), first="a"), ("b", "a"), False),
        (Expected(recall=frozenset({"a"})), (), False),
        (Expected(), (), True),
        (Expected(), ("a",), False),
    ],
)
def test_what_exact_means(expected: Expected, came: tuple[str, ...], exact: bool) -> None:
    assert Outcome(case(expected), came).is_exact is exact


def test_figures_are_counted_as_they_say() -> None:
    told = figures(
        [
            Outcome(case(Expected(recall=frozenset({"a", "b"}), may=frozenset({"m"}))), ("a", "m", "z")),
            Outcome(case(Expected()), ()),
            Outcome(case(Expected()), ("z",)),
            Outcome(case(Expected(recall=frozenset({"a"}), archived=frozenset({"gone"}))), ("a",)),
        ]
    )
    assert (told.cases, told.exact, told.asked, told.asked_exact, told.silent, told.silent_kept) == (4, 1, 2, 0, 2, 1)
    assert (told.precision, told.recall) == (2 / 4, 2 / 3)


def test_ranks_of_an_order() -> None:
    told = ranks([(["a", "x", "b"], frozenset({"a", "b"})), (["x"], frozenset({"a"}))])
    assert told.recall == 0.5
    assert told.gain == pytest.approx((1 + 0.5) / (1 + 0.6309) / 2, abs=1e-3)


def test_a_case_runs_on_real_files_and_real_decay() -> None:
    old = Block("spike", "delete it after the demo", "Spike branch", created="2026-01-03", kind="note")
    gone = prepare(
        Case(
            "x",
            "decay",
            "what is on the spike branch",
            "/",
            "2026-11-30",
            (old,),
            Expected(archived=frozenset({"spike"})),
        )
    )
    assert gone.archived == {"spike"}
    assert gone.ask().chosen == ()


def test_the_journal_of_a_case_counts() -> None:
    marks = tuple({"ts": f"2026-10-0{day}T12:00:00Z", "op": "harmful", "name": "tide"} for day in (1, 2, 3))
    told = prepare(case(Expected(active=frozenset({"lantern-oil"})), journal=marks))
    assert told.archived == {"tide"}
    assert json.dumps(sorted(told.active)) == '["lantern-oil"]'
