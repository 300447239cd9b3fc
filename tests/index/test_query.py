"""Rows come back as plain, bounded values, and what goes wrong is told without a text from the index."""

from __future__ import annotations

import json
import math
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.errors import NoIndexError, QueryFailedError, QueryRefusedError
from index.query.errors import (
    MAX_ANSWER_BYTES,
    AnswerTooLargeError,
    EmptyStatementError,
    SeveralStatementsError,
    StatementParametersError,
    without_foreign_words,
)
from index.query.run import run_query
from index.query.statement_text import first_comment_line, is_blank, parameter_names
from index.results import Rows
from tests.index.filled import empty_index, never

PRIVATE = "somebodyswords"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = empty_index(tmp_path_factory.mktemp("query") / "index.sqlite")
    connection = sqlite3.connect(path)
    with connection:
        rows = [(f"k{at:03d}", f"{PRIVATE} {at}") for at in range(300)]
        connection.executemany("INSERT INTO meta VALUES (?, ?)", rows)
        connection.execute(
            "INSERT INTO prose (id, field, source_id, text_hash, text) VALUES (1, 3, 1, 0, ?)", ("x" * 4 * 1024**2,)
        )
    connection.close()
    return path


def run(index: Path, sql: str, parameters: dict[str, object] | None = None, **limits: Any) -> Rows:
    return run_query(index, sql, parameters, timeout_s=20, on_overrun=never, heap_limit_bytes=None, **limits)


def harmless_statements(data: Path) -> list[tuple[str, object]]:
    cases = json.loads((data / "faults" / "B103" / "statements.json").read_text(encoding="utf-8"))
    return [(case["sql"], case["first"]) for case in cases]


def test_harmless_statements_are_accepted_as_they_are(index: Path, data: Path) -> None:
    cases = harmless_statements(data)
    assert len(cases) == 16
    for sql, first in cases:
        rows = run(index, sql, limit=3)
        assert rows.rows[0][0] == first, sql
        assert len(rows.rows) <= 3
    assert run(index, cases[10][0]).columns == ("update",)
    last = run(index, cases[15][0], limit=3)
    assert [row for (row,) in last.rows] == [1, 2, 3]
    assert last.truncated_rows


def test_odd_values_come_back_plain(index: Path) -> None:
    rows = run(
        index,
        "SELECT 1e999, -1e999, x'ff00', 9007199254740993, 1 AS a, 2 AS a, CAST(x'ff' AS TEXT), NULL, char(0), x''",
    )
    assert rows.rows == (
        (None, None, "<blob 2 bytes>", 9007199254740993, 1, 2, "\ufffd", None, "\0", "<blob 0 bytes>"),
    )
    assert rows.columns[4:6] == ("a", "a")
    assert not rows.truncated_cells


@pytest.mark.parametrize("number", [-(2**63), 2**63 - 1, 2**53 + 1, 0], ids=str)
def test_integers_are_exact(index: Path, number: int) -> None:
    assert run(index, "SELECT :n", {"n": number}).rows == ((number,),)


def test_floats_stay_floats(index: Path) -> None:
    ((third, nothing),) = run(index, "SELECT 1.0 / 3, 0.0 / 0").rows
    assert math.isclose(third, 1 / 3)
    assert nothing is None


@pytest.mark.parametrize(
    ("limit", "count", "more"),
    [(0, 0, True), (299, 299, True), (300, 300, True), (301, 301, False), (10_000, 301, False)],
    ids=["none", "two fewer", "one fewer", "just so many", "more than there are"],
)
def test_the_row_limit_says_whether_there_are_more(index: Path, limit: int, count: int, more: bool) -> None:
    rows = run(index, "SELECT key FROM meta", limit=limit)
    assert (len(rows.rows), rows.truncated_rows) == (count, more)


def test_no_rows_still_have_columns(index: Path) -> None:
    assert run(index, "SELECT key, value FROM meta WHERE 0") == Rows(("key", "value"), (), False, False)


def test_cells_are_cut_by_characters_and_say_so(index: Path) -> None:
    rows = run(index, "SELECT 'äöü', 'äöüß', '😀😀😀😀', 'abc'", max_cell=3)
    assert rows.rows == (("äöü", "äöü", "😀😀😀", "abc"),)
    assert rows.truncated_cells
    assert not run(index, "SELECT 'äöü'", max_cell=3).truncated_cells
    assert run(index, "SELECT 'a', ''", max_cell=0).rows == (("", ""),)


def test_a_cut_cell_in_a_row_that_is_not_shown_is_not_told(index: Path) -> None:
    rows = run(index, "SELECT 'a' UNION ALL SELECT 'long'", max_cell=2, limit=1)
    assert (rows.truncated_rows, rows.truncated_cells) == (True, False)


@given(st.binary(max_size=40), st.integers(0, 12))
def test_any_bytes_are_cut_as_their_text_would_be(index: Path, value: bytes, max_cell: int) -> None:
    rows = run(index, "SELECT CAST(:value AS TEXT)", {"value": value}, max_cell=max_cell)
    whole = value.decode("utf-8", "replace")
    assert rows.rows == ((whole[:max_cell],),)
    assert rows.truncated_cells == (len(whole) > max_cell)


def test_the_longest_text_that_is_stored_can_be_read(index: Path) -> None:
    rows = run(index, "SELECT text, length(text), instr(text, 'y') FROM prose", max_cell=10)
    assert rows.rows == (("x" * 10, 4 * 1024**2, 0),)


@pytest.mark.parametrize("sql", ["", "  \n\t", ";", " ; ; ", "-- only this", "/* open", "\ufeff", "--a\n/* b */;"])
def test_a_blank_statement_is_refused_before_the_index_is_opened(tmp_path: Path, sql: str) -> None:
    with pytest.raises(EmptyStatementError):
        run(tmp_path / "missing.sqlite", sql)
    with pytest.raises(NoIndexError):
        run(tmp_path / "missing.sqlite", "SELECT 1")


@pytest.mark.parametrize("sql", ["SELECT 1; SELECT 2", "SELECT 1; DELETE FROM meta", "SELECT 1;;;SELECT 2"])
def test_several_statements_are_refused_whole(index: Path, sql: str) -> None:
    with pytest.raises(SeveralStatementsError, match="none was run; give one at a time"):
        run(index, sql)
    assert run(index, "SELECT count(*) FROM meta").rows == ((301,),)


@pytest.mark.parametrize("sql", ["VACUUM temp", "vacuum\nTEMP;"])
def test_what_gives_no_rows_is_refused_even_where_sqlite_lets_it_through(index: Path, sql: str) -> None:
    with pytest.raises(QueryRefusedError, match="a statement that gives no rows"):
        run(index, sql)


@pytest.mark.parametrize("lead", ["-- a comment\n", "/* one */ /* two */", "\ufeff", " \r\n"], ids=repr)
def test_comments_may_come_first(index: Path, lead: str) -> None:
    assert run(index, f"{lead}SELECT 7").rows == ((7,),)


@pytest.mark.parametrize("sql", ["SELECT :name", "SELECT @name", "SELECT $name"])
def test_parameters_are_bound_by_name_never_as_text(index: Path, sql: str) -> None:
    assert run(index, sql, {"name": "'; DROP TABLE meta --"}).rows == (("'; DROP TABLE meta --",),)


@pytest.mark.parametrize(
    ("sql", "parameters", "told"),
    [
        ("SELECT :a, :b", {"a": 1}, "the statement needs a value for :b; give -p b=VALUE"),
        ("SELECT @a", {}, "the statement needs a value for :a; give -p a=VALUE"),
        ("SELECT ?1, ?2", {"1": 5}, "the statement needs a value for :2; give -p 2=VALUE"),
        ("SELECT ?", {}, "a ? has no name to bind it by; write :name and give -p name=VALUE"),
        ("SELECT :a", {"a": 1, "b": 2}, "the statement has no parameter :b; it has :a"),
        ("SELECT ':a' -- :a", {"a": 1}, "the statement has no parameter :a; it has none"),
    ],
    ids=["one of two", "at sign", "numbered", "nameless", "unknown", "in a literal"],
)
def test_parameters_fit_the_statement(index: Path, sql: str, parameters: dict[str, object], told: str) -> None:
    with pytest.raises(StatementParametersError) as failed:
        run(index, sql, parameters)
    assert str(failed.value) == told


def test_a_null_and_a_number_of_a_parameter_are_bound(index: Path) -> None:
    assert run(index, "SELECT :a IS NULL, typeof(:b), ?3", {"a": None, "b": 2, "3": "x"}).rows == ((1, "integer", "x"),)


class Asked(dict[str, object]):
    """Values for every name; keeps the names that SQLite asks for."""

    def __missing__(self, name: str) -> None:
        self[name] = None


@given(
    st.lists(st.sampled_from([*" \n:@$#?'\"[]`-/*,a1_$é·\ufeff", "SELECT ", "::", ":b", "--", "/*", "*/"]), max_size=16)
)
def test_parameters_are_those_that_sqlite_asks_for(parts: list[str]) -> None:
    sql = "SELECT " + "".join(parts)
    asked = Asked()
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(sql, asked)
    except sqlite3.Error:
        return
    finally:
        connection.close()
    if "::" not in sql:  # Tcl's names, which nobody means
        assert parameter_names(sql) == tuple(asked)


def test_an_answer_that_would_fill_the_memory_is_refused(index: Path) -> None:
    rows = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 1000000) SELECT n, n, n FROM r"
    with pytest.raises(AnswerTooLargeError, match="larger than 24 MB"):
        run(index, rows, limit=10**6)
    texts = "SELECT text FROM prose, json_each(json_array(1, 2, 3, 4, 5, 6, 7)) WHERE length(text) > 1000000"
    with pytest.raises(AnswerTooLargeError, match="--max-cell"):
        run(index, texts, max_cell=10**7)
    assert len(run(index, texts, max_cell=10**6).rows) == 7
    assert MAX_ANSWER_BYTES == 24_000_000


@pytest.mark.parametrize(
    ("sql", "parameters", "told"),
    [
        ("SELEC 1", {}, 'near "SELEC": syntax error'),
        ("SELECT colour FROM meta", {}, "no such column: colour"),
        ("SELECT 1 FROM nowhere", {}, "no such table: nowhere"),
        ("SELECT :n", {"n": 2**70}, ""),
        ("SELECT :n", {"n": object()}, ""),
        ("SELECT '\0'", {}, ""),
        ("SELECT '\ud800'", {}, "not valid Unicode"),
        ("SELECT json('{')", {}, "malformed JSON"),
        ("SELECT abs(-9223372036854775808)", {}, "integer overflow"),
    ],
    ids=[
        "syntax", "column", "table", "too big", "no value", "null", "surrogate", "json", "abs",
    ],
)  # fmt: skip
def test_what_sqlite_cannot_do_is_told_in_one_line(
    index: Path, sql: str, parameters: dict[str, object], told: str
) -> None:
    with pytest.raises(QueryFailedError) as failed:
        run(index, sql, parameters)
    assert told in failed.value.reason
    assert "\n" not in str(failed.value)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT json_extract('{}', value) FROM meta WHERE key = 'k001'",
        "SELECT json_extract('{}', '$[' || value) FROM meta WHERE key = 'k001'",
        "SELECT count(*) FROM prompt_keys WHERE prompt_keys MATCH (SELECT value || '\"' FROM meta WHERE key = 'k001')",
        "SELECT count(*) FROM prompt_keys WHERE prompt_keys MATCH (SELECT value || ':x' FROM meta WHERE key = 'k001')",
        "SELECT count(*) FROM prompt_keys WHERE prompt_keys MATCH (SELECT '*' || value FROM meta WHERE key = 'k001')",
        "SELECT * FROM json_each((SELECT value FROM meta WHERE key = 'k001'))",
        "SELECT strftime('%J', value, value) || abs(value) || CAST(value AS INTEGER) || json(value) FROM meta "
        "WHERE key = 'k001'",
    ],
    ids=["json path", "json path in brackets", "full text", "full-text column", "full-text command", "json", "others"],
)
def test_no_text_of_the_index_gets_into_an_error(index: Path, sql: str) -> None:
    with pytest.raises(QueryFailedError) as failed:
        run(index, sql)
    assert PRIVATE not in str(failed.value)


@given(st.text(alphabet="ab \"'*^():+-{}.,NEARORDT0\0é", max_size=14), st.sampled_from(["prompt_keys", "prose_words"]))
def test_any_full_text_question_is_answered_or_a_mistake(index: Path, asked: str, table: str) -> None:
    try:
        rows = run(index, f"SELECT count(*) FROM {table} WHERE {table} MATCH :asked", {"asked": asked}).rows
    except QueryFailedError:
        return
    assert rows == ((0,),)


def test_words_of_the_statement_and_of_sqlite_stay_in_a_message() -> None:
    message = "JSON path error near 'some private words'"
    assert without_foreign_words(message, "SELECT json_extract(a, b)") == "JSON path error near '…'"
    assert without_foreign_words("no such column: colour", "SELECT colour") == "no such column: colour"


def test_parameters_are_found_outside_of_literals_and_comments() -> None:
    sql = "SELECT :a, ':b', \":c\", `:d`, [:e], @f -- :g\n, $a /* :h */ , x'00', 'it''s :i' || :j"
    assert parameter_names(sql) == ("a", "f", "j")


@pytest.mark.parametrize(
    ("sql", "about"),
    [
        ("-- One line\nSELECT 1", "One line"),
        ("/* Two\n * lines */ SELECT 1", "Two"),
        ("\ufeff\n--\n-- Third\nSELECT 1", "Third"),
        ("SELECT 1 -- later", ""),
        ("", ""),
    ],
)
def test_the_first_comment_line(sql: str, about: str) -> None:
    assert first_comment_line(sql) == about


@given(st.text(alphabet=" \n-/*'\"[]`:ax", max_size=30))
def test_blank_is_what_sqlite_finds_no_statement_in(sql: str) -> None:
    connection = sqlite3.connect(":memory:")
    try:
        found = connection.execute(sql).description is not None
    except sqlite3.Error:
        found = True
    finally:
        connection.close()
    assert is_blank(sql) == (not found)
