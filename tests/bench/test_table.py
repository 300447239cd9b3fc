"""The benchmark's figures, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bench.table import growth_lines, lines_of


def figures(p95_s: float, must_s: float | None = 0.015) -> dict[str, Any]:
    return {"p50_s": p95_s / 2, "p95_s": p95_s, "cpu_p95_s": p95_s * 0.8, "must_s": must_s, "queries": 10, "hits": 1234}


def told_of(searches: dict[str, dict[str, Any]], size_bytes: int) -> dict[str, Any]:
    rebuilt = {"bytes": size_bytes, "rows": {"source_rows": 7, "event_rows": 70}}
    scanned = {"files_s": 2.0, "texts_s": 1.0, "page_s": 0.01, "counted_s": 0.1, "texts": 5, "listed": 5, "total": 5}
    return {
        "load": [0.5, 1.5],
        "rebuild": rebuilt,
        "search": {"searches": searches, "texts": {"prompts": 3, "memory": 0}},
        "scan": {"the": scanned},
        "process": {"python -c pass": 0.02, "search, prompts": 0.6},
    }


def cells_of(lines: Sequence[str], name: str) -> list[str]:
    return next(line.removeprefix(name).split() for line in lines if line.startswith(name))


def test_figures_stand_beside_their_musts() -> None:
    searches = {
        "prompts, common": figures(0.0125),
        "answers, rare": figures(0.03),
        "near": figures(0.0160),
        "free": figures(9.0, None),
    }
    lines = lines_of(told_of(searches, 1_000_000))
    assert cells_of(lines, "prompts, common") == ["10", "1,234", "6.2", "12.5", "10.0", "15", "met"]
    assert cells_of(lines, "answers, rare") == ["10", "1,234", "15.0", "30.0", "24.0", "15", "missed,", "2.0", "x"]
    assert cells_of(lines, "near") == ["10", "1,234", "8.0", "16.0", "12.8", "15", "met", "on", "cpu", "alone"]
    assert cells_of(lines, "free") == ["10", "1,234", "4500.0", "9000.0", "7200.0", "-"]
    assert cells_of(lines, "'the', scan of the files") == ["5", "texts", "2000.0", "0.0050", "0.0500"]
    assert cells_of(lines, "search, prompts") == ["600.0", "30.0", "25", "missed,", "1.2", "x"]
    assert "rg is not installed here: its figures are left out" in lines
    assert "1 MB in 7 files, 70 events, 3 prompts" in lines


def test_growth_is_the_ratio_of_the_slowest_and_many_rows_have_musts_of_their_own() -> None:
    told = told_of({"answers, rare": figures(0.01), "prompts, common": figures(0.01)}, 1_000_000)
    larger = told_of({"answers, rare": figures(0.12), "prompts, common": figures(0.04)}, 4_000_000)
    lines = growth_lines({**told, "larger": {**larger, "load": 1.0}})
    assert cells_of(lines, "prompts, common") == ["1,234", "1,234", "10.0", "40.0", "4.0", "4.0", "5", "met"]
    assert cells_of(lines, "answers, rare") == [
        "1,234", "1,234", "10.0", "120.0", "12.0", "12.0", "5", "missed,", "2.4", "x",
    ]  # fmt: skip
    assert "answers, rare: p50 60.0 ms of 50: missed, 1.2 x" in lines
