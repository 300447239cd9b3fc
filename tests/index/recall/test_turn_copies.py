"""One huge session or many copies of a message silence no other session, and make no prompt speak that was silent."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from index.ingest import ingest
from index.opening import open_reader
from index.recall import turn_ranking
from index.recall.turn_counts import TurnCounts, counts_of
from index.recall.turns import recall_turns
from index.settings import Settings
from tests.builders import HomeBuilder
from tests.index.recall.test_turns import ALPHA, AS_OF, sessions_of, talk

TOPICS = (
    ("are invoices rounded per line or per invoice?", "Per line, in cents; the ledger adds the rounded lines."),
    ("the staging tenant is empty again", "It is wiped on Monday; make seed-staging fills it."),
    ("stripe sent the webhook twice", "Handlers are idempotent, the event id is kept for thirty days."),
    ("the chart is slow with ten thousand points", "I drew it on a canvas; SVG was the bottleneck."),
    ("bookings move by a day in the date picker", "It kept local midnight; it keeps UTC now."),
    ("renovate merged a major release", "The lockfile policy lets it merge patch releases alone."),
)
RIGHT = ("the kiln controller drifts since yesterday", "Hold reset for nine seconds after a thermocouple change.")
ASKED = "the kiln controller drifts again, did we have to reset the thermocouple?"
SILENT = (
    "write a haiku about autumn leaves",
    "what is the capital of Portugal, and who built the tower there?",
    "rename this variable and run the formatter",
    "reset the counter after a change",
    "twice the number of points",
    "handle the error event of the button",
)
RELATED = "the kiln controller drifts, thermocouple reset number {}"
UNRELATED = "the canteen has soup in the blue hall, menu number {}"


@pytest.fixture
def settings(home: HomeBuilder, quick_schema: None, tmp_path: Path) -> Settings:
    return home.settings(tmp_path / "cache" / "index.sqlite")


def fill(home: HomeBuilder) -> None:
    for number, texts in enumerate((*TOPICS, RIGHT)):
        talk(home, "01right" if texts == RIGHT else f"01topic{number}", *texts, "thanks", "Fine.", minute=number * 60)


def check(settings: Settings) -> None:
    ingest(settings)
    assert "01right" in sessions_of(recall_turns(settings, ASKED, ALPHA, AS_OF)), "the right session is silenced"
    for number, texts in enumerate(TOPICS):
        assert sessions_of(recall_turns(settings, f"again: {texts[0]}", ALPHA, AS_OF)) == [f"01topic{number}"], texts
    for prompt in SILENT:
        assert sessions_of(recall_turns(settings, prompt, ALPHA, AS_OF)) == [], prompt


@pytest.mark.parametrize("text", [RELATED, UNRELATED], ids=["related", "unrelated"])
@pytest.mark.parametrize("count", [10, 100, 1000, 5000])
def test_one_huge_session_silences_nobody(count: int, text: str, home: HomeBuilder, settings: Settings) -> None:
    fill(home)
    check(settings)
    talk(home, "01huge", *(text.format(number) for number in range(count)), minute=600)
    check(settings)


@pytest.mark.parametrize("text", [RELATED, UNRELATED], ids=["related", "unrelated"])
def test_nor_do_many_answers_to_one_prompt(text: str, home: HomeBuilder, settings: Settings) -> None:
    fill(home)
    texts = [part for number in range(1000) for part in ("", text.format(number))]
    talk(home, "01huge", "go on", "Yes.", *texts, minute=600)
    check(settings)


@pytest.mark.parametrize("text", [RELATED, UNRELATED], ids=["related", "unrelated"])
@pytest.mark.parametrize("count", [10, 100, 1000])
def test_copies_in_many_sessions_silence_nobody(count: int, text: str, home: HomeBuilder, settings: Settings) -> None:
    fill(home)
    for number in range(count):
        talk(home, f"02copy{number:04d}", text.format(7), "Noted.", minute=600 + number)
    check(settings)
    if text == RELATED:
        (hit,) = (one for one in recall_turns(settings, ASKED, ALPHA, AS_OF).hits if one.session_id != "01right")
        assert hit.copies == count - 1


def test_of_copies_the_newest_is_given_whatever_came_into_the_index_first(
    home: HomeBuilder, settings: Settings
) -> None:
    talk(home, "02new", RELATED.format(7), "Noted.", minute=900)
    ingest(settings)
    for number in range(500):
        talk(home, f"02copy{number:04d}", RELATED.format(7), "Noted.", minute=number / 10)
    ingest(settings)
    (hit,) = recall_turns(settings, ASKED, ALPHA, AS_OF).hits
    assert (hit.session_id, hit.copies) == ("02new", 500)


def test_the_numbers_hardly_move(home: HomeBuilder, settings: Settings) -> None:
    def counts() -> TurnCounts:
        ingest(settings)
        with closing(open_reader(settings.index_path)) as connection:
            return counts_of(connection, ["kiln", "mondai", "soup", "nowhere"])

    fill(home)
    alone = counts()
    assert alone.frequencies == {"kiln": 1, "mondai": 1}
    talk(home, "01huge", *(RELATED.format(number) for number in range(1000)), minute=600)
    talk(home, "01menu", *(UNRELATED.format(number) for number in range(1000)), minute=600)
    for number in range(100):
        talk(home, f"02copy{number}", RELATED.format("x"), "Noted.", minute=600 + number)
    found = counts()
    assert alone.texts / 2 <= found.texts <= 4 * alone.texts
    assert found.frequencies["kiln"] <= 3 * 3 + found.texts / 4
    assert found.frequencies["mondai"] == 1
    assert found.frequencies["soup"] <= 5


def test_very_many_texts_of_other_projects_hide_none_of_this_one(
    home: HomeBuilder, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only so many are looked at before the sessions that count are asked alone."""
    monkeypatch.setattr(turn_ranking, "_LOOKED_AT", 500)
    fill(home)
    texts = [f"kiln controller drifts again, reset thermocouple {number}" for number in range(1500)]
    talk(home, "01other", *texts, cwd="/w/elsewhere")
    ingest(settings)
    assert sessions_of(recall_turns(settings, ASKED, ALPHA, AS_OF)) == ["01right"]
