"""The real sessions of Claude Code through the index, each figure made a second way from the raw JSON."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from index.ingest import ingest
from index.settings import Settings
from index.verify import verify
from tests.builders import HomeBuilder
from tests.index.conftest import rows

pytestmark = pytest.mark.usefixtures("quick_schema")

OURS = "agent = 'claude-code'"
ELEMENTS = re.compile(r"(\s*<([\w-]+)>.*?</\2>\s*)+", re.DOTALL)
"""A text that is nothing but elements which the program wrote."""
INTERRUPTION = re.compile(r"\[Request interrupted by user[^\]]*\]")


@pytest.fixture
def folder(shared: Path) -> Path:
    folder = shared / "real" / "home"
    if not (folder / ".claude").is_dir():
        pytest.skip("the real files are not here")
    return folder


@pytest.fixture
def places(folder: Path, tmp_path: Path) -> Settings:
    places = HomeBuilder(folder).settings(tmp_path / "i" / "index.sqlite")
    ingest(places)
    return places


def files(folder: Path) -> Iterator[tuple[Path, list[dict[str, Any]]]]:
    for path in sorted((folder / ".claude" / "projects").rglob("*.jsonl")):
        yield path, [json.loads(line) for line in path.read_bytes().splitlines()]


def records(folder: Path, kind: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    for path, all_records in files(folder):
        yield from ((path, record) for record in all_records if record["type"] == kind)


def blocks(record: dict[str, Any]) -> list[dict[str, Any]]:
    content = record["message"]["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def test_files_and_sessions(places: Settings, folder: Path) -> None:
    lines = {str(path): len(all_records) for path, all_records in files(folder)}
    talks = {record["sessionId"] for kind in ("user", "assistant") for _, record in records(folder, kind)}
    sources = f"SELECT path, lines_seen FROM sources WHERE {OURS} AND status = 'indexed' AND bytes_pending = 0"
    assert dict(rows(places, sources)) == lines
    assert len(lines) == 8
    assert rows(places, f"SELECT sum(lines_seen), sum(lines_indexed + lines_skipped) FROM sources WHERE {OURS}") == [
        (sum(lines.values()), sum(lines.values()))
    ]
    assert {session for (session,) in rows(places, f"SELECT session_id FROM sessions WHERE {OURS}")} == talks
    assert len(talks) == 7
    assert verify(places).ok


def test_first_and_last_activity(places: Settings, folder: Path) -> None:
    times: dict[str, list[str]] = defaultdict(list)
    for kind in ("user", "assistant"):
        for _, record in records(folder, kind):
            times[record["sessionId"]].append(record["timestamp"])
    for session, first, last in rows(places, f"SELECT session_id, created_at, updated_at FROM sessions WHERE {OURS}"):
        assert first <= min(times[session])
        assert last >= max(times[session])
        assert (first[:10], last[:10]) == (min(times[session])[:10], max(times[session])[:10])


def test_prompts(places: Settings, folder: Path) -> None:
    expected: Counter[str] = Counter()
    for path, record in records(folder, "user"):
        said = blocks(record)
        text = "\n".join(block.get("text", "") for block in said)
        is_machine = record.get("isMeta") or ELEMENTS.fullmatch(text) or INTERRUPTION.fullmatch(text.strip())
        if not is_machine and all(block["type"] != "tool_result" for block in said):
            expected[str(path)] += 1
    found = f"SELECT source_path, count(*) FROM prompts WHERE {OURS} GROUP BY 1"
    assert dict(rows(places, found)) == expected
    assert expected.total() == 42
    assert rows(places, f"SELECT sum(turns) FROM sessions WHERE {OURS}") == [(42,)]


def test_tool_calls_and_tool_errors(places: Settings, folder: Path) -> None:
    calls = Counter(
        (record["sessionId"], block["name"])
        for _, record in records(folder, "assistant")
        for block in blocks(record)
        if block["type"] == "tool_use"
    )
    results = [
        (record["sessionId"], block["tool_use_id"], bool(block.get("is_error")))
        for _, record in records(folder, "user")
        for block in blocks(record)
        if block["type"] == "tool_result"
    ]
    found = f"SELECT session_id, tool_name, count(*) FROM tool_calls WHERE {OURS} GROUP BY 1, 2"
    assert {row[:2]: row[2] for row in rows(places, found)} == calls
    assert calls.total() == 262
    told = "SELECT session_id, tool_call_id FROM"
    assert Counter(rows(places, f"{told} tool_errors WHERE {OURS}")) == Counter(one[:2] for one in results if one[2])
    assert Counter(rows(places, f"{told} tool_results WHERE {OURS}")) == Counter(
        one[:2] for one in results if not one[2]
    )
    assert rows(places, f"SELECT count(*) FROM tool_errors WHERE {OURS}") == [(28,)]


def test_tokens(places: Settings, folder: Path) -> None:
    """Each unique pair of message and request once, at its largest; a sum over all records is another number."""
    keys = ("output_tokens", "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    best: dict[tuple[str, str | None], tuple[int, ...]] = {}
    thought: dict[tuple[str, str | None], int] = {}
    every: list[int] = []
    for _, record in records(folder, "assistant"):
        usage = record["message"].get("usage")
        if usage is None or record["message"]["model"] == "<synthetic>":
            continue
        call = (record["message"]["id"], record.get("requestId"))
        counts = tuple(usage.get(key, 0) for key in keys)
        best[call] = max(best.get(call, counts), counts)
        every.append(counts[0])
        if "output_tokens_details" in usage:
            thought[call] = max(thought.get(call, 0), usage["output_tokens_details"]["thinking_tokens"])
    sums = "sum(output_tokens), sum(input_tokens), sum(cache_read_tokens), sum(cache_write_tokens)"
    (found,) = rows(places, f"SELECT count(*), {sums} FROM llm_calls WHERE {OURS}")
    assert found == (len(best), *map(sum, zip(*best.values(), strict=True)))
    assert len(every) > len(best)
    assert sum(every) > found[1]
    others = f"SELECT count(cost_usd), count(reasoning_tokens), sum(reasoning_tokens) FROM llm_calls WHERE {OURS}"
    assert rows(places, others) == [(0, len(thought), sum(thought.values()))]
