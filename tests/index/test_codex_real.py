"""The real home, where it is there: what the index says of Codex, derived a second way from the raw JSON."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from index.ingest import ingest
from index.settings import Settings, load_settings
from index.show import show_event
from index.verify import verify
from persist.sources import Environment
from tests.index.conftest import rows

pytestmark = pytest.mark.usefixtures("quick_schema")


@pytest.fixture
def places(shared: Path, tmp_path: Path) -> Settings:
    home = shared / "real" / "home"
    if not (home / ".codex").is_dir():
        pytest.skip("the real files are not here")
    settings = load_settings(Environment({}, home), home, str(tmp_path / "i" / "index.sqlite"))
    ingest(settings)
    return settings


def raw(shared: Path) -> list[dict[str, Any]]:
    """Return all whole records, by the standard library alone, each with the name of its file."""
    found = []
    for path in sorted((shared / "real" / "home" / ".codex").rglob("*.jsonl")):
        for line in path.read_bytes().split(b"\n"):
            try:
                found.append({**json.loads(line), "file": path.name})
            except ValueError:
                continue
    return found


def test_files_sessions_prompts_and_tools(places: Settings, shared: Path) -> None:
    records = raw(shared)
    inner = Counter(record["payload"].get("type") for record in records)
    of_codex = "FROM {} WHERE agent = 'codex'"
    counts = {
        name: rows(places, f"SELECT count(*) {of_codex.format(name)}")[0][0]
        for name in ("sources", "sessions", "prompts", "answers", "tool_calls", "tool_results", "tool_errors")
    }
    assert counts == {
        "sources": len({record["file"] for record in records}),
        "sessions": len({r["payload"]["id"] for r in records if r["type"] == "session_meta"}),
        "prompts": inner["user_message"],
        "answers": inner["agent_message"],
        "tool_calls": inner["custom_tool_call"],
        "tool_results": inner["custom_tool_call_output"],
        "tool_errors": 0,
    }
    assert counts == {"sources": 3, "sessions": 3, "prompts": 3, "answers": 9, "tool_calls": 18, "tool_results": 14,
                      "tool_errors": 0}  # fmt: skip
    assert rows(places, "SELECT count(*) FROM parse_errors WHERE agent = 'codex'") == [(4,)]  # lines that are no JSON


def test_tokens_are_the_last_running_totals(places: Settings, shared: Path) -> None:
    last: dict[str, dict[str, int]] = {}
    for record in raw(shared):
        if record["payload"].get("type") == "token_count":
            last[record["file"]] = record["payload"]["info"]["total_token_usage"]
    totals: Counter[str] = Counter()
    for total in last.values():
        totals.update(total)
    told = rows(
        places,
        "SELECT sum(input_tokens + cache_read_tokens + cache_write_tokens), sum(cache_read_tokens), sum(output_tokens),"
        " sum(reasoning_tokens), count(*), count(DISTINCT message_id) FROM llm_calls WHERE agent = 'codex'",
    )
    assert told == [
        (totals["input_tokens"], totals["cached_input_tokens"], totals["output_tokens"],
         totals["reasoning_output_tokens"], 21, 21)
    ]  # fmt: skip


def test_every_event_is_shown_by_itself_as_it_was_indexed(places: Settings) -> None:
    events = rows(places, "SELECT session_id, event_index, event_type, text_len FROM events WHERE agent = 'codex'")
    assert len(events) > 80
    for session_id, event_index, event_type, text_len in events:
        shown = show_event(places, f"codex:{session_id}", event_index)
        assert (shown.event_type, shown.text_len) == (event_type, text_len)


def test_verify_agrees(places: Settings) -> None:
    assert verify(places).ok
