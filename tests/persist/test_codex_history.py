"""Codex's prompt history: what was typed, in which session, when."""

from __future__ import annotations

import io
import json
from pathlib import Path

from persist.agents.codex.agent import AGENT
from persist.events import HistoryPrompt
from persist.reading import ReadLine, SourceReader
from persist.sources import HISTORY, Source, Stat

DATA = Path(__file__).parent.parent / "data" / "codex"
SESSION = "019df000-0000-7000-8000-000000000001"


def read(data: bytes) -> tuple[list[ReadLine], SourceReader]:
    source = Source("codex", HISTORY, "/h/history.jsonl", "/h", Stat(0, 0, 0, 0))
    reader = SourceReader(AGENT, source, io.BytesIO(data))
    return list(reader), reader


def test_entries_have_seconds_and_a_session() -> None:
    lines, reader = read((DATA / "history.jsonl").read_bytes())
    assert [prompt for line in lines for prompt in line.prompts] == [
        HistoryPrompt("graft the <b>pear</b>", None, "2026-05-04T09:00:02.000Z", SESSION),
        HistoryPrompt("two\nlines", None, "2026-05-04T07:33:20.000Z", "gone"),
        HistoryPrompt("no time", None, None, SESSION),
    ]
    counts = reader.final.counts
    assert (counts.seen, counts.indexed, counts.skipped, counts.damaged, counts.bad_times) == (4, 3, 1, 0, 1)
    assert counts.skipped_types == {"empty prompt": 1}
    assert reader.final.recognised


def test_entries_without_text_are_damage_that_hides_no_other() -> None:
    entries = [{"text": 7}, ["x"], {"session_id": "s", "ts": 1777885202}, {"text": "kept", "session_id": 3}]
    lines, reader = read(b"".join(json.dumps(entry).encode() + b"\n" for entry in entries))
    assert [prompt.text for line in lines for prompt in line.prompts] == ["kept"]
    assert [line.error for line in lines if line.error] == [
        "'text' of a history entry must be text, not int",
        "a history entry must be an object, not list",
        "'text' of a history entry must be text, not NoneType",
    ]
    assert reader.final.counts.damaged == 3
