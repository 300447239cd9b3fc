"""Rows are printed so that nothing is lost, nothing runs together, and no terminal obeys them."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli import formats
from cli.output import SCHEMA_VERSION, json_text
from index.results import Rows

ODD = Rows(
    ("n", "n", "text", "nothing"),
    ((1, 2.5, 'tab\there, "quoted"\nnext \\ line\r', None), (10, None, "\x1b[31m|<b>&", "")),
    truncated_rows=False,
    truncated_cells=False,
)
CELLS = st.one_of(st.none(), st.integers(), st.text(max_size=12))


def lines(rows: Rows, form: str, *, for_terminal: bool = False, cells: int | None = None) -> list[str]:
    return list(formats.lines_of(rows, form, cells=cells, for_terminal=for_terminal))


def rows_of(*rows: tuple[object, ...]) -> Rows:
    return Rows(tuple(f"c{at}" for at in range(len(rows[0]))), rows, False, False)


def test_tsv_escapes_what_would_break_a_line() -> None:
    assert lines(ODD, "tsv") == [
        "n\tn\ttext\tnothing",
        '1\t2.5\ttab\\there, "quoted"\\nnext \\\\ line\\r\t',
        "10\t\t\\x1b[31m|<b>&\t",
    ]


def test_csv_tells_an_empty_text_from_nothing() -> None:
    assert lines(ODD, "csv") == [
        "n,n,text,nothing",
        '1,2.5,"tab\there, ""quoted""\nnext \\ line\r",',
        '10,,\x1b[31m|<b>&,""',
    ]


def test_csv_on_a_terminal_shows_control_characters() -> None:
    assert lines(ODD, "csv", for_terminal=True)[2] == '10,,\\x1b[31m|<b>&,""'


def test_markdown_escapes_its_own_syntax() -> None:
    assert lines(ODD, "markdown") == [
        "| n | n | text | nothing |",
        "| ---: | ---: | --- | --- |",
        '| 1 | 2.5 | tab\\there, "quoted"<br>next \\\\ line\\r |  |',
        "| 10 |  | \\x1b\\[31m\\|&lt;b>&amp; |  |",
    ]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("![x](https://example.org/?q)", r"!\[x\](https://example.org/?q)"),
        ("*a* `b` ~c~", r"\*a\* \`b\` \~c\~"),
        ("tool_name _x_ __y", r"tool_name \_x\_ \_\_y"),
        ("a\r\n| b", r"a<br>\| b"),
        ("<img src=x> &amp;", "&lt;img src=x> &amp;amp;"),
    ],
    ids=["picture", "emphasis", "underscores", "rows", "html"],
)
def test_a_text_is_nothing_but_text_in_markdown(text: str, cell: str) -> None:
    assert lines(rows_of((text,)), "markdown")[2] == f"| {cell} |"


JSON_VALUES = st.one_of(st.none(), st.integers(), st.floats(allow_nan=False), st.text(max_size=9))


@given(st.lists(st.tuples(JSON_VALUES, JSON_VALUES), max_size=4), st.booleans(), st.booleans())
def test_json_in_pieces_is_the_json_of_the_whole(values: list[tuple[object, object]], more: bool, cut: bool) -> None:
    rows = Rows(("a", 'b "\x1b'), tuple(values), more, cut)
    whole = {"schema_version": SCHEMA_VERSION, "report": "r", "columns": ["a", 'b "\x1b'], "rows": values}
    flags = {"truncated_rows": more, "truncated_cells": cut}
    assert "".join(formats.json_pieces(rows, {"report": "r"})) == json_text({**whole, **flags})
    assert json.loads("".join(formats.json_pieces(rows)))["truncated_rows"] is more


def test_jsonl_keeps_columns_of_one_name() -> None:
    assert [json.loads(line) for line in lines(ODD, "jsonl")] == [
        {"n": 1, "n_2": 2.5, "text": 'tab\there, "quoted"\nnext \\ line\r', "nothing": None},
        {"n": 10, "n_2": None, "text": "\x1b[31m|<b>&", "nothing": ""},
    ]


@pytest.mark.parametrize(
    ("names", "made"),
    [
        (["a", "b"], ["a", "b"]),
        (["a", "a", "a"], ["a", "a_2", "a_3"]),
        (["a", "a", "a_2"], ["a", "a_3", "a_2"]),
        (["a_2", "a", "a"], ["a_2", "a", "a_3"]),
        ([], []),
    ],
    ids=["different", "equal", "taken later", "taken before", "none"],
)
def test_names_are_made_distinct(names: list[str], made: list[str]) -> None:
    assert formats.distinct(names) == made


def test_a_table_fits_a_terminal_and_is_whole_elsewhere() -> None:
    wide = rows_of((1, "word " * 40))
    assert all(len(line) <= 60 for line in lines(wide, "table", cells=60))
    assert ("word " * 40).rstrip() in lines(wide, "table")[1]


def test_numbers_stand_right_in_a_table() -> None:
    assert lines(rows_of((1, "a"), (100, "b")), "table") == [" c0  c1", "  1  a", "100  b"]


@pytest.mark.parametrize("form", ["jsonl", "tsv", "csv", "table", "markdown"])
@pytest.mark.parametrize("columns", [(), ("a", "b")], ids=["no columns", "no rows"])
def test_nothing_is_printed_without_trouble(form: str, columns: tuple[str, ...]) -> None:
    assert all(isinstance(line, str) for line in lines(Rows(columns, (), False, False), form))


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=4))
def test_csv_reads_back(values: list[tuple[object, object]]) -> None:
    text = "".join(f"{line}\n" for line in lines(rows_of(*values), "csv"))
    found = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert found[1:] == [["" if value is None else str(value) for value in row] for row in values]


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=4))
def test_one_line_a_row_and_no_control_characters(values: list[tuple[object, object]]) -> None:
    for form in ("tsv", "markdown", "table"):
        printed = lines(rows_of(*values), form, cells=200)
        assert len(printed) == len(values) + (2 if form == "markdown" else 1)
        assert not any(character < " " and character != "\t" for line in printed for character in line)
