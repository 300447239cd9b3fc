"""Options given as text become values, or a usage error that names the option."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from cli import choices
from cli.choices import EventId

NOW = datetime(2026, 3, 29, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-29T02:30:00+02:00", "2026-03-29T00:30:00.000Z"),
        ("2026-03-29", "2026-03-29T00:00:00.000Z"),
        ("5h", "2026-03-29T07:00:00.000Z"),
        ("3d", "2026-03-26T12:00:00.000Z"),
        ("2w", "2026-03-15T12:00:00.000Z"),
    ],
    ids=["offset", "day", "hours", "days", "weeks"],
)
def test_times(text: str, moment: str) -> None:
    assert choices.moment(text, "--since", NOW) == moment


BERLIN: Final = "Europe/Berlin"
SANTIAGO: Final = "America/Santiago"


@pytest.fixture
def in_zone(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Set the zone of this process; the fixture of every test sets it back."""

    def set_zone(name: str) -> None:
        if not Path(f"/usr/share/zoneinfo/{name}").exists():
            pytest.skip("the machine has no time zones")
        monkeypatch.setenv("TZ", name)
        time.tzset()

    return set_zone


@pytest.mark.parametrize(
    ("zone", "text", "since", "until"),
    [
        # the day on which clocks go forward has 23 hours, the one on which they go back 25
        (BERLIN, "2026-03-29", "2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z"),
        (BERLIN, "2026-10-25", "2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"),
        (BERLIN, "yesterday", "2026-03-27T23:00:00.000Z", "2026-03-28T23:00:00.000Z"),
        (BERLIN, "today", "2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z"),
        # a midnight that does not exist: the day begins when it would have been
        (SANTIAGO, "2026-09-06", "2026-09-06T04:00:00.000Z", "2026-09-07T03:00:00.000Z"),
        (BERLIN, "2026-01-02T03:04", "2026-01-02T02:04:00.000Z", "2026-01-02T02:04:00.000Z"),
        (BERLIN, "2026-01-02 03:04:05.678", "2026-01-02T02:04:05.678Z", "2026-01-02T02:04:05.678Z"),
        (BERLIN, "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000Z", "2026-01-02T03:04:05.000Z"),
        (BERLIN, "2026-01-02T03:04:05+05:30", "2026-01-01T21:34:05.000Z", "2026-01-01T21:34:05.000Z"),
        # an hour that comes twice: a span from its first to its second time
        (BERLIN, "2026-10-25T02:30", "2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z"),
        (BERLIN, "2099-12-31", "2099-12-30T23:00:00.000Z", "2099-12-31T23:00:00.000Z"),
        ("America/New_York", "2099-12-31", "2099-12-31T05:00:00.000Z", "2100-01-01T00:00:00.000Z"),
        (BERLIN, "7d", "2026-03-22T12:00:00.000Z", "2026-03-22T12:00:00.000Z"),
    ],
    ids=str,
)
def test_times_without_an_offset_are_local_and_days_are_whole(
    zone: str, text: str, since: str, until: str, in_zone: Callable[[str], None]
) -> None:
    in_zone(zone)
    assert choices.moment(text, "--since", NOW) == since
    assert choices.moment(text, "--until", NOW, until=True) == until


@given(st.datetimes(datetime(2001, 1, 1), datetime(2098, 1, 1)))
def test_a_day_ends_where_the_next_begins(moment: datetime) -> None:
    day, following = moment.date(), moment.date() + timedelta(days=1)
    assert choices.moment(f"{day}", "--until", until=True) == choices.moment(f"{following}", "--since")


@pytest.mark.parametrize(
    "text", ["", "soon", "2026-13-01", "2026-02-30", "2026-01-01T25:00", "1999-12-31", "3x", "-3d", "99999y"]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    for until in (False, True):
        with pytest.raises(typer.BadParameter, match="is not a time") as refused:
            choices.moment(text, "--since", NOW, until=until)
        assert refused.value.param_hint == "--since"


@pytest.mark.parametrize(
    ("text", "size"), [("500", 500), ("64k", 65536), ("1.5 MB", 1572864), ("1GiB", 1073741824)], ids=str
)
def test_sizes(text: str, size: int) -> None:
    assert choices.size_bytes(text, "--max") == size


@pytest.mark.parametrize("text", ["", "many", "-1", "1T", "1.k"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not a size"):
        choices.size_bytes(text, "--max")


def test_roots_keep_what_follows_the_first_equals_sign() -> None:
    assert choices.roots(["codex=/a=b", "codex=~/c"], ["codex"]) == [("codex", "/a=b"), ("codex", "~/c")]


def test_names_come_once_each_in_the_order_typed() -> None:
    assert choices.names(["b,a", "b"], ["a", "b", "c"], "--in") == ("b", "a")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("01k5p3", EventId("01k5p3")),
        ("01k5p3:17", EventId("01k5p3", 17)),
        ("codex:01k5p3", EventId("codex:01k5p3")),
        ("codex:01k5p3:17", EventId("codex:01k5p3", 17)),
        ("codex:4815", EventId("codex:4815")),
        ("codex:4815:2", EventId("codex:4815", 2)),
        ("a/b:3", EventId("a/b", 3)),
        ("a/b:3:/x/y:7.jsonl", EventId("a/b", 3, "/x/y:7.jsonl")),
        ("a/b:3:/x/y:7", EventId("a/b", 3, "/x/y:7")),
        ("codex:4815:2:/x", EventId("codex:4815", 2, "/x")),
        ("a:b:c", EventId("a:b:c")),
    ],
    ids=str,
)
def test_event_ids(text: str, found: EventId) -> None:
    assert choices.event_id(text, ["codex"]) == found


@given(st.text())
def test_typed_text_can_be_stored(text: str) -> None:
    typed = text.encode("utf-8", "replace").decode()
    assert choices.typed_text(typed).encode("utf-8").decode("utf-8") == typed


def test_bytes_that_are_not_utf_8_become_replacement_characters() -> None:
    assert choices.typed_text("caf\udce9") == "caf\ufffd"
