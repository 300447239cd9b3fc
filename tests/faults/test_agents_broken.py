"""One absurd record of an agent must not take the answers about all others away (DESIGN laws 4 and 5).

Real files, a real index, and the guarded connection on which a person's statements run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from index.errors import QueryFailedError
from index.ingest import ingest
from index.projection import MAX_NAME_CHARACTERS, MAX_TOKENS
from index.query import run_query
from index.reports import list_reports, run_report
from index.settings import Settings
from index.verify import verify
from tests.builders import (
    HomeBuilder,
    aster_header,
    aster_prompt,
    claude_answer,
    claude_prompt,
    lines,
    pi_answer,
    pi_header,
    pi_prompt,
)
from tests.index.codex_world import header, id_at, name_of, put, record
from tests.index.conftest import rows

LONG: Final = "n" * 6_000_000
"""Longer than any value that a statement of a person may read was once."""


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    return HomeBuilder(isolated)


@pytest.fixture
def places(home: HomeBuilder, tmp_path: Path) -> Settings:
    return home.settings(tmp_path / "cache" / "index.sqlite")


def pi(home: HomeBuilder, name: str, *records: Any) -> None:
    folder = home.home / ".pi" / "agent" / "sessions" / "--w-delta--"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"2026-05-04T00-00-00_{name}.jsonl").write_bytes(lines(*records))


def failing(places: Settings) -> list[tuple[str, str]]:
    """Return the views that cannot be read whole and the reports that cannot be run, with the reasons."""
    views = [str(name) for (name,) in rows(places, "SELECT name FROM sqlite_schema WHERE type = 'view'")]
    assert views
    failed: list[tuple[str, str]] = []
    for view in views:
        try:
            run_query(
                places.index_path, f"SELECT * FROM {view}", timeout_s=60, on_overrun=no_overrun, heap_limit_bytes=None
            )
        except QueryFailedError as error:
            failed.append((view, str(error)))
    for report in list_reports().reports:
        try:
            run_report(places.index_path, report, timeout_s=60, on_overrun=no_overrun, heap_limit_bytes=None)
        except QueryFailedError as error:
            failed.append((report.name, str(error)))
    return failed


def no_overrun() -> None:
    raise AssertionError("the statement ran into its limit")


def call(number: int, tokens: int, cost: float) -> Any:
    answer = pi_answer("so", f"e{number}", number / 100)
    answer["message"]["usage"] = {
        "input": tokens,
        "output": tokens,
        "cacheRead": tokens,
        "cacheWrite": 0,
        "cost": {"total": cost},
    }
    return answer


def test_absurd_counts_of_tokens_are_unknown_and_every_total_still_adds_up(home: HomeBuilder, places: Settings) -> None:
    """1,025 times 2**53 is more than SQLite's ``sum`` takes: it fails then, and with it every report of usage."""
    pi(home, "absurd", pi_header("absurd", 0), *(call(number, 2**53, 2.0**52) for number in range(1100)))
    pi(home, "sane", pi_header("sane", 0), pi_prompt("go", "p", 1), pi_answer("so", "a", 2, tokens=5))
    ingest(places)
    assert failing(places) == []
    assert rows(places, "SELECT sum(input_tokens), sum(output_tokens), count(*) FROM llm_calls") == [(5, 5, 1101)]
    assert rows(places, "SELECT sum(cost_usd) FROM llm_calls") == [(0.5,)]
    assert verify(places).ok


@pytest.mark.parametrize(("tokens", "known"), [(MAX_TOKENS, MAX_TOKENS), (MAX_TOKENS + 1, None)])
def test_the_most_tokens_that_a_call_can_have(
    tokens: int, known: int | None, home: HomeBuilder, places: Settings
) -> None:
    pi(home, "s", pi_header("s", 0), call(1, tokens, 1.0))
    ingest(places)
    assert rows(places, "SELECT input_tokens FROM llm_calls") == [(known,)]


def test_no_name_of_any_agent_is_so_long_that_no_statement_reads_it(home: HomeBuilder, places: Settings) -> None:
    made = pi_answer("so", LONG, 1, tokens=5, response_id="r")
    made["message"]["content"] = [{"type": "toolCall", "id": LONG, "name": LONG, "arguments": {"a": LONG}}]
    failed = {"role": "toolResult", "toolCallId": LONG, "toolName": LONG, "content": LONG, "isError": True}
    pi(
        home,
        "s",
        {**pi_header("s", 0), "cwd": f"/{LONG}", "title": LONG},
        pi_prompt("go", "p", 1),
        made,
        {"type": "message", "id": "f", "timestamp": "2026-05-04T08:02:00.000Z", "message": failed},
    )
    claude = (claude_prompt("go", LONG, LONG, 1), claude_answer("so", LONG, LONG, 2, message_id=LONG, output_tokens=3))
    home.claude("c", *claude)
    home.aster("a", {**aster_header(LONG, 0), "cwd": f"/{LONG}", "parent": LONG + "p"}, aster_prompt("go", 1))
    thread = id_at(0, 1)
    put(
        home.home,
        name_of(thread),
        [header(thread, 0), record(1, "event_msg", type="thread_name_updated", thread_name=LONG)],
    )
    (home.home / ".codex" / "history.jsonl").write_bytes(lines({"session_id": LONG, "ts": 1_790_000_000, "text": LONG}))
    ingest(places)
    assert failing(places) == []
    names = rows(places, "SELECT DISTINCT length(session_id) FROM sessions WHERE agent IN ('claude-code', 'aster')")
    assert 0 < max(length for (length,) in names) <= MAX_NAME_CHARACTERS
    assert verify(places).ok


def test_long_names_that_differ_only_at_their_end_stay_apart_and_what_is_joined_by_them_still_is(
    home: HomeBuilder, places: Settings
) -> None:
    calls = pi_answer("so", "a", 1)
    calls["message"]["content"] = [
        {"type": "toolCall", "id": LONG + end, "name": "bash", "arguments": {"end": end}} for end in "xy"
    ]
    result = {"role": "toolResult", "toolCallId": LONG + "y", "toolName": "bash", "content": "no", "isError": True}
    pi(
        home,
        "s",
        pi_header("s", 0),
        pi_prompt("go", "p", 1),
        calls,
        {"type": "message", "id": "f", "timestamp": "2026-05-04T08:02:00.000Z", "message": result},
    )
    ingest(places)
    joined = """SELECT c.tool_arguments FROM tool_errors e
JOIN tool_calls c ON c.agent = e.agent AND c.session_id = e.session_id AND c.tool_call_id = e.tool_call_id"""
    assert rows(places, "SELECT count(DISTINCT tool_call_id) FROM tool_calls") == [(2,)]
    assert rows(places, joined) == [('{"end":"y"}',)]


def rollouts(home: HomeBuilder, count: int) -> list[Path]:
    return [
        put(
            home.home,
            name_of(id_at(number, number + 1)),
            [
                header(id_at(number, number + 1), number),
                record(number + 1, "event_msg", type="user_message", message="go"),
            ],
        )
        for number in range(count)
    ]


def test_rollouts_that_were_compressed_or_archived_together_are_not_gone(home: HomeBuilder, places: Settings) -> None:
    """Codex compresses many at once: that is no unmounted disk, and nothing is to be confirmed."""
    zstd = pytest.importorskip("zstandard", reason="zstandard is not installed")
    paths = rollouts(home, 4)
    ingest(places)
    for path in paths[:2]:
        path.with_name(f"{path.name}.zst").write_bytes(zstd.ZstdCompressor().compress(path.read_bytes()))
        path.unlink()
    archive = home.home / ".codex" / "archived_sessions"
    archive.mkdir()
    for path in paths[2:]:
        path.rename(archive / path.name)
    report = ingest(places)
    assert report.problems == []
    assert (report.agents["codex"].sources.new, report.agents["codex"].sources.removed) == (4, 4)
    assert rows(places, "SELECT status, count(*) FROM sources GROUP BY status") == [("indexed", 4)]
    assert rows(places, "SELECT count(*) FROM prompts") == [(4,)]
    assert verify(places).ok


def test_rollouts_that_are_gone_together_are_still_held_back_beside_one_that_was_compressed(
    home: HomeBuilder, places: Settings
) -> None:
    zstd = pytest.importorskip("zstandard", reason="zstandard is not installed")
    first, *others = rollouts(home, 5)
    ingest(places)
    first.with_name(f"{first.name}.zst").write_bytes(zstd.ZstdCompressor().compress(first.read_bytes()))
    for path in (first, *others):
        path.unlink()
    ingest(places)
    found = rows(places, "SELECT status, count(*) FROM sources GROUP BY status ORDER BY status")
    assert found == [("held", 4), ("indexed", 1)]
    assert rows(places, "SELECT count(*) FROM prompts") == [(5,)]
