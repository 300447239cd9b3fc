"""Statements that an ordinary question needs must not fail because of one long text, or a strange one, in the index."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from index.errors import QueryFailedError
from index.ingest import ingest
from index.query import run_query
from index.reports import get_report, run_report
from index.settings import Settings
from tests.builders import HomeBuilder, aster_answer, aster_header, aster_prompt
from tests.conftest import Asx

LONGEST: Final = "words " * 800_000
"""More than the 4 MiB of a prose text that are stored."""
_SORTED: Final = (
    "SELECT * FROM events ORDER BY ts DESC",
    "SELECT DISTINCT text, content FROM events",
    "SELECT p.text, a.text FROM prompts p JOIN answers a USING (agent, session_id) ORDER BY p.ts",
    "SELECT lag(text) OVER (ORDER BY ts), text FROM prompts",
    "SELECT text, count(*) FROM prompts GROUP BY text ORDER BY text",
)


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    return HomeBuilder(isolated)


@pytest.fixture
def places(home: HomeBuilder, tmp_path: Path) -> Settings:
    return home.settings(tmp_path / "cache" / "index.sqlite")


def no_overrun() -> None:
    raise AssertionError("the statement ran into its limit")


@pytest.fixture
def with_long_texts(home: HomeBuilder, places: Settings) -> Settings:
    home.aster(
        "01JXAAAAAAAAAAAAAAAAAAAAAA",
        aster_header("01JXAAAAAAAAAAAAAAAAAAAAAA", 0),
        aster_prompt(LONGEST, 1),
        aster_answer(LONGEST, 2),
        aster_prompt(LONGEST, 3),
        aster_prompt("short", 4),
    )
    ingest(places)
    return places


@pytest.mark.parametrize("sql", _SORTED)
def test_rows_with_the_longest_texts_can_be_sorted_and_grouped(sql: str, with_long_texts: Settings) -> None:
    """SQLite's limit on a value holds for a whole row where it is sorted."""
    found = run_query(with_long_texts.index_path, sql, timeout_s=60, on_overrun=no_overrun, heap_limit_bytes=None)
    assert found.rows


def test_a_long_prompt_does_not_fail_the_report_on_repeated_ones(with_long_texts: Settings) -> None:
    report = get_report("repeated-prompts")
    found = run_report(with_long_texts.index_path, report, timeout_s=60, on_overrun=no_overrun, heap_limit_bytes=None)
    assert len(found.rows) == 1


def test_a_zero_character_in_a_statement_is_named(places: Settings) -> None:
    ingest(places)
    with pytest.raises(QueryFailedError, match="the query contains a null character"):
        run_query(places.index_path, "SELECT 1\0", on_overrun=no_overrun, heap_limit_bytes=None)


def test_the_smallest_integer_can_be_bound(home: HomeBuilder, asx: Asx) -> None:
    home.aster("01JXAAAAAAAAAAAAAAAAAAAAAA", aster_header("01JXAAAAAAAAAAAAAAAAAAAAAA", 0), aster_prompt("go", 1))
    asx("ingest", "--quiet")
    shown = asx("query", "--format", "jsonl", "SELECT :n AS n", "-p", f"n:={-(2**63)}")
    assert (shown.code, shown.stdout) == (0, '{"n":-9223372036854775808}\n')
