"""A pattern's outline is asked of keys inside SQL: each way to the texts gives what a look at all of them gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from index.ingest import ingest
from index.match.regex import RegexQuery
from index.search import Mode, SearchRequest, candidates, pattern_keys, search
from index.settings import Settings
from tests import builders as make
from tests.builders import HomeBuilder

TEXTS = [
    f"{n} {'had' if n % 2 else 'we had it'} {'a' if n % 3 else 'a b'} {'in' if n % 5 else 'out'}"
    f" the{' ' * (n % 7)}inn é{n}"
    for n in range(3200)
]
PATTERNS = [
    r"had\s+\S+\s+in",
    r"had\s+\S+\s+in the\s+inn é3",
    r"it a b out the\s{3}inn",
    r"\s+out\s+the\s*inn é\d*7$",
    r"in\b.*é\d1",
    r"a\s+in",
    r"No\s+such\s+had",
    r"nosuch\s+had",
]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    folder: Path = tmp_path_factory.mktemp("pattern")
    home = HomeBuilder(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASTER_HOME", str(home.aster_home))
        home.aster("s", make.aster_header("s", 0), *(make.aster_prompt(text, n) for n, text in enumerate(TEXTS)))
        found = home.settings()
        ingest(found)
        yield found


def expected(pattern: str) -> list[str]:
    flags = re.MULTILINE | (0 if pattern.startswith("No") else re.IGNORECASE)
    return [text for text in reversed(TEXTS) if re.search(pattern, text, flags)]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("way", ["as it comes", "by time alone", "full text first", "no time for outlines"])
def test_every_way_to_the_texts_finds_the_same(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, pattern: str, way: str
) -> None:
    if way == "by time alone":
        monkeypatch.setattr(candidates, "FETCH_BELOW", -1)
        monkeypatch.setattr(candidates, "LISTED_BELOW", 0)
        monkeypatch.setattr(candidates, "DEARER", 10**6)
    elif way == "full text first":
        monkeypatch.setattr(candidates, "FETCH_BELOW", 10**6)
    elif way == "no time for outlines":
        monkeypatch.setattr(pattern_keys, "OUTLINE_TIME_S", 0)
    told = expected(pattern)
    for limit in (1, 20, 4000):
        result = search(settings, SearchRequest(pattern, mode=Mode.REGEX, limit=limit))
        assert [hit.text for hit in result.hits] == told[:limit]
    assert search(settings, SearchRequest(pattern, mode=Mode.REGEX, limit=1, exact_total=True)).total == len(told)


def test_no_text_that_the_outline_keeps_out_is_looked_at(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []
    matches = RegexQuery.matches

    def look(query: RegexQuery, text: str) -> bool:
        looked_at.append(text)
        return matches(query, text)

    monkeypatch.setattr(RegexQuery, "matches", look)
    pattern = r"had\s+\S+\s+in the\s+inn é3"
    search(settings, SearchRequest(pattern, mode=Mode.REGEX, limit=20))
    assert len(looked_at) >= 20
    assert set(looked_at) <= set(expected(pattern))
