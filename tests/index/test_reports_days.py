"""Days and hours are those of the time zone, also over midnight and where clocks change."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from index.ingest import ingest
from index.reports.named import get_report, run_report
from tests.builders import HomeBuilder, Record
from tests.index.filled import never

SPRING = ("03-28T22:30", "03-28T23:30", "03-29T00:59", "03-29T01:00", "03-29T21:59", "03-29T22:00")
AUTUMN = ("10-24T21:59", "10-24T22:00", "10-25T00:30", "10-25T01:30", "10-25T22:59", "10-25T23:00")
NEW_YORK = ("03-08T04:59", "03-08T05:00", "03-08T06:59", "03-08T07:00", "03-09T03:59", "03-09T04:00")
NEW_YORK_BACK = ("11-01T03:59", "11-01T04:00", "11-01T05:30", "11-01T06:30", "11-02T04:59", "11-02T05:00")
CASES = {
    "Berlin, forward": ("Europe/Berlin", SPRING, {"03-28": 1, "03-29": 4, "03-30": 1}, {0: 2, 1: 1, 3: 1, 23: 2}),
    "Berlin, back": ("Europe/Berlin", AUTUMN, {"10-24": 1, "10-25": 4, "10-26": 1}, {0: 2, 2: 2, 23: 2}),
    "New York, forward": (
        "America/New_York", NEW_YORK, {"03-07": 1, "03-08": 4, "03-09": 1}, {0: 2, 1: 1, 3: 1, 23: 2},
    ),
    "New York, back": (
        "America/New_York", NEW_YORK_BACK, {"10-31": 1, "11-01": 4, "11-02": 1}, {0: 2, 1: 2, 23: 2},
    ),
    "UTC": ("UTC", SPRING, {"03-28": 2, "03-29": 4}, {0: 1, 1: 1, 21: 1, 22: 2, 23: 1}),
    "Kathmandu, a quarter past": (
        "Asia/Kathmandu", ("03-28T18:14", "03-28T18:15"), {"03-28": 1, "03-29": 1}, {0: 1, 23: 1},
    ),
}  # fmt: skip


def session(moments: tuple[str, ...]) -> list[Record]:
    """Return one session with a prompt and a call at each moment."""
    records: list[Record] = [
        {"type": "session", "id": "s-1", "v": 1, "created_at": f"2026-{moments[0]}:00.000Z", "cwd": "/w/alpha"}
    ]
    for number, moment in enumerate(moments):
        ts = f"2026-{moment}:59.999Z"
        records.append({"type": "message", "role": "user", "content": f"prompt {number}", "ts": ts})
        usage = {"prompt_tokens": 10, "completion_tokens": 1}
        records.append({"type": "message", "role": "assistant", "content": "so", "ts": ts, "usage": usage})
    return records


@pytest.mark.parametrize(("zone", "moments", "days", "hours"), CASES.values(), ids=list(CASES))
def test_a_session_over_midnight_and_a_change_of_clocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zone: str, moments: tuple[str, ...], days: dict[str, int],
    hours: dict[int, int],
) -> None:  # fmt: skip
    home = HomeBuilder(tmp_path / "home")
    home.aster("s-1", *session(moments))
    index = tmp_path / "index.sqlite"
    ingest(home.settings(index))
    monkeypatch.setenv("TZ", zone)
    time.tzset()

    def rows(name: str) -> tuple[tuple[object, ...], ...]:
        return run_report(index, get_report(name), on_overrun=never, timeout_s=20, heap_limit_bytes=None).rows

    newest_first = sorted(days.items(), reverse=True)
    assert [(row[0], row[1], row[2], row[6]) for row in rows("activity-by-day")] == [
        (f"2026-{day}", count, 1, 11 * count) for day, count in newest_first
    ]
    assert [(row[0], row[2]) for row in rows("prompts-by-day")] == [(f"2026-{day}", n) for day, n in newest_first]
    assert [row[:4] for row in rows("usage-by-day")] == [(f"2026-{day}", n, 10 * n, n) for day, n in newest_first]
    assert {row[0]: row[8] for row in rows("busiest-hours") if row[8]} == hours
