"""The memory context in the shape that Aster gives it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from persist.memory import MemoryStore
from persist.memory.context import INSTRUCTION, MAX_INDEX_ENTRIES, load_context, read_context


def test_the_sample(data: Path) -> None:
    expected = json.loads((data / "aster" / "expected.json").read_text(encoding="utf-8"))["memory"]["load_context"]
    text = load_context(data / "aster" / "memory")
    assert text == expected.replace("<fixed instruction line>", INSTRUCTION)


def test_nothing_at_all_is_empty(tmp_path: Path) -> None:
    assert load_context(tmp_path) == ""
    assert load_context(tmp_path / "none") == ""
    (tmp_path / "ASTER.md").write_text(" \n", encoding="utf-8")
    assert load_context(tmp_path) == ""


def test_only_facts(tmp_path: Path) -> None:
    (tmp_path / "ASTER.md").write_text("# Project memory\n\n- a\n", encoding="utf-8")
    assert load_context(tmp_path) == "## Memory\n\n# Project memory\n\n- a"


def test_only_a_block_with_a_description_on_two_lines(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\nname: a\ndescription: |\n  one\n  - two\n---\nBody", encoding="utf-8")
    assert load_context(tmp_path) == f"## Memory\n\n### Recallable memory\n{INSTRUCTION}\n- a \u2014 one - two"


def test_seventy_blocks_list_the_newest_sixty_and_say_so(tmp_path: Path) -> None:
    for number in range(70):
        (tmp_path / f"b{number:02}.md").write_text(
            f"---\nname: b{number:02}\nupdated_at: 2026-01-01T00:00:{number % 60:02}.{number:03}Z\n---\nBody",
            encoding="utf-8",
        )
    context = read_context(tmp_path)
    lines = context.text.split("\n")
    listed = [line for line in lines if line.startswith("- b")]
    assert (context.blocks, context.left_out) == (MAX_INDEX_ENTRIES, 10) == (len(listed), 10)
    assert lines[-1].startswith("- ... and 10 more blocks")
    assert listed[0] == "- b59"
    assert "- b00" not in listed
    assert "- b69" in listed


class TestForAPrompt:
    @pytest.fixture
    def memory(self, tmp_path: Path) -> Path:
        store = MemoryStore(tmp_path)
        store.append_project("a fact about herons")
        store.remember("The heron stands in the pond.", "Heron")
        store.remember("The crane builds on the dyke.", "Crane")
        store.remember("It was the old pond.", "Old heron")
        store.remember("The heron stands in the river now.", "New heron", supersedes="Old heron")
        return tmp_path

    def test_only_blocks_that_help_are_listed_and_the_others_counted(self, memory: Path) -> None:
        found = read_context(memory, "where does the crane build?")
        lines = found.text.splitlines()
        assert [line for line in lines if line.startswith("- ") and "\u2014" in line] == [
            "- crane \u2014 The crane builds on the dyke."
        ]
        assert lines[-1] == "- ... and 3 other blocks not about this prompt; asx memory list shows them all"
        assert (found.blocks, found.left_out) == (1, 3)
        assert "a fact about herons" in found.text
        assert MemoryStore(memory).load_context(prompt="where does the crane build?") == found.text

    def test_a_superseded_block_is_none_of_them(self, memory: Path) -> None:
        text = load_context(memory, "where does the heron stand?")
        assert "- new-heron" in text
        assert "- old-heron" not in text

    def test_none_that_helps(self, memory: Path) -> None:
        found = read_context(memory, "write me a poem about the sea")
        assert (found.blocks, found.left_out) == (0, 4)
        assert found.text.splitlines()[-1].startswith("- ... and 4 other blocks not about this prompt; ")
        assert read_context(memory, "").blocks == 0

    def test_where_it_was_typed_counts(self, memory: Path) -> None:
        MemoryStore(memory).remember("The stork nests on the roof.", "Stork", project="/w/birds")
        assert read_context(memory, "where does the stork nest?", "/w/birds/nests").blocks == 1
        assert read_context(memory, "where does the stork nest?", "/w/birdsong").blocks == 0

    def test_listing_gives_nothing_out(self, memory: Path) -> None:
        before = (memory / "journal.jsonl").read_bytes()
        load_context(memory, "where does the crane build?")
        assert (memory / "journal.jsonl").read_bytes() == before
