"""The prior: a table of counts that loads quickly, and weights that fall with how common a word is."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from bench.background import render
from persist.recall.background import PATH, PSEUDO_DOCUMENTS, background, idf
from persist.recall.words import one_word


def test_the_table_is_small_and_its_words_are_as_texts_have_them() -> None:
    assert PATH.stat().st_size < 64_000
    table = background()
    assert len(table) > 3000
    assert all(0 < count < PSEUDO_DOCUMENTS for count in table.values())
    assert table[one_word("returns")] > table[one_word("database")] > 0
    assert one_word("zephyrctl") not in table


def test_loading_it_costs_little_more_than_reading_its_words() -> None:
    loading_s, reading_s = [], []
    for _ in range(10):
        background.cache_clear()
        start = time.process_time()
        background()
        loaded = time.process_time()
        assert len(PATH.read_text(encoding="ascii").split()) > 3000
        loading_s.append(loaded - start)
        reading_s.append(time.process_time() - loaded)
    assert min(loading_s) < 10 * min(reading_s)


def test_the_file_is_what_its_maker_writes() -> None:
    head, *lines = PATH.read_text(encoding="ascii").splitlines()
    counts = {word: int(count) for count, *words in (line.split(" ") for line in lines) for word in words}
    from collections import Counter

    assert render(Counter(counts), int(head)) == PATH.read_text(encoding="ascii")


@given(st.integers(0, 10_000), st.data())
def test_rarer_weighs_more_and_nothing_weighs_nothing(count: int, data: st.DataObject) -> None:
    more = data.draw(st.integers(0, count))
    fewer = data.draw(st.integers(0, more))
    assert idf("zephyrctl", fewer, count) >= idf("zephyrctl", more, count) > 0


def test_in_a_store_of_one_block_its_words_still_weigh() -> None:
    assert idf("zephyrctl", 1, 1) > 4
