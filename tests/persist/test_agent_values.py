"""``persist.agents.values``: what is not of the form asked for gives nothing, and arguments are always JSON."""

from __future__ import annotations

import json

import pytest

from persist.agents.values import (
    MAX_COUNT,
    MAX_ID_CHARS,
    as_list,
    compact_json,
    mark,
    plain_word,
    read_cost,
    read_count,
    read_id,
)
from persist.errors import ShapeError

NOT_TEXT: tuple[object, ...] = (None, True, 7, 1.5, [], {}, ["a"])


@pytest.mark.parametrize("value", [*NOT_TEXT, "", "x" * (MAX_ID_CHARS + 1)], ids=repr)
def test_what_is_no_id(value: object) -> None:
    assert read_id(value) is None


def test_the_longest_id() -> None:
    assert read_id("x" * MAX_ID_CHARS) == "x" * MAX_ID_CHARS


@pytest.mark.parametrize(
    ("value", "count"), [(0, 0), (MAX_COUNT, MAX_COUNT), (MAX_COUNT + 1, None), (-1, None), (True, None), (1.0, None)]
)
def test_counts(value: object, count: int | None) -> None:
    assert read_count(value) == count


@pytest.mark.parametrize(
    ("value", "cost"), [(0, 0.0), (2, 2.0), (0.25, 0.25), (-0.1, None), (True, None), ("1", None), (float("nan"), None)]
)
def test_costs(value: object, cost: float | None) -> None:
    assert read_cost(value) == cost


@pytest.mark.parametrize(("content", "parts"), [("a", ["a"]), ({}, [{}]), (["a", 1], ["a", 1]), (None, []), (3, [])])
def test_the_parts_of_a_content(content: object, parts: list[object]) -> None:
    assert as_list(content) == parts


@pytest.mark.parametrize("value", [{"a": [1, "ø"]}, 2**70, "\ud800", {"n": None}], ids=repr)
def test_arguments_are_json_without_blanks(value: object) -> None:
    text = compact_json(value, "it")
    assert json.loads(text) == value
    assert " " not in text


def test_arguments_that_are_nested_too_deeply() -> None:
    value: object = 1
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ShapeError, match="the input of a call"):
        compact_json(value, "the input of a call")


def test_a_mark_is_short_and_tells_values_apart() -> None:
    long = "x" * 10_000
    assert mark("short") == "short"
    assert len(mark(long)) < 40
    assert mark(long) == mark("x" * 10_000) != mark(f"{long}y")
    assert mark("\ud800" * 300) != mark("\ud801" * 300)


@pytest.mark.parametrize(("value", "word"), [("a-b.c_1", "a-b.c_1"), ("two words", "?"), ("x" * 61, "?"), ("a\n", "?")])
def test_words_to_count_by(value: object, word: str) -> None:
    assert plain_word(value) == word


@pytest.mark.parametrize("value", NOT_TEXT, ids=repr)
def test_what_is_no_word_to_count_by(value: object) -> None:
    assert plain_word(value) == "?"
