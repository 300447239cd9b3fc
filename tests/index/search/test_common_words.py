"""Words that very many texts hold are ranked a run at a time: every way to them gives one list, and its pages join."""

from __future__ import annotations

import pytest

from index.ingest import ingest
from index.search import Filters, Mode, SearchRequest, hunt_words, search
from tests import builders as make
from tests.builders import HomeBuilder


@pytest.mark.usefixtures("quick_schema")
@pytest.mark.parametrize("query", ["heron", "heron -reeds", "heron re*", '"a heron"'])
@pytest.mark.parametrize("listed_below", [0, 10**6], ids=["texts are asked", "ids are listed"])
def test_pages_of_a_common_word_join_to_the_whole_list(
    home: HomeBuilder, monkeypatch: pytest.MonkeyPatch, listed_below: int, query: str
) -> None:
    texts = [f"a heron {'heron ' * (n % 4)}in the {'reeds' if n % 3 else 'sky'} {n}" for n in range(57)]
    home.aster("s", make.aster_header("s", 0), *(make.aster_prompt(text, n % 19) for n, text in enumerate(texts)))
    settings = home.settings()
    ingest(settings)
    all_ranked = search(settings, SearchRequest(query, mode=Mode.WORDS, limit=None))
    monkeypatch.setattr(hunt_words, "RANKED_BELOW", 3)
    monkeypatch.setattr(hunt_words, "RANKED_TOGETHER", 7)
    monkeypatch.setattr(hunt_words, "WORD_IDS_LISTED_BELOW", listed_below)
    whole = search(settings, SearchRequest(query, mode=Mode.WORDS, limit=None))
    assert sorted(hit.text for hit in whole.hits) == sorted(hit.text for hit in all_ranked.hits)
    assert whole.total == all_ranked.total > 10
    paged: list[tuple[str, float | None]] = []
    for offset in range(0, whole.total, 5):
        page = search(settings, SearchRequest(query, mode=Mode.WORDS, limit=5, offset=offset))
        assert page.total == whole.total if page.total_is_exact else page.total >= whole.total
        paged += [(hit.text, hit.score) for hit in page.hits]
    assert paged == [(hit.text, hit.score) for hit in whole.hits]
    since = SearchRequest(query, mode=Mode.WORDS, filters=Filters(since=make.at(12)), limit=3)
    assert all((hit.ts or "") >= make.at(12) for hit in search(settings, since).hits)


@pytest.mark.usefixtures("quick_schema")
@pytest.mark.parametrize("query", ["re*", "heron re*", "re* -sky", "heron_re"])
@pytest.mark.parametrize("where", [("prompts",), ("prompts", "answers")])
def test_pages_of_a_prefix_join_and_equal_prompts_count_once(
    home: HomeBuilder, query: str, where: tuple[str, ...]
) -> None:
    texts = [f"a heron_re {'reeds ' * (n % 3)}{'sky' if n % 5 == 0 else 'lake'} {n % 11}" for n in range(60)]
    home.aster("s", make.aster_header("s", 0), *(make.aster_prompt(text, n % 19) for n, text in enumerate(texts)))
    settings = home.settings()
    ingest(settings)
    whole = search(settings, SearchRequest(query, where, Mode.WORDS, limit=None))
    listed = {hit.text for hit in whole.hits}
    assert len(whole.hits) == whole.total == len(listed) > 10
    paged: list[tuple[str, int, float | None]] = []
    for offset in range(0, whole.total + 4, 4):
        page = search(settings, SearchRequest(query, where, Mode.WORDS, limit=4, offset=offset))
        assert (page.total, page.total_is_exact) == (whole.total, True)
        paged += [(hit.text, hit.count, hit.score) for hit in page.hits]
    assert paged == [(hit.text, hit.count, hit.score) for hit in whole.hits]
