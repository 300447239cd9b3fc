"""Where the copied part of a fork ends, and what a record is anchored in."""

from __future__ import annotations

import pytest

from persist.agents.codex.lineage import Lineage, epoch_ms, uuid7_ms

SESSION = "019df000-0000-7000-8000-000000000001"
OLDER = "019deff0-0000-7000-8000-00000000000a"
YOUNGER = "019df000-0001-7000-8000-00000000000b"


def fork(session_id: str = SESSION) -> Lineage:
    lineage = Lineage()
    lineage.begin(session_id, "origin", None, "2026-05-04T09:00:00.000Z")
    return lineage


def test_a_uuid_of_version_7_tells_when_it_was_made() -> None:
    assert uuid7_ms("01a0022d-3960-7020-8db6-5f3f53a58918") == epoch_ms("2026-08-14T21:28:33.376Z")
    assert uuid7_ms("5973b6c0-94b8-487b-a530-2aeb6098ae0e") is None  # version 4
    assert uuid7_ms("3") is None


def test_a_session_of_its_own_is_anchored_in_itself() -> None:
    lineage = Lineage()
    assert lineage.anchor() is None
    lineage.begin(SESSION, None, None, None)
    assert lineage.anchor() == f"{SESSION}/"
    lineage.meet_turn("3")
    assert lineage.anchor() == f"{SESSION}/3"
    lineage.meet_turn(OLDER)  # an id that is unique stands for itself, however old
    assert lineage.anchor() == OLDER


def test_a_turn_younger_than_its_session_is_its_own() -> None:
    lineage = fork()
    lineage.meet_turn("4")
    assert lineage.anchor() == "origin/4"
    lineage.meet_turn(OLDER)
    lineage.meet_turn("4")
    assert lineage.anchor() == "origin/4"
    lineage.meet_turn(YOUNGER)
    assert lineage.anchor() == YOUNGER
    lineage.meet_turn("4")
    assert lineage.anchor() == f"{SESSION}/4"


@pytest.mark.parametrize(
    ("times", "anchor"),
    [
        (["09:00:00.005", "09:00:00.900", "09:00:01.800"], "origin/"),  # a burst over more than one second
        (["09:00:00.005", "09:00:01.006"], "s/"),
        (["08:00:00.000", "08:30:00.000", "09:00:00.001"], "origin/"),  # times kept as they were
        (["08:00:00.000", "08:30:00.000", "09:00:01.001"], "s/"),
        (["09:00:05.000", "09:00:05.100"], "s/"),  # nothing was copied
    ],
)
def test_without_ids_the_copied_part_is_a_burst(times: list[str], anchor: str) -> None:
    lineage = fork("s")
    for time in times:
        lineage.meet_time(f"2026-05-04T{time}Z")
    assert lineage.anchor() == anchor


def test_records_without_times_end_no_burst() -> None:
    lineage = fork("s")
    lineage.meet_time(None)
    assert lineage.is_copying


def test_what_follows_the_burst_is_not_in_the_last_copied_turn() -> None:
    lineage = fork()
    lineage.meet_turn(OLDER)
    lineage.meet_time("2026-05-04T09:00:00.010Z")
    assert lineage.anchor() == OLDER
    lineage.meet_time("2026-05-04T09:01:00.000Z")
    assert lineage.anchor() == f"{SESSION}/"


def test_the_header_that_is_repeated_names_whose_records_follow() -> None:
    lineage = fork()
    lineage.meet_header("origin-of-origin")
    assert lineage.anchor() == "origin-of-origin/"
