"""Every word is stored unchanged, whatever the text, and where it stands; other words are another projection."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from index.ingest import ingest
from index.recall.postings import ids_of, stored_ids
from index.recall.projecting import projected_block, stored_aliases, stored_words
from index.recall.word_settling import FieldsOf, places_in
from index.verify import verify
from persist.events import Note
from persist.memory.standing import noted, standings
from persist.recall import WORDS_VERSION
from persist.recall.evidence import Term, most_evidence, read, weigh, words_to_count
from persist.recall.from_files import FileCorpus, block_candidate
from persist.recall.words import field_words, prompt_units
from tests.builders import HomeBuilder
from tests.index.conftest import rows

TEXTS = some.text(max_size=200) | some.text(
    some.sampled_from("aAbß İıſK éΣς_-./#+09 數据ア가กำहिन्दी\u0301\u200b\U0001f600\x00\x7f\xadŉǰΐﬀʼnᾳꭰᏸ"), max_size=80
)
GOLDEN = (
    "exportCsv export_csv date-picker webhooks.py HTTPServer v2.0 C++ naïve Straße İstanbul 数据库连接 データベース "
    "हिन्दी ภาษาไทย running generalizations deployments test-db-docker 4711 x"
)


@settings(max_examples=300)
@given(texts=some.lists(TEXTS, min_size=4, max_size=4))
def test_what_is_stored_are_the_words_and_nothing_else(texts: list[str]) -> None:
    name, description, body, alias = texts
    note = Note(name or "x", body, description, aliases=(alias,))
    stored, _ = projected_block("stem", note)
    block = noted("stem", note)
    candidate = block_candidate("", block, standings([block], (), "")["stem"])
    in_name, in_description, in_body = map(
        set, (candidate.name_words, candidate.description_words, candidate.body_words)
    )
    in_aliases = set().union(*candidate.aliases)
    expected = {word: [word in in_aliases, word in in_name, word in in_description - in_name,
                       word in in_body - in_description - in_name - in_aliases]
                for word in in_aliases | in_name | in_description | in_body}  # fmt: skip
    found = places_in([(7, FieldsOf(*stored.texts))])
    assert {word: [ids == [7] for ids in lists] for word, lists in found.items()} == expected
    assert {word for lists in found.values() for ids in lists for word in ids} <= {7}
    assert stored_words(stored.texts[2]) == candidate.body_words == field_words(body)
    assert stored_aliases(stored.texts[3]) == candidate.aliases
    assert stored.counts == tuple(map(len, (candidate.name_words, candidate.description_words, candidate.body_words)))


@given(prompt=TEXTS, name=TEXTS, description=TEXTS, body=TEXTS)
def test_no_evidence_is_above_the_most_that_the_words_can_give(
    prompt: str, name: str, description: str, body: str
) -> None:
    block = noted(name or "x", Note(name or "x", body, description))
    candidate = block_candidate("", block, standings([block], (), "")[block.name])
    units = prompt_units(prompt)
    statistics = FileCorpus([candidate]).statistics(words_to_count(units))
    reading = read(units, statistics, {})
    head = {*candidate.name_words, *candidate.description_words}
    held = [term for term in reading.terms.values() if term.word in head or term.word in candidate.body_words]

    def mass(terms: list[Term]) -> float:
        return sum(term.weight for term in terms)

    in_head = [term for term in held if term.word in head or term.is_identifier]
    elsewhere = [term for term in held if term not in in_head]
    has_name = bool(candidate.name_words)
    most = most_evidence(mass(in_head), mass(elsewhere), reading.least_total, has_name=has_name)
    assert weigh(reading, candidate, statistics).evidence <= most + 1e-9


def test_other_words_have_another_version() -> None:
    words = " ".join(field_words(GOLDEN))
    assert (WORDS_VERSION, hashlib.sha256(words.encode()).hexdigest()[:12]) == (2, "527d55ef98de"), (
        "the words of texts are others: raise WORDS_VERSION, so that every index is made anew, and note the new hash"
    )


def test_verify_finds_words_that_are_not_those_of_the_file(home: HomeBuilder, quick_schema: None) -> None:
    home.block("lantern", "the lantern is lit")
    home.facts("a fact about kestrels")
    settings_ = home.settings()
    ingest(settings_)
    assert verify(settings_).differences == ()
    assert rows(settings_, "SELECT count(*) FROM candidate_rows") == [(2,)]
    with closing(sqlite3.connect(settings_.index_path, isolation_level=None)) as connection:
        connection.execute("UPDATE candidate_rows SET body = 'lit' WHERE body LIKE 'lantern%'")
    first, *_ = verify(settings_).differences
    assert (first.what, "body" in first.detail) == ("recall words", True)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE memory_words SET in_body = x'0100000000000000' WHERE word = 'lit'",
        "UPDATE memory_words SET in_name = CAST(in_name || x'0101010101010101' AS BLOB) WHERE word = 'lantern'",
        "DELETE FROM memory_words WHERE word = 'kestrel'",
        "INSERT INTO memory_words VALUES (900, 'ghost', 1, x'', x'', x'', x'0900000000000000')",
    ],
)
def test_verify_finds_places_that_are_not_those_of_the_words(
    damage: str, home: HomeBuilder, quick_schema: None
) -> None:
    home.block("lantern", "the lantern is lit")
    home.facts("a fact about kestrels")
    settings_ = home.settings()
    ingest(settings_)
    with closing(sqlite3.connect(settings_.index_path, isolation_level=None)) as connection:
        connection.execute(damage)
    report = verify(settings_)
    assert any(difference.what == "fulltext" for difference in report.differences), report.differences


@given(ids=some.lists(some.integers(0, 2**63 - 1)))
def test_ids_are_stored_as_they_are(ids: list[int]) -> None:
    assert ids_of(stored_ids(ids)).tolist() == ids
