"""The samples and the real files through the index, against what their READMEs, other readers and plain sums say."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from index.ingest import ingest
from index.settings import Settings
from tests.builders import HomeBuilder
from tests.index.conftest import rows

pytestmark = pytest.mark.usefixtures("quick_schema")

REAL_PROMPTS = {
    "39d9d869-b2a5-4ff8-8100-056a5a611497": 1,
    "66ba3521-ec12-4373-a32d-6ee6406cb603": 1,
    "c937a377-6242-452b-8773-139e549027b4": 1,
    "large-conversation": 21,
    "long-conversation": 15,
    "medium-conversation": 0,
    "short-conversation": 1,
    "tiny-conversation": 2,
}
"""Prompts a person typed in each file, counted by reading every user record that is no tool result."""


@pytest.fixture
def samples(home: HomeBuilder, data: Path, tmp_path: Path) -> Settings:
    home.aster_home.parent.mkdir(parents=True)
    shutil.copytree(data / "aster", home.aster_home)
    shutil.copytree(data / "aether", home.home / ".aether" / "sessions")
    places = home.settings(tmp_path / "i" / "index.sqlite")
    ingest(places)
    return places


@pytest.fixture
def real(shared: Path, tmp_path: Path) -> Settings:
    if not (shared / "real" / "home").is_dir():
        pytest.skip("the real files are not here")
    places = HomeBuilder(shared / "real" / "home").settings(tmp_path / "i" / "index.sqlite")
    ingest(places)
    return places


def test_the_current_aether_log_has_the_rows_of_aethers_own_index(samples: Settings, data: Path) -> None:
    name = "5b0c7f1e-2d34-4c1b-9a57-0e6f4d2a91c3.jsonl"
    expected = json.loads((data / "aether" / "expected-current-aether.json").read_bytes())[name]["rows"]
    columns = ("event_index", "line_number", "turn_index", "kind", "event_type", "outcome", "content_len")
    found = rows(
        samples,
        f"SELECT {', '.join(columns)} FROM events WHERE source_path LIKE ? ORDER BY event_index",
        f"%/{name}",
    )
    assert [dict(zip(columns, row, strict=True)) for row in found] == expected


def test_every_aether_log_keeps_what_aether_indexes(samples: Settings, data: Path) -> None:
    for name, expected in json.loads((data / "aether" / "expected-current-aether.json").read_bytes()).items():
        if not name.endswith(".jsonl"):
            continue
        found = rows(
            samples,
            "SELECT line_number, kind, event_type, outcome FROM events WHERE source_path LIKE ? ORDER BY event_index",
            f"%/{name}",
        )
        wanted = [
            (row["line_number"], row["kind"], row["event_type"], row["outcome"]) for row in expected.get("rows", [])
        ]
        assert [row for row in found if row in set(wanted)] == wanted, name
        assert rows(samples, "SELECT session_id FROM session_files WHERE source_path LIKE ?", f"%/{name}") == [
            (expected["session_id"],)
        ]


def test_aster_sessions_are_those_that_aster_lists(samples: Settings, data: Path) -> None:
    expected = json.loads((data / "aster" / "expected.json").read_bytes())
    listed = rows(samples, "SELECT session_id FROM sessions WHERE agent = 'aster' ORDER BY created_at DESC")
    assert [session for (session,) in listed] == expected["list_all_newest_created_first"]
    told = {row[0]: row[1:] for row in rows(samples, "SELECT session_id, title, first_prompt, turns FROM sessions")}
    for transcript in expected["transcripts"]:
        if "id" not in transcript:
            continue
        title, first_prompt, turns = told[transcript["id"]]
        assert (title, turns) == (transcript["title"], transcript["user_turns"])
        shown = transcript["display_title"]
        assert (title or first_prompt) == (shown.split("\n")[0] if shown else None)


def test_aster_blocks_are_those_that_aster_lists(samples: Settings, data: Path) -> None:
    expected = json.loads((data / "aster" / "expected.json").read_bytes())["memory"]["blocks_newest_first"]
    found = {
        row[0]: row[1:] for row in rows(samples, "SELECT name, description, body FROM memory_blocks WHERE NOT archived")
    }
    assert found.keys() == {block["name"] for block in expected}
    for block in expected:
        description, body = found[block["name"]]
        assert (description, body.strip()) == (block["description"], block["body"].strip())
    traits = [text for (text,) in rows(samples, "SELECT text FROM memory_facts ORDER BY line_number")]
    assert traits == ["Station ids are case-sensitive; never lower-case them",
                     "Money is stored in cents, shown with a decimal comma",
                     "Deploys leave from the main branch only"]  # fmt: skip
    archived = len(list((data / "aster" / "memory" / ".archive").glob("*.md")))
    assert rows(samples, "SELECT count(*) FROM memory_blocks WHERE archived") == [(archived,)]
    journal = (data / "aster" / "memory" / "journal.jsonl").read_bytes().splitlines()
    assert len(rows(samples, "SELECT 1 FROM memory_journal")) == len(journal) - 1  # one line is damaged


def claude_files(shared: Path) -> Iterator[tuple[Path, list[dict[str, Any]]]]:
    for path in sorted((shared / "real" / "home" / ".claude" / "projects").rglob("*.jsonl")):
        yield path, [json.loads(line) for line in path.read_bytes().splitlines()]


def test_every_real_session_is_found_with_its_folder(real: Settings, shared: Path) -> None:
    expected: dict[str, str] = {}
    for _, records in claude_files(shared):
        talk = [record for record in records if record["type"] in ("user", "assistant")]
        if talk:
            expected.setdefault(talk[0]["sessionId"], next(record["cwd"] for record in talk if "cwd" in record))
    found = dict(rows(real, "SELECT session_id, cwd FROM sessions WHERE agent = 'claude-code'"))
    assert found == expected
    assert len(found) == 7


def test_real_prompts_are_counted_by_hand(real: Settings) -> None:
    counted = rows(real, "SELECT source_path, sum(is_prompt) FROM events WHERE agent = 'claude-code' GROUP BY 1")
    prompts = {Path(path).stem: count for path, count in counted}
    assert prompts == {name: count for name, count in REAL_PROMPTS.items() if name in prompts}
    assert set(REAL_PROMPTS) - set(prompts) <= {"medium-conversation"}  # titles only, no events need be there
    turns = dict(rows(real, "SELECT session_id, turns FROM sessions WHERE agent = 'claude-code'"))
    told = dict(rows(real, "SELECT source_path, session_id FROM session_files WHERE agent = 'claude-code'"))
    for path, session in told.items():
        if session is not None:
            assert turns[session] == REAL_PROMPTS[Path(path).stem]


def test_real_messages_on_several_lines_are_no_copies(real: Settings, shared: Path) -> None:
    """DESIGN 6: different blocks of one message stand on lines of their own, and every event is canonical."""
    lines: dict[tuple[Path, str], int] = defaultdict(int)
    for path, records in claude_files(shared):
        for record in records:
            if record["type"] == "assistant":
                lines[path, record["message"]["id"]] += 1
    assert sum(count > 1 for count in lines.values()) == 153
    assert rows(real, "SELECT count(*) FROM events WHERE NOT canonical") == [(0,)]


def test_real_tokens_equal_a_sum_over_the_raw_records(real: Settings, shared: Path) -> None:
    """In total over unique (message id, request id), and per session by where the first record of the call lies."""
    keys = ("output_tokens", "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    best: dict[tuple[str, str | None], tuple[int, ...]] = {}
    first: dict[tuple[str, str | None], tuple[bool, str, str, str]] = {}
    for path, records in claude_files(shared):
        began = next((record["timestamp"] for record in records if "timestamp" in record), "")
        is_fork = any("forkedFrom" in record for record in records[:1])
        for record in records:
            usage = record["message"].get("usage") if record["type"] == "assistant" else None
            if usage is None or record["message"]["model"] == "<synthetic>":
                continue
            call = (record["message"]["id"], record.get("requestId"))
            counts = tuple(usage.get(key, 0) for key in keys)
            best[call] = max(best.get(call, counts), counts)
            told = (is_fork, began, record["sessionId"], str(path))
            first[call] = min(first.get(call, told), told)
    per_session: dict[str, list[tuple[int, ...]]] = defaultdict(list)
    for call, (_, _, session, _) in first.items():
        per_session[session].append(best[call])
    sums = "sum(output_tokens), sum(input_tokens), sum(cache_read_tokens), sum(cache_write_tokens)"
    found = rows(real, f"SELECT session_id, {sums} FROM llm_calls WHERE agent = 'claude-code' GROUP BY 1")
    assert {session: tuple(counts) for session, *counts in found} == {
        session: tuple(map(sum, zip(*counts, strict=True))) for session, counts in per_session.items()
    }
    (total,) = rows(real, f"SELECT count(*), {sums} FROM llm_calls WHERE agent = 'claude-code'")
    assert total == (len(best), *map(sum, zip(*best.values(), strict=True)))
    each = "SELECT message_id, request_id, output_tokens, input_tokens, cache_read_tokens, cache_write_tokens"
    stored = rows(real, f"{each} FROM llm_calls WHERE agent = 'claude-code'")
    assert {row[:2]: row[2:] for row in stored} == best
