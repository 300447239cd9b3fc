"""Times as the index keeps them: public fault B19, and the laws that sorting and identities rest on."""

from __future__ import annotations

import math
import re
import time
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from persist.times import from_any, from_epoch_ms, from_ns, from_text, now

INSTANT = "2026-03-29T00:30:00.000Z"
MS = 1774744200000
FORM = re.compile(r"20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d\.\d{3}Z", re.ASCII)

moments = st.datetimes(datetime(2000, 1, 1), datetime(2099, 12, 31, 23, 59, 59, 999_999))
offsets = st.integers(-23 * 60 - 59, 23 * 60 + 59)

SAME = [
    ("seconds", MS // 1000),
    ("seconds-float", MS / 1000),
    ("milliseconds", MS),
    ("milliseconds-float", float(MS)),
    ("milliseconds-cut", MS + 0.999),
    ("Z", "2026-03-29T00:30:00Z"),
    ("lower-case", "2026-03-29t00:30:00z"),
    ("india", "2026-03-29T06:00:00+05:30"),
    ("offset-without-colon", "2026-03-29T06:00:00+0530"),
    ("west", "2026-03-28T20:30:00-04:00"),
    ("utc-offset", "2026-03-29T00:30:00+00:00"),
    ("minus-zero", "2026-03-29T00:30:00-00:00"),
    ("nine-digits", "2026-03-29T00:30:00.000999999Z"),
    ("twelve-digits", "2026-03-29T00:30:00.000999999999Z"),
    ("comma", "2026-03-29T00:30:00,000Z"),
    ("space", "2026-03-29 00:30:00Z"),
    ("space-and-offset", "2026-03-29 06:00:00 +05:30"),
    ("words", "2026-03-29 00:30:00 UTC"),
    ("no-zone", "2026-03-29T00:30:00"),
    ("no-seconds", "2026-03-29T00:30Z"),
    ("white-space", " 2026-03-29T00:30:00Z\n"),
]

NONE: list[tuple[str, Any]] = [
    ("missing", None),
    ("empty", ""),
    ("zero", 0),
    ("minus-one", -1),
    ("minus-zero-float", -0.0),
    ("true", True),
    ("false", False),
    ("nan", math.nan),
    ("infinity", math.inf),
    ("minus-infinity", -math.inf),
    ("huge", 10**400),
    ("huge-negative", -(10**400)),
    ("largest-float", 1.7e308),
    ("2**63", 2**63),
    ("year-10000", "10000-01-01T00:00:00Z"),
    ("year-9999", "9999-12-31T23:59:59Z"),
    ("year-9999-overflow", "9999-12-31T23:59:59-23:59"),
    ("year-1-underflow", "0001-01-01T00:00:00+23:59"),
    ("year-0", "0000-01-01T00:00:00Z"),
    ("1970", "1970-01-01T00:00:00Z"),
    ("1999-text", "1999-12-31T23:59:59.999Z"),
    ("1999-by-offset", "2000-01-01T00:00:00+00:01"),
    ("2100-text", "2100-01-01T00:00:00Z"),
    ("2100-by-offset", "2099-12-31T23:59:59-00:01"),
    ("1999-number", 946684799),
    ("2100-number", 4102444800),
    ("microseconds", MS * 1000),
    ("nanoseconds", MS * 10**6),
    ("no-such-day", "2026-02-29T00:00:00Z"),
    ("no-such-day-with-offset", "2026-02-29T00:00:00+01:00"),
    ("no-such-month", "2026-13-01T00:00:00Z"),
    ("day-zero", "2026-01-00T00:00:00Z"),
    ("hour-24", "2026-03-29T24:00:00Z"),
    ("minute-60", "2026-03-29T00:60:00Z"),
    ("second-61", "2026-03-29T00:00:61Z"),
    ("offset-24", "2026-03-29T00:00:00+24:00"),
    ("offset-minute-60", "2026-03-29T00:00:00+01:60"),
    ("date-alone", "2026-03-29"),
    ("words", "yesterday"),
    ("number-as-text", "1774744200"),
    ("other-digits", "٢٠٢٦-03-29T00:30:00Z"),
    ("two-lines", "2026-03-29T00:30:00Z\n2026-03-29T00:30:00Z"),
    ("rest", "2026-03-29T00:30:00Zx"),
    ("no-digits-behind-the-point", "2026-03-29T00:30:00.Z"),
    ("nul", "2026-03-29T00:30:00Z\0"),
    ("surrogate", "2026-03-29T00:30:00\ud800"),
    ("list", [2026]),
    ("object", {"seconds": 1}),
]


@pytest.mark.parametrize("value", [row[1] for row in SAME], ids=[row[0] for row in SAME])
def test_the_same_instant_however_it_is_written(value: Any) -> None:
    assert from_any(value) == INSTANT


@pytest.mark.parametrize("value", [row[1] for row in NONE], ids=[row[0] for row in NONE])
def test_what_is_no_time_is_none_and_never_raises(value: Any) -> None:
    assert from_any(value) is None


@settings(max_examples=300, deadline=None)
@given(st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.from_regex(r"\A[-0-9TZ:.+ ]{0,30}\Z"))
def test_any_value_gives_the_one_form_or_none(value: Any) -> None:
    found = from_any(value)
    assert found is None or FORM.fullmatch(found)


@settings(max_examples=300, deadline=None)
@given(moments, offsets, st.integers(0, 12), st.sampled_from("Tt "))
@example(datetime(2024, 2, 29, 23, 59, 59, 999_999), 0, 6, "T")
@example(datetime(2000, 2, 29), -1439, 9, "T")
def test_text_at_any_offset_is_cut_and_never_rounded(moment: datetime, minutes: int, digits: int, mark: str) -> None:
    zone = timezone(timedelta(minutes=minutes))
    utc = moment.replace(tzinfo=zone).astimezone(UTC) if 2000 < moment.year < 2099 else moment.replace(tzinfo=UTC)
    local = utc.astimezone(zone if 2000 < moment.year < 2099 else UTC)
    fraction = f"{local.microsecond:06d}999999"[:digits]
    sign, ahead = ("-", -minutes) if minutes < 0 else ("+", minutes)
    ending = f"{sign}{ahead // 60:02d}:{ahead % 60:02d}" if local.tzinfo is zone else "Z"
    written = f"{local:%Y-%m-%d}{mark}{local:%H:%M:%S}{'.' if fraction else ''}{fraction}{ending}"
    wanted = f"{utc:%Y-%m-%dT%H:%M:%S}.{fraction[:3]:0<3}Z"
    assert from_text(written) == wanted
    assert from_text(wanted) == wanted
    assert len(wanted) == 24


@settings(max_examples=300, deadline=None)
@given(st.integers(946684800000, 4102444799999), st.integers(946684800000, 4102444799999))
def test_text_order_is_time_order(one: int, other: int) -> None:
    first, second = from_epoch_ms(one), from_epoch_ms(other)
    assert first is not None
    assert second is not None
    assert (first < second) == (one < other)
    assert (first == second) == (one == other)
    assert round(datetime.fromisoformat(first).timestamp() * 1000) == one


@settings(max_examples=300, deadline=None)
@given(st.integers(946684800000, 4102444799999))
def test_numbers_of_either_unit_equal_the_text(milliseconds: int) -> None:
    text = from_epoch_ms(milliseconds)
    assert from_any(milliseconds) == text
    assert from_any(float(milliseconds)) == text
    assert from_any(milliseconds / 1000) == text
    assert from_any(milliseconds // 1000) == from_epoch_ms(milliseconds // 1000 * 1000)
    assert from_ns(milliseconds * 1_000_000 + 999_999) == text


@pytest.mark.parametrize("zone", ["Z", "+00:00", "+01:00"])
@pytest.mark.parametrize(("fraction", "wanted"), [("5", "500"), ("05", "050"), ("0019", "001"), ("9999999", "999")])
def test_a_fraction_of_few_or_many_digits(fraction: str, wanted: str, zone: str) -> None:
    hour = "13" if zone == "+01:00" else "12"
    assert from_text(f"2026-03-29T{hour}:00:00.{fraction}{zone}") == f"2026-03-29T12:00:00.{wanted}Z"


def test_leap_days() -> None:
    assert from_text("2024-02-29T12:00:00Z") == "2024-02-29T12:00:00.000Z"
    assert from_text("2000-02-29T12:00:00Z") == "2000-02-29T12:00:00.000Z"
    assert from_text("2024-03-01T00:30:00+01:00") == "2024-02-29T23:30:00.000Z"
    assert from_text("2025-02-29T12:00:00Z") is None


def test_the_borders_are_inside() -> None:
    assert from_text("2000-01-01T00:00:00Z") == from_any(946684800) == "2000-01-01T00:00:00.000Z"
    assert from_text("2099-12-31T23:59:59.9999Z") == from_any(4102444799999) == "2099-12-31T23:59:59.999Z"


def test_the_time_zone_of_the_machine_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    assert from_text("2026-03-08T02:30:00") == "2026-03-08T02:30:00.000Z"
    assert from_any(MS) == INSTANT


def test_now_is_between_before_and_after() -> None:
    before = from_ns(time.time_ns())
    moment = now()
    after = from_ns(time.time_ns())
    assert before is not None
    assert after is not None
    assert before[:23] <= moment[:23] <= after[:23]
    assert FORM.fullmatch(moment)


def test_file_times_that_no_clock_gives_are_none() -> None:
    assert from_ns(0) is None
    assert from_ns(-1) is None
    assert from_ns(2**63 - 1) is None
