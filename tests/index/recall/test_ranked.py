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
from index.recall.totals import Totals, read_totals
from index.settings import Settings
from persist.recall.answer import MAX_SCORED
from persist.recall.evidence import most_evidence, read, words_to_count
from persist.recall.tuning import TUNING
from persist.recall.words import prompt_units
from tests.builders import HomeBuilder
from tests.index.recall.memory_world import AS_OF, MemoryWorld

FIRST = 8
FIELDS = "SELECT text_key, name_words, description_words, body_words, aliases <> '' FROM candidate_rows"


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
    return ranked.Wanted(held, reading.least_total, frozenset())


def looked_at(connection: sqlite3.Connection, wanted: ranked.Wanted) -> dict[int, tuple[float, bool]]:
    """Return what every row is worth that holds a word, and whether its evidence may be enough."""
    worths = ranked.Worths.of()
    told = {}
    for row, *texts in connection.execute("SELECT id, name, description, body FROM candidate_rows"):
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
def test_the_totals_are_what_the_rows_come_to(seed: int, home: HomeBuilder, quick_schema: None, tmp_path: Path) -> None:
    settings: Settings = home.settings(tmp_path / "cache" / "index.sqlite")
    world = MemoryWorld(settings.places.data, seed)
    for _ in range(8):
        world.fill(10)
        ingest(settings, prune=True)
        with closing(open_reader(settings.index_path)) as connection:
            found = connection.execute(FIELDS).fetchall()
            longest: dict[int, tuple[int, ...]] = {}
            for text_key, *lengths, _ in found:
                longest[text_key] = tuple(map(max, zip(lengths, longest.get(text_key, (0, 0, 0)), strict=True)))
            names, descriptions, bodies = (sum(each[field] for each in longest.values()) for field in range(3))
            with_aliases = sum(has_aliases for *_, has_aliases in found)
            expected = Totals(len(found), len(longest), names, descriptions, bodies, with_aliases)
            assert read_totals(connection) == expected


def test_without_memory_there_are_totals_too(home: HomeBuilder, quick_schema: None) -> None:
    settings = home.settings()
    ingest(settings)
    with closing(open_reader(settings.index_path)) as connection:
        assert read_totals(connection) == Totals(0, 0, 0, 0, 0, 0)
