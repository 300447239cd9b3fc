"""The view ``memory_provenance`` says of every note what ``asx show --block`` says, and stays cheap."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from index.ingest import ingest
from index.provenance import block_provenance, fact_provenance
from persist.memory import MemoryStore, list_blocks, parse_facts, read_project_bytes
from tests.builders import HomeBuilder, aster_answer, aster_header, aster_prompt, at, claude_prompt, claude_tool_call

SESSION = "01k5p3aaaaaaaaaaaaaaaaaaaa"
CLAUDE = "3f6d2c1e-0000-4000-8000-000000000001"


def call(arguments: str, minute: float) -> dict[str, Any]:
    function = {"name": "remember", "arguments": arguments}
    calls = [{"id": f"c{minute}", "type": "function", "function": function}]
    return {"type": "message", "role": "assistant", "ts": at(minute), "tool_calls": calls}


def line(op: str, minute: float, **keys: str) -> dict[str, str]:
    return {"ts": at(minute), "op": op, **keys}


@pytest.fixture
def home(isolated: Path) -> HomeBuilder:
    home = HomeBuilder(isolated)
    home.aster(
        SESSION, aster_header(SESSION, 0), aster_prompt("When?", 1),
        call('{"note":"Tuesday.","title":"Deploy window"}', 2), aster_prompt("Keep it.", 3),
        call('{"note":"Main is protected."}', 4), aster_answer("Done.", 5), aster_prompt("Thanks.", 20),
    )  # fmt: skip
    home.claude(
        CLAUDE, claude_prompt("Keep the port.", CLAUDE, "u1", 1),
        claude_tool_call("t1", CLAUDE, "u2", 2, command="asx remember --title Port 'It is 5432.'"),
    )  # fmt: skip
    for name in ("deploy-window", "by-hand", "port", "unknown", "nobody", "too-early"):
        home.block(name, f"{name} is here.")
    home.facts("Main is protected.", "By nobody known.")
    home.journal(
        line("remember", 2.1, name="deploy-window", source_session=SESSION),
        line("append_project", 4.1, detail="Main is protected.", source_session=SESSION),
        line("remember", 5, name="by-hand", source_session=SESSION),
        line("remember", 2.5, name="port", source_session=CLAUDE),
        line("remember", 6, name="unknown", source_session="telegram-1"),
        line("remember", 0.5, name="too-early", source_session=SESSION),
        line("remember", 7, name="nobody"),
    )
    store = MemoryStore(home.aster_home / "memory")
    store.apply({"session": SESSION, "new": [{"title": "Two words", "text": "x"}], "lessons": ["Be kind."]})
    return home


def test_it_says_what_the_command_says(home: HomeBuilder) -> None:
    settings = home.settings()
    ingest(settings)
    told = {}
    with sqlite3.connect(settings.index_path) as connection:
        for name, session, rule, path, event in connection.execute(
            "SELECT name, session_id, rule, source_path, event_index FROM memory_provenance"
        ):
            told[name] = (session, rule, path, event)
    folder = home.aster_home / "memory"
    expected = {}
    for block in list_blocks(folder):
        expected[block.path.stem] = block_provenance(settings, block.path, block.note)
    for fact in parse_facts(read_project_bytes(folder) or b""):
        expected[f"ASTER.md:{fact.line_number}"] = fact_provenance(settings, folder, fact)
    known = {name: found for name, found in expected.items() if found.writing is not None}
    assert told == {
        name: (
            found.writing.session,
            found.rule,
            None if found.event is None else found.event.source_path,
            None if found.event is None else found.event.event_index,
        )
        for name, found in known.items()
        if found.writing is not None
    }
    assert {name: rule for name, (_, rule, _, _) in told.items()} == {
        "deploy-window": "named", "by-hand": "time", "port": "named", "unknown": None, "too-early": None,
        "two-words": "consolidated", "ASTER.md:3": "named", "ASTER.md:5": "consolidated",
    }  # fmt: skip


def test_each_note_reads_only_its_own_session(home: HomeBuilder) -> None:
    settings = home.settings()
    ingest(settings)
    with sqlite3.connect(settings.index_path) as connection:
        plan = [row[3] for row in connection.execute("EXPLAIN QUERY PLAN SELECT * FROM memory_provenance")]
    reads = [step for step in plan if step.startswith(("SCAN e", "SEARCH e ")) and "rowid" not in step]
    assert sorted(reads) == [
        "SEARCH e USING INDEX event_rows_place (source_id=?)",
        "SEARCH e USING INDEX event_rows_prompts (source_id=?)",
    ]
    assert "SEARCH n USING COVERING INDEX sqlite_autoindex_session_rows_1 (agent_id=? AND session_id=?)" in plan


def test_the_journals_plans_are_read_once_not_for_each_note(home: HomeBuilder) -> None:
    """With 10,000 notes and 20,000 lines that took two minutes."""
    settings = home.settings()
    ingest(settings)
    with sqlite3.connect(settings.index_path) as connection:
        plan = [row[3] for row in connection.execute("EXPLAIN QUERY PLAN SELECT * FROM memory_provenance")]
    assert "MATERIALIZE plans" in plan
