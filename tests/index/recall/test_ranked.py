"""The rows that are ranked are those that a plain look at every row ranks, however early the reading stops."""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bench.notes import Notes, make_notes
from index.ingest import ingest
from index.opening import open_reader
from index.recall import ranked
from index.recall.corpus import IndexCorpus
from index.recall.totals import read_totals
from index.settings import Settings
from persist.recall.answer import MAX_SCORED
from persist.recall.evidence import most_evidence, read, words_to_count
from persist.recall.tuning import TUNING
from persist.recall.words import prompt_units
from tests.builders import HomeBuilder
from tests.index.recall.memory_world import AS_OF, MemoryWorld

FIRST = 8
SUMS = """SELECT count(*), sum(name_words), sum(description_words), sum(body_words) FROM candidate_rows"""


@pytest.fixture
def notes(home: HomeBuilder) -> Notes:
    return make_notes(home.aster_home / "memory", 700)


@pytest.fixture
def connection(notes: Notes, home: HomeBuilder, quick_schema: None) -> Iterator[sqlite3.Connection]:
    settings = home.settings()
    ingest(settings)
    with closing(open_reader(settings.index_path)) as connection:
        yield connection


def wanted_of(connection: sqlite3.Connection, prompt: str) -> ranked.Wanted:
    units = prompt_units(prompt)
    statistics = IndexCorpus(connection, AS_OF).statistics(words_to_count(units))
    reading = read(units, statistics, {})
    held = sorted((term for term in reading.terms.values() if term.frequency), key=lambda term: -term.weight)
    return ranked.Wanted(held, reading.least_total, {}, frozenset())


def looked_at(connection: sqlite3.Connection, wanted: ranked.Wanted) -> dict[int, tuple[float, bool]]:
    """Return what every row is worth that holds a word, and whether its evidence may be enough."""
    worths = ranked.Worths.of()
    told = {}
    for row, *texts in connection.execute("SELECT id, c0, c1, c2 FROM memory_words_content"):
        name, description, body = (set(text.split(" ")) for text in texts)
        worth = head = elsewhere = 0.0
        for term in wanted.terms:
            for words, value, is_head in (
                (name, worths.name, True), (description, worths.description, True), (body, worths.body, False),
            ):  # fmt: skip
                if term.word in words:
                    worth += term.weight * value
                    head += term.weight * (is_head or term.is_identifier)
                    elsewhere += term.weight * (not is_head and not term.is_identifier)
                    break
        if worth:
            most = most_evidence(head, elsewhere, wanted.least_total, has_name=True)
            told[row] = (worth, most >= TUNING.evidence)
    return told


@pytest.mark.parametrize("enough", [FIRST, MAX_SCORED])
def test_every_row_that_can_matter_is_there(enough: int, notes: Notes, connection: sqlite3.Connection) -> None:
    early = whole = 0
    for prompt in (*notes.about_a_note, *notes.at_random):
        wanted = wanted_of(connection, prompt)
        told = looked_at(connection, wanted)
        least = min(heapq.nlargest(FIRST, (worth for worth, _ in told.values())), default=0.0)
        matter = {row for row, (worth, passes) in told.items() if passes or worth > least + 1e-9}
        found = list(ranked.ranked_rows(connection, wanted, FIRST, enough))
        assert found == sorted(found, reverse=True)
        rows = {row for _, row in found}
        assert matter <= rows, prompt
        assert len(rows) == len(found) >= min(FIRST, len(told))
        early += len(rows - matter) > FIRST
        if len(found) > enough:
            whole += 1
            assert {row: worth for worth, row in found} == pytest.approx({row: told[row][0] for row in rows}), prompt
            assert all(told[row][1] or told[row][0] >= least - 1e-9 for row in rows), prompt
    assert whole if enough == FIRST else early


@pytest.mark.parametrize("seed", range(3))
def test_what_sqlite_counts_is_what_the_rows_come_to(
    seed: int, home: HomeBuilder, quick_schema: None, tmp_path: Path
) -> None:
    settings: Settings = home.settings(tmp_path / "cache" / "index.sqlite")
    world = MemoryWorld(settings.places.data, seed)
    for _ in range(8):
        world.fill(10)
        ingest(settings, prune=True)
        with closing(open_reader(settings.index_path)) as connection:
            totals = read_totals(connection)
            assert totals[:4] == tuple(value or 0 for value in connection.execute(SUMS).fetchone())
            aliases = connection.execute("SELECT c3 FROM memory_words_content WHERE c3 <> ''").fetchall()
            assert totals.aliases == sum(len(text.split()) for (text,) in aliases)


def test_without_a_record_that_is_understood_the_rows_are_summed(connection: sqlite3.Connection) -> None:
    expected = read_totals(connection)
    with closing(sqlite3.connect(":memory:")) as copy:
        connection.backup(copy)
        for record in (None, b"", b"\x81", bytes(9)):
            copy.execute("DELETE FROM memory_words_data WHERE id = 1")
            if record is not None:
                copy.execute("INSERT INTO memory_words_data VALUES (1, ?)", (record,))
            assert read_totals(copy) == expected._replace(aliases=0)
